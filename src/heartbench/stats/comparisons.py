"""Pairwise comparisons as parallel arrays, and their sums.

Sums are taken in an order that depends on the values alone, and each pair of systems is turned the
same way round first. So the order of rows, and which system stands left, change nothing to the last
digit. What the rows mean (ties, strengths, exclusions) is decided in `heartbench.analysis`.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

TIE_SCORE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparisons:
    """Comparisons of systems, one row each, as arrays of equal length.

    Attributes:
        left: Index of one system, 0 to `n_systems` - 1.
        right: Index of the other system.
        score: 1 where left won, 0 where right won, 1/2 for a tie.
        weight: How much the row counts, above 0.
        item: Index of the item, the cluster that intervals resample.
        rater: Index of the rater.
        n_systems: How many systems there are, compared or not.
    """

    left: IntArray
    right: IntArray
    score: FloatArray
    weight: FloatArray
    item: IntArray
    rater: IntArray
    n_systems: int

    def __post_init__(self) -> None:
        arrays = (self.left, self.right, self.score, self.weight, self.item, self.rater)
        lengths = [len(array) for array in arrays]
        if len(set(lengths)) > 1:
            raise ValueError(f"columns must be of one length, not {lengths}")
        lower, upper = np.minimum(self.left, self.right), np.maximum(self.left, self.right)
        _reject((lower < 0) | (upper >= self.n_systems), "names no system")
        _reject(self.left == self.right, "compares a system with itself")
        _reject(~np.isin(self.score, (0.0, TIE_SCORE, 1.0)), "has a score other than 0, 1/2 and 1")
        _reject(~(np.isfinite(self.weight) & (self.weight > 0)), "has no finite weight above 0")

    def __len__(self) -> int:
        return len(self.left)


def _reject(is_bad: BoolArray, problem: str) -> None:
    if is_bad.any():
        raise ValueError(f"row {np.argmax(is_bad)} {problem} ({is_bad.sum()} such rows)")


def sum_by(keys: IntArray, values: FloatArray, n_keys: int) -> FloatArray:
    """Sum values by key, the same to the last digit whatever the order of rows."""
    order = np.argsort(values)
    return np.bincount(keys[order], weights=values[order], minlength=n_keys).astype(np.float64)


def win_matrix(comparisons: Comparisons) -> FloatArray:
    """Return the weight with which system i beat system j, as (n_systems, n_systems).

    A tie gives half its weight to each side; the diagonal is 0.
    """
    n = comparisons.n_systems
    keys = np.concatenate(
        (comparisons.left * n + comparisons.right, comparisons.right * n + comparisons.left)
    )
    won = comparisons.weight * comparisons.score
    lost = comparisons.weight * (1 - comparisons.score)
    return sum_by(keys, np.concatenate((won, lost)), n * n).reshape(n, n)


def count_comparisons(comparisons: Comparisons) -> IntArray:
    """Count the rows each system is part of, weights apart."""
    ends = np.concatenate((comparisons.left, comparisons.right))
    return np.bincount(ends, minlength=comparisons.n_systems)


def count_items(comparisons: Comparisons) -> IntArray:
    """Count, by system, the items on which it was compared."""
    systems = np.concatenate((comparisons.left, comparisons.right))
    items = np.concatenate((comparisons.item, comparisons.item))
    met = np.unique(np.stack((systems, items)), axis=1)
    return np.bincount(met[0], minlength=comparisons.n_systems)


def keep_compared(comparisons: Comparisons, *, min_items: int = 1) -> tuple[Comparisons, IntArray]:
    """Drop systems compared on fewer items; also return the former index of each that stays.

    Rows with a dropped system go too, until every system that stays has enough items.
    """
    kept = np.arange(comparisons.n_systems)
    while True:
        is_enough = count_items(comparisons) >= min_items
        stays = np.flatnonzero(is_enough)
        rows = is_enough[comparisons.left] & is_enough[comparisons.right]
        comparisons = replace(
            comparisons,
            left=np.searchsorted(stays, comparisons.left[rows]),
            right=np.searchsorted(stays, comparisons.right[rows]),
            score=comparisons.score[rows],
            weight=comparisons.weight[rows],
            item=comparisons.item[rows],
            rater=comparisons.rater[rows],
            n_systems=len(stays),
        )
        kept = kept[stays]
        if len(stays) == len(is_enough):
            return comparisons, kept

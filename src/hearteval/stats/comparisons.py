"""Pairwise comparisons as parallel arrays, and their sums.

Sums are taken in an order that depends on the values alone, and each pair of systems is turned the
same way round first. So the order of rows, and which system stands left, change nothing to the last
digit. What the rows mean (ties, strengths, exclusions) is decided in `hearteval.analysis`.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

TIE_SCORE = 0.5
COLUMNS = ("left", "right", "score", "weight", "count", "item", "rater")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparisons:
    """Comparisons of systems, a row for each or for several equal ones, as arrays of one length."""

    left: IntArray
    """Index of one system, 0 to `n_systems` - 1."""
    right: IntArray
    """Index of the other system."""
    score: FloatArray
    """1 where left won, 0 where right won, 1/2 for a tie."""
    weight: FloatArray
    """How much each comparison of the row weighs, above 0."""
    count: IntArray
    """How many equal comparisons the row stands for, 1 or more."""
    item: IntArray
    """Index of the cluster that intervals resample."""
    rater: IntArray
    n_systems: int
    """How many systems there are, compared or not."""
    writer: IntArray | None = None
    """Who wrote the completion by a person in it, -1 where neither is by one; None where writers
    are not known, or nobody's."""

    def __post_init__(self) -> None:
        lengths = [len(getattr(self, name)) for name in COLUMNS]
        lengths += [] if self.writer is None else [len(self.writer)]
        if len(set(lengths)) > 1:
            raise ValueError(f"columns must be of one length, not {lengths}")
        lower, upper = np.minimum(self.left, self.right), np.maximum(self.left, self.right)
        _reject((lower < 0) | (upper >= self.n_systems), "names no system")
        _reject(self.left == self.right, "compares a system with itself")
        _reject(~np.isin(self.score, (0.0, TIE_SCORE, 1.0)), "has a score other than 0, 1/2 and 1")
        _reject(~(np.isfinite(self.weight) & (self.weight > 0)), "has no finite weight above 0")
        _reject(self.count < 1, "stands for no comparison")

    def __len__(self) -> int:
        return len(self.left)

    @property
    def total_weight(self) -> FloatArray:
        """Weight of each row: that of one comparison times how many it stands for."""
        return self.weight * self.count


def _reject(is_bad: BoolArray, problem: str) -> None:
    if is_bad.any():
        raise ValueError(f"row {np.argmax(is_bad)} {problem} ({is_bad.sum()} such rows)")


def number_labels(labels: IntArray) -> tuple[IntArray, int]:
    """Number the labels (0 or more) that occur, from 0 in their order; also say how many."""
    occurs = np.bincount(labels) > 0
    return (np.cumsum(occurs) - 1)[labels], int(occurs.sum())


def number_cells(keys: IntArray, n_cells: int) -> tuple[IntArray, IntArray]:
    """Return the distinct keys below `n_cells`, sorted, and the place of each row's among them.

    Counted in a table unless that would be much longer than the rows; then they are sorted.
    """
    if n_cells > 4 * len(keys):
        return np.unique(keys, return_inverse=True)
    occurs = np.bincount(keys, minlength=n_cells) > 0
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[keys]


def sum_by(keys: IntArray, values: FloatArray, n_keys: int) -> FloatArray:
    """Sum values by key, the same to the last digit whatever the order of rows."""
    halves = values * 2
    if np.array_equal(halves, np.rint(halves)):  # such sums are exact, in any order
        return np.bincount(keys, weights=values, minlength=n_keys).astype(np.float64)
    order = np.argsort(values)
    return np.bincount(keys[order], weights=values[order], minlength=n_keys).astype(np.float64)


def sum_scores(keys: IntArray, scores: FloatArray, n_keys: int) -> FloatArray:
    """Sum scores by key without sorting, the same to the last digit whatever the order of rows.

    Scores are first rounded to a power of two at which no sum can lose a digit. The error is below
    n^2 2^-53 times the largest score, n the rows; it suits scores of one size, not weights of many.
    """
    largest = float(np.abs(scores).max(initial=0.0))
    if largest == 0:
        return np.zeros(n_keys)
    quantum = 2.0 ** (math.frexp(largest * len(scores))[1] - 53)
    exact = np.rint(scores / quantum) * quantum
    return np.bincount(keys, weights=exact, minlength=n_keys).astype(np.float64)


def win_matrix(comparisons: Comparisons) -> FloatArray:
    """Return the weight with which system i beat system j, as (n_systems, n_systems).

    A tie gives half its weight to each side; the diagonal is 0.
    """
    n = comparisons.n_systems
    keys = np.concatenate(
        (comparisons.left * n + comparisons.right, comparisons.right * n + comparisons.left)
    )
    won = comparisons.total_weight * comparisons.score
    lost = comparisons.total_weight * (1 - comparisons.score)
    return sum_by(keys, np.concatenate((won, lost)), n * n).reshape(n, n)


def order_pairs(comparisons: Comparisons) -> tuple[IntArray, IntArray, FloatArray]:
    """Return each row's lower and higher system, and the score of the lower one.

    Turned the same way round, a sum over rows does not depend on which system stood left.
    """
    is_turned = comparisons.left > comparisons.right
    low = np.where(is_turned, comparisons.right, comparisons.left)
    high = np.where(is_turned, comparisons.left, comparisons.right)
    return low, high, np.where(is_turned, 1 - comparisons.score, comparisons.score)


def count_comparisons(comparisons: Comparisons) -> IntArray:
    """Count the comparisons each system is part of, weights apart."""
    ends = np.concatenate((comparisons.left, comparisons.right))
    counts = np.tile(comparisons.count, 2)
    return np.bincount(ends, weights=counts, minlength=comparisons.n_systems).astype(np.int64)


def count_wins(comparisons: Comparisons) -> tuple[IntArray, FloatArray]:
    """Count by system its comparisons and the wins among them, a tie half, weights apart."""
    once = replace(comparisons, weight=np.ones(len(comparisons)))
    return count_comparisons(comparisons), win_matrix(once).sum(axis=1)


def select_comparisons(comparisons: Comparisons, rows: BoolArray | IntArray) -> Comparisons:
    """Return some of the rows, all systems kept."""
    columns = {name: getattr(comparisons, name)[rows] for name in COLUMNS}
    writer = None if comparisons.writer is None else comparisons.writer[rows]
    return replace(comparisons, **columns, writer=writer)


def count_items(comparisons: Comparisons) -> IntArray:
    """Count, by system, the items on which it was compared."""
    item, n_items = number_labels(comparisons.item)
    systems = np.concatenate((comparisons.left, comparisons.right))
    keys = systems * n_items + np.tile(item, 2)
    met, _ = number_cells(keys, comparisons.n_systems * n_items)
    return np.bincount(met // max(n_items, 1), minlength=comparisons.n_systems)


def keep_compared(comparisons: Comparisons, *, min_items: int = 1) -> tuple[Comparisons, IntArray]:
    """Drop systems compared on fewer items; also return the former index of each that stays.

    Rows with a dropped system go too, until every system that stays has enough items.
    """
    kept = np.arange(comparisons.n_systems)
    while True:
        is_enough = count_items(comparisons) >= min_items
        if is_enough.all():
            return comparisons, kept
        stays = np.flatnonzero(is_enough)
        rows = is_enough[comparisons.left] & is_enough[comparisons.right]
        comparisons = select_comparisons(comparisons, rows)
        comparisons = replace(
            comparisons,
            left=np.searchsorted(stays, comparisons.left),
            right=np.searchsorted(stays, comparisons.right),
            n_systems=len(stays),
        )
        kept = kept[stays]

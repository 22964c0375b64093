"""A table of units by raters with gaps, and what every coefficient takes from it.

Categories are indices into the distinct values in use, in ascending order; a rater rates a unit at
most once. Reading cells, and deciding which of them count, is left to `heartbench.analysis`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from heartbench.errors import NotIdentifiedError
from heartbench.stats.comparisons import BoolArray, FloatArray, IntArray

Level = Literal["nominal", "ordinal", "interval", "ratio"]
Distance = Callable[[IntArray, IntArray], FloatArray]
"""From the indices of two categories (lower, higher) to how far apart they are, 0 or more."""
SparseMatrix = csr_array[np.float64, tuple[int, int]]

ONE_CATEGORY = "only one category is used, so chance alone would always agree"
MAX_MATRIX_CATEGORIES = 2048
"""Distinct values up to which a coefficient may need a matrix of all their pairs (32 MiB)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RatingTable:
    """Ratings in long form, sorted by unit and then by rater.

    Units with the same ratings from the same raters may stand as one, with a count.

    Attributes:
        unit: Index of the unit of each rating.
        rater: Index of its rater.
        category: Index into `values`.
        count: How many equal units each unit stands for.
        values: The number each category stands for, ascending; at nominal level any ascending
            numbers, as only their count is used.
        n_units: How many units there are, equal ones that stand as one being one.
        n_raters: How many raters there are.
    """

    unit: IntArray
    rater: IntArray
    category: IntArray
    count: IntArray
    values: FloatArray
    n_units: int
    n_raters: int

    @property
    def sizes(self) -> IntArray:
        """How many ratings each unit has."""
        return np.bincount(self.unit, minlength=self.n_units)

    @property
    def is_pairable(self) -> BoolArray:
        """Which units have two ratings or more; only these carry pairs."""
        return self.sizes >= 2

    @property
    def n_pairable(self) -> int:
        """How many units carry pairs, each counted."""
        return int(self.count[self.is_pairable].sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Coefficient:
    """A coefficient as a function of how often each unit is counted.

    Attributes:
        of_weights: From weights, as (units, samples), to one value a sample; NaN where the
            coefficient is undefined. The table's own counts give the estimate.
        undefined: Why it is undefined where it is, for a reader.
    """

    of_weights: Callable[[FloatArray], FloatArray]
    undefined: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CategoryPairs:
    """Pairs of ratings of one unit that differ, counted by (unit, lower, higher category).

    Attributes:
        unit: Index of the unit.
        low: Index of the lower category.
        high: Index of the higher one.
        count: How many pairs of ratings, each pair once.
    """

    unit: IntArray
    low: IntArray
    high: IntArray
    count: IntArray


def merge_equal_units(table: RatingTable) -> RatingTable:
    """Let units with the same ratings from the same raters stand as one, in the order of ratings.

    Coefficients cannot tell such units apart, and resampling then costs as much as there are
    distinct ones. Where one number cannot hold all of a unit's ratings, few are equal: all stay.
    """
    base = len(table.values) + 1
    if base**table.n_raters > np.iinfo(np.int64).max:
        return table
    key = np.zeros(table.n_units, dtype=np.int64)
    np.add.at(key, table.unit, (table.category + 1) * base**table.rater)
    _, first, merged = np.unique(key, return_index=True, return_inverse=True)
    count = np.zeros(len(first), dtype=np.int64)
    np.add.at(count, merged, table.count)
    stays = np.isin(table.unit, first)
    order = np.lexsort((table.rater[stays], merged[table.unit[stays]]))
    return replace(
        table,
        unit=merged[table.unit[stays]][order],
        rater=table.rater[stays][order],
        category=table.category[stays][order],
        count=count,
        n_units=len(first),
    )


def require_pairs(table: RatingTable) -> None:
    """Check that two units have two ratings each.

    Raises:
        NotIdentifiedError: Where fewer have.
    """
    if table.n_pairable < 2:
        raise NotIdentifiedError(f"needs two units with two values each, not {table.n_pairable}")


def require_categories(table: RatingTable) -> None:
    """Check that the ratings use two categories or more.

    Raises:
        NotIdentifiedError: Where they use only one.
    """
    if len(table.values) < 2:
        raise NotIdentifiedError(ONE_CATEGORY)


def require_small_matrix(table: RatingTable) -> None:
    """Check that a matrix of all pairs of categories may be made.

    Raises:
        NotIdentifiedError: Above `MAX_MATRIX_CATEGORIES` categories.
    """
    n_categories = len(table.values)
    if n_categories > MAX_MATRIX_CATEGORIES:
        raise NotIdentifiedError(
            f"weighs each pair of distinct values, and {n_categories} of them are more than"
            f" {MAX_MATRIX_CATEGORIES}"
        )


def category_matrix(table: RatingTable, weight: FloatArray, rows: BoolArray) -> SparseMatrix:
    """Sum the weight of each rating by category and unit, as (categories, units).

    Only ratings marked in `rows` count.
    """
    shape = (len(table.values), table.n_units)
    cells = (table.category[rows], table.unit[rows])
    return csr_array((weight[rows], cells), shape=shape)


def sum_units(matrix: SparseMatrix, weights: FloatArray) -> FloatArray:
    """Sum the columns of a matrix, as (n, units), by the weights, as (units, samples)."""
    return np.asarray(matrix @ weights, dtype=np.float64)


def differing_pairs(table: RatingTable) -> CategoryPairs:
    """Count the pairs of ratings of a unit that fall into different categories."""
    n_categories = len(table.values)
    cells, counts = np.unique(table.unit * n_categories + table.category, return_counts=True)
    unit, category = cells // n_categories, cells % n_categories
    starts: list[IntArray] = []
    ends: list[IntArray] = []
    start = np.arange(len(cells))
    offset = 0
    while len(start):
        offset += 1
        start = start[start + offset < len(cells)]
        start = start[unit[start] == unit[start + offset]]
        starts.append(start)
        ends.append(start + offset)
    first, second = np.concatenate(starts), np.concatenate(ends)
    return CategoryPairs(
        unit=unit[first],
        low=category[first],
        high=category[second],
        count=counts[first] * counts[second],
    )


def mean_distances(table: RatingTable, distance: Distance) -> FloatArray:
    """Return the mean distance of two ratings of each unit, 0 where it has fewer than two.

    d_i = sum_{k<l} 2 r_ik r_il delta(k, l) / (r_i (r_i - 1)), r_ik ratings of unit i in category k.
    """
    pairs = differing_pairs(table)
    total = np.bincount(
        pairs.unit,
        weights=2 * pairs.count * distance(pairs.low, pairs.high),
        minlength=table.n_units,
    ).astype(np.float64)
    n_pairs = (table.sizes * (table.sizes - 1)).astype(np.float64)
    return np.nan_to_num(divide(total, n_pairs))


def nominal_distance(low: IntArray, high: IntArray) -> FloatArray:
    """Return 1 for any two different categories."""
    return np.not_equal(low, high).astype(np.float64)


def count_used(counts: FloatArray) -> IntArray:
    """Return how many categories each sample uses, from counts as (categories, samples)."""
    return np.asarray(np.count_nonzero(counts, axis=0), dtype=np.int64)


def spread(scale: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return mean and sum of squares about it of the scale, counted as (categories, samples).

    The scale is one number a category, as (categories, 1), or one for each sample too.
    """
    mean = divide((scale * counts).sum(axis=0), counts.sum(axis=0))
    return mean, (counts * (scale - mean) ** 2).sum(axis=0)


def divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """Divide, NaN where the denominator is 0."""
    quotient = np.full(np.broadcast(numerator, denominator).shape, np.nan)
    np.divide(numerator, denominator, out=quotient, where=np.not_equal(denominator, 0))
    return quotient

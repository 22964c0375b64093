"""Ratings as a file holds them, and the table of units by raters that coefficients take.

In the table categories are indices into the distinct values in use, in ascending order, and a rater
rates a unit at most once. What a cell of a file means is decided in
`hearteval.analysis.agreement.ratings`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import scipy

from hearteval.errors import NotIdentifiedError
from hearteval.stats.comparisons import BoolArray, FloatArray, IntArray

Level = Literal["nominal", "ordinal", "interval", "ratio"]
Distance = Callable[[IntArray, IntArray], FloatArray]
"""From the indices of two categories (lower, higher) to how far apart they are, 0 or more."""
SparseMatrix: TypeAlias = "scipy.sparse.csr_array[np.float64, tuple[int, int]]"

MISSING = -1
ONE_CATEGORY = "only one category is used, so chance alone would always agree"
MAX_MATRIX_CATEGORIES = 2048
"""Distinct values up to which a coefficient may need a matrix of all their pairs (32 MiB)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CodedRatings:
    """Rows of (unit, rater, value), each an index into distinct names or texts of cells.

    A value is `MISSING` where the cell is; the row still names a unit and a rater.
    """

    units: tuple[str, ...]
    raters: tuple[str, ...]
    values: tuple[str, ...]
    unit: IntArray
    rater: IntArray
    value: IntArray

    def __post_init__(self) -> None:
        lengths = [len(self.unit), len(self.rater), len(self.value)]
        if len(set(lengths)) > 1:
            raise ValueError(f"columns must be of one length, not {lengths}")
        _check_codes("unit", self.unit, self.units, lowest=0)
        _check_codes("rater", self.rater, self.raters, lowest=0)
        _check_codes("value", self.value, self.values, lowest=MISSING)

    def __len__(self) -> int:
        return len(self.unit)

    @classmethod
    def of(
        cls, units: Sequence[str], raters: Sequence[str], values: Sequence[str]
    ) -> "CodedRatings":
        """Code three columns of a row each; names are in their own order."""
        columns = (units, raters, values)
        names = [sorted(set(column)) for column in columns]
        places = [{name: place for place, name in enumerate(own)} for own in names]
        codes = [
            np.array([at[cell] for cell in column], dtype=np.int64)
            for at, column in zip(places, columns, strict=True)
        ]
        return cls(
            units=tuple(names[0]),
            raters=tuple(names[1]),
            values=tuple(names[2]),
            unit=codes[0],
            rater=codes[1],
            value=codes[2],
        )


def _check_codes(column: str, codes: IntArray, names: tuple[str, ...], *, lowest: int) -> None:
    if len(set(names)) < len(names):
        raise ValueError(f"the names of {column} must be distinct")
    is_bad = (codes < lowest) | (codes >= len(names))
    if is_bad.any():
        raise ValueError(f"row {np.argmax(is_bad)} has a {column} that is none of {len(names)}")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RatingTable:
    """Ratings in long form, sorted by unit and then by rater.

    Units with the same ratings from the same raters may stand as one, with a count.
    """

    unit: IntArray
    rater: IntArray
    category: IntArray
    """Index into `values` of each rating."""
    count: IntArray
    """How many equal units each unit stands for."""
    values: FloatArray
    """The number each category stands for, ascending; at nominal level any ascending numbers, as
    only their count is used."""
    n_units: int
    """Equal units that stand as one are one."""
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
    """A coefficient as a function of how often each unit is counted."""

    of_weights: Callable[[FloatArray], FloatArray]
    """From weights, as (units, samples), to one value a sample; NaN where the coefficient is
    undefined. The table's own counts give the estimate."""
    undefined: str
    """Why it is undefined where it is, for a reader."""


def lay_out(unit: IntArray, rater: IntArray, value: FloatArray | IntArray) -> RatingTable:
    """Lay out ratings, a row each, as a table of the units, raters and values that are in use."""
    units, unit = np.unique(unit, return_inverse=True)
    raters, rater = np.unique(rater, return_inverse=True)
    values, category = np.unique(value, return_inverse=True)
    order = np.lexsort((rater, unit))
    return RatingTable(
        unit=unit[order],
        rater=rater[order],
        category=category[order],
        count=np.ones(len(units), dtype=np.int64),
        values=values.astype(np.float64),
        n_units=len(units),
        n_raters=len(raters),
    )


def select_ratings(table: RatingTable, rows: BoolArray) -> RatingTable:
    """Return some of the ratings as a table of the units, raters and categories that they use."""
    unit, value = table.unit[rows], table.values[table.category[rows]]
    return replace(lay_out(unit, table.rater[rows], value), count=table.count[np.unique(unit)])


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


def check_table(
    table: RatingTable, *, needs_categories: bool = True, needs_matrix: bool = False
) -> None:
    """Check that a coefficient can be: two units with two ratings, and what else it needs.

    Raises:
        NotIdentifiedError: Fewer than two units have two ratings; or, where the coefficient needs
            them, fewer than two categories are used, or too many for a matrix of all their pairs.
    """
    if table.n_pairable < 2:
        raise NotIdentifiedError(f"needs two units with two values each, not {table.n_pairable}")
    n_categories = len(table.values)
    if needs_categories and n_categories < 2:
        raise NotIdentifiedError(ONE_CATEGORY)
    if needs_matrix and n_categories > MAX_MATRIX_CATEGORIES:
        raise NotIdentifiedError(
            f"weighs each pair of distinct values, and {n_categories} of them are more than"
            f" {MAX_MATRIX_CATEGORIES}"
        )


def count_holders(table: RatingTable) -> IntArray:
    """Count the units with two ratings or more that hold each category."""
    rows = table.is_pairable[table.unit]
    matrix = category_matrix(table, np.ones(len(table.unit)), rows)
    return np.asarray((matrix > 0) @ table.count, dtype=np.int64)


def count_support(table: RatingTable) -> tuple[int, int]:
    """Count the units whose ratings differ, and those with another rating than the commonest.

    Only units with two ratings or more count. Chance-corrected measures rest on these: where either
    are few, the chance they correct for is barely known.
    """
    is_paired = table.is_pairable[table.unit]
    unit, category = table.unit[is_paired], table.category[is_paired]
    n_of_category = np.bincount(category, weights=table.count[unit], minlength=1)
    common = np.bincount(unit[category == n_of_category.argmax()], minlength=table.n_units)
    differs = mean_distances(table, nominal_distance) > 0
    has_other = table.is_pairable & (common < table.sizes)
    return int(table.count[differs].sum()), int(table.count[has_other].sum())


def category_matrix(table: RatingTable, weight: FloatArray, rows: BoolArray) -> SparseMatrix:
    """Sum the weight of each rating by category and unit, as (categories, units).

    Only ratings marked in `rows` count.
    """
    shape = (len(table.values), table.n_units)
    cells = (table.category[rows], table.unit[rows])
    return scipy.sparse.csr_array((weight[rows], cells), shape=shape)


def sum_units(matrix: SparseMatrix, weights: FloatArray) -> FloatArray:
    """Sum the columns of a matrix, as (n, units), by the weights, as (units, samples)."""
    return np.asarray(matrix @ weights, dtype=np.float64)


def differing_pairs(table: RatingTable) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Count the pairs of ratings of a unit that fall into different categories, each pair once.

    Returns:
        Unit, lower and higher category, and how many pairs of ratings are of these.
    """
    n_categories = len(table.values)
    cells, counts = np.unique(table.unit * n_categories + table.category, return_counts=True)
    unit, category = cells // n_categories, cells % n_categories
    start = np.arange(len(cells))
    starts, ends = [start[:0]], [start[:0]]
    offset = 0
    while len(start):
        offset += 1
        start = start[start + offset < len(cells)]
        start = start[unit[start] == unit[start + offset]]
        starts.append(start)
        ends.append(start + offset)
    first, second = np.concatenate(starts), np.concatenate(ends)
    return unit[first], category[first], category[second], counts[first] * counts[second]


def mean_distances(table: RatingTable, distance: Distance) -> FloatArray:
    """Return the mean distance of two ratings of each unit, 0 where it has fewer than two.

    d_i = sum_{k<l} 2 r_ik r_il delta(k, l) / (r_i (r_i - 1)), r_ik ratings of unit i in category k.
    """
    unit, low, high, count = differing_pairs(table)
    total = np.bincount(
        unit, weights=2 * count * distance(low, high), minlength=table.n_units
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

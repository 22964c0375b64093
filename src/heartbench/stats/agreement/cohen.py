"""Cohen's kappa of two raters, unweighted or with quadratic weights, over the units both rated."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from heartbench.errors import NotIdentifiedError
from heartbench.stats.agreement.table import (
    ONE_CATEGORY,
    Coefficient,
    RatingTable,
    SparseMatrix,
    category_matrix,
    count_used,
    divide,
    require_pairs,
    spread,
    sum_units,
)
from heartbench.stats.comparisons import FloatArray, IntArray

Expected = Callable[[FloatArray, FloatArray], FloatArray]
"""sum_kl n_1k n_2l delta(k, l) from each rater's category counts, as (categories, samples)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _JointRatings:
    """The units both raters rated.

    Attributes:
        unit: Index of each such unit.
        first: Category the first rater gave it.
        second: Category the second gave it.
        first_counts: The first rater's ratings of these, as (categories, units).
        second_counts: The second rater's.
    """

    unit: IntArray
    first: IntArray
    second: IntArray
    first_counts: SparseMatrix
    second_counts: SparseMatrix


def cohen_kappa(table: RatingTable) -> Coefficient:
    """Return Cohen's kappa (1960), (p_a - p_e) / (1 - p_e) with p_e = sum_k p_1k p_2k.

    p_a is the share of equal ratings; each rater has a distribution p_1, p_2 of their own.

    Raises:
        NotIdentifiedError: With other than two raters, or under two units that both rated.
    """
    joint = _join(table)

    def expected(first: FloatArray, second: FloatArray) -> FloatArray:
        unequal: FloatArray = first.sum(axis=0) * second.sum(axis=0) - (first * second).sum(axis=0)
        return unequal

    return _kappa(joint, (joint.first != joint.second).astype(np.float64), expected)


def cohen_kappa_weighted(table: RatingTable, scale: FloatArray) -> Coefficient:
    """Return Cohen's kappa with quadratic weights (Cohen 1968) on a scale of the categories.

    kappa = 1 - sum_i (x_i1 - x_i2)^2 / (n sum_kl p_1k p_2l (x_k - x_l)^2). The scale x holds a
    number for each category: its value, or its index. They differ where values are unevenly spaced.

    Raises:
        NotIdentifiedError: As `cohen_kappa`.
    """
    joint = _join(table)
    x = scale[:, np.newaxis]

    def expected(first: FloatArray, second: FloatArray) -> FloatArray:
        n: FloatArray = first.sum(axis=0)
        mean_1, squares_1 = spread(x, first)
        mean_2, squares_2 = spread(x, second)
        return n * (squares_1 + squares_2) + np.square(n * (mean_1 - mean_2))

    return _kappa(joint, np.square(scale[joint.first] - scale[joint.second]), expected)


def _join(table: RatingTable) -> _JointRatings:
    if table.n_raters != 2:
        raise NotIdentifiedError(f"needs exactly two raters, not {table.n_raters}")
    require_pairs(table)
    is_joint = table.is_pairable[table.unit]
    by_first, by_second = is_joint & (table.rater == 0), is_joint & (table.rater == 1)
    ones = np.ones(len(table.unit))
    return _JointRatings(
        unit=table.unit[by_first],
        first=table.category[by_first],
        second=table.category[by_second],
        first_counts=category_matrix(table, ones, by_first),
        second_counts=category_matrix(table, ones, by_second),
    )


def _kappa(joint: _JointRatings, distances: FloatArray, expected: Expected) -> Coefficient:
    def of_weights(weights: FloatArray) -> FloatArray:
        first = sum_units(joint.first_counts, weights)
        second = sum_units(joint.second_counts, weights)
        by_chance = expected(first, second)
        by_chance[count_used(first + second) < 2] = 0
        return 1 - divide(first.sum(axis=0) * (distances @ weights[joint.unit]), by_chance)

    return Coefficient(of_weights=of_weights, undefined=ONE_CATEGORY)

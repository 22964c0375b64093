"""Krippendorff's alpha at the four levels of measurement, for any raters and any gaps."""

from collections.abc import Callable

import numpy as np
import scipy

from hearteval.stats.agreement.table import (
    ONE_CATEGORY,
    Coefficient,
    Level,
    RatingTable,
    SparseMatrix,
    category_matrix,
    check_table,
    count_used,
    differing_pairs,
    divide,
    mean_distances,
    nominal_distance,
    spread,
    sum_units,
)
from hearteval.stats.comparisons import FloatArray, IntArray

Total = Callable[[FloatArray], FloatArray]


def krippendorff_alpha(table: RatingTable, *, level: Level) -> Coefficient:
    """Return alpha = 1 - D_o / D_e (Krippendorff 2011) over units with two ratings or more.

    With n_k ratings in category k, n in all, and d_i the mean difference delta of two of the r_i
    ratings of unit i, alpha = 1 - (n - 1) sum_i r_i d_i / sum_kl n_k n_l delta_kl. delta is 1
    (nominal); (sum of n_g from k to l, less (n_k + n_l) / 2)^2, the squared difference of mid-ranks
    (ordinal); (x_k - x_l)^2 (interval); ((x_k - x_l) / (x_k + x_l))^2 (ratio).

    Raises:
        NotIdentifiedError: Under two units with two ratings, or two categories; at ratio level
            above `MAX_MATRIX_CATEGORIES` categories.
    """
    check_table(table, needs_matrix=level == "ratio")
    counts = category_matrix(table, np.ones(len(table.unit)), table.is_pairable[table.unit])
    if level == "ordinal":
        return _ordinal(table, counts)
    if level == "nominal":
        return _alpha(
            counts,
            table.sizes * mean_distances(table, nominal_distance),
            differing_totals,
        )
    x = table.values

    def interval(low: IntArray, high: IntArray) -> FloatArray:
        return np.square(x[high] - x[low])

    def ratio(low: IntArray, high: IntArray) -> FloatArray:
        return np.square(np.nan_to_num(divide(x[high] - x[low], x[high] + x[low])))

    if level == "interval":
        return _alpha(
            counts,
            table.sizes * mean_distances(table, interval),
            lambda totals: 2 * totals.sum(axis=0) * spread(x[:, np.newaxis], totals)[1],
        )
    every = np.arange(len(x))
    matrix = ratio(every[:, np.newaxis], every[np.newaxis, :])
    return _alpha(
        counts,
        table.sizes * mean_distances(table, ratio),
        lambda totals: (totals * (matrix @ totals)).sum(axis=0),
    )


def _alpha(counts: SparseMatrix, disagreement: FloatArray, expected: Total) -> Coefficient:
    def of_weights(weights: FloatArray) -> FloatArray:
        totals = sum_units(counts, weights)
        return alpha_of_sums(disagreement @ weights, expected(totals), totals)

    return Coefficient(of_weights=of_weights, undefined=ONE_CATEGORY)


def _ordinal(table: RatingTable, counts: SparseMatrix) -> Coefficient:
    """Mid-ranks depend on the sample, so here pairs of categories are counted, not distances."""
    unit, lower, higher, count = differing_pairs(table)
    kinds, kind = np.unique(lower * len(table.values) + higher, return_inverse=True)
    low, high = kinds // len(table.values), kinds % len(table.values)
    share = 2 * count / (table.sizes[unit] - 1)
    coincidences = scipy.sparse.csr_array((share, (kind, unit)), shape=(len(kinds), table.n_units))

    def of_weights(weights: FloatArray) -> FloatArray:
        totals = sum_units(counts, weights)
        mid_ranks = np.cumsum(totals, axis=0) - totals / 2
        observed = (sum_units(coincidences, weights) * (mid_ranks[high] - mid_ranks[low]) ** 2).sum(
            axis=0
        )
        expected = 2 * totals.sum(axis=0) * spread(mid_ranks, totals)[1]
        return alpha_of_sums(observed, expected, totals)

    return Coefficient(of_weights=of_weights, undefined=ONE_CATEGORY)


def differing_totals(totals: FloatArray) -> FloatArray:
    """Return how many ordered pairs of all ratings differ, from (categories, samples)."""
    return np.asarray(totals.sum(axis=0) ** 2 - (totals**2).sum(axis=0))


def alpha_of_sums(observed: FloatArray, expected: FloatArray, totals: FloatArray) -> FloatArray:
    """Return alpha from sum_i r_i d_i, its chance, and the ratings in each category."""
    expected[count_used(totals) < 2] = 0
    return 1 - divide((totals.sum(axis=0) - 1) * observed, expected)

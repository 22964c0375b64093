"""Percent agreement, and Fleiss' kappa for any number of raters and any gaps.

Values are names here: how far apart two of them are plays no part. Cohen's kappa is in `cohen`.
"""

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
    mean_distances,
    nominal_distance,
    require_categories,
    require_pairs,
    sum_units,
)
from heartbench.stats.comparisons import FloatArray


def percent_agreement(table: RatingTable) -> Coefficient:
    """Return the share of pairs of ratings of a unit that are equal, averaged over units.

    p_a = mean_i sum_k r_ik (r_ik - 1) / (r_i (r_i - 1)) over units with r_i >= 2 (Fleiss 1971; with
    gaps Gwet 2014). Each such unit weighs the same, however many ratings it has.

    Raises:
        NotIdentifiedError: Where no unit has two ratings.
    """
    if not table.is_pairable.any():
        raise NotIdentifiedError("no unit has two values")
    disagreement = mean_distances(table, nominal_distance)
    is_pairable = table.is_pairable.astype(np.float64)

    def of_weights(weights: FloatArray) -> FloatArray:
        return 1 - divide(disagreement @ weights, is_pairable @ weights)

    return Coefficient(of_weights=of_weights, undefined="no unit has two values")


def fleiss_kappa(table: RatingTable) -> Coefficient:
    """Return Fleiss' kappa in Gwet's form for tables with gaps.

    p_a as in `percent_agreement`; p_e = sum_k pi_k^2, pi_k = mean_i r_ik / r_i over units with any
    rating (Gwet 2014). Without gaps this is Fleiss (1971). Values are names: order is ignored.

    Raises:
        NotIdentifiedError: Under two units with two ratings, or two categories.
    """
    require_pairs(table)
    require_categories(table)
    agreement = percent_agreement(table)
    shares = category_shares(table)

    def of_weights(weights: FloatArray) -> FloatArray:
        prevalence = mean_shares(shares, weights)
        expected = 1 - (prevalence**2).sum(axis=0)
        expected[count_used(prevalence) < 2] = 0
        return 1 - divide(1 - agreement.of_weights(weights), expected)

    return Coefficient(of_weights=of_weights, undefined=ONE_CATEGORY)


def category_shares(table: RatingTable) -> SparseMatrix:
    """Return r_ik / r_i, the share of each category among a unit's ratings, as (k, i)."""
    everything = np.ones(len(table.unit), dtype=np.bool_)
    return category_matrix(table, 1 / table.sizes[table.unit], everything)


def mean_shares(shares: SparseMatrix, weights: FloatArray) -> FloatArray:
    """Return pi_k, the mean share of each category over rated units, as (categories, samples)."""
    totals = sum_units(shares, weights)
    return divide(totals, totals.sum(axis=0))

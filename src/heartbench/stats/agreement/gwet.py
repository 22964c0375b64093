"""Gwet's AC1 and AC2: chance agreement from how hard the categories are to tell apart by chance.

Less than kappa do they fall where nearly all ratings are of one category. Their chance agreement
depends on how many categories there are: those in use, as in Gwet's own software.
"""

import math

import numpy as np

from heartbench.stats.agreement.kappas import category_shares, mean_shares
from heartbench.stats.agreement.table import (
    Coefficient,
    Distance,
    Level,
    RatingTable,
    divide,
    mean_distances,
    nominal_distance,
    require_categories,
    require_pairs,
    require_small_matrix,
)
from heartbench.stats.comparisons import FloatArray, IntArray

NO_PAIRS = "no unit has two values"


def gwet_ac1(table: RatingTable) -> Coefficient:
    """Return AC1 (Gwet 2008), (p_a - p_e) / (1 - p_e) with p_e = sum_k pi_k (1 - pi_k) / (q - 1).

    p_a and pi_k as in Fleiss' kappa with gaps; q categories are in use. Values are names here.

    Raises:
        NotIdentifiedError: Under two units with two ratings, or two categories.
    """
    require_pairs(table)
    require_categories(table)
    q = len(table.values)
    return _ac(table, mean_distances(table, nominal_distance), total_weight=q)


def gwet_ac2(table: RatingTable, *, level: Level) -> Coefficient:
    """Return AC2 (Gwet 2014), AC1 with partial credit w_kl for ratings that are near.

    p_a = mean_i sum_kl w_kl r_ik (r_il - [k = l]) / (r_i (r_i - 1)) and
    p_e = T_w / (q (q - 1)) sum_k pi_k (1 - pi_k), T_w = sum_kl w_kl. Weights by level: Gwet's
    ordinal, 1 - C(|k - l| + 1, 2) / C(q, 2) of indices; quadratic at interval level,
    1 - (x_k - x_l)^2 / (x_max - x_min)^2; at ratio level his ratio weights,
    1 - ((x_k - x_l) / (x_k + x_l))^2 / ((x_max - x_min) / (x_max + x_min))^2.

    Raises:
        NotIdentifiedError: Under two units with two ratings, or two categories, or above
            `MAX_MATRIX_CATEGORIES` categories.
        ValueError: At nominal level, which orders nothing.
    """
    require_pairs(table)
    require_categories(table)
    require_small_matrix(table)
    distance = _distance(table.values, level)
    every = np.arange(len(table.values))
    total = np.sum(1 - distance(every[:, np.newaxis], every[np.newaxis, :]))
    return _ac(table, mean_distances(table, distance), total_weight=float(total))


def _ac(table: RatingTable, distances: FloatArray, *, total_weight: float) -> Coefficient:
    shares = category_shares(table)
    is_pairable = table.is_pairable.astype(np.float64)
    q = len(table.values)

    def of_weights(weights: FloatArray) -> FloatArray:
        prevalence = mean_shares(shares, weights)
        chance: FloatArray = (
            total_weight / (q * (q - 1)) * (prevalence * (1 - prevalence)).sum(axis=0)
        )
        return 1 - divide(distances @ weights, is_pairable @ weights) / (1 - chance)

    return Coefficient(of_weights=of_weights, undefined=NO_PAIRS)


def _distance(x: FloatArray, level: Level) -> Distance:
    """Return 1 - w_kl of the level."""

    def ordinal(low: IntArray, high: IntArray) -> FloatArray:
        steps = np.abs(high - low).astype(np.float64)
        distance: FloatArray = steps * (steps + 1) / (2 * math.comb(len(x), 2))
        return distance

    def interval(low: IntArray, high: IntArray) -> FloatArray:
        distance: FloatArray = ((x[high] - x[low]) / (x[-1] - x[0])) ** 2
        return distance

    def ratio(low: IntArray, high: IntArray) -> FloatArray:
        relative = divide(x[high] - x[low], x[high] + x[low])
        largest = (x[-1] - x[0]) / (x[-1] + x[0])
        distance: FloatArray = (np.nan_to_num(relative) / largest) ** 2
        return distance

    if level == "ordinal":
        return ordinal
    if level == "interval":
        return interval
    if level == "ratio":
        return ratio
    raise ValueError("AC2 weighs distances, which the nominal level does not have; use AC1")

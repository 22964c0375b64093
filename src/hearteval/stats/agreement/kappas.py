"""Percent agreement and chance-corrected coefficients of the kappa family.

They differ in what agreement chance would give: Cohen's two raters each have a distribution of
their own, Fleiss' raters share one, and Gwet's chance rises with how hard the categories are to
tell apart, so that his AC1 and AC2 fall less where nearly all ratings are of one category. They
depend on how many categories there are: those in use, as in Gwet's own software.
"""

import math
from collections.abc import Callable

import numpy as np

from hearteval.errors import NotIdentifiedError
from hearteval.stats.agreement.table import (
    ONE_CATEGORY,
    Coefficient,
    Distance,
    Level,
    RatingTable,
    SparseMatrix,
    category_matrix,
    check_table,
    count_used,
    divide,
    mean_distances,
    nominal_distance,
    spread,
    sum_units,
)
from hearteval.stats.comparisons import FloatArray, IntArray

NO_PAIRS = "no unit has two values"

Expected = Callable[[FloatArray, FloatArray], FloatArray]
"""sum_kl n_1k n_2l delta(k, l) from each rater's category counts, as (categories, samples)."""


def percent_agreement(table: RatingTable) -> Coefficient:
    """Return the share of pairs of ratings of a unit that are equal, averaged over units.

    p_a = mean_i sum_k r_ik (r_ik - 1) / (r_i (r_i - 1)) over units with r_i >= 2 (Fleiss 1971; with
    gaps Gwet 2014). Each such unit weighs the same, however many ratings it has.

    Raises:
        NotIdentifiedError: Where no unit has two ratings.
    """
    if not table.is_pairable.any():
        raise NotIdentifiedError(NO_PAIRS)
    disagreement = mean_distances(table, nominal_distance)
    is_pairable = table.is_pairable.astype(np.float64)

    def of_weights(weights: FloatArray) -> FloatArray:
        return 1 - divide(disagreement @ weights, is_pairable @ weights)

    return Coefficient(of_weights=of_weights, undefined=NO_PAIRS)


def cohen_kappa(table: RatingTable) -> Coefficient:
    """Return Cohen's kappa (1960), (p_a - p_e) / (1 - p_e) with p_e = sum_k p_1k p_2k.

    p_a is the share of equal ratings; each rater has a distribution p_1, p_2 of their own.

    Raises:
        NotIdentifiedError: With other than two raters, or under two units that both rated.
    """

    def expected(first: FloatArray, second: FloatArray) -> FloatArray:
        return np.asarray(first.sum(axis=0) * second.sum(axis=0) - (first * second).sum(axis=0))

    return _kappa_of_two(table, nominal_distance, expected)


def cohen_kappa_weighted(table: RatingTable, scale: FloatArray) -> Coefficient:
    """Return Cohen's kappa with quadratic weights (Cohen 1968) on a scale of the categories.

    kappa = 1 - sum_i (x_i1 - x_i2)^2 / (n sum_kl p_1k p_2l (x_k - x_l)^2). The scale x holds a
    number for each category: its value, or its index. They differ where values are unevenly spaced.

    Raises:
        NotIdentifiedError: As `cohen_kappa`.
    """
    x = scale[:, np.newaxis]

    def distance(first: IntArray, second: IntArray) -> FloatArray:
        return np.square(scale[first] - scale[second])

    def expected(first: FloatArray, second: FloatArray) -> FloatArray:
        n: FloatArray = first.sum(axis=0)
        mean_1, squares_1 = spread(x, first)
        mean_2, squares_2 = spread(x, second)
        return n * (squares_1 + squares_2) + np.square(n * (mean_1 - mean_2))

    return _kappa_of_two(table, distance, expected)


def _kappa_of_two(table: RatingTable, distance: Distance, expected: Expected) -> Coefficient:
    if table.n_raters != 2:
        raise NotIdentifiedError(f"needs exactly two raters, not {table.n_raters}")
    check_table(table, needs_categories=False)
    is_joint = table.is_pairable[table.unit]
    by_first, by_second = is_joint & (table.rater == 0), is_joint & (table.rater == 1)
    ones = np.ones(len(table.unit))
    first_counts = category_matrix(table, ones, by_first)
    second_counts = category_matrix(table, ones, by_second)
    distances = distance(table.category[by_first], table.category[by_second])
    units = table.unit[by_first]

    def of_weights(weights: FloatArray) -> FloatArray:
        first, second = sum_units(first_counts, weights), sum_units(second_counts, weights)
        by_chance = expected(first, second)
        by_chance[count_used(first + second) < 2] = 0
        return 1 - divide(first.sum(axis=0) * (distances @ weights[units]), by_chance)

    return Coefficient(of_weights=of_weights, undefined=ONE_CATEGORY)


def fleiss_kappa(table: RatingTable) -> Coefficient:
    """Return Fleiss' kappa in Gwet's form for tables with gaps.

    p_a as in `percent_agreement`; p_e = sum_k pi_k^2, pi_k = mean_i r_ik / r_i over units with any
    rating (Gwet 2014). Without gaps this is Fleiss (1971). Values are names: order is ignored.

    Raises:
        NotIdentifiedError: Under two units with two ratings, or two categories.
    """
    check_table(table)
    agreement, chance = percent_agreement(table), chance_disagreement(table)

    def of_weights(weights: FloatArray) -> FloatArray:
        return beyond_chance(agreement.of_weights(weights), chance.of_weights(weights))

    return Coefficient(of_weights=of_weights, undefined=ONE_CATEGORY)


def chance_disagreement(table: RatingTable) -> Coefficient:
    """Return 1 - p_e, how often two ratings differ by chance, as in `fleiss_kappa`."""
    shares = _category_shares(table)
    return Coefficient(
        of_weights=lambda weights: differing_by_chance(_mean_shares(shares, weights)),
        undefined=NO_PAIRS,
    )


def differing_by_chance(prevalence: FloatArray) -> FloatArray:
    """Return 1 - sum_k pi_k^2 of shares, (categories, samples); 0 where one category is used."""
    expected = 1 - (prevalence**2).sum(axis=0)
    expected[count_used(prevalence) < 2] = 0
    return np.asarray(expected, dtype=np.float64)


def beyond_chance(same: FloatArray, by_chance: FloatArray) -> FloatArray:
    """Return (p_a - p_e) / (1 - p_e) from agreement and from disagreement by chance."""
    return 1 - divide(1 - same, by_chance)


def specific_agreement(table: RatingTable, category: int) -> Coefficient:
    """Return how often another rater gives a category to a unit to which one gave it.

    sum_i r_ik (r_ik - 1) / sum_i r_ik (r_i - 1): with two raters 2 a / (2 a + b + c) (Dice 1945;
    Cicchetti and Feinstein 1990).

    Raises:
        NotIdentifiedError: Where no unit with two ratings holds the category.
    """
    held = np.bincount(table.unit[table.category == category], minlength=table.n_units)
    both, all_pairs = held * (held - 1.0), held * (table.sizes - 1.0)
    if not all_pairs.any():
        raise NotIdentifiedError("no unit with two values holds it")

    def of_weights(weights: FloatArray) -> FloatArray:
        return divide(both @ weights, all_pairs @ weights)

    return Coefficient(of_weights=of_weights, undefined="no unit with two values holds it")


def agreement_with_others(table: RatingTable) -> list[FloatArray]:
    """Return by rater the share of the others who say the same, for each unit they share."""
    n_categories = len(table.values)
    cells = table.unit * n_categories + table.category
    alike = np.bincount(cells, minlength=table.n_units * n_categories)
    shared = table.is_pairable[table.unit]
    unit, rater = table.unit[shared], table.rater[shared]
    same = (alike[cells[shared]] - 1) / (table.sizes[unit] - 1)
    shares, by = np.repeat(same, table.count[unit]), np.repeat(rater, table.count[unit])
    return [shares[by == own] for own in range(table.n_raters)]


def gwet_ac1(table: RatingTable) -> Coefficient:
    """Return AC1 (Gwet 2008), (p_a - p_e) / (1 - p_e) with p_e = sum_k pi_k (1 - pi_k) / (q - 1).

    p_a and pi_k as in Fleiss' kappa with gaps; q categories are in use. Values are names here.

    Raises:
        NotIdentifiedError: Under two units with two ratings, or two categories.
    """
    check_table(table)
    return _ac(table, nominal_distance, total_weight=len(table.values))


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
    check_table(table, needs_matrix=True)
    distance = _distance(table.values, level)
    every = np.arange(len(table.values))
    total = np.sum(1 - distance(every[:, np.newaxis], every[np.newaxis, :]))
    return _ac(table, distance, total_weight=float(total))


def _ac(table: RatingTable, distance: Distance, *, total_weight: float) -> Coefficient:
    distances = mean_distances(table, distance)
    shares = _category_shares(table)
    is_pairable = table.is_pairable.astype(np.float64)
    q = len(table.values)

    def of_weights(weights: FloatArray) -> FloatArray:
        prevalence = _mean_shares(shares, weights)
        chance = total_weight / (q * (q - 1)) * (prevalence * (1 - prevalence)).sum(axis=0)
        agreement = divide(distances @ weights, is_pairable @ weights)
        return np.asarray(1 - agreement / (1 - chance))

    return Coefficient(of_weights=of_weights, undefined=NO_PAIRS)


def _distance(x: FloatArray, level: Level) -> Distance:
    """Return 1 - w_kl of the level."""

    def ordinal(low: IntArray, high: IntArray) -> FloatArray:
        steps = np.abs(high - low).astype(np.float64)
        return np.asarray(steps * (steps + 1) / (2 * math.comb(len(x), 2)))

    def interval(low: IntArray, high: IntArray) -> FloatArray:
        return np.asarray(((x[high] - x[low]) / (x[-1] - x[0])) ** 2)

    def ratio(low: IntArray, high: IntArray) -> FloatArray:
        relative = divide(x[high] - x[low], x[high] + x[low])
        largest = (x[-1] - x[0]) / (x[-1] + x[0])
        return np.asarray((np.nan_to_num(relative) / largest) ** 2)

    if level == "nominal":
        raise ValueError("AC2 weighs distances, which the nominal level does not have; use AC1")
    return {"ordinal": ordinal, "interval": interval, "ratio": ratio}[level]


def _category_shares(table: RatingTable) -> SparseMatrix:
    """Return r_ik / r_i, the share of each category among a unit's ratings, as (k, i)."""
    everything = np.ones(len(table.unit), dtype=np.bool_)
    return category_matrix(table, 1 / table.sizes[table.unit], everything)


def _mean_shares(shares: SparseMatrix, weights: FloatArray) -> FloatArray:
    """Return pi_k, the mean share of each category over rated units, as (categories, samples)."""
    totals = sum_units(shares, weights)
    return divide(totals, totals.sum(axis=0))

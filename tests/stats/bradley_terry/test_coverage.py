"""Nominal 95 % intervals cover 92-97 % of simulated truths; the full table is in `benchmarks/`.

The share covered is over 200 replicates and all systems (or all pairs of systems). Its standard
error is at most that of one system's, sqrt(.95 * .05 / 200) = .0154 (binomial; the systems of a
replicate depend on each other), so the bounds asserted are .92 - .0154 and .97 + .0154. What is to
be covered is the limit of the fit, `population_strengths`, itself checked in `test_simulation`.
"""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm
from simulated_votes import Design, Population, population_strengths, simulate_comparisons

from hearteval.stats.bradley_terry.clustered_variance import (
    ClusteredVariance,
    vary_over_items,
    vary_over_items_and_raters,
)
from hearteval.stats.bradley_terry.differences import pairwise_differences
from hearteval.stats.bradley_terry.fit import BradleyTerryFit, fit_bradley_terry
from hearteval.stats.bradley_terry.intervals import (
    clustered,
    independent_votes,
    influence_on_strengths,
    published,
)
from hearteval.stats.comparisons import Comparisons, FloatArray, count_comparisons

N_REPLICATES = 200
LOWEST, HIGHEST = 0.92 - 0.0154, 0.97 + 0.0154
POPULATION = Population(theta=np.linspace(0.8, -0.8, 6), item_sd=0.6, rater_sd=0.3)
DESIGN = Design(n_items=100, pairs_per_item=6, n_raters=5, raters_per_pair=5)
JUDGES = np.random.default_rng(0).normal(0, 0.3, (3, 6))
PANEL = Design(n_items=60, pairs_per_item=6, n_raters=3, raters_per_pair=3)

Replicate = tuple[Comparisons, BradleyTerryFit]


def replicates(population: Population, design: Design, seed: int) -> list[Replicate]:
    rng = np.random.default_rng(seed)
    drawn = (simulate_comparisons(population, design, rng) for _ in range(N_REPLICATES))
    return [(comparisons, fit_bradley_terry(comparisons)) for comparisons in drawn]


def over_items(replicate: Replicate) -> ClusteredVariance:
    comparisons, fit = replicate
    return vary_over_items(influence_on_strengths(comparisons, fit), comparisons.item)


def two_way(replicate: Replicate) -> ClusteredVariance:
    comparisons, fit = replicate
    influence_of = influence_on_strengths(comparisons, fit)
    return vary_over_items_and_raters(influence_of, comparisons.item, comparisons.rater)


def covered(
    fits: list[Replicate], variances: list[ClusteredVariance], truth: FloatArray
) -> tuple[float, float]:
    """Return the shares of systems and of differences that the intervals cover."""
    upper = np.triu_indices(len(truth), 1)
    difference = (truth[:, None] - truth[None, :])[upper]
    systems, differences = [], []
    for (_, fit), variance in zip(fits, variances, strict=True):
        intervals = clustered(fit.theta, variance, level=0.95)
        systems.append((intervals.low <= truth) & (truth <= intervals.high))
        found = pairwise_differences(fit.theta, variance.of_differences(), variance.df, level=0.95)
        low, high = found.low[upper], found.high[upper]
        differences.append((low <= difference) & (difference <= high))
    return float(np.mean(systems)), float(np.mean(differences))


@pytest.mark.parametrize("n_raters", [5, 8, 15])
def test_two_way_covers_under_item_and_rater_effects_where_items_alone_do_not(
    n_raters: int,
) -> None:
    fits = replicates(POPULATION, replace(DESIGN, n_raters=n_raters), seed=n_raters)
    truth = population_strengths(POPULATION)

    both = covered(fits, [two_way(replicate) for replicate in fits], truth)
    items = covered(fits, [over_items(replicate) for replicate in fits], truth)

    assert LOWEST <= min(both) <= max(both) <= HIGHEST
    assert max(items) < LOWEST


def test_two_way_is_wide_rather_than_narrow_where_raters_do_not_differ() -> None:
    """The few degrees of freedom stay, though V is nearly that of the items."""
    population = replace(POPULATION, rater_sd=0.0)
    fits = replicates(population, DESIGN, seed=1)

    both = covered(
        fits, [two_way(replicate) for replicate in fits], population_strengths(population)
    )

    assert min(both) >= LOWEST


@pytest.mark.parametrize("item_sd", [0.0, 0.6])
@pytest.mark.parametrize("judges", [JUDGES, 0 * JUDGES])
def test_item_sandwich_covers_under_a_fixed_panel(item_sd: float, judges: FloatArray) -> None:
    population = replace(POPULATION, item_sd=item_sd, panel=judges)
    fits = replicates(population, PANEL, seed=2)

    items = covered(
        fits, [over_items(replicate) for replicate in fits], population_strengths(population)
    )
    assert LOWEST <= min(items) <= max(items) <= HIGHEST


def test_item_sandwich_covers_with_few_items_in_both_orders() -> None:
    population = replace(POPULATION, panel=JUDGES)
    design = replace(PANEL, n_items=12, pairs_per_item=15, both_orders=True)
    fits = replicates(population, design, seed=3)

    items = covered(
        fits, [over_items(replicate) for replicate in fits], population_strengths(population)
    )
    assert LOWEST <= min(items) <= max(items) <= HIGHEST


def test_votes_taken_as_independent_cover_only_where_they_are() -> None:
    even = replace(POPULATION, item_sd=0.0, rater_sd=0.0)
    shares = []
    for population in (even, POPULATION):
        fits = replicates(population, DESIGN, seed=4)
        variances = [independent_votes(*replicate) for replicate in fits]
        shares.append(covered(fits, variances, population_strengths(population)))

    assert LOWEST <= min(shares[0]) <= max(shares[0]) <= HIGHEST
    assert max(shares[1]) < 0.8


def test_published_interval_covers_less_than_it_says_even_of_independent_votes() -> None:
    even = replace(POPULATION, item_sd=0.0, rater_sd=0.0)
    truth = population_strengths(even)
    shares = []
    for comparisons, fit in replicates(even, DESIGN, seed=5):
        narrow = published(fit.theta, count_comparisons(comparisons), level=0.95)
        shares.append((narrow.low <= truth) & (truth <= narrow.high))

    assert np.mean(shares) < 0.85


def test_fits_are_nearly_unbiased_for_the_population_s_strengths() -> None:
    errors = [
        fit.theta - population_strengths(POPULATION)
        for _, fit in replicates(POPULATION, replace(DESIGN, n_raters=15), seed=6)
    ]
    allowed = 0.01 + norm.ppf(0.999) * np.std(errors, axis=0) / math.sqrt(N_REPLICATES)

    assert np.all(np.abs(np.mean(errors, axis=0)) < allowed)

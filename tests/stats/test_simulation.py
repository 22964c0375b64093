"""Plans are balanced, and fits tend to the population's strengths, found by other integrals."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit, logit
from scipy.stats import norm
from simulated_votes import (
    Design,
    Population,
    population_strengths,
    simulate_comparisons,
)

from hearteval.stats.bradley_terry.clustered_variance import vary_over_items
from hearteval.stats.bradley_terry.fit import fit_bradley_terry
from hearteval.stats.bradley_terry.intervals import influence_on_strengths
from hearteval.stats.comparisons import TIE_SCORE, Comparisons, FloatArray, IntArray

FOUR = np.array([1.0, 0.5, -0.3, -1.2])
DESIGN = Design(n_items=10, pairs_per_item=4, n_raters=5, raters_per_pair=3)


def pairs(comparisons: Comparisons) -> IntArray:
    ends = (comparisons.left, comparisons.right)
    return np.asarray(np.minimum(*ends) * 10 + np.maximum(*ends))


def test_pairs_are_compared_equally_often_to_within_one() -> None:
    comparisons = simulate_comparisons(Population(theta=FOUR), DESIGN, np.random.default_rng(1))

    _, counts = np.unique(pairs(comparisons), return_counts=True)
    assert sorted(counts) == [18, 18, 21, 21, 21, 21]  # 40 pairs over 6, 3 raters each


def test_pairs_differ_within_an_item_and_raters_within_a_pair() -> None:
    comparisons = simulate_comparisons(Population(theta=FOUR), DESIGN, np.random.default_rng(2))

    asked = np.stack([comparisons.item, pairs(comparisons), comparisons.rater])
    assert np.unique(asked, axis=1).shape[1] == len(comparisons) == 10 * 4 * 3
    assert np.unique(asked[:2], axis=1).shape[1] == 10 * 4
    assert set(comparisons.rater) == {0, 1, 2, 3, 4}


def test_both_orders_ask_each_rater_again_with_sides_exchanged() -> None:
    design = Design(n_items=4, pairs_per_item=3, n_raters=2, raters_per_pair=2, both_orders=True)
    comparisons = simulate_comparisons(Population(theta=FOUR), design, np.random.default_rng(3))

    columns = (comparisons.item, comparisons.rater, comparisons.left, comparisons.right)
    asked = set(zip(*(column.tolist() for column in columns), strict=True))
    assert len(asked) == len(comparisons) == 4 * 3 * 2 * 2
    assert asked == {(item, rater, right, left) for item, rater, left, right in asked}


def test_the_same_state_of_randomness_gives_the_same_comparisons() -> None:
    first, second = (
        simulate_comparisons(Population(theta=FOUR, item_sd=1), DESIGN, np.random.default_rng(4))
        for _ in range(2)
    )
    for name in ("left", "right", "score", "item", "rater"):
        assert np.array_equal(getattr(first, name), getattr(second, name)), name


def test_equal_systems_tie_with_nu_over_two_plus_nu() -> None:
    """40,000 votes at 1/3 have an SE of .00236."""
    design = Design(n_items=40_000, pairs_per_item=1, n_raters=1, raters_per_pair=1)
    comparisons = simulate_comparisons(
        Population(theta=np.zeros(2), tie=1.0), design, np.random.default_rng(5)
    )
    assert np.mean(comparisons.score == TIE_SCORE) == pytest.approx(1 / 3, abs=0.01)
    assert np.mean(comparisons.score) == pytest.approx(1 / 2, abs=0.01)


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (Design(n_items=2, pairs_per_item=7, n_raters=3, raters_per_pair=3), "more than 6 pairs"),
        (Design(n_items=2, pairs_per_item=6, n_raters=3, raters_per_pair=4), "or its raters"),
    ],
)
def test_a_design_cannot_ask_for_more_than_there_is(wrong: Design, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        simulate_comparisons(Population(theta=FOUR), wrong, np.random.default_rng(6))


def test_a_panel_has_as_many_judges_as_the_pool() -> None:
    population = Population(theta=FOUR, panel=np.zeros((3, 4)))
    with pytest.raises(ValueError, match="3 judges and the design 5"):
        simulate_comparisons(population, DESIGN, np.random.default_rng(7))


def test_without_effects_the_population_has_the_known_strengths() -> None:
    np.testing.assert_allclose(population_strengths(Population(theta=FOUR)), FOUR, atol=1e-12)


def test_half_ties_shrink_the_population_s_strengths() -> None:
    """Odds of 4 and nu 1 make D = 4 + 1 + 2: points are (4 + 1) / 7 of a comparison, odds 5 : 2."""
    theta = np.array([math.log(4), 0])
    found = population_strengths(Population(theta=theta, tie=1))

    np.testing.assert_allclose(found, np.array([0.5, -0.5]) * math.log(2.5), rtol=1e-12)


def test_effects_of_items_and_raters_average_the_chances() -> None:
    """The difference of two departures with SD .5 has SD sqrt(.5 (item) + .5 (rater)) = 1."""
    chance, _ = quad(lambda z: expit(1.5 + z) * norm.pdf(z), -12, 12, epsabs=1e-13)
    population = Population(theta=np.array([1.5, 0]), item_sd=0.5, rater_sd=0.5)

    found = population_strengths(population)

    np.testing.assert_allclose(found[0] - found[1], logit(chance), rtol=1e-9)
    assert chance < expit(1.5)


def test_a_panel_averages_the_chances_of_its_judges() -> None:
    panel = np.array([[0.3, -0.2], [-0.5, 0.4]])
    population = Population(theta=np.array([1.0, 0]), rater_sd=9, panel=panel)

    found = population_strengths(population)

    expected = logit((expit(1.5) + expit(0.1)) / 2)
    np.testing.assert_allclose(found[0] - found[1], expected, rtol=1e-12)


@pytest.mark.parametrize("tie", [0.0, 0.8])
@pytest.mark.parametrize("panel", [None, np.linspace(-0.6, 0.6, 12).reshape(3, 4) ** 3])
def test_fits_tend_to_the_population_s_strengths_and_not_to_theta(
    tie: float, panel: FloatArray | None
) -> None:
    """Over 20,000 items the SE is about .01."""
    population = Population(theta=FOUR, item_sd=1, tie=tie, panel=panel)
    design = Design(n_items=20_000, pairs_per_item=3, n_raters=3, raters_per_pair=3)
    comparisons = simulate_comparisons(population, design, np.random.default_rng(8))
    fit = fit_bradley_terry(comparisons)
    variance = vary_over_items(influence_on_strengths(comparisons, fit), comparisons.item)
    se = np.sqrt(variance.of_parameters())

    truth = population_strengths(population)

    assert np.all(np.abs(fit.theta - truth) < 4 * se)
    assert np.abs(truth[0] - FOUR[0]) > 8 * se[0]


def test_drawn_raters_depart_from_theta_as_items_do() -> None:
    """With 3,000 raters the SE is about .02."""
    population = Population(theta=FOUR, rater_sd=1)
    design = Design(n_items=10_000, pairs_per_item=3, n_raters=3_000, raters_per_pair=1)
    comparisons = simulate_comparisons(population, design, np.random.default_rng(9))
    fit = fit_bradley_terry(comparisons)
    variance = vary_over_items(influence_on_strengths(comparisons, fit), comparisons.rater)
    se = np.sqrt(variance.of_parameters())

    truth = population_strengths(population)

    np.testing.assert_allclose(truth, population_strengths(Population(theta=FOUR, item_sd=1)))
    assert np.all(np.abs(fit.theta - truth) < 4 * se)
    assert np.abs(truth[0] - FOUR[0]) > 8 * se[0]


def test_stronger_effects_shrink_strengths_more() -> None:
    spreads = [
        np.ptp(population_strengths(Population(theta=FOUR, item_sd=sd))) for sd in (0, 0.5, 1, 2)
    ]
    assert all(after < before for before, after in pairwise(spreads))

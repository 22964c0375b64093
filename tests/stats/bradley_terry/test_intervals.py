"""Hand-computed cases, and two further derivations; coverage is in `test_coverage`."""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from made_comparisons import made_comparisons
from scipy.special import expit
from scipy.stats import t
from simulated_votes import Design, Population, simulate_comparisons

from hearteval.stats.bradley_terry.clustered_variance import (
    ClusteredVariance,
    vary_over_items,
    vary_over_items_and_raters,
)
from hearteval.stats.bradley_terry.fit import fit_bradley_terry
from hearteval.stats.bradley_terry.intervals import (
    Intervals,
    clustered,
    independent_votes,
    influence_on_strengths,
    own_df,
    published,
    scores_by_cluster,
)
from hearteval.stats.comparisons import (
    Comparisons,
    FloatArray,
    count_comparisons,
    select_comparisons,
)


def weighted_votes(seed: int, *, theta: FloatArray, n_items: int) -> Comparisons:
    """Draw comparisons whose systems vary in strength over items, with random weights."""
    rng = np.random.default_rng(seed)
    design = Design(n_items=n_items, pairs_per_item=6, n_raters=3, raters_per_pair=3)
    comparisons = simulate_comparisons(Population(theta=theta, item_sd=0.6), design, rng)
    weight = rng.integers(1, 6, len(comparisons)).astype(np.float64)
    return replace(comparisons, weight=weight)


def over_items(comparisons: Comparisons) -> ClusteredVariance:
    fit = fit_bradley_terry(comparisons)
    return vary_over_items(influence_on_strengths(comparisons, fit), comparisons.item)


def item_sandwich(comparisons: Comparisons, *, level: float) -> Intervals:
    theta = fit_bradley_terry(comparisons).theta
    return clustered(theta, over_items(comparisons), level=level)


def one_vote_per_item(n_wins: int, n_losses: int) -> Comparisons:
    score = [1.0] * n_wins + [0.0] * n_losses
    return made_comparisons(0, 1, score, n_systems=2, item=np.arange(len(score)))


def test_sandwich_of_two_systems_with_one_vote_an_item_is_binomial() -> None:
    """theta_1 - mean = logit(p) / 2, and G/(G - 1) makes its variance 1 / (4 (n - 1) p q)."""
    comparisons = one_vote_per_item(15, 5)
    intervals = item_sandwich(comparisons, level=0.9)

    se = math.sqrt(1 / (4 * 19 * 0.75 * 0.25))
    half_width = 1.729133 * se  # 5 % point of t with 19 degrees of freedom, from tables
    centre = math.log(3) / 2
    np.testing.assert_allclose(intervals.se, [se, se], rtol=1e-9)
    np.testing.assert_allclose(intervals.low, [centre - half_width, -centre - half_width], 1e-6)
    np.testing.assert_allclose(intervals.high, [centre + half_width, -centre + half_width], 1e-6)
    assert intervals.df == 19


def test_votes_copied_within_their_item_do_not_narrow_the_sandwich() -> None:
    once = one_vote_per_item(15, 5)
    ten_times = select_comparisons(once, np.tile(np.arange(20), 10))
    ten_times = replace(ten_times, rater=np.repeat(np.arange(10), 20))
    np.testing.assert_allclose(over_items(ten_times).item, over_items(once).item, rtol=1e-9)


def test_published_interval_is_one_over_the_root_of_n() -> None:
    intervals = published(np.array([0.5, -0.5]), np.array([25, 100]), level=0.95)

    np.testing.assert_allclose(intervals.se, [0.2, 0.1])
    np.testing.assert_allclose(intervals.low, [0.5 - 0.2 * 1.959964, -0.5 - 0.1 * 1.959964], 1e-6)
    np.testing.assert_allclose(intervals.high, [0.5 + 0.2 * 1.959964, -0.5 + 0.1 * 1.959964], 1e-6)
    assert intervals.df == math.inf


@pytest.mark.parametrize(("n_systems", "factor"), [(2, 1), (3, 4 / 3), (18, 17 / 9)])
def test_published_interval_is_too_narrow_by_2_less_2_over_s_for_equal_systems(
    n_systems: int, factor: float
) -> None:
    """The information is m/4 (S I - J), m votes a pair: V(theta_i - mean) = 4 (S - 1)/(m S^2)."""
    left, right = np.nonzero(1 - np.eye(n_systems))
    comparisons = made_comparisons(left, right, n_systems=n_systems, count=5_000)
    fit = fit_bradley_terry(comparisons)

    sound = np.sqrt(independent_votes(comparisons, fit).of_parameters())

    narrow = published(fit.theta, count_comparisons(comparisons), level=0.95).se
    np.testing.assert_allclose(sound / narrow, factor, rtol=1e-3)


def test_scores_are_the_derivative_of_the_log_likelihood() -> None:
    comparisons = weighted_votes(1, theta=np.zeros(4), n_items=6)
    theta = np.array([0.7, -1.2, 0.1, 0.4])

    def log_likelihood(theta: FloatArray, item: int) -> float:
        rows = select_comparisons(comparisons, comparisons.item == item)
        difference = theta[rows.left] - theta[rows.right]
        won, lost = np.log(expit(difference)), np.log(expit(-difference))
        return float((rows.weight * (rows.score * won + (1 - rows.score) * lost)).sum())

    step = 1e-6 * np.eye(4)
    numeric = [
        [
            (log_likelihood(theta + step[i], g) - log_likelihood(theta - step[i], g)) / 2e-6
            for i in range(4)
        ]
        for g in range(6)
    ]
    scores = scores_by_cluster(comparisons, theta, comparisons.item)
    np.testing.assert_allclose(scores, numeric, atol=1e-7)


def test_sandwich_is_close_to_the_jackknife_over_items() -> None:
    comparisons = weighted_votes(2, theta=np.linspace(1, -1, 5), n_items=80)

    left_out = np.array(
        [
            fit_bradley_terry(select_comparisons(comparisons, comparisons.item != item)).theta
            for item in range(80)
        ]
    )
    jackknife = np.sqrt(79 / 80 * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))

    intervals = item_sandwich(comparisons, level=0.95)
    np.testing.assert_allclose(intervals.se, jackknife, rtol=0.03)


def test_interval_ends_follow_from_t_with_items_minus_one() -> None:
    intervals = item_sandwich(weighted_votes(3, theta=np.zeros(4), n_items=9), level=0.8)

    half_width = t.ppf(0.9, 8) * intervals.se
    np.testing.assert_allclose((intervals.high - intervals.low) / 2, half_width, rtol=1e-12)


def test_two_way_interval_ends_follow_from_t_with_raters_minus_one() -> None:
    comparisons = weighted_votes(4, theta=np.zeros(4), n_items=9)
    fit = fit_bradley_terry(comparisons)
    variance = vary_over_items_and_raters(
        influence_on_strengths(comparisons, fit), comparisons.item, comparisons.rater
    )
    intervals = clustered(fit.theta, variance, level=0.95)

    half_width = 4.302653 * np.sqrt(variance.of_parameters())  # t with 2 df, from tables
    np.testing.assert_allclose(intervals.high, fit.theta + half_width, rtol=1e-6)
    np.testing.assert_allclose(intervals.low, fit.theta - half_width, rtol=1e-6)
    assert intervals.df == 2


def with_a_late_system(rng: np.random.Generator, *, n_own: int) -> Comparisons:
    """Four equal systems on 60 items that part them; the last has some of these only."""
    worth = rng.normal(0, 0.8, (60, 4))
    rows = [
        (one, other, item)
        for item in range(60)
        for one, other in combinations(range(4 if item < n_own else 3), 2)
        for _ in range(3)
    ]
    left, right, item = np.array(rows).T
    chance = expit(worth[item, left] - worth[item, right])
    won = rng.random(len(rows)) < chance
    return made_comparisons(left, right, won, n_systems=4, item=item, rater=-1)


def test_a_system_has_as_many_degrees_of_freedom_as_items_less_one() -> None:
    comparisons = with_a_late_system(np.random.default_rng(1), n_own=6)
    assert own_df(comparisons, 59, over_raters=False).tolist() == [59, 59, 59, 5]
    assert own_df(comparisons, 14, over_raters=True).tolist() == [14, 14, 14, 5]  # of 15 people
    alone = with_a_late_system(np.random.default_rng(1), n_own=1)
    assert own_df(alone, 59, over_raters=False).tolist()[-1] == 1


def rated_by_few(rng: np.random.Generator, *, n_own: int) -> Comparisons:
    """Four equal systems on which people's tastes differ; some people see the last."""
    worth, taste = rng.normal(0, 0.3, (30, 4)), rng.normal(0, 0.8, (12, 4))
    rows = [
        (one, other, item, person)
        for item in range(30)
        for person in rng.permutation(12)[:4]
        for one, other in combinations(range(4 if person < n_own else 3), 2)
    ]
    left, right, item, person = np.array(rows).T
    liked = worth[item] + taste[person]
    at = np.arange(len(rows))
    won = rng.random(len(rows)) < expit(liked[at, left] - liked[at, right])
    return made_comparisons(left, right, won, n_systems=4, item=item, rater=person)


def test_where_people_are_sampled_a_system_has_its_own_people_less_one() -> None:
    comparisons = rated_by_few(np.random.default_rng(1), n_own=3)
    assert own_df(comparisons, 11, over_raters=True).tolist() == [11, 11, 11, 2]
    assert own_df(comparisons, 29, over_raters=False).tolist()[:3] == [29, 29, 29]
    panel = replace(
        comparisons, rater=np.where(comparisons.right == 3, -1, comparisons.rater)
    )  # judges alone see the last, on 20 items or so
    assert own_df(panel, 11, over_raters=True).tolist() == [11, 11, 11, 11]


def test_a_system_met_by_people_who_write_alone_has_their_degrees_of_freedom() -> None:
    """People (3) wrote what they are in; a model (2) that met nobody else stands on them too.

    Model 2 met five of the seven writers, and model 0 another model as well.
    """
    left, right = np.array([0, 0, 0, 1, 2]), np.array([1, 3, 3, 3, 3])
    comparisons = made_comparisons(
        np.tile(left, 20),
        np.tile(right, 20),
        np.tile([0.0, 1.0], 50),
        n_systems=4,
        item=np.repeat(np.arange(20), 5),
        rater=np.repeat(np.arange(20) % 15, 5),
        writer=np.stack(
            [np.full(20, -1), *(np.arange(20) % n for n in (7, 6, 7, 5))], axis=1
        ).ravel(),
    )
    over = own_df(comparisons, 14, over_raters=True, over_writers=True)
    assert over.tolist() == [14, 14, 4, 6]
    assert own_df(comparisons, 14, over_raters=True).tolist() == [14, 14, 14, 14]


@pytest.mark.parametrize(
    ("draw", "n_own", "over_raters"), [(rated_by_few, 3, True), (with_a_late_system, 4, False)]
)
def test_a_system_of_few_people_or_items_is_covered_at_the_stated_rate(
    draw: Callable[..., Comparisons], n_own: int, over_raters: bool
) -> None:
    """With the degrees of freedom of all people or items its 95 % interval covers far less."""
    rng, n_covered, n_by_all = np.random.default_rng(0), 0, 0
    for _ in range(150):
        comparisons = draw(rng, n_own=n_own)
        fit = fit_bradley_terry(comparisons)
        moves, item = influence_on_strengths(comparisons, fit), comparisons.item
        variance = (
            vary_over_items_and_raters(moves, item, comparisons.rater)
            if over_raters
            else vary_over_items(moves, item)
        )
        df = own_df(comparisons, variance.df, over_raters=over_raters)
        own = clustered(fit.theta, variance, level=0.95, df=df)
        by_all = clustered(fit.theta, variance, level=0.95)
        n_covered += bool(own.low[3] <= 0 <= own.high[3])
        n_by_all += bool(by_all.low[3] <= 0 <= by_all.high[3])
    assert n_by_all < 0.89 * 150 < n_covered  # of items .84 and .94 in 1,200

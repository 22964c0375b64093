"""Hand-computed cases, two further derivations, and coverage by simulation."""

import math

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm, t

from heartbench.errors import NotIdentifiedError
from heartbench.stats.bradley_terry import fit_bradley_terry, fit_win_matrix
from heartbench.stats.comparisons import Comparisons, FloatArray, IntArray, count_comparisons
from heartbench.stats.intervals import (
    item_covariance,
    item_sandwich,
    published,
    scores_by_cluster,
)


def simulate(
    rng: np.random.Generator, theta: FloatArray, *, n_items: int, n_per_item: int, item_sd: float
) -> Comparisons:
    """Draw comparisons whose systems vary in strength from item to item, with random weights."""
    n_rows, n_systems = n_items * n_per_item, len(theta)
    item = np.repeat(np.arange(n_items), n_per_item)
    left = rng.integers(0, n_systems, n_rows)
    right = (left + rng.integers(1, n_systems, n_rows)) % n_systems
    strength = theta + rng.normal(0, item_sd, (n_items, n_systems))
    chance = expit(strength[item, left] - strength[item, right])
    return Comparisons(
        left=left,
        right=right,
        score=(rng.random(n_rows) < chance).astype(np.float64),
        weight=rng.integers(1, 6, n_rows).astype(np.float64),
        item=item,
        rater=np.zeros_like(item),
        n_systems=n_systems,
    )


def only_items(comparisons: Comparisons, item: IntArray) -> Comparisons:
    kept = np.isin(comparisons.item, item)
    return Comparisons(
        left=comparisons.left[kept],
        right=comparisons.right[kept],
        score=comparisons.score[kept],
        weight=comparisons.weight[kept],
        item=comparisons.item[kept],
        rater=comparisons.rater[kept],
        n_systems=comparisons.n_systems,
    )


def one_vote_per_item(n_wins: int, n_losses: int) -> Comparisons:
    n = n_wins + n_losses
    return Comparisons(
        left=np.zeros(n, dtype=np.int64),
        right=np.ones(n, dtype=np.int64),
        score=np.array([1.0] * n_wins + [0.0] * n_losses),
        weight=np.ones(n),
        item=np.arange(n),
        rater=np.zeros(n, dtype=np.int64),
        n_systems=2,
    )


def test_sandwich_of_two_systems_with_one_vote_an_item_is_binomial() -> None:
    """theta_1 - mean = logit(p) / 2, and G/(G - 1) makes its variance 1 / (4 (n - 1) p q)."""
    comparisons = one_vote_per_item(15, 5)
    intervals = item_sandwich(comparisons, fit_bradley_terry(comparisons), level=0.9)

    se = math.sqrt(1 / (4 * 19 * 0.75 * 0.25))
    half_width = 1.729133 * se  # 5 % point of t with 19 degrees of freedom, from tables
    centre = math.log(3) / 2
    np.testing.assert_allclose(intervals.se, [se, se], rtol=1e-9)
    np.testing.assert_allclose(intervals.low, [centre - half_width, -centre - half_width], 1e-6)
    np.testing.assert_allclose(intervals.high, [centre + half_width, -centre + half_width], 1e-6)
    assert intervals.df == 19


def test_votes_copied_within_their_item_do_not_narrow_the_sandwich() -> None:
    once = one_vote_per_item(15, 5)
    ten_times = Comparisons(
        left=np.tile(once.left, 10),
        right=np.tile(once.right, 10),
        score=np.tile(once.score, 10),
        weight=np.tile(once.weight, 10),
        item=np.tile(once.item, 10),
        rater=np.repeat(np.arange(10), 20),
        n_systems=2,
    )
    np.testing.assert_allclose(
        item_covariance(ten_times, fit_bradley_terry(ten_times)),
        item_covariance(once, fit_bradley_terry(once)),
        rtol=1e-9,
    )


def test_published_interval_is_one_over_the_root_of_n() -> None:
    intervals = published(np.array([0.5, -0.5]), np.array([25, 100]), level=0.95)

    np.testing.assert_allclose(intervals.se, [0.2, 0.1])
    np.testing.assert_allclose(intervals.low, [0.5 - 0.2 * 1.959964, -0.5 - 0.1 * 1.959964], 1e-6)
    np.testing.assert_allclose(intervals.high, [0.5 + 0.2 * 1.959964, -0.5 + 0.1 * 1.959964], 1e-6)
    assert intervals.df == math.inf


def test_published_interval_is_half_of_what_even_independent_votes_give() -> None:
    comparisons = one_vote_per_item(500, 500)
    fit = fit_bradley_terry(comparisons)
    difference_se = 2 * item_sandwich(comparisons, fit, level=0.95).se[0]

    published_se = published(fit.theta, count_comparisons(comparisons), level=0.95).se[0]

    assert difference_se == pytest.approx(2 * published_se, rel=1e-3)


def test_under_two_items_there_is_no_interval() -> None:
    comparisons = one_vote_per_item(1, 1)
    fit = fit_bradley_terry(comparisons)
    one_item = Comparisons(
        left=comparisons.left,
        right=comparisons.right,
        score=comparisons.score,
        weight=comparisons.weight,
        item=np.array([7, 7]),
        rater=comparisons.rater,
        n_systems=2,
    )
    with pytest.raises(NotIdentifiedError, match="at least two items, not 1"):
        item_sandwich(one_item, fit, level=0.95)


def test_scores_are_the_derivative_of_the_log_likelihood() -> None:
    rng = np.random.default_rng(1)
    comparisons = simulate(rng, np.zeros(4), n_items=6, n_per_item=8, item_sd=1)
    theta = rng.normal(0, 1, 4)

    def log_likelihood(theta: FloatArray, item: int) -> float:
        rows = only_items(comparisons, np.array([item]))
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
    rng = np.random.default_rng(2)
    theta = np.linspace(1, -1, 5)
    comparisons = simulate(rng, theta, n_items=80, n_per_item=20, item_sd=0.6)
    items = np.arange(80)

    left_out = np.array(
        [fit_bradley_terry(only_items(comparisons, items[items != item])).theta for item in items]
    )
    jackknife = np.sqrt(79 / 80 * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))

    intervals = item_sandwich(comparisons, fit_bradley_terry(comparisons), level=0.95)
    np.testing.assert_allclose(intervals.se, jackknife, rtol=0.03)


def test_interval_ends_follow_from_t_with_items_minus_one() -> None:
    comparisons = simulate(
        np.random.default_rng(3), np.zeros(4), n_items=9, n_per_item=30, item_sd=0.3
    )
    intervals = item_sandwich(comparisons, fit_bradley_terry(comparisons), level=0.8)

    half_width = t.ppf(0.9, 8) * intervals.se
    np.testing.assert_allclose((intervals.high - intervals.low) / 2, half_width, rtol=1e-12)


def marginal_theta(theta: FloatArray, item_sd: float) -> FloatArray:
    """Return what the fit tends to with many items, from chances averaged over items."""
    node, weight = np.polynomial.hermite_e.hermegauss(60)
    difference = theta[:, None] - theta[None, :]
    chance = expit(difference[..., None] + math.sqrt(2) * item_sd * node) @ weight
    chance /= weight.sum()
    np.fill_diagonal(chance, 0)
    return fit_win_matrix(chance).theta


@pytest.mark.parametrize(("n_items", "n_per_item"), [(8, 60), (60, 20)])
def test_item_sandwich_covers_95_percent_where_the_published_interval_does_not(
    n_items: int, n_per_item: int
) -> None:
    rng = np.random.default_rng(95)
    theta = np.linspace(1, -1, 6)
    truth = marginal_theta(theta, 0.6)
    sandwich_covers, published_covers, errors = [], [], []
    for _ in range(500):
        comparisons = simulate(rng, theta, n_items=n_items, n_per_item=n_per_item, item_sd=0.6)
        fit = fit_bradley_terry(comparisons)
        wide = item_sandwich(comparisons, fit, level=0.95)
        narrow = published(fit.theta, count_comparisons(comparisons), level=0.95)
        sandwich_covers.append((wide.low <= truth) & (truth <= wide.high))
        published_covers.append((narrow.low <= truth) & (truth <= narrow.high))
        errors.append(fit.theta - truth)

    bias = np.mean(errors, axis=0)
    bias_se = np.std(errors, axis=0) / math.sqrt(500)
    assert 0.92 <= np.mean(sandwich_covers) <= 0.97
    assert np.mean(published_covers) < 0.75
    assert np.all(np.abs(bias) < 0.05 + norm.ppf(0.999) * bias_se)

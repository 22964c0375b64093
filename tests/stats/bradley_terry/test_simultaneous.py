"""Adjusted p-values against Tukey's test, the multivariate t of SciPy, and what they promise."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_t, norm, studentized_range, t

from hearteval.stats.bradley_terry.differences import pairwise_differences, rank_bounds
from hearteval.stats.bradley_terry.simultaneous import family_p
from hearteval.stats.comparisons import FloatArray

OF_DRAWS = {3: 0.006, 6: 0.006, 18: 0.008}
"""Some three Monte Carlo errors of a p of .05, by number of systems."""


def spread(joint: FloatArray) -> FloatArray:
    """Return the variance of every difference."""
    own = np.diag(joint)
    return own[:, None] + own[None, :] - 2 * joint


def even(theta: FloatArray, df: float) -> FloatArray:
    """Return the adjusted p of systems whose errors are independent and alike."""
    joint = np.eye(len(theta)) / 2
    return family_p(theta, spread(joint), df, joint)


@pytest.mark.parametrize("n", [3, 6, 18])
@pytest.mark.parametrize("df", [4, 19, math.inf])
def test_first_step_of_an_even_design_is_tukey_s_test(n: int, df: float) -> None:
    """The largest t of independent systems is their studentized range over the root of 2."""
    critical = studentized_range.ppf(0.95, n, df) / math.sqrt(2)
    p = even(np.concatenate(([critical], np.zeros(n - 1))), df)

    assert p[0, 1] == pytest.approx(0.05, abs=OF_DRAWS[n])


@pytest.mark.parametrize("n", [70, 200])
@pytest.mark.parametrize("df", [4, 19, math.inf])
def test_of_many_systems_the_first_step_is_bounded_from_above(n: int, df: float) -> None:
    """With all the mass on one W it would be Sidak's 1 - .95^(1/m): less than twice Tukey's."""
    critical = studentized_range.ppf(0.95, n, df) / math.sqrt(2)
    p = even(np.concatenate(([critical], np.zeros(n - 1))), df)

    assert 0.05 <= p[0, 1] <= 0.1


def test_normal_bound_is_sidak_s() -> None:
    """Of 65 systems 2,080 differences: 1 - (1 - 2 Phi(-4.5))^2080."""
    p = even(np.concatenate(([4.5], np.zeros(64))), math.inf)

    assert p[0, 1] == pytest.approx(-math.expm1(2080 * math.log1p(-2 * norm.sf(4.5))), rel=1e-9)


@pytest.mark.parametrize("df", [5, 30])
def test_steps_are_the_rectangles_of_a_multivariate_t(df: int) -> None:
    """Uneven, correlated errors; of the six differences the three from the first are known."""
    root = np.array([[1, 0, 0, 0.0], [0.3, 0.7, 0, 0], [0.1, -0.5, 1.2, 0], [0.4, 0.2, 0, 0.5]])
    joint = root @ root.T
    theta = np.array([2.2, 0.4, 0.0, 0.9])
    variance = spread(joint)
    variance[1:, 1:] = math.inf
    p = family_p(theta, variance, df, joint)[0, 1:]

    statistic = (theta[0] - theta[1:]) / np.sqrt(variance[0, 1:])
    order = np.argsort(-statistic)
    contrast = (np.eye(4)[0] - np.eye(4)[1:])[order]
    shape = contrast @ joint @ contrast.T
    shape /= np.sqrt(np.outer(np.diag(shape), np.diag(shape)))
    expected, rng = [], np.random.default_rng(1)
    for k, value in enumerate(statistic[order]):
        ends = np.full(3 - k, value)
        left = multivariate_t(shape=shape[k:, k:], df=df, seed=rng)
        expected.append(1 - left.cdf(ends, lower_limit=-ends, maxpts=200_000))
    assert p[order] == pytest.approx(np.maximum.accumulate(expected), abs=0.009)
    assert np.all(p >= 2 * t.sf(statistic, df))


def test_last_step_of_two_equal_systems_is_their_own_test() -> None:
    """The third and fourth are far below: between the first two only their own p is left."""
    theta = np.array([2.5, 0.0, -400.0, -900.0])
    p = even(theta, 12)

    assert p[0, 1] == pytest.approx(2 * t.sf(2.5, 12), abs=0.006)
    assert even(theta[:2], 12)[0, 1] == pytest.approx(2 * t.sf(2.5, 12), abs=0.005)


def test_rare_differences_are_bounded_where_draws_cannot_tell() -> None:
    """A t of 30 at 20 degrees of freedom; 15 times its own chance, as no draw reaches it."""
    p = even(np.array([30.0, 0, 0, 0, 0, 0]), 20)[0, 1]

    assert 2 * t.sf(30, 20) < p <= 15 * 2 * t.sf(30, 20) * (1 + 1e-6)


def test_difference_of_fewer_degrees_of_freedom_counts_by_how_rare_it_is() -> None:
    theta, joint = np.array([3.0, 0.0]), np.eye(2) / 2
    df = np.array([[10.0, 3.0], [3.0, 10.0]])

    p = family_p(theta, spread(joint), df, joint)[0, 1]
    assert p == pytest.approx(2 * t.sf(3.0, 3), abs=0.005)


def test_unknown_differences_are_open_and_cost_the_others_nothing() -> None:
    """The third system has no interval and the fourth no variance to anybody."""
    theta, joint = np.array([3.0, 0.0, 9.0, -9.0]), np.eye(4) / 2
    variance = spread(joint)
    variance[2, :] = variance[:, 2] = math.inf
    variance[3, :] = variance[:, 3] = 0.0

    p = family_p(theta, variance, 12, joint)
    assert p[0, 1] == pytest.approx(even(theta[:2], 12)[0, 1], abs=0.005)
    p[0, 1] = p[1, 0] = 1.0
    assert np.array_equal(p, np.ones((4, 4)))


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(2, 9), st.sampled_from([4.0, 30.0, math.inf]))
def test_adjusted_values_are_in_order_and_never_below_their_own(
    seed: int, n: int, df: float
) -> None:
    rng = np.random.default_rng(seed)
    theta, root = rng.normal(0, 2, n), rng.normal(0, 0.5, (n, n))
    joint = root @ root.T
    p = family_p(theta, spread(joint), df, joint)
    own = pairwise_differences(theta, spread(joint), df, level=0.95).p

    upper = np.triu_indices(n, 1)
    assert np.array_equal(p, p.T)
    assert np.all(p[upper] >= own[upper])
    assert np.all(p[upper] <= np.minimum(1, own[upper] * len(own[upper])) + 0.02)
    assert np.all(np.diff(p[upper][np.argsort(own[upper])]) >= 0)
    bounds = rank_bounds(theta, p, level=0.95)
    order = np.argsort(-theta)
    assert np.all(bounds.low <= 1 + np.argsort(order))
    assert np.all(1 + np.argsort(order) <= bounds.high)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_renaming_systems_changes_nothing(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    theta, root = rng.normal(0, 1, n), rng.normal(0, 0.4, (n, n))
    joint = root @ root.T
    order = rng.permutation(n)
    square = np.ix_(order, order)

    before = family_p(theta, spread(joint), 6, joint)
    after = family_p(theta[order], spread(joint)[square], 6, joint[square])
    assert np.array_equal(after, before[square])


def test_all_places_hold_in_as_many_studies_as_the_level_says() -> None:
    """Of 1,000 draws at 95 %, more than 73 wrong ones would come with chance 0.1 % (binomial)."""
    rng = np.random.default_rng(11)
    truth = np.array([0.5, 0.5, 0.5, 0.5, -3.0])
    covariance = 0.2 * (np.eye(5) + 0.3)
    n_wrong = 0
    for theta in rng.multivariate_normal(truth, covariance, 1_000):
        p = family_p(theta, spread(covariance), math.inf, covariance)
        bounds = rank_bounds(theta, p, level=0.95)
        n_wrong += bool((bounds.low[:4] > 1).any() or bounds.low[4] > 5 or bounds.high[4] < 5)

    assert n_wrong <= 73


def test_difference_whose_chance_underflows_is_the_most_certain() -> None:
    """Forty standard errors and more on 4,546 degrees of freedom were once called open."""
    theta = np.array([5.0, 2.0, 0.0])
    variance = np.full((3, 3), 0.01)
    df = np.array(
        [[4_546.0, 4_546.0, 4_546.0], [4_546.0, 9_000.0, 9_000.0], [4_546.0, 9_000.0, 1.0]]
    )

    found = family_p(theta, variance, df, np.eye(3) * 0.005)

    assert found[0, 2] == 0
    assert found[0, 1] < 1e-6

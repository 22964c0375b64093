"""Hand-computed cases, and the example of Benjamini and Hochberg."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from hearteval.stats.bradley_terry.differences import pairwise_differences, rank_bounds
from hearteval.stats.comparisons import FloatArray

BENJAMINI_HOCHBERG_1995 = np.array(
    [
        *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262),
        *(0.5719, 0.6528, 0.7590, 1.0),
    ]
)
"""P-values of 15 comparisons of two treatments (Benjamini and Hochberg 1995, section 4.1)."""


def even(n: int, variance: float) -> FloatArray:
    """Return one variance for every difference."""
    return variance * (1 - np.eye(n))


def test_difference_of_two_systems_has_a_t_interval_and_a_t_test() -> None:
    """(1 - 0.25) / 0.5 = 1.5, of which t with 3 df leaves 23.06 % outside (from tables)."""
    found = pairwise_differences(np.array([1, 0.25]), even(2, 0.25), 3, level=0.95)

    np.testing.assert_allclose(found.difference, [[0, 0.75], [-0.75, 0]])
    np.testing.assert_allclose(found.se, [[0, 0.5], [0.5, 0]])
    half_width = 3.182446 * 0.5
    np.testing.assert_allclose(
        found.low, [[0, 0.75 - half_width], [-0.75 - half_width, 0]], rtol=1e-6
    )
    np.testing.assert_allclose(
        found.high, [[0, 0.75 + half_width], [-0.75 + half_width, 0]], rtol=1e-6
    )
    np.testing.assert_allclose(found.p, [[1, 0.230584], [0.230584, 1]], rtol=1e-5)
    np.testing.assert_allclose(found.q, found.p)


def test_infinite_degrees_of_freedom_are_the_normal_distribution() -> None:
    found = pairwise_differences(np.array([1.959964, 0]), even(2, 1), math.inf, level=0.95)

    assert found.p[0, 1] == pytest.approx(0.05, rel=1e-5)
    assert found.low[0, 1] == pytest.approx(0, abs=1e-5)


def test_adjusted_values_reject_four_of_benjamini_and_hochberg_s_fifteen() -> None:
    """Six systems make 15 differences; their variances are set to give the published p-values."""
    theta = np.array([3.0, 2.6, 2.1, 1.5, 0.0, 0.0])
    first, second = np.triu_indices(6, 1)
    variance = np.ones((6, 6))
    p = BENJAMINI_HOCHBERG_1995[:-1]
    variance[first[:-1], second[:-1]] = (
        (theta[first] - theta[second])[:-1] / t.isf(p / 2, 10)
    ) ** 2

    found = pairwise_differences(theta, variance, 10, level=0.95)

    np.testing.assert_allclose(found.p[first, second], BENJAMINI_HOCHBERG_1995, rtol=1e-9)
    q = found.q[first, second]
    assert np.flatnonzero(q <= 0.05).tolist() == [0, 1, 2, 3]
    assert np.flatnonzero(15 * found.p[first, second] <= 0.05).tolist() == [0, 1, 2]
    # m p(k) / k, and never more than that of a larger p: the sixth takes the seventh's.
    np.testing.assert_allclose(q[[0, 2, 3, 5]], [0.0015, 0.0095, 0.035625, 0.0638571], rtol=1e-5)


def test_difference_without_variance_is_left_open() -> None:
    found = pairwise_differences(np.array([0.5, -0.5]), even(2, 0), 3, level=0.95)

    assert found.se[0, 1] == 0
    assert (found.low[0, 1], found.high[0, 1]) == (-math.inf, math.inf)
    assert (found.low[1, 0], found.high[1, 0]) == (-math.inf, math.inf)
    assert (found.p[0, 1], found.q[0, 1]) == (1, 1)


def test_ranks_are_bounded_by_the_systems_certainly_above_and_below() -> None:
    """The first is certainly above the last two, the second above the last; p at the level is."""
    p = np.ones((5, 5))
    for above, below, value in ((0, 3, 0.001), (0, 4, 0.0001), (1, 4, 0.05), (1, 3, 0.0501)):
        p[above, below] = p[below, above] = value
    bounds = rank_bounds(np.array([4, 2.5, 2, 0, -0.49]), p, level=0.95)

    assert bounds.low.tolist() == [1, 1, 1, 2, 3]
    assert bounds.high.tolist() == [3, 4, 5, 5, 5]


@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_relabelling_systems_permutes_differences(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    theta = rng.normal(0, 1, n)
    variance = even(n, 0.3) + 0.1 * np.add.outer(theta, theta) ** 2 * (1 - np.eye(n))
    order = rng.permutation(n)
    square = np.ix_(order, order)
    before = pairwise_differences(theta, variance, 4, level=0.9)
    after = pairwise_differences(theta[order], variance[square], 4, level=0.9)

    for name in ("difference", "se", "low", "high", "p", "q"):
        assert np.array_equal(getattr(after, name), getattr(before, name)[square]), name

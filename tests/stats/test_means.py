"""Intervals of shares and means: published and hand-computed, against scipy, within their scale."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from hearteval.stats.means import (
    bounded_interval,
    false_discovery_q,
    influence_interval,
    mean_interval,
    mean_p_value,
    share_p_value,
    wilson_interval,
)

SCORES = st.lists(st.integers(1, 5), min_size=2, max_size=30).filter(lambda s: len(set(s)) > 1)


@pytest.mark.parametrize(
    ("n_successes", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_examples_of_newcombe_1998(n_successes: int, n: int, low: float, high: float) -> None:
    """Newcombe, Statistics in Medicine 17 (1998), table I, method 3: Wilson's score interval."""
    interval = wilson_interval(n_successes / n, n, level=0.95)

    assert interval == pytest.approx((low, high), abs=5e-5)


@settings(deadline=None)
@given(st.integers(1, 500), st.data(), st.sampled_from([0.5, 0.8, 0.95, 0.99]))
def test_scipy_agrees(n: int, data: st.DataObject, level: float) -> None:
    n_successes = data.draw(st.integers(0, n))
    expected = binomtest(n_successes, n).proportion_ci(level, method="wilson")

    interval = wilson_interval(n_successes / n, n, level=level)

    assert interval == pytest.approx((expected.low, expected.high), abs=1e-12)


@settings(deadline=None)
@given(st.floats(0, 1), st.integers(1, 1000))
def test_interval_holds_its_share_within_zero_and_one(share: float, n: int) -> None:
    low, high = wilson_interval(share, n, level=0.95)

    assert 0 <= low <= share <= high <= 1


@pytest.mark.parametrize(("share", "n"), [(0.5, 0), (1.1, 10), (-0.1, 10), (float("nan"), 10)])
def test_impossible_share_is_refused(share: float, n: int) -> None:
    with pytest.raises(ValueError, match="share from 0 to 1"):
        wilson_interval(share, n, level=0.95)


def test_mean_interval_is_that_of_t_over_units() -> None:
    shares = np.array([0.5, 0.75, 1.0, 0.75, 0.9, 0.4])
    low, high = mean_interval(shares, level=0.95)
    expected = scipy.stats.ttest_1samp(shares, 0).confidence_interval(0.95)
    assert (low, high) == pytest.approx((expected.low, min(1.0, expected.high)))


def test_mean_interval_of_equal_units_is_the_score_interval() -> None:
    assert mean_interval(np.ones(60), level=0.95) == wilson_interval(1.0, 60, level=0.95)


def test_mean_interval_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one unit"):
        mean_interval(np.array([]), level=0.95)


def test_interval_of_units_that_differ_by_rounding_only_is_the_score_interval() -> None:
    shares = np.full(20, 0.1)
    shares[0] += 1e-17
    shares[1] += 2e-17
    assert mean_interval(shares, level=0.95) == pytest.approx(wilson_interval(0.1, 20, level=0.95))


def test_p_of_sixty_in_a_hundred_against_one_half() -> None:
    # z = 0.1 / 0.05 = 2
    assert share_p_value(0.6, 100, null=0.5) == pytest.approx(0.0455003, abs=1e-7)


@settings(deadline=None)
@given(st.floats(0, 1), st.integers(1, 1000), st.sampled_from([0.5, 0.75]))
def test_interval_at_one_minus_p_ends_where_p_was_tested(share: float, n: int, null: float) -> None:
    assume(abs(share - null) > 1e-3)
    p = share_p_value(share, n, null=null)
    assume(p > 1e-10)
    ends = wilson_interval(share, n, level=1 - p)
    assert min(abs(end - null) for end in ends) < 1e-5


@pytest.mark.parametrize(("share", "n"), [(0.5, 0), (1.1, 10), (-0.1, 10), (float("nan"), 10)])
def test_p_of_an_impossible_share_is_refused(share: float, n: int) -> None:
    with pytest.raises(ValueError, match="share from 0 to 1"):
        share_p_value(share, n, null=0.5)


def test_p_of_a_mean_is_that_of_t_over_units() -> None:
    shares = np.array([0.5, 0.75, 1.0, 0.75, 0.9, 0.4])
    expected = scipy.stats.ttest_1samp(shares, 0.5).pvalue
    assert mean_p_value(shares, null=0.5) == pytest.approx(expected)


def test_p_of_equal_units_is_that_of_their_share() -> None:
    assert mean_p_value(np.ones(9), null=0.5) == share_p_value(1.0, 9, null=0.5)


def test_p_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one unit"):
        mean_p_value(np.array([]), null=0.5)


def influence_of(values: np.ndarray) -> np.ndarray:
    """What each of these does to their mean."""
    moved: np.ndarray = (values - values.mean()) / len(values)
    return moved


def test_interval_of_the_mean_of_three_values() -> None:
    # mean 2, sd 1, se 1/sqrt(3), t(2) = 4.302653
    influence = influence_of(np.array([1.0, 2.0, 3.0]))
    found = influence_interval(2.0, influence, df=2, level=0.95)
    assert found == pytest.approx((2 - 2.484138, 2 + 2.484138), abs=1e-6)


@given(SCORES)
def test_interval_of_a_mean_is_scipys(scores: list[int]) -> None:
    values = np.array(scores, dtype=float)
    expected = scipy.stats.ttest_1samp(values, 0).confidence_interval(0.9)
    found = influence_interval(
        float(values.mean()), influence_of(values), df=len(values) - 1, level=0.9
    )
    assert found == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(("influence", "df"), [([], 0), ([0.5], 0), ([0.5, -0.5], 0)])
def test_interval_needs_two_items_and_a_degree_of_freedom(influence: list[float], df: int) -> None:
    assert influence_interval(1.0, np.array(influence), df=df, level=0.95) is None


def test_items_that_do_not_depart_from_each_other_give_no_interval() -> None:
    assert influence_interval(1.0, np.array([1e-17, -1e-17]), df=1, level=0.95) is None


def test_bounded_interval_is_the_t_interval_cut_to_the_scale() -> None:
    values = np.array([4.0, 5.0, 5.0])
    low, high = bounded_interval(values, lowest=1, highest=5, level=0.95) or (0, 0)
    expected = scipy.stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert low == pytest.approx(expected.low)
    assert expected.high > high == 5


def test_bounded_interval_of_equal_values_is_the_score_interval() -> None:
    low, high = wilson_interval(0.75, 8, level=0.95)
    values = np.full(8, 4.0)
    values[3] += 1e-15
    found = bounded_interval(values, lowest=1, highest=5, level=0.95)
    assert found == pytest.approx((1 + 4 * low, 1 + 4 * high))


def test_bounded_interval_needs_two_units() -> None:
    assert bounded_interval(np.array([4.0]), lowest=1, highest=5, level=0.95) is None


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_false_discoveries_are_counted_as_scipy_does(p: list[float]) -> None:
    assert false_discovery_q(p).tolist() == scipy.stats.false_discovery_control(p).tolist()


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_a_p_value_outside_0_to_1_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        false_discovery_q([0.2, p])

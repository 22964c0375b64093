"""Intervals of means over items: hand-computed, against scipy, and kept on their scale."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from heartbench.stats.means import bounded_interval, influence_interval
from heartbench.stats.proportions import wilson_interval

SCORES = st.lists(st.integers(1, 5), min_size=2, max_size=30).filter(lambda s: len(set(s)) > 1)


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

"""Lin's concordance, Spearman and Kendall: by hand, by SciPy, by the jackknife, properties."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from hearteval.errors import NotIdentifiedError
from hearteval.stats.comparisons import FloatArray
from hearteval.stats.concordance import (
    kendall,
    kendall_interval,
    lin_concordance,
    lin_interval,
    spearman,
    spearman_interval,
)

lists = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=30)


def columns(pairs: list[tuple[int, int]]) -> tuple[FloatArray, FloatArray]:
    x, y = np.array(pairs, dtype=np.float64).T
    return x, y


@given(lists)
def test_rank_correlations_are_those_of_scipy(pairs: list[tuple[int, int]]) -> None:
    x, y = columns(pairs)
    if np.ptp(x) and np.ptp(y):
        assert spearman(x, y) == pytest.approx(scipy.stats.spearmanr(x, y).statistic, abs=1e-12)
        assert kendall(x, y) == pytest.approx(scipy.stats.kendalltau(x, y).statistic, abs=1e-12)
    else:
        with pytest.raises(NotIdentifiedError):
            spearman(x, y)


def test_lin_by_hand() -> None:
    """Means 2 and 3, variances 2/3 over n, covariance 2/3: 4/3 / (4/3 + 1)."""
    x, y = np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 4.0])
    assert lin_concordance(x, y) == pytest.approx(4 / 7)
    assert lin_concordance(x, x) == 1
    assert lin_concordance(x, -x + 4) == pytest.approx(-1)


@given(lists)
def test_lin_is_no_further_from_0_than_the_correlation(pairs: list[tuple[int, int]]) -> None:
    x, y = columns(pairs)
    if np.ptp(x) and np.ptp(y):
        assert abs(lin_concordance(x, y)) <= abs(np.corrcoef(x, y)[0, 1]) + 1e-12
        assert lin_concordance(x, y) == pytest.approx(lin_concordance(y, x))


@pytest.mark.parametrize("kind", ["lin", "spearman", "kendall"])
def test_intervals_cover_what_many_things_have(kind: str) -> None:
    rng = np.random.default_rng(3)

    def draw(n: int) -> tuple[FloatArray, FloatArray]:
        x = rng.normal(size=n)
        return x, 0.7 * x + 0.5 * rng.normal(size=n) + 0.2

    true_x, true_y = draw(1500)
    true = {
        "lin": lin_concordance(*draw(1_000_000)),
        "spearman": spearman(*draw(1_000_000)),
        "kendall": kendall(true_x, true_y),
    }[kind]
    covered = 0
    for _ in range(600):
        x, y = draw(25)
        low, high = {
            "lin": lambda x=x, y=y: lin_interval(x, y, level=0.95),
            "spearman": lambda x=x, y=y: spearman_interval(spearman(x, y), 25, level=0.95),
            "kendall": lambda x=x, y=y: kendall_interval(kendall(x, y), 25, level=0.95),
        }[kind]()
        covered += low <= true <= high
    assert 0.92 <= covered / 600 <= 0.98


def test_what_has_no_value_or_interval_says_why() -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    with pytest.raises(NotIdentifiedError, match="two things"):
        spearman(x[:1], x[:1])
    with pytest.raises(NotIdentifiedError, match="all numbers are one"):
        lin_concordance(np.ones(3), np.ones(3))
    with pytest.raises(NotIdentifiedError, match="takes 5"):
        kendall_interval(0.5, 4, level=0.95)
    with pytest.raises(NotIdentifiedError, match="end of the scale"):
        lin_interval(x, x, level=0.95)
    with pytest.raises(NotIdentifiedError, match="do not correlate"):
        lin_interval(x, np.array([1.0, 0.0, 3.0, 0.0, 1.0]), level=0.95)
    with pytest.raises(NotIdentifiedError, match="of one list are equal"):
        lin_interval(np.full(5, 1500.0), x, level=0.95)
    with pytest.raises(ValueError, match="one length"):
        kendall(x, x[:2])

"""ICC(C,1) and ICC(A,1): published, by an analysis of variance in statsmodels, properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from rating_tables import ANXIETY, NAN, SHROUT_FLEISS, VIDEO, WINE, rating_table
from statsmodels.regression.linear_model import OLS

from hearteval.errors import NotIdentifiedError
from hearteval.stats.agreement.bootstrap import estimate
from hearteval.stats.agreement.icc import count_complete, icc_a1, icc_c1
from hearteval.stats.comparisons import FloatArray

Wide = FloatArray | tuple[tuple[float, ...], ...]


def consistency(wide: Wide) -> float:
    table = rating_table(wide)
    return estimate(icc_c1(table), table)


def absolute(wide: Wide) -> float:
    table = rating_table(wide)
    return estimate(icc_a1(table), table)


def by_anova(wide: FloatArray) -> tuple[float, float]:
    """Compute both from the residuals of three regressions on units, on raters and on both."""
    n, k = wide.shape
    units = np.kron(np.eye(n), np.ones((k, 1)))
    raters = np.kron(np.ones((n, 1)), np.eye(k))
    on_units, on_raters, on_both = (
        OLS(wide.ravel(), design).fit().ssr
        for design in (units, raters, np.hstack((units, raters[:, 1:])))
    )
    msr = (on_raters - on_both) / (n - 1)
    msc = (on_units - on_both) / (k - 1)
    mse = on_both / ((n - 1) * (k - 1))
    shared = msr + (k - 1) * mse
    return (msr - mse) / shared, (msr - mse) / (shared + k / n * (msc - mse))


def test_shrout_and_fleiss_1979() -> None:
    # Table 4: ICC(3,1) .71, ICC(2,1) .29.
    assert round(consistency(SHROUT_FLEISS), 2) == 0.71
    assert round(absolute(SHROUT_FLEISS), 2) == 0.29


def test_wine_of_pingouin() -> None:
    # Documentation of pingouin.intraclass_corr: ICC3 0.729, ICC2 0.728.
    assert round(consistency(WINE), 3) == 0.729
    assert round(absolute(WINE), 3) == 0.728


def test_anxiety_of_irr() -> None:
    # R irr, icc(anxiety, "twoway", "agreement"): ICC(A,1) = 0.198.
    assert round(absolute(ANXIETY), 3) == 0.198


@pytest.mark.parametrize("wide", [SHROUT_FLEISS, WINE, ANXIETY, VIDEO])
def test_both_equal_an_analysis_of_variance(wide: Wide) -> None:
    expected = by_anova(np.array(wide, dtype=np.float64))
    assert (consistency(wide), absolute(wide)) == pytest.approx(expected, abs=1e-6)


def test_units_with_a_gap_are_left_out() -> None:
    wide = (*WINE, (4, NAN, 4, 4))
    assert count_complete(rating_table(wide)) == len(WINE)
    assert absolute(wide) == absolute(WINE)


def test_raters_who_differ_by_a_constant_are_consistent_and_do_not_agree() -> None:
    wide = ((1, 4), (2, 5), (3, 6))
    assert consistency(wide) == pytest.approx(1)
    # MSR 2, MSE 0, MSC 13.5: 2 / (2 + 2/3 x 13.5).
    assert absolute(wide) == pytest.approx(2 / 11)


def test_negative_values_are_not_clipped() -> None:
    assert consistency(((1, 2), (2, 1))) == pytest.approx(-1)


@pytest.mark.parametrize("value", [0.1, 3e7])
def test_values_that_never_vary_have_no_icc(value: float) -> None:
    with pytest.raises(NotIdentifiedError, match="add up to 0"):
        consistency(((value, value), (value, value)))


def test_icc_needs_two_raters_and_two_complete_units() -> None:
    with pytest.raises(NotIdentifiedError, match="two raters, not 1"):
        consistency(((1,), (2,)))
    with pytest.raises(NotIdentifiedError, match="every rater rated, not 1"):
        absolute(((1, 2), (2, NAN)))


def test_a_sample_without_two_units_is_undefined() -> None:
    table = rating_table(WINE)
    weights = np.zeros((len(WINE), 2))
    weights[0, 1] = 1
    assert np.isnan(icc_c1(table).of_weights(weights)).all()
    assert np.isnan(icc_a1(table).of_weights(weights)).all()


def test_a_sample_of_equal_units_has_no_consistency() -> None:
    table = rating_table(WINE)
    weights = np.zeros((len(WINE), 1))
    weights[1] = 5
    assert np.isnan(icc_c1(table).of_weights(weights)).all()


@given(
    arrays(np.int64, (6, 3), elements=st.integers(-3, 3)),
    st.permutations(range(3)),
    st.integers(-100, 100),
)
def test_places_of_raters_and_a_shift_of_all_values_do_not_matter(
    wide: FloatArray, places: list[int], shift: int
) -> None:
    wide[0], wide[1] = -3, 3
    moved = wide[:, places] + shift
    assert absolute(moved) == pytest.approx(absolute(wide), abs=1e-9)
    assert consistency(moved) == pytest.approx(consistency(wide), abs=1e-9)


@given(arrays(np.float64, 6, elements=st.floats(-1e3, 1e3)))
def test_perfect_agreement_is_one(answers: FloatArray) -> None:
    answers[0], answers[1] = -7, 7
    wide = np.stack((answers, answers, answers), axis=1)
    assert consistency(wide) == pytest.approx(1)
    assert absolute(wide) == pytest.approx(1)

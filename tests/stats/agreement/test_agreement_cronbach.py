"""Cronbach's alpha, its interval, and ICCs of means: published answers, and each by the other."""

import csv

import numpy as np
import pytest
from rating_tables import NAN, SHARED, SHROUT_FLEISS, WINE, rating_table

from hearteval.errors import NotIdentifiedError
from hearteval.stats.agreement.bootstrap import estimate
from hearteval.stats.agreement.cronbach import cronbach_alpha, feldt_interval
from hearteval.stats.agreement.icc import icc_1, icc_a1, icc_c1, step_up
from hearteval.stats.comparisons import FloatArray

needs_data = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the reference data are not at ../shared/data/reference"
)


def read_wide(name: str) -> dict[str, FloatArray]:
    with (SHARED / "classic" / name).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {
        key: np.array([float(row[key]) if row[key] else NAN for row in rows]) for key in rows[0]
    }


def test_iccs_of_shrout_and_fleiss_1979() -> None:
    # Table 4: ICC(1,1) .17, ICC(3,k) .91, ICC(2,k) .62.
    table = rating_table(SHROUT_FLEISS)
    assert round(estimate(icc_1(table), table), 2) == 0.17
    assert round(step_up(estimate(icc_c1(table), table), 4), 2) == 0.91
    assert round(step_up(estimate(icc_a1(table), table), 4), 2) == 0.62


def test_iccs_of_wine_of_pingouin() -> None:
    # Documentation of pingouin.intraclass_corr: ICC1 0.728, ICC3k 0.915, ICC2k 0.914.
    table = rating_table(WINE)
    assert round(estimate(icc_1(table), table), 3) == 0.728
    assert round(step_up(estimate(icc_c1(table), table), 4), 3) == 0.915
    assert round(step_up(estimate(icc_a1(table), table), 4), 3) == 0.914


@pytest.mark.parametrize("wide", [SHROUT_FLEISS, WINE])
def test_alpha_without_gaps_is_the_icc_of_the_mean(wide: tuple[tuple[float, ...], ...]) -> None:
    table = rating_table(wide)
    of_mean = step_up(estimate(icc_c1(table), table), 4)
    assert cronbach_alpha(table) == pytest.approx(of_mean, abs=1e-12)


def test_no_reliability_of_a_mean_where_one_rating_has_too_little() -> None:
    with pytest.raises(NotIdentifiedError, match="mean of 4 raters"):
        step_up(-1 / 3, 4)


@needs_data
def test_alpha_of_pingouins_table_with_gaps() -> None:
    """pingouin.cronbach_alpha(nan_policy="pairwise"): .732661, [.435, .909]."""
    columns = read_wide("pingouin_cronbach_wide_missing.csv")
    wide = np.column_stack(list(columns.values()))
    alpha = cronbach_alpha(rating_table(wide))
    assert alpha == pytest.approx(0.732661, abs=5e-7)
    low, high = feldt_interval(alpha, len(wide), wide.shape[1], level=0.95)
    assert (round(low, 3), round(high, 3)) == (0.435, 0.909)


@needs_data
def test_alpha_of_pingouins_long_table() -> None:
    """pingouin.cronbach_alpha: .5917188, [.195, .84]."""
    columns: dict[str, list[float]] = {}
    with (SHARED / "classic" / "pingouin_cronbach_alpha.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            columns.setdefault(row["Items"], []).append(float(row["Scores"]))
    wide = np.column_stack(list(columns.values()))
    alpha = cronbach_alpha(rating_table(wide))
    assert alpha == pytest.approx(0.5917188, abs=5e-8)
    low, high = feldt_interval(alpha, len(wide), wide.shape[1], level=0.95)
    assert (round(low, 3), round(high, 2)) == (0.195, 0.84)


def test_alpha_of_weighted_units_is_that_of_repeated_ones() -> None:
    rng = np.random.default_rng(0)
    few = rng.integers(1, 5, (6, 3)).astype(float)
    many = np.vstack([few, few[:2]])
    assert cronbach_alpha(rating_table(many)) == pytest.approx(
        np.trace(np.cov(many.T)) * -1.5 / np.cov(many.T).sum() + 1.5
    )


@pytest.mark.parametrize(
    ("wide", "words"),
    [
        (((1,), (2,), (3,)), "two raters"),
        (((1, NAN), (2, NAN), (NAN, 3), (2, 2)), "each two raters both rated"),
        (((1, 2), (2, 1), (1, 2), (2, 1)), "add up to 0"),
    ],
)
def test_what_has_no_alpha_says_why(wide: tuple[tuple[float, ...], ...], words: str) -> None:
    with pytest.raises(NotIdentifiedError, match=words):
        cronbach_alpha(rating_table(wide))

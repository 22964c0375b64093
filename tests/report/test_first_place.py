"""Beside a leader stands how high the first is by being first, as measured of as many systems."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from invented_results import invented_results

import hearteval as he
from hearteval.analysis.ranking.warnings import MEASURED, chance_above_average
from hearteval.report.answers.answer import first_place_words
from hearteval.report.page import render_page
from hearteval.report.summary import brief_display

OF_PANEL = {n: share for n, _, _, share in MEASURED}
HIGH = "The first place may be high in part because it is first"


@pytest.mark.parametrize("n", OF_PANEL)
def test_figures_of_panels_are_those_of_the_largest_of_normal_errors(n: int) -> None:
    """Estimates of equal systems, independent and of one known variance, less their mean.

    Figures are of 1,000 studies each, with variances that are estimated: within .05.
    """
    errors = np.random.default_rng(n).normal(size=(20_000, n))
    errors -= errors.mean(axis=1, keepdims=True)
    se = math.sqrt(1 - 1 / n)
    expected = np.mean(errors.max(axis=1) > 1.959964 * se)

    assert OF_PANEL[n] == pytest.approx(expected, abs=0.05)


def test_between_measured_numbers_the_figure_is_interpolated_and_beyond_the_last() -> None:
    low, high = OF_PANEL[18], OF_PANEL[25]

    found = chance_above_average(20, "item-sandwich", 99, 0.95)
    assert found is not None
    assert found[0] == 20
    assert found[1] == pytest.approx(low + (high - low) * 2 / 7)
    assert chance_above_average(900, "item-sandwich", 99, 0.95) == (50, OF_PANEL[50])


def test_of_few_people_the_interval_of_the_first_is_wide_enough_more_often() -> None:
    few, more = (chance_above_average(18, "two-way", df, 0.95) for df in (4, 14))
    assert few is not None
    assert more is not None
    assert few[1] < more[1]


def test_nothing_is_said_of_what_was_not_measured_or_is_not_high() -> None:
    known = {"interval": "item-sandwich", "df": 99.0, "level": 0.95}
    assert HIGH in first_place_words(6, 1510.0, **known)  # type: ignore[arg-type]
    for n, low, changed in (
        (2, 1510.0, {}),
        (6, 1490.0, {}),
        (6, None, {}),
        (6, 1510.0, {"level": 0.9}),
        (6, 1510.0, {"interval": "published"}),
    ):
        assert first_place_words(n, low, **{**known, **changed}) == ""  # type: ignore[arg-type]


def test_it_stands_below_the_table_of_a_study_and_on_its_page() -> None:
    results = invented_results()
    assert results.leaderboard is not None
    assert HIGH in " ".join(brief_display(results).text().split())
    assert render_page(results).count(HIGH) == 1
    near = replace(results.leaderboard.rows[0].weighted, low=1480.0)
    rows = (replace(results.leaderboard.rows[0], weighted=near), *results.leaderboard.rows[1:])
    level = replace(results, leaderboard=replace(results.leaderboard, rows=rows))
    assert HIGH not in render_page(level)


def test_it_stands_below_the_table_of_a_vote_file() -> None:
    rng = np.random.default_rng(1)
    pairs = [rng.permutation(["ash", "elm", "fir", "oak"])[:2] for _ in range(400)]
    votes = pd.DataFrame(pairs, columns=["model_a", "model_b"])
    is_ash = (votes.model_a == "ash") & (rng.random(400) < 0.8)
    won = is_ash | ((votes.model_b != "ash") & (rng.random(400) < 0.5))
    votes["winner"] = np.where(won, "model_a", "model_b")
    votes["prompt"] = rng.integers(0, 40, 400)

    said = " ".join(str(he.rank(votes, cluster="prompt")).split())
    assert f"{HIGH}: of 4 equal systems the first one's interval lies above 1500 in about" in said

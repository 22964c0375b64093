"""Traits of systems beside Elo: against SciPy, and the paper's table."""

import csv
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from people_study import simulated_study
from scipy.stats import false_discovery_control, linregress, pearsonr, spearmanr

from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.analysis.study import StudyResults, analyze_study
from hearteval.sections.traits.covariates import correlate, correlate_covariates

SHARED = Path(__file__).resolve().parents[3] / "shared" / "paper"
INDEX = {  # paper/intelligence_index.csv: Elo and the Artificial Analysis index v3.0 (HEART 4.7)
    "GPT-5": (1611.8, 66),
    "GPT-o3": (1587.5, 65),
    "Claude 4.5 Haiku": (1561.8, 55),
    "Kimi K2": (1552.7, 48),
    "Claude 4.5 Sonnet": (1540.9, 63),
    "GPT-4.1 Mini": (1539.1, 42),
    "Claude 3.7 Sonnet": (1531.8, 41),
    "Claude 4 Opus": (1504.0, 42),
    "GPT-4o": (1495.9, 36),
    "Gemini 2.5 Pro": (1477.7, 60),
    "Gemini 3 Pro Preview": (1471.0, 65),
    "Llama 4 Maverick": (1441.2, 36),
    "Gemini 2.5 Flash": (1427.9, 40),
    "Llama 3.1 405B": (1415.0, 28),
    "Llama 3.1 70B": (1384.6, 23),
}
THETA = {"beacon": 0.6, "ember": -0.4, "harbour": 0.1, "People": 0.0}


@pytest.fixture(scope="module")
def results() -> StudyResults:
    return analyze_study(simulated_study(THETA, THETA, n_items=8))


def test_the_papers_index_correlates_as_it_says() -> None:
    elo, index = np.array(list(INDEX.values())).T
    pearson, spearman = correlate(index, elo, level=0.95)
    assert pearson is not None
    assert spearman is not None
    assert pearson.r == pytest.approx(0.704, abs=5e-4)
    expected = pearsonr(index, elo)
    ends = expected.confidence_interval(0.95)
    assert (pearson.low, pearson.high) == pytest.approx((float(ends.low), float(ends.high)))
    assert pearson.p == pytest.approx(float(expected.pvalue))
    ranked = spearmanr(index, elo)
    assert (spearman.r, spearman.p) == pytest.approx(
        (float(ranked.statistic), float(ranked.pvalue))
    )


@pytest.mark.skipif(not SHARED.exists(), reason="the paper's tables lie outside the repository")
def test_the_table_is_typed_as_it_stands() -> None:
    with (SHARED / "intelligence_index.csv").open(encoding="utf-8") as file:
        rows = {row["system"]: (row["elo"], row["aa_index"]) for row in csv.DictReader(file)}
    assert {name: (float(e), float(x)) for name, (e, x) in rows.items()} == INDEX


def test_the_interval_of_ranks_is_wider_as_bonett_and_wright_have_it() -> None:
    x = np.arange(20.0)
    y = x[np.random.default_rng(1).permutation(20)] + x
    spearman = correlate(x, y, level=0.95)[1]
    assert spearman is not None
    reach = 1.959963984540054 * math.sqrt((1 + spearman.r**2 / 2) / 17)
    assert spearman.low == pytest.approx(math.tanh(math.atanh(spearman.r) - reach))


def test_four_systems_are_too_few(results: StudyResults) -> None:
    board = results.leaderboard
    assert board is not None
    table = {"size": {row.system: k * k for k, row in enumerate(board.rows)}}
    found = correlate_covariates(table, board, level=0.95)
    assert found is not None
    assert {row.problem for row in found.rows} == {"fewer than 5 systems"}


def board_of_seven() -> tuple[Leaderboard, dict[str, float], dict[str, float]]:
    board = analyze_study(simulated_study(THETA, THETA, n_items=8)).leaderboard
    assert board is not None
    first = board.rows[0]
    elos = [1612.0, 1588.0, 1550.0, 1541.0, 1532.0, 1504.0, 1478.0]
    rows = tuple(
        replace(
            first, system=f"s{k}", win_rate=0.9 - k / 10, weighted=replace(first.weighted, elo=elo)
        )
        for k, elo in enumerate(elos)
    )
    values = {f"s{k}": v for k, v in enumerate([9.0, 4.0, 6.0, 5.0, 2.0, 3.0, 1.0])}
    return replace(board, rows=rows), values, dict(zip(values, elos, strict=True))


def test_residuals_are_those_of_the_least_squares_line() -> None:
    board, values, elos = board_of_seven()
    table = {"index": {**values, "stranger": 3.0}, "same": dict.fromkeys(values, 2.0)}
    found = correlate_covariates(table, board, level=0.95)
    assert found is not None
    row = found.rows[0]
    line = linregress(list(values.values()), list(elos.values()))
    expected = {s: elos[s] - line.intercept - line.slope * values[s] for s in values}
    assert {one.system: one.residual for one in row.residuals} == pytest.approx(expected)
    assert [one.residual for one in row.residuals] == pytest.approx(
        sorted(expected.values(), reverse=True)
    )
    assert (found.unknown, found.without) == (("stranger",), ())
    assert [one.problem for one in found.rows[2:]] == ["it is the same for all systems"] * 2


def test_all_tests_of_a_table_are_one_family() -> None:
    board, values, _ = board_of_seven()
    other = dict(zip(values, [2.0, 9.0, 1.0, 8.0, 3.0, 7.0, 4.0], strict=True))
    table = {"index": values, "noise": other}
    found = correlate_covariates(table, board, level=0.95)
    assert found is not None
    tests = [one for row in found.rows for one in (row.pearson, row.spearman) if one]
    assert len(tests) == 8
    q = false_discovery_control([one.p for one in tests])
    assert [one.q for one in tests] == pytest.approx(q.tolist())


@pytest.mark.parametrize("n", [5, 12])
def test_no_correlation_is_found_at_the_stated_rate(n: int) -> None:
    rng = np.random.default_rng(5)
    found = [correlate(*rng.standard_normal((2, n)), level=0.95) for _ in range(400)]
    for which in (0, 1):
        named = sum(one[which] is not None and one[which].p <= 0.05 for one in found)  # type: ignore[union-attr]
        # a binomial of 400 at .05, 99.7 %; five ranks only have p of .017 and .083
        assert (2 if n == 5 and which else 9) <= named <= 33

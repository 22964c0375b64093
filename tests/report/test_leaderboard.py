"""The leaderboard as text and CSV."""

import csv
import dataclasses
import io

from invented_results import invented_results, rename_system, without_ranking

from hearteval.analysis.study import JUDGED_BY_CUES
from hearteval.report.leaderboard import (
    interval_words,
    leaderboard_csv,
    marked_axes,
)
from hearteval.report.page import results_lines

SIX_SYSTEMS = """\
Invented pilot, version 3. Items: Invented for tests by a script. Judged by judges: juniper, larch-2
  (2,400 judgments, 36 ties, 40 items, 2 raters)

Coverage: 236 of 240 completions, 2,396 of 2,400 judgments, 15 of 15 pairs of systems
Judges behind each pair: 2 for 66.7 %, 1 for 33.3 %; no majority in 10.0 % of 600 pairs

# system                ranks  Elo     interval unw.    win    H    E    A    R    T   n
1 beacon-large-instruct   1-2 1760 [1736, 1784] 1742 ≠ 82.6 82.6 90.7 75.8 80.0 91.5 800
2 people                  1-3 1662 [1631, 1694] 1662 ≠ 71.4 72.6 62.7 77.3 75.1 62.4 800
3 ember-7b                2-4 1559 [1526, 1591] 1559   57.9 55.4 66.8 53.0 53.1 66.8 800
4 original                3-5 1449 [1424, 1474] 1449   42.9 46.7 33.9 46.7 48.8 34.3 800
5 reflective              4-6 1338 [1308, 1369] 1338   28.6 23.7 37.5 26.0 21.8 36.8 800
6 generic                 5-6 1233 [1200, 1266] 1233   16.7 22.5  8.0 18.0 24.2  9.1 800

Elo: judgments weighted by strength. Interval: item-sandwich, t, 95 %, conditional on these raters.
ranks: what its differences from the others leave open, 95 % each.
unw.: every judgment counts once. Win and axes: win rate in percent.
≠ the unweighted rank differs.
Axis T: not identified: generic lost every comparison, groups [generic].
Tested on the stress set only: larch-2. Run `heart judges audit STUDY.toml`.
Warning: 4 judgments are missing; coverage is 99.8 %.
"""


def test_six_systems_read_as_expected() -> None:
    assert results_lines(invented_results()).replace("\N{EN DASH}", "-") == SIX_SYSTEMS


def test_no_line_is_wider_than_100_columns() -> None:
    long = rename_system(invented_results(large=True), "ember-7b", "ember-7b-" + "x" * 200)
    lines = results_lines(long).splitlines()
    assert max(len(line) for line in lines) <= 100
    assert any("…" in line for line in lines)


def test_cue_judge_is_named_above_the_table() -> None:
    text = " ".join(results_lines(invented_results(cue_judge=True)).split())
    assert JUDGED_BY_CUES in text
    assert text.index(JUDGED_BY_CUES) < text.index("beacon-large-instruct")
    assert "cue judge" not in results_lines(invented_results())


def test_missing_ranking_is_explained() -> None:
    text = results_lines(without_ranking(invented_results(), "groups never met"))
    assert "No leaderboard: groups never met" in text
    assert "item-sandwich" not in text


def test_terminal_codes_in_a_name_are_not_obeyed() -> None:
    text = results_lines(rename_system(invented_results(), "ember-7b", "\x1b[31mred\nname"))
    assert "\x1b" not in text
    assert "\N{REPLACEMENT CHARACTER}[31mred\N{REPLACEMENT CHARACTER}name" in text


def test_interval_over_people_is_not_conditional_on_them() -> None:
    board = invented_results().leaderboard
    assert board is not None
    two_way = dataclasses.replace(board, interval_used="two-way", level=0.9)
    assert interval_words(two_way) == "two-way, t, 90\N{NO-BREAK SPACE}%"
    assert interval_words(board).endswith("conditional on these raters")


def test_interval_over_people_beside_judges_is_conditional_on_the_judges() -> None:
    board = invented_results().leaderboard
    assert board is not None
    both = dataclasses.replace(board, interval_used="two-way", judged_by="both")
    assert interval_words(both).endswith("conditional on these judges")


def test_axes_stand_in_the_order_of_the_paper() -> None:
    board = invented_results().leaderboard
    assert board is not None
    assert marked_axes(board) == ("H", "E", "A", "R", "T")


def test_csv_holds_every_digit() -> None:
    results = invented_results()
    assert results.leaderboard is not None
    rows = list(csv.DictReader(io.StringIO(leaderboard_csv(results))))
    for row, shown in zip(results.leaderboard.rows, rows, strict=True):
        assert shown["system"] == row.system
        assert float(shown["elo_weighted"]) == row.weighted.elo
        assert float(shown["elo"]) == row.unweighted.elo
        assert int(shown["rank_low_weighted"]) == row.weighted.rank_low
        assert int(shown["rank_high"]) == row.unweighted.rank_high
        assert float(shown["win_rate"]) == row.win_rate
        assert float(shown["H_win_rate"]) == row.axes["H"].win_rate
        assert shown["judged_by"] == "judges"


def test_csv_cell_is_empty_where_an_axis_has_no_elo() -> None:
    rows = list(csv.DictReader(io.StringIO(leaderboard_csv(invented_results()))))
    assert {row["T_elo"] for row in rows} == {""}
    assert all(row["T_win_rate"] for row in rows)


def test_csv_without_a_ranking_is_the_heading_alone() -> None:
    text = leaderboard_csv(without_ranking(invented_results(), "none"))
    assert text.splitlines() == leaderboard_csv(invented_results()).splitlines()[:1]


def test_csv_keeps_a_name_with_commas_and_quotes() -> None:
    name = 'a, "b"\nc'
    text = leaderboard_csv(rename_system(invented_results(), "ember-7b", name))
    assert name in [row["system"] for row in csv.DictReader(io.StringIO(text, newline=""))]

"""The leaderboard as text and CSV."""

import csv
import dataclasses
import io

from invented_results import invented_results, rename_system, without_ranking

from hearteval.report.leaderboard import interval_words, leaderboard_csv, marked_axes


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

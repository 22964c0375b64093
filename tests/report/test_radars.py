"""Radars of axis Elos: 1500 is one ring for all, and nothing lies outside the outer one."""

import dataclasses

from invented_results import invented_results

from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.domain import AXES, AXIS_NAMES
from hearteval.report.page import render_page
from hearteval.report.radar import elo_frame, elo_radars


def the_board() -> Leaderboard:
    board = invented_results().leaderboard
    assert board is not None
    return board


def test_rings_are_round_and_hold_every_interval() -> None:
    board = the_board()
    frame = elo_frame(board)
    assert frame is not None
    assert frame.ring_values[1] == 1500
    step = frame.ring_values[2] - 1500
    assert frame.ring_values == (1500 - step, 1500, 1500 + step, 1500 + 2 * step)
    ends = [
        end
        for row in board.rows
        for at in row.axes.values()
        for end in (at.elo, at.low, at.high)
        if end is not None
    ]
    assert frame.low <= min(ends)
    assert max(ends) <= frame.high


def test_a_mean_system_lies_on_the_dashed_ring() -> None:
    board = the_board()
    row = board.rows[0]
    flat = {
        axis: dataclasses.replace(at, elo=1500.0, low=1400.0, high=1600.0)
        for axis, at in row.axes.items()
    }
    board = dataclasses.replace(board, rows=(dataclasses.replace(row, axes=flat),))
    frame = elo_frame(board)
    assert frame is not None
    (radar,) = elo_radars(board, AXIS_NAMES)
    assert radar.shape == frame.field == frame.rings[1]
    assert len(radar.whiskers) == len(AXES)


def test_a_system_without_an_elo_on_an_axis_has_no_radar() -> None:
    board = the_board()
    first, *others = board.rows
    without = {**first.axes, "H": dataclasses.replace(first.axes["H"], elo=None)}
    board = dataclasses.replace(board, rows=(dataclasses.replace(first, axes=without), *others))
    assert [one.system for one in elo_radars(board, AXIS_NAMES)] == [row.system for row in others]


def test_the_page_draws_one_for_each_system() -> None:
    results = invented_results()
    page = render_page(results)
    assert page.count('<use href="#radar-frame"/>') == len(elo_radars(the_board(), AXIS_NAMES))
    assert page.count('<symbol id="radar-frame"') == 1

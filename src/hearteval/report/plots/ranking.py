"""The ranking as figures: systems with intervals, axes, radars, head to head, the fit."""

import math
from typing import Any

from hearteval.analysis.ranking.axes.tables import AxisStanding
from hearteval.analysis.ranking.head_to_head import HeadToHead
from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.analysis.ranking.votes import VoteRanking
from hearteval.report.figures import MEAN_ELO, half_width, pairs_by_gap
from hearteval.report.leaderboard import interval_words, marked_axes, why_blank
from hearteval.report.plots.style import (
    BLUE,
    GREY,
    MAX_NAME,
    PAGE_INCHES,
    SHORT_NAME,
    Heat,
    draw_forest,
    draw_heat,
    draw_heat_of_pairs,
    names_of,
)
from hearteval.report.radar import elo_arms, elo_frame
from hearteval.report.text import level_percent

LONGEST_NAME = 40
RADARS_IN_A_ROW = 3


def draw_ranking(ranking: VoteRanking, axes: Any) -> None:
    """Draw each system with its interval on axes of matplotlib, the best on top.

    A system whose votes determine no interval is an open dot.
    """
    rows = ranking.systems
    names = names_of([row.system for row in rows], LONGEST_NAME)
    elos = {"": [(row.elo, row.low, row.high) for row in rows]}
    draw_forest(axes, names, elos, centre=MEAN_ELO)
    level = level_percent(ranking.settings.level)
    axes.set_xlabel(f"Elo, {level} interval ({ranking.settings.interval_used})")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def draw_leaderboard(board: Leaderboard, figure: Any) -> None:
    """Draw the headline and the ranking in which every judgment counts once."""
    axes = figure.subplots()
    fits = {
        "weighted by strength": [row.weighted for row in board.rows],
        "every judgment once": [row.unweighted for row in board.rows],
    }
    elos = {label: [(at.elo, at.low, at.high) for at in rows] for label, rows in fits.items()}
    draw_forest(axes, names_of([row.system for row in board.rows]), elos, centre=MEAN_ELO)
    axes.set_xlabel(f"Elo ({interval_words(board)})")
    figure.legend(loc="outside upper right", ncols=2)


def draw_axes(board: Leaderboard, figure: Any) -> None:
    """Draw the share of comparisons that each system won on each axis, as in Figure 4."""
    marked = marked_axes(board)
    cells = [
        [
            None if why_blank(board, row, axis) else _standing(row.axes[axis], board.level)
            for axis in marked
        ]
        for row in board.rows
    ]
    draw_heat(
        figure.subplots(), cells, rows=names_of([row.system for row in board.rows]), columns=marked
    )


def draw_matrix(board: Leaderboard, figure: Any) -> None:
    """Draw how often each system won directly against each other one."""
    names = [row.system for row in board.rows]
    won = {(pair.left, pair.right): _won(pair) for pair in board.matrix}
    won |= {(right, left): Heat(1 - at.share, at.is_sure) for (left, right), at in won.items()}
    cells = [[won.get((row, other)) for other in names] for row in names]
    axes = figure.subplots()
    draw_heat_of_pairs(axes, cells, names)
    axes.set_xlabel("won against")


def _standing(at: AxisStanding, level: float) -> Heat:
    return Heat(at.win_rate, at.q is not None and at.q <= 1 - level)


def _won(pair: HeadToHead) -> Heat:
    n_items = pair.n if pair.n_items is None else pair.n_items
    return Heat(pair.observed, abs(pair.observed - 0.5) > half_width(n_items))


def draw_fit(board: Leaderboard, figure: Any) -> None:
    """Draw observed against predicted shares of wins, a dot for each pair of systems."""
    axes = figure.subplots()
    pairs = pairs_by_gap(board.fit)
    most = max(pair.n for pair in pairs)
    axes.plot([0.5, 1], [0.5, 1], color=GREY, linewidth=0.8)
    axes.scatter(
        [pair.predicted for pair in pairs],
        [pair.observed for pair in pairs],
        s=[16 * pair.n / most for pair in pairs],
        color=BLUE,
        alpha=0.7,
        linewidths=0,
    )
    axes.set_xlabel("predicted share of wins of the favoured system")
    axes.set_ylabel("observed share")


def draw_radars(board: Leaderboard, figure: Any) -> None:
    """Draw the axis Elos of every system that has all; dashed is the mean system."""
    frame, systems = elo_frame(board), elo_arms(board)
    if frame is None:
        return
    n = len(frame.axes)
    angles = [2 * math.pi * k / n for k in (*range(n), 0)]
    n_rows = math.ceil(len(systems) / RADARS_IN_A_ROW)
    drawn = figure.subplots(
        n_rows, RADARS_IN_A_ROW, squeeze=False, subplot_kw={"projection": "polar"}
    )
    is_wide = figure.get_figwidth() >= PAGE_INCHES
    titles = names_of([row.system for row, _ in systems], MAX_NAME if is_wide else SHORT_NAME)
    for axes in drawn.ravel()[len(systems) :]:
        axes.set_visible(False)
    for axes, title, (_, arms) in zip(drawn.ravel(), titles, systems, strict=False):
        at = [value for value, _, _ in (*arms, arms[0])]
        axes.set_theta_zero_location("N")
        axes.set_theta_direction(-1)
        axes.plot(angles, [MEAN_ELO] * (n + 1), color=GREY, linewidth=0.8, linestyle="--")
        axes.plot(angles, at, color=BLUE)
        axes.fill(angles, at, color=BLUE, alpha=0.25)
        axes.set_ylim(frame.low, frame.high)
        axes.set_yticks(frame.ring_values, [])
        axes.set_xticks(angles[:-1], frame.axes)
        axes.tick_params(pad=-3)
        axes.set_title(title)

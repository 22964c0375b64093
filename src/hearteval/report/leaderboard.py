"""Systems of a study side by side: the leaderboard, and their times.

Numbers come as they are in the results; only scales, order and wording are made here. A terminal
and a notebook get rounded numbers, the CSV every number in full.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import compress
from operator import attrgetter
from typing import Any

from hearteval.analysis.coverage.latency import Spread, SystemLatency
from hearteval.analysis.ranking.axes.tables import AxisAsked, WinRate
from hearteval.analysis.ranking.intervals import OVER_RATERS
from hearteval.analysis.ranking.leaderboard import Leaderboard, LeaderboardRow
from hearteval.analysis.ranking.rank import EloEstimate
from hearteval.analysis.ranking.warnings import FEW_ITEMS, given_writers
from hearteval.analysis.study import StudyResults
from hearteval.domain import AXES, Axis, in_order
from hearteval.report.figures import MEAN_ELO
from hearteval.report.table import (
    CENTRE,
    Bar,
    Cell,
    Column,
    Table,
    counted,
    mark_simulated,
    tabulate,
)
from hearteval.report.text import (
    MINE,
    NO_BREAK_SPACE,
    NO_VALUE,
    bare_percent,
    count,
    interval,
    level_percent,
    listed,
    plural,
    ranks,
    recorded_words,
    tick,
    whole,
    whole_percent,
)

RANK_DIFFERS = "\N{NOT EQUAL TO}"
TOO_FEW = "\N{MIDDLE DOT}"
WHO = {"people": "people", "judges": "judges", "both": "people and judges"}
"""Who judged, in words, by `Leaderboard.judged_by`."""
MIN_MARKS = 0.5
"""An axis marked in a smaller share of a system's judgments that asked has no number in a table."""
AXIS_FIELDS = ("win_rate", "percentile", "elo", "low", "high", "n_comparisons", "n_asked", "p", "q")
ENDS = ("elo", "low", "high", "published_low", "published_high")
CSV_FIELDS: Mapping[str, str] = {
    "rank": "weighted.rank",
    **{name: name for name in ("system", "kind", "family")},
    **{f"{name}_weighted": f"weighted.{name}" for name in ENDS},
    **{f"{name}_weighted": f"weighted.{name}" for name in ("rank_low", "rank_high")},
    "rank_unweighted": "unweighted.rank",
    **{name: f"unweighted.{name}" for name in ("rank_low", "rank_high", *ENDS)},
    **{name: name for name in ("win_rate", "n_comparisons", "n_wins", "n_ties")},
}
"""Columns of the CSV, with the place of each in a row of the leaderboard."""
HEADLINE = (
    *("system", "elo_weighted", "low_weighted", "high_weighted", "elo", "low", "high"),
    *("rank_low_weighted", "rank_high_weighted", "rank_low", "rank_high"),
    *("win_rate", "n_comparisons"),
)
"""Those of them that commands print as JSON."""
MAX_TIMED_NAME = 30


def marked_axes(leaderboard: Leaderboard) -> tuple[Axis, ...]:
    """Return the axes that any system has marks on, in the order of the paper."""
    return in_order({axis for row in leaderboard.rows for axis in row.axes})


def interval_words(leaderboard: Leaderboard) -> str:
    """Name the interval, its level and what it is conditional on (SPEC section 6)."""
    words = [leaderboard.interval_used, "t", level_percent(leaderboard.level)]
    if leaderboard.interval_used not in OVER_RATERS:
        words.append("conditional on these raters")
    elif leaderboard.judged_by == "both":
        words.append("conditional on these judges")
    return ", ".join(filter(None, (*words, given_writers(leaderboard.n_writers))))


def why_blank(board: Leaderboard, row: LeaderboardRow, axis: Axis) -> str:
    """Say why a system's share on an axis is not shown bare; empty where it is."""
    at = row.axes.get(axis)
    if at is None:
        return "No marks."
    if axis in board.axis_problems:
        return "No Elo: these comparisons do not give one order."
    if at.n_items < FEW_ITEMS:
        return f"Not shown bare: fewer than {FEW_ITEMS} items."
    if at.n_comparisons < MIN_MARKS * at.n_asked:
        return "Not shown bare: no difference was marked in most judgments that asked."
    return ""


def marked_words(board: Leaderboard) -> str:
    """Say who marked the axes, and what their intervals are where they are others than overall."""
    said = defaultdict[str, list[Axis]](list)
    for axis, asked in board.axes_asked.items():
        said[_marked_by(board, axis, asked)].append(axis)
    return " ".join(
        f"{'Axes' if len(said) == 1 else listed(axes)} marked by {words}."
        for words, axes in said.items()
    )


def _marked_by(board: Leaderboard, axis: Axis, asked: AxisAsked) -> str:
    n = {"people": asked.n_people, "judges": len(asked.judges)}
    judges = f"the {'judge' if n['judges'] == 1 else 'judges'} {listed(asked.judges)}"
    words = " and ".join(
        compress((plural(n["people"], "person", "people"), judges), tuple(n.values()))
    )
    voted = [kind for kind in n if board.judged_by in (kind, "both")]
    words += "".join(f"; {kind} were not asked" for kind in voted if not n[kind])
    at = board.axis_intervals.get(axis)
    if at is not None and at.interval_used != board.interval_used:
        words += f"; intervals: {at.interval_used}, conditional on these raters"
    return words


def board_table(
    board: Leaderboard, names: Mapping[Axis, str], *said: str, mine: str | None = None
) -> Table:
    """Return the leaderboard as a terminal and a notebook show it; `said` stands first below it.

    The row of one's own system is marked.
    """
    axes = marked_axes(board)
    cells = [_axis_rate(board, row, axis) for row in board.rows for axis in axes]
    heading = f"{level_percent(board.level)} interval"
    return tabulate(
        board.rows,
        [
            (
                Column("place", "text"),
                lambda row: ranks(row.weighted.rank_low, row.weighted.rank_high),
            ),
            (Column("system", "name"), lambda row: f"{MINE * (row.system == mine)}{row.system}"),
            ("Elo", lambda row: whole(row.weighted.elo)),
            (Column(heading, "bar", centre=MEAN_ELO), lambda row: _elo_bar(row.weighted)),
            (Column("win"), lambda row: whole_percent(row.win_rate)),
            *((axis, lambda row, axis=axis: _axis_rate(board, row, axis)) for axis in axes),
        ],
        notes=[
            *filter(None, said),
            *_how_to_read(axes, names, has_few=TOO_FEW in cells),
            marked_words(board),
            *recorded_words({row.system: row.kind for row in board.rows}),
        ],
    )


def board_numbers(board: Leaderboard) -> Table:
    """Return the numbers behind the leaderboard's bars, weighted by strength and not."""
    return tabulate(
        board.rows,
        [
            (Column("system", "name"), lambda row: row.system),
            ("Elo", lambda row: whole(row.weighted.elo)),
            ("interval", lambda row: interval(row.weighted.low, row.weighted.high)),
            ("unw.", lambda row: whole(row.unweighted.elo)),
            ("interval", lambda row: interval(row.unweighted.low, row.unweighted.high)),
            ("", lambda row: RANK_DIFFERS if row.rank_differs else ""),
            ("n", lambda row: count(row.n_comparisons)),
        ],
    )


def paper_board(board: Leaderboard, names: Mapping[Axis, str]) -> Table:
    """Return the leaderboard as a paper prints it: both rankings, wins, and wins on each axis."""
    axes = marked_axes(board)
    level = level_percent(board.level)
    made = tabulate(
        board.rows,
        [
            (Column("System", "name"), lambda row: row.system),
            ("Places", lambda row: ranks(row.weighted.rank_low, row.weighted.rank_high)),
            ("Elo", lambda row: whole(row.weighted.elo)),
            (f"{level} interval", lambda row: interval(row.weighted.low, row.weighted.high)),
            ("Unweighted", lambda row: whole(row.unweighted.elo)),
            (f"{level} interval", lambda row: interval(row.unweighted.low, row.unweighted.high)),
            ("Won, %", lambda row: bare_percent(row.win_rate)),
            *((axis, lambda row, axis=axis: _axis_rate(board, row, axis)) for axis in axes),
        ],
        notes=[
            board_notes(board)[0],
            f"Places: those that the differences leave open, all pairs at once ({level})."
            " Unweighted: every"
            " judgment counts once. Axes: percent won, ties half.",
            axes_words(axes, names),
            marked_words(board),
        ],
    )
    caption = f"Elo by {WHO[board.judged_by]}, {count(board.n_judgments)} judgments"
    return replace(made, caption=f"{caption} on {count(board.n_items)} items.")


def _elo_bar(strength: EloEstimate) -> Bar:
    ends = interval(strength.low, strength.high)
    return Bar(strength.low, strength.elo, strength.high, f"Elo {whole(strength.elo)} {ends}")


def _axis_rate(board: Leaderboard, row: LeaderboardRow, axis: Axis) -> str:
    if why_blank(board, row, axis):
        return TOO_FEW
    return whole_percent(row.axes[axis].win_rate)


def _how_to_read(axes: Sequence[Axis], names: Mapping[Axis, str], *, has_few: bool) -> list[str]:
    """Say what the columns of the leaderboard mean."""
    columns = f"win and {NO_BREAK_SPACE.join(axes)}" if axes else "win"
    few = f" {TOO_FEW}{NO_BREAK_SPACE}too little marked, or no order." if has_few else ""
    return [
        f"place: those that stay open. {CENTRE}{NO_BREAK_SPACE}the average, {tick(MEAN_ELO)}. "
        f"{columns}: percent won, a tie counting half.{few}",
        axes_words(axes, names),
    ]


def axes_words(axes: Sequence[Axis], names: Mapping[Axis, str]) -> str:
    """Spell out the axes; nothing where there are none."""
    said = (f"{axis} {names[axis]}".replace(" ", NO_BREAK_SPACE) for axis in axes)
    return f"{', '.join(said)}." if axes else ""


def board_notes(leaderboard: Leaderboard) -> list[str]:
    """Return the lines below the numbers that say how they were made."""
    notes = [f"Elo: judgments weighted by strength. Interval: {interval_words(leaderboard)}."]
    level = level_percent(leaderboard.level)
    notes.append(f"place: what the differences leave open, all pairs at once ({level}).")
    notes.append("unw.: every judgment counts once. n: comparisons.")
    if any(row.rank_differs for row in leaderboard.rows):
        notes.append(f"{RANK_DIFFERS} the unweighted place differs.")
    return notes


def win_rate_table(rates: Sequence[WinRate], names: Mapping[Axis, str]) -> Table:
    """Return the win rates, for where there is no ranking; text has none by axis."""
    return tabulate(
        rates,
        [
            (Column("System", "name", short="system", is_sortable=True), lambda row: row.system),
            (Column("All", short=f"{'win':>5}", is_sortable=True), lambda row: _rate(row.win_rate)),
            *(
                (
                    Column(axis, tip=names[axis], is_sortable=True, in_text=False),
                    lambda row, axis=axis: _rate(row.axes.get(axis)),
                )
                for axis in AXES
            ),
            (
                Column("n", short=f"{'n':>5}", is_sortable=True),
                lambda row: counted(row.n_comparisons),
            ),
        ],
    )


def _rate(share: float | None) -> Cell:
    return Cell(NO_VALUE, "") if share is None else Cell(bare_percent(share), share)


def leaderboard_csv(results: StudyResults) -> str:
    """Write the leaderboard as CSV with every digit; without a ranking, the heading alone.

    Cells are empty where an axis has no marks or no Elo.
    """
    board = results.leaderboard
    axes = tuple(dict.fromkeys((*AXES, *(marked_axes(board) if board else ()))))
    headings = [
        *CSV_FIELDS,
        *(f"{axis}_{field}" for axis in axes for field in AXIS_FIELDS),
        *("judged_by", "interval_used", "level", "judge_notice", "items"),
    ]
    settings = (board.judged_by, board.interval_used, board.level) if board else ()
    items = "; ".join(results.provenance.consent_bases)
    rows = [
        [
            *(attrgetter(path)(row) for path in CSV_FIELDS.values()),
            *(getattr(row.axes.get(axis), field, None) for axis in axes for field in AXIS_FIELDS),
            *(*settings, results.judge_notice, items),
        ]
        for row in (board.rows if board else ())
    ]
    table = Table(columns=tuple(map(Column, headings)), rows=rows)
    return (mark_simulated(table) if results.provenance.simulated else table).csv()


def leaderboard_rows(results: StudyResults) -> list[dict[str, Any]]:
    """Return the leaderboard's headline columns for JSON; empty where there is no ranking."""
    rows = results.leaderboard.rows if results.leaderboard else ()
    return [{name: attrgetter(CSV_FIELDS[name])(row) for name in HEADLINE} for row in rows]


def anchored_rows(results: StudyResults) -> list[dict[str, Any]]:
    """Return the anchored ranking for JSON; empty where another one is at the top."""
    return [asdict(row) for row in results.leading.systems] if results.leading else []


def latency_table(rows: Sequence[SystemLatency]) -> Table:
    """Return medians and quartiles of times in milliseconds."""
    return tabulate(
        rows,
        [
            (Column("system", "name", max_width=MAX_TIMED_NAME), lambda row: row.system),
            ("first text", lambda row: _median(row.first_text)),
            ("quartiles", lambda row: _quartiles(row.first_text)),
            ("reasoning", lambda row: _median(row.first_reasoning)),
            ("quartiles", lambda row: _quartiles(row.first_reasoning)),
            ("whole", lambda row: _median(row.total)),
            ("calls", lambda row: count(row.n_calls)),
        ],
    )


def _median(spread: Spread | None) -> str:
    return NO_VALUE if spread is None else f"{spread.median:,.0f}"


def _quartiles(spread: Spread | None) -> str:
    return NO_VALUE if spread is None else f"[{spread.low:,.0f}, {spread.high:,.0f}]"

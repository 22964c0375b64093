"""The first screen of the report: the answer, the ranked intervals, and four chips with the news.

Everything is drawn from one shape, whether judges compare or rate. Nothing is computed here but
places on a scale and how much colour a cell may bear: full only where it is clear of the middle,
all cells of the table counted (q), pale where that is open. What a terminal leaves blank is blank
here, hatched, its numbers where it opens.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from hearteval.analysis.ranking.anchored import AnchoredRanking, AnchoredSystem, open_places
from hearteval.analysis.ranking.axes.tables import AxisStanding
from hearteval.analysis.ranking.leaderboard import Leaderboard, LeaderboardRow
from hearteval.analysis.ranking.shares import Share, Shares
from hearteval.analysis.ranking.warnings import FEW_ITEMS
from hearteval.analysis.scores.scores import RatedSystem, ScoreEstimate
from hearteval.analysis.scores.study import RatingResults
from hearteval.analysis.study import StudyResults
from hearteval.domain import Axis
from hearteval.report.answers.two_systems import (
    OPEN,
    interval_words,
    is_settled,
    name_of,
    open_words,
    percent_words,
    share_ends,
    shares_of_two,
)
from hearteval.report.figures import (
    HALF_WON,
    MEAN_ELO,
    N_HEAT_STEPS,
    Scale,
    heat_step,
    scale_around,
    z_step,
)
from hearteval.report.leaderboard import TOO_FEW, marked_axes, why_blank
from hearteval.report.scores import scored_axes
from hearteval.report.text import (
    NO_VALUE,
    count,
    fine_interval,
    hundredths,
    interval,
    level_percent,
    percent,
    plural,
    probability,
    ranks,
    signed_hundredths,
    whole,
    whole_percent,
)

KIND_WORDS = {
    "human": "people",
    "original": "recorded replies",
    "model": "model",
    "baseline": "offline baseline",
}
"""What a reader is told of who wrote: people who took part, replies found in the items, models."""
PALE = 4
"""A pale cell has so many times less colour than a full one."""
MANY_ROWS = 9
"""More systems are drawn in compact rows."""


class ShareCell(NamedTuple):
    """What one system won of all comparisons, or on one axis."""

    text: str
    shade: str
    """Class of its colour: ``hN``, pale or full, or ``few``; empty without a value."""
    words: tuple[str, ...] = ()
    """What a reader finds on opening it."""


class Row(NamedTuple):
    """One system."""

    place: str
    """The ranks that are left open, or its place."""
    system: str
    kind: str
    at: float | None
    low: float | None
    high: float | None
    value: str
    margin: str
    """Half the interval, with its sign; empty without one."""
    cells: tuple[ShareCell, ...]
    is_last_leader: bool = False
    is_mine: bool = False


class Standings(NamedTuple):
    """The ranked intervals; of two systems, how often one is preferred."""

    name: str
    """Its anchor; `caption` says what it is, `place` and `who` what its first columns hold."""
    caption: str
    place: str
    who: str
    heading: str
    """What the bars show; `value` what the numbers beside them are."""
    value: str
    unit: str
    """What stands in the cells of the axes."""
    centre: float
    scale: Scale
    ticks: tuple[tuple[float, str], ...]
    columns: tuple[tuple[str, str], ...]
    """Of the cells: what each is called, short and in full."""
    rows: tuple[Row, ...]
    note: str = ""
    """What a word in the rows means."""

    @property
    def is_many(self) -> bool:
        """Whether its rows are compact."""
        return len(self.rows) > MANY_ROWS


def standings(results: StudyResults) -> Standings | None:
    """Return the ranked intervals of strengths or of scores; None where there are none."""
    if (two := shares_of_two(results)) is not None:
        return _of_two(two, results.axis_names)
    if results.leaderboard is not None:
        board = _of_board(results.leaderboard, results)
        return board if results.leading is None else _anchored(results.leading, board, results)
    if results.ratings is not None and results.ratings.systems:
        return _of_ratings(results.ratings, results.axis_names)
    return None


def _of_two(shares: Shares, names: Mapping[Axis, str]) -> Standings:
    pair = shares.pairs[0]
    rows = (pair, *shares.axes)
    ends = [100 * end for row in rows for end in (row.low, row.value, row.high) if end is not None]
    scale = scale_around(HALF_WON, ends)
    return Standings(
        name="preferred",
        caption=f"How often {pair.system} is preferred",
        place="",
        who="",
        heading=f"{pair.system} preferred, {level_percent(shares.level)} interval",
        value="Percent",
        unit="",
        centre=HALF_WON,
        scale=scale,
        ticks=tuple((scale.place(tick), whole(tick)) for tick in scale.ticks),
        columns=(),
        rows=tuple(_row_of_share(row, name_of(row, names), shares.level) for row in rows),
        note=open_words(rows, shares.level),
    )


def _row_of_share(share: Share, name: str, level: float) -> Row:
    low, at, high = (
        None if end is None else 100 * end for end in (share.low, share.value, share.high)
    )
    return Row(
        place="",
        system=f"{name[0].upper()}{name[1:]}",
        kind="" if is_settled(share, level) else OPEN,
        at=at,
        low=low,
        high=high,
        value=f"{whole_percent(share.value)}\N{NO-BREAK SPACE}%",
        margin=share_ends(share),
        cells=(),
    )


def _of_board(board: Leaderboard, results: StudyResults) -> Standings:
    shares, names = results.shares, results.axis_names
    axes = marked_axes(board)
    won = {one.system: one for one in shares.systems} if shares else {}
    leads = [row.weighted.rank_low == 1 for row in board.rows]
    n_lead = sum(leads)
    is_apart = 0 < n_lead < len(leads) and all(leads[:n_lead])
    ends = [end for r in board.rows for end in (r.weighted.low, r.weighted.elo, r.weighted.high)]
    scale = scale_around(MEAN_ELO, ends)
    rows = [
        _row(
            ranks(row.weighted.rank_low, row.weighted.rank_high),
            row,
            (row.weighted.low, row.weighted.elo, row.weighted.high),
            whole,
            (
                _won_cell(row, won.get(row.system), board.level),
                *(_axis_cell(board, row, axis, names[axis]) for axis in axes),
            ),
        )
        for row in board.rows
    ]
    if is_apart:
        rows[n_lead - 1] = rows[n_lead - 1]._replace(is_last_leader=True)
    return Standings(
        name="leaderboard",
        caption="Ranking",
        place="Place",
        who="System",
        heading=f"Elo, {level_percent(board.level)} interval",
        value="Elo",
        unit="Wins, of all and on each axis, %",
        centre=MEAN_ELO,
        scale=scale,
        ticks=tuple((scale.place(tick), whole(tick)) for tick in scale.ticks),
        columns=(("win", "of all comparisons"), *((axis, names[axis]) for axis in axes)),
        rows=tuple(row._replace(is_mine=row.system == results.mine) for row in rows),
    )


def _anchored(found: AnchoredRanking, beside: Standings, results: StudyResults) -> Standings:
    """Return the ranking with anchored strengths in place of its own; cells stay as they are."""
    cells = {row.system: row.cells for row in beside.rows}
    n_cells, none = len(beside.columns), ShareCell(NO_VALUE, "")
    placed, level = found.placed, level_percent(found.level)
    n_lead = sum(row.rank_low == 1 for row in placed)
    scale = scale_around(
        MEAN_ELO, [end for r in placed for end in (r.low, r.elo, r.high) if end is not None]
    )
    rows = [
        _row(
            ranks(*places),
            row,
            (row.low, row.elo, row.high),
            whole,
            (_without_judges(row, level), *cells.get(row.system, (none,) * n_cells)),
        )._replace(
            is_last_leader=place == n_lead < len(placed)
            and all(one.rank_low == 1 for one in placed[:n_lead]),
            is_mine=row.system == results.mine,
        )
        for place, (row, places) in enumerate(zip(placed, open_places(placed), strict=True), 1)
    ]
    return beside._replace(
        caption="Ranking, anchored by judges",
        heading=f"Elo as people would give it, {level} interval",
        unit=f"Elo without judges, then {beside.unit[0].lower()}{beside.unit[1:]}",
        scale=scale,
        ticks=tuple((scale.place(tick), whole(tick)) for tick in scale.ticks),
        columns=(("no judge", "the same model without judges"), *beside.columns),
        rows=tuple(rows),
    )


def _without_judges(row: AnchoredSystem, level: str) -> ShareCell:
    """Return what the same model says without judges, and how far people's votes count."""
    ends = interval(row.low_without_judges, row.high_without_judges)
    words = ["Without a judge", f"Elo {whole(row.elo_without_judges)}, {level} interval {ends}."]
    if row.weight_of_people is not None:
        share = percent_words(row.weight_of_people)
        words.append(f"The place follows people\u2019s votes on the system by {share}.")
    if row.note:
        words.append(f"{row.note[0].upper()}{row.note[1:]}.")
    return ShareCell(whole(row.elo_without_judges), "", tuple(words))


def _of_ratings(ratings: RatingResults, names: Mapping[Axis, str]) -> Standings:
    axes = scored_axes(ratings)
    ends = [
        end for r in ratings.systems for end in (r.overall.z_low, r.overall.z, r.overall.z_high)
    ]
    scale = scale_around(0.0, ends)
    return Standings(
        name="scores",
        caption="Scores",
        place="#",
        who="System",
        value="Score",
        heading=f"Against each rater\u2019s own mean, {level_percent(ratings.level)} interval",
        unit="Mean score, 1 to 5",
        centre=0.0,
        scale=scale,
        ticks=tuple((scale.place(tick), signed_hundredths(tick)) for tick in scale.ticks),
        columns=tuple((axis, names[axis]) for axis in axes),
        rows=tuple(
            _row(
                str(place),
                row,
                (row.overall.z_low, row.overall.z, row.overall.z_high),
                signed_hundredths,
                tuple(_score_cell(row.axes.get(axis), names[axis], ratings.level) for axis in axes),
            )
            for place, row in enumerate(ratings.systems, 1)
        ),
    )


def _row(
    place: str,
    row: LeaderboardRow | RatedSystem | AnchoredSystem,
    ends: tuple[float | None, float | None, float | None],
    write: Callable[[float | None], str],
    cells: tuple[ShareCell, ...],
) -> Row:
    low, at, high = ends
    margin = ""
    if low is not None and high is not None:
        half = (high - low) / 2
        margin = f"\N{PLUS-MINUS SIGN}{whole(half) if write is whole else hundredths(half)}"
    return Row(
        place, row.system, kind_words(row.kind, row.system), at, low, high, write(at), margin, cells
    )


def kind_words(kind: str, name: str) -> str:
    """Say who wrote; nothing where the name says it."""
    words = KIND_WORDS.get(kind, kind)
    return "" if words == name.lower() else words


def shade(
    step: int,
    low: float | None,
    high: float | None,
    *,
    middle: float,
    is_few: bool,
    is_clear: bool = True,
) -> str:
    """Return the class of a cell's colour: as much as its interval and its marks allow.

    Where systems met unlike others, wins and strength may lie on two sides: that is open too. It
    may not be clear although its own interval is, where all cells of a table are counted.
    """
    if is_few or low is None or high is None:
        return "few"
    centre = N_HEAT_STEPS // 2
    if not is_clear or low <= middle <= high or (step - centre) * (low - middle) < 0:
        step = centre + round((step - centre) / PALE)
    return f"h{step}"


def _won_cell(row: LeaderboardRow, share: Share | None, level: float) -> ShareCell:
    """Return what a system won of all its comparisons, with the interval."""
    if share is None:
        return ShareCell(f"{100 * row.win_rate:.0f}", "")
    is_few = share.n_items < FEW_ITEMS
    is_clear = _is_clear(share.q, level)
    low, high = share.low, share.high
    shown = shade(heat_step(share.value), low, high, middle=0.5, is_few=is_few, is_clear=is_clear)
    n = f"{plural(share.n_comparisons, 'comparison')} on {plural(share.n_items, 'item')}"
    ends = interval_words(share, level)
    return ShareCell(
        f"{100 * share.value:.0f}", shown, ("All", f"Won {percent(share.value)} of {n}; {ends}.")
    )


def _axis_cell(board: Leaderboard, row: LeaderboardRow, axis: Axis, name: str) -> ShareCell:
    at = row.axes.get(axis)
    if at is None:
        return ShareCell("\N{EN DASH}", "", (name, "No marks."))
    why = why_blank(board, row, axis)
    shown = shade(
        heat_step(at.win_rate),
        at.low,
        at.high,
        middle=MEAN_ELO,
        is_few=bool(why),
        is_clear=_is_clear(at.q, board.level),
    )
    text = TOO_FEW if why else f"{100 * at.win_rate:.0f}"
    words = (name, _marked(at), *filter(None, (why, _axis_elo(board, at))))
    return ShareCell(text, shown, words)


def _is_clear(q: float | None, level: float) -> bool:
    """Return whether a cell is clear of the middle where all cells of its table are counted."""
    return q is not None and q <= 1 - level


def _marked(at: AxisStanding) -> str:
    words = (
        f"Won {percent(at.win_rate)} of {plural(at.n_comparisons, 'comparison')} on"
        f" {plural(at.n_items, 'item')}"
    )
    if at.n_comparisons < at.n_asked:
        words += f"; in {count(at.n_asked - at.n_comparisons)} others no difference was marked"
    return f"{words}."


def _axis_elo(board: Leaderboard, at: AxisStanding) -> str:
    if at.elo is None:
        return ""
    elo = f"Elo {whole(at.elo)}"
    if at.low is None or at.high is None:
        return f"{elo}, without an interval."
    is_clear = _is_clear(at.q, board.level)
    side = "clear of" if is_clear else "it may be on either side of"
    counted = "" if at.q is None else f" ({probability('q', at.q)} over all cells)"
    return (
        f"{elo}, {level_percent(board.level)} interval {interval(at.low, at.high)}:"
        f" {side} the mean, {whole(MEAN_ELO)}{counted}."
    )


def _score_cell(at: ScoreEstimate | None, name: str, level: float) -> ShareCell:
    if at is None:
        return ShareCell("\N{EN DASH}", "", (name, "No scores."))
    is_few = at.n_items < FEW_ITEMS
    step = 0 if at.z is None else z_step(at.z)
    is_clear = _is_clear(at.q, level)
    shown = shade(step, at.z_low, at.z_high, middle=0.0, is_few=is_few, is_clear=is_clear)
    return ShareCell(f"{at.mean:.1f}", shown, _score_words(at, name))


def _score_words(at: ScoreEstimate, name: str) -> tuple[str, ...]:
    scored = (
        f"Mean score {hundredths(at.mean)} {fine_interval(at.low, at.high)} of"
        f" {plural(at.n_ratings, 'rating')} on {plural(at.n_items, 'item')}."
    )
    beside = f"Against each rater\u2019s own mean: {signed_hundredths(at.z)}"
    ends = f" {fine_interval(at.z_low, at.z_high)}" if at.z_low is not None else ""
    return name, scored, f"{beside}{ends}."

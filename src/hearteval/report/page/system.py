"""What stands on the page of one system: its place, its shape, and how it fared with each other."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hearteval.analysis.ranking.head_to_head import HeadToHead
from hearteval.analysis.ranking.leaderboard import Leaderboard, LeaderboardRow
from hearteval.analysis.scores.scores import RatedSystem
from hearteval.analysis.study import StudyResults
from hearteval.domain import Axis, in_order
from hearteval.report.page import replies
from hearteval.report.page.links import pair_links
from hearteval.report.radar import (
    Radar,
    RadarFrame,
    elo_frame,
    elo_radars,
    score_frame,
    score_radars,
)
from hearteval.report.text import (
    NO_VALUE,
    count,
    decimal,
    fine_interval,
    hundredths,
    interval,
    level_percent,
    percent,
    plural,
    ranks,
    whole,
)


class AxisLine(NamedTuple):
    """A system on one axis, in words."""

    axis: Axis
    value: str
    """Elo or score, with its interval."""
    won: str
    """Share of comparisons won; empty where scores were given."""
    n: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPage:
    """One system's page."""

    system: str
    facts: tuple[tuple[str, str], ...]
    """What is known of it, each with a heading."""
    frame: RadarFrame | None
    radar: Radar | None
    value: str
    """What stands on the axes: ``Elo`` or ``Score``."""
    axes: tuple[AxisLine, ...]
    opponents: tuple[tuple[HeadToHead, str], ...]
    """The others, seen from this one, and where comparisons of the two are; empty without any."""
    """Whom it won against most often first."""


def system_pages(results: StudyResults, shown: replies.Shown) -> Iterator[SystemPage]:
    """Yield the page of every system, ranked or not, by name."""
    board, ratings = results.leaderboard, results.ratings
    ranked = {row.system: row for row in board.rows} if board else {}
    rated = {row.system: row for row in ratings.systems} if ratings else {}
    frame = elo_frame(board) if board else score_frame(ratings) if ratings else None
    names = results.axis_names
    drawn = elo_radars(board, names) if board else score_radars(ratings, names) if ratings else ()
    radars = {one.system: one for one in drawn}
    addresses = pair_links(shown, ())
    for row in results.win_rates:
        name = row.system
        axes: tuple[AxisLine, ...] = ()
        if name in ranked:
            axes = _elo_lines(ranked[name])
        elif name in rated:
            axes = _score_lines(rated[name])
        yield SystemPage(
            system=name,
            facts=tuple(_facts(results, name, ranked.get(name), rated.get(name))),
            frame=frame,
            radar=radars.get(name),
            value="Elo" if board else "Score",
            axes=axes,
            opponents=_opponents(board, name, addresses) if board else (),
        )


def _facts(
    results: StudyResults, name: str, ranked: LeaderboardRow | None, rated: RatedSystem | None
) -> Iterator[tuple[str, str]]:
    board, ratings = results.leaderboard, results.ratings
    if ranked is not None and board is not None:
        at, level = ranked.weighted, level_percent(board.level)
        yield (
            "Place",
            f"{ranks(at.rank_low, at.rank_high)} of {count(len(board.rows))}",
        )
        yield "Elo", f"{decimal(at.elo)}, {level} interval {interval(at.low, at.high)}"
        yield (
            "Every judgment once",
            f"{decimal(ranked.unweighted.elo)}"
            f" {interval(ranked.unweighted.low, ranked.unweighted.high)}",
        )
        yield "Won", f"{percent(ranked.win_rate)} of {plural(ranked.n_comparisons, 'judgment')}"
    elif rated is not None and ratings is not None:
        at_all, level = rated.overall, level_percent(ratings.level)
        ends = fine_interval(at_all.low, at_all.high)
        yield "Mean score", f"{hundredths(at_all.mean)} of 5, {level} interval {ends}"
    else:
        yield "Place", "none: too little was judged of it"
    for kind, family in {(one.kind, one.family) for one in (ranked, rated) if one is not None}:
        yield "Kind", f"{kind}, family {family}"
    for covered in results.coverage.systems:
        if covered.system == name:
            yield (
                "Replies",
                f"{count(covered.n_completions)} to {plural(covered.n_items, 'item')}",
            )
    for section in results.sections.values():
        yield from section.of_system(name) if section is not None else ()


def _elo_lines(row: LeaderboardRow) -> tuple[AxisLine, ...]:
    found = ((axis, row.axes[axis]) for axis in in_order(row.axes))
    return tuple(
        AxisLine(
            axis,
            NO_VALUE if at.elo is None else f"{whole(at.elo)} {interval(at.low, at.high)}",
            percent(at.win_rate),
            plural(at.n_comparisons, "judgment"),
        )
        for axis, at in found
    )


def _score_lines(row: RatedSystem) -> tuple[AxisLine, ...]:
    found = ((axis, row.axes[axis]) for axis in in_order(row.axes))
    return tuple(
        AxisLine(
            axis,
            f"{hundredths(at.mean)} {fine_interval(at.low, at.high)}",
            "",
            plural(at.n_ratings, "rating"),
        )
        for axis, at in found
    )


def _opponents(
    board: Leaderboard, name: str, addresses: Mapping[tuple[str, str], str]
) -> tuple[tuple[HeadToHead, str], ...]:
    met: Sequence[HeadToHead] = [
        pair.seen_from(name) for pair in board.matrix if name in (pair.left, pair.right)
    ]
    in_order = sorted(met, key=lambda pair: (-pair.observed, pair.right))
    return tuple((pair, addresses.get(_ends(name, pair.right), "")) for pair in in_order)


def _ends(one: str, other: str) -> tuple[str, str]:
    return min(one, other), max(one, other)

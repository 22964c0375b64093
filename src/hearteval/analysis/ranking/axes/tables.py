"""How systems stand on each axis: win rate, percentile and axis Elo (SPEC section 6).

An axis counts the judgments that asked about it: where people are asked who is better overall and
judges for each axis too, people have not said that there is no difference on an axis. Axis Elos are
unweighted. An axis whose marks do not determine them keeps its win rates and says why it has no
Elo; the other axes and the overall ranking go on. Overall and axis win rates alone are known also
where there is no ranking.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from hearteval.analysis.judgments import Judgments
from hearteval.analysis.ranking.comparisons import (
    people_among,
    rank_field,
    to_comparisons,
)
from hearteval.analysis.ranking.rank import EloEstimate, Ranked
from hearteval.domain import AXES, AXIS_NAMES, Axis, Rater, System
from hearteval.errors import NotIdentifiedError
from hearteval.notices import Notice
from hearteval.stats.comparisons import (
    Comparisons,
    FloatArray,
    count_items,
    count_wins,
    keep_compared,
)
from hearteval.stats.means import q_where_tested
from hearteval.stats.special import stdtr
from hearteval.stats.tally import count_equal


@dataclass(frozen=True, slots=True, kw_only=True)
class WinRate:
    """How often one system won, which needs no ranking to be known."""

    system: str
    n_comparisons: int
    win_rate: float | None
    """(wins + half the ties) / comparisons; None without any comparison."""
    axes: Mapping[Axis, float]
    """The same by axis, only where it has marks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisStanding:
    """One system on one axis."""

    win_rate: float
    """(wins + half the ties) / comparisons on this axis."""
    percentile: float
    """Share of the other systems with a lower win rate, ties half, times 100."""
    elo: float | None
    """Unweighted axis Elo; None where the axis is not identified."""
    low: float | None
    """Interval end; None likewise."""
    high: float | None
    n_comparisons: int
    n_items: int
    """Items these are of; an axis Elo needs two, and its t counts the axis's items."""
    n_asked: int
    """Judgments of the system that asked about the axis; in those not compared on it no difference
    was marked."""
    p: float | None = None
    """Two-sided, that it is at the mean of the axis, 1500; None without an interval."""
    q: float | None = None
    """The same, adjusted over all cells of the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisInterval:
    """The interval an axis got, which may be another than the overall one."""

    interval_used: str
    df: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisAsked:
    """Who was asked about an axis, and how often."""

    n_judgments: int
    """Those that asked about it, of the systems ranked."""
    n_marked: int
    """Those of them that mark a difference, or a tie."""
    n_people: int
    """People who were asked."""
    judges: tuple[str, ...]
    """Names of the judges that were, sorted."""


class AxisTable(NamedTuple):
    """All systems with marks on one axis, by name; the ranking, or why there is none."""

    axis: Axis
    asked: AxisAsked
    standings: Mapping[str, AxisStanding]
    interval: AxisInterval | None
    """None where there is no ranking."""
    support_warnings: tuple[Notice, ...]
    problem: str | None
    ranked: Ranked | None = None
    """With all its comparisons, which are large."""


def win_rates(judgments: Judgments, systems: Sequence[System]) -> tuple[WinRate, ...]:
    """Return the win rate of every system, a tie counting half, sorted by name."""
    every: list[Axis | None] = [None, *judgments.axes]
    by_axis = {axis: _count_halves(judgments, axis) for axis in every}
    rate = {
        (id_, axis): n_halves / (2 * n)
        for axis, counts in by_axis.items()
        for id_, (n, n_halves) in counts.items()
    }
    return tuple(
        WinRate(
            system=system.name,
            n_comparisons=by_axis[None].get(system.id, (0, 0))[0],
            win_rate=rate.get((system.id, None)),
            axes={axis: rate[system.id, axis] for axis in AXIS_NAMES if (system.id, axis) in rate},
        )
        for system in sorted(systems, key=lambda system: system.name)
    )


def _count_halves(judgments: Judgments, axis: Axis | None) -> dict[str, tuple[int, int]]:
    """Return of each system its comparisons, and how many half wins it has of them."""
    choice = judgments.said(axis)[0].astype(np.int64)
    ids, is_said = judgments.first_system.values, choice >= 0
    n, n_halves = np.zeros((2, len(ids)), dtype=np.int64)
    for side, won in ((judgments.first_system, choice), (judgments.second_system, 2 - choice)):
        n += np.bincount(side.codes[is_said], minlength=len(ids))
        np.add.at(n_halves, side.codes[is_said], won[is_said])
    found = zip(ids, n.tolist(), n_halves.tolist(), strict=True)
    return {id_: (n_of, halves) for id_, n_of, halves in found if n_of}


def axes_asked(
    judgments: Judgments, raters: Sequence[Rater], *, asks_people: bool
) -> Mapping[str, frozenset[Axis]]:
    """Return the axes that each rater was asked about, by rater id.

    No judgment says what it asked; its rater does. A judge was asked about the axes that it ever
    marked, and where marks are left to it about all in its settings. People were asked where the
    study's pages ask them for marks (`asks_people`); elsewhere, as in imported tables, who ever
    marked an axis was asked about all that people marked.
    """
    marked = {rater: set(judgments.by({rater}).axes) for rater in judgments.rater.present}
    is_person = {rater.id: rater.kind == "human" for rater in raters}
    of_people = set(AXES) if asks_people else set[Axis]()
    of_people.update(*(marked[rater] for rater in marked if is_person[rater]))
    optional: dict[str, list[Axis]] = {
        rater.id: rater.settings.get("axes", [*AXES])
        for rater in raters
        if rater.settings.get("marks") == "optional"
    }
    return {
        rater: frozenset(of_people if asks_people or own else ())
        if is_person[rater]
        else frozenset(own.union(optional.get(rater, ())))
        for rater, own in marked.items()
    }


def axis_tables(
    judgments: Judgments,
    systems: Sequence[System],
    raters: Sequence[Rater],
    *,
    asks_people: bool,
    writers: Mapping[str, str] | None,
    level: float,
) -> Iterator[AxisTable]:
    """Yield a table for each axis on which these systems have marks, in the rubric's order.

    Judgments are of these systems, and name no other rater; `asks_people` as in `axes_asked`,
    `writers` by pair.
    """
    asked = axes_asked(judgments, raters, asks_people=asks_people)
    people, names = people_among(raters), {rater.id: rater.name for rater in raters}
    met = _count_met(judgments)
    for axis in AXIS_NAMES:
        n_asked = {ends: n for ends, n in met.items() if axis in asked[ends[-1]]}
        who = {rater for _, _, rater in n_asked}
        of_axis = AxisAsked(
            n_judgments=sum(n_asked.values()),
            n_marked=int((judgments.said(axis)[0] >= 0).sum()),
            n_people=len(who.intersection(people)),
            judges=tuple(sorted(names[rater] for rater in who.difference(people))),
        )
        if of_axis.n_marked:
            comparisons = to_comparisons(
                judgments,
                axis=axis,
                use_strength=False,
                system_ids=[system.id for system in systems],
                rater_ids=people,
                writers=writers,
            )
            comparisons = count_equal(comparisons)
            n_of = Counter[str]()
            for (first, second, _), n in n_asked.items():
                n_of.update({first: n, second: n})
            table = _axis_table(axis, of_axis, comparisons, systems, n_of, level=level)
            if table.standings:
                yield table
            del table, comparisons


def _count_met(judgments: Judgments) -> dict[tuple[str, str, str], int]:
    """Return how often each rater judged each two systems, as they were shown."""
    columns = judgments.first_system, judgments.second_system, judgments.rater
    shape = [len(each.values) for each in columns]
    counts = np.bincount(np.ravel_multi_index([each.codes for each in columns], shape))
    there = np.flatnonzero(counts)
    places = zip(*(found.tolist() for found in np.unravel_index(there, shape)), strict=True)
    return {
        tuple(each.values[k] for each, k in zip(columns, at, strict=True)): n
        for at, n in zip(places, counts[there].tolist(), strict=True)
    }


def adjust_tables(tables: Sequence[AxisTable]) -> tuple[AxisTable, ...]:
    """Return the tables with q of every cell that has a p: all are one family.

    With five axes and eighteen systems five cells in ninety would be clear by chance alone; so a
    cell is called clear, and coloured so, by its q (Benjamini and Hochberg 1995). Of two systems
    one is as far above the mean as the other is below: the two cells are one test, and said twice
    they get the q of it said once.
    """
    q = iter(q_where_tested([at.p for table in tables for at in table.standings.values()]))
    return tuple(
        table._replace(
            standings={name: replace(at, q=next(q)) for name, at in table.standings.items()}
        )
        for table in tables
    )


def _p_values(ranked: Ranked) -> dict[str, float]:
    """Return the two-sided p that each system with an interval is at the mean of the axis."""
    df = ranked.df_by_name
    return {
        name: 2 * float(stdtr(df[name], -abs(at.theta) / at.se))
        for name, at in ranked.by_name.items()
        if at.se
    }


def _axis_table(
    axis: Axis,
    asked: AxisAsked,
    comparisons: Comparisons,
    systems: Sequence[System],
    n_asked: Mapping[str, int],
    *,
    level: float,
) -> AxisTable:
    ranked, problem = None, None
    try:
        ranked = rank_field(comparisons, systems, level=level)
    except NotIdentifiedError as error:
        problem = str(error)
    marks, kept = keep_compared(comparisons)
    n_items, (n, n_won_or_half) = count_items(marks), count_wins(marks)
    win_rates = n_won_or_half / n
    shares = percentiles(win_rates)
    elos: Mapping[str, EloEstimate] = ranked.by_name if ranked else {}
    p = _p_values(ranked) if ranked else {}
    standings = {}
    for i, place in enumerate(kept):
        name = systems[place].name
        estimate = elos.get(name)
        standings[name] = AxisStanding(
            win_rate=float(win_rates[i]),
            percentile=float(shares[i]),
            elo=estimate.elo if estimate else None,
            low=estimate.low if estimate else None,
            high=estimate.high if estimate else None,
            n_comparisons=int(n[i]),
            n_items=int(n_items[i]),
            n_asked=n_asked[systems[place].id],
            p=p.get(name),
        )
    return AxisTable(
        axis,
        asked,
        standings,
        AxisInterval(interval_used=ranked.interval_used, df=int(ranked.df)) if ranked else None,
        ranked.support_warnings if ranked else (),
        problem,
        ranked,
    )


def percentiles(values: FloatArray) -> FloatArray:
    """Return the share of the other values below each one, ties half, times 100; at least two."""
    below = (values[None, :] < values[:, None]).sum(axis=1)
    ties = (values[None, :] == values[:, None]).sum(axis=1) - 1
    return np.asarray((below + ties / 2) / (len(values) - 1) * 100)

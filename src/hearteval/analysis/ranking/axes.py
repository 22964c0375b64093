"""How systems stand on each axis: win rate, percentile and axis Elo (SPEC section 6).

Axis Elos are unweighted. An axis whose marks do not determine them keeps its win rates and says
why it has no Elo; the other axes and the overall ranking go on. Overall and axis win rates alone
are known also where there is no ranking.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hearteval.analysis.data import JudgmentRow
from hearteval.analysis.ranking.comparisons import SCORES, rank_field, to_comparisons
from hearteval.analysis.ranking.rank import EloEstimate, Ranked
from hearteval.domain import AXIS_NAMES, Axis, Choice, System
from hearteval.errors import NotIdentifiedError
from hearteval.stats.comparisons import (
    FloatArray,
    count_items,
    count_wins,
    keep_compared,
)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisInterval:
    """The interval an axis got, which may be another than the overall one."""

    interval_used: str
    df: int


class AxisTable(NamedTuple):
    """All systems with marks on one axis, by name; the ranking, or why there is none."""

    axis: Axis
    standings: Mapping[str, AxisStanding]
    ranked: Ranked | None
    problem: str | None


def win_rates(judgments: Sequence[JudgmentRow], systems: Sequence[System]) -> tuple[WinRate, ...]:
    """Return the win rate of every system, a tie counting half, sorted by name."""
    counts: Counter[tuple[str, str, str, Choice]] = Counter(
        (row.first_system_id, row.second_system_id, "", row.choice) for row in judgments
    )
    counts.update(
        (row.first_system_id, row.second_system_id, axis, mark.choice)
        for row in judgments
        for axis, mark in row.axes.items()
    )
    n: Counter[tuple[str, str]] = Counter()
    n_half_wins: Counter[tuple[str, str]] = Counter()
    for (first, second, axis, choice), count in counts.items():
        half_wins = round(2 * SCORES[choice])
        n.update({(first, axis): count})
        n.update({(second, axis): count})
        n_half_wins[first, axis] += count * half_wins
        n_half_wins[second, axis] += count * (2 - half_wins)
    rate = {key: n_half_wins[key] / (2 * count) for key, count in n.items()}
    return tuple(
        WinRate(
            system=system.name,
            n_comparisons=n[system.id, ""],
            win_rate=rate.get((system.id, "")),
            axes={a: rate[system.id, a] for a in AXIS_NAMES if (system.id, a) in rate},
        )
        for system in sorted(systems, key=lambda system: system.name)
    )


def axis_tables(
    judgments: Sequence[JudgmentRow],
    systems: Sequence[System],
    *,
    people: Sequence[str],
    level: float,
) -> tuple[AxisTable, ...]:
    """Return a table for each axis on which these systems have marks, in the rubric's order.

    `people` are the ids of the human raters, sorted.
    """
    marked = {axis for row in judgments for axis in row.axes}
    tables = [
        _axis_table(axis, judgments, systems, people=people, level=level)
        for axis in AXIS_NAMES
        if axis in marked
    ]
    return tuple(table for table in tables if table.standings)


def _axis_table(
    axis: Axis,
    judgments: Sequence[JudgmentRow],
    systems: Sequence[System],
    *,
    people: Sequence[str],
    level: float,
) -> AxisTable:
    comparisons = to_comparisons(
        judgments,
        axis=axis,
        use_strength=False,
        system_ids=[system.id for system in systems],
        rater_ids=people,
    )
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
        )
    return AxisTable(axis, standings, ranked, problem)


def percentiles(values: FloatArray) -> FloatArray:
    """Return the share of the other values below each one, ties half, times 100; at least two."""
    below = (values[None, :] < values[:, None]).sum(axis=1)
    ties = (values[None, :] == values[:, None]).sum(axis=1) - 1
    return np.asarray((below + ties / 2) / (len(values) - 1) * 100)

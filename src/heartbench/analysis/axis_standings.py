"""How systems stand on each axis: win rate, percentile and axis Elo (SPEC section 6).

Axis ratings are unweighted. An axis whose marks do not determine ratings keeps its win rates and
says why it has no Elo; the other axes and the overall ranking go on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heartbench.analysis.comparisons import to_comparisons
from heartbench.analysis.elo import estimate_elo, percentiles
from heartbench.analysis.judgment_columns import JudgmentColumns
from heartbench.analysis.leaderboard_results import AxisInterval, AxisStanding, EloEstimate
from heartbench.domain import AXIS_NAMES, Axis, System
from heartbench.errors import NotIdentifiedError
from heartbench.stats.comparisons import (
    Comparisons,
    count_comparisons,
    count_items,
    keep_compared,
    win_matrix,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisTable:
    """All systems on one axis.

    Attributes:
        axis: The axis.
        standings: By system name; only systems with marks.
        interval: The interval of its Elo; None where there is none.
        problem: Why there is no axis Elo, naming the components; None where there is one.
    """

    axis: Axis
    standings: Mapping[str, AxisStanding]
    interval: AxisInterval | None
    problem: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _AxisElos:
    """Ratings on one axis by system name, or why there are none."""

    by_name: Mapping[str, EloEstimate]
    interval: AxisInterval | None
    problem: str | None


def axis_tables(
    columns: JudgmentColumns,
    systems: Sequence[System],
    *,
    people: Sequence[str],
    level: float,
) -> tuple[AxisTable, ...]:
    """Return a table for each axis on which these systems have marks, in the rubric's order.

    Args:
        columns: Judgments.
        systems: Systems to stand on the axes.
        people: Ids of the human raters, sorted.
        level: Nominal coverage of the intervals.
    """
    marked = {axis for marks in columns.axes for axis in marks}
    tables = []
    for axis in AXIS_NAMES:
        if axis in marked:
            comparisons = to_comparisons(
                columns,
                axis=axis,
                use_strength=False,
                system_ids=[system.id for system in systems],
                rater_ids=people,
            )
            tables.append(
                _axis_table(axis, comparisons, [system.name for system in systems], level)
            )
    return tuple(table for table in tables if table.standings)


def _axis_table(
    axis: Axis, comparisons: Comparisons, all_names: Sequence[str], level: float
) -> AxisTable:
    comparisons, kept = keep_compared(comparisons)
    names = [all_names[i] for i in kept]
    elos = _axis_elos(comparisons, names, level)
    rated = elos.by_name
    n = count_comparisons(comparisons)
    win_rates = win_matrix(comparisons).sum(axis=1) / n
    shares = percentiles(win_rates)
    n_items = count_items(comparisons)
    standings = {
        name: AxisStanding(
            win_rate=float(win_rates[i]),
            percentile=float(shares[i]),
            elo=rated[name].elo if name in rated else None,
            low=rated[name].low if name in rated else None,
            high=rated[name].high if name in rated else None,
            n_comparisons=int(n[i]),
            n_items=int(n_items[i]),
        )
        for i, name in enumerate(names)
    }
    return AxisTable(axis=axis, standings=standings, interval=elos.interval, problem=elos.problem)


def _axis_elos(comparisons: Comparisons, names: Sequence[str], level: float) -> _AxisElos:
    """Estimate Elo among systems with marks on two items at least; or say why there is none."""
    enough, kept = keep_compared(comparisons, min_items=2)
    ranked = [names[i] for i in kept]
    try:
        table = estimate_elo(enough, ranked, level=level)
    except NotIdentifiedError as error:
        return _AxisElos(by_name={}, interval=None, problem=str(error))
    return _AxisElos(
        by_name=dict(zip(ranked, table.estimates, strict=True)),
        interval=AxisInterval(interval_used=table.interval_used, df=table.df),
        problem=None,
    )

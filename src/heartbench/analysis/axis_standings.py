"""How systems stand on each axis: win rate, percentile and axis Elo (SPEC section 6).

Axis ratings are unweighted. An axis whose marks do not determine ratings keeps its win rates and
says why it has no Elo; the other axes and the overall ranking go on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heartbench.analysis.comparisons import to_comparisons
from heartbench.analysis.elo import estimate_elo, percentiles
from heartbench.analysis.judgment_columns import JudgmentColumns
from heartbench.analysis.results import AxisStanding, EloEstimate
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
        problem: Why there is no axis Elo, naming the components; None where there is one.
    """

    axis: Axis
    standings: Mapping[str, AxisStanding]
    problem: str | None


def axis_tables(
    columns: JudgmentColumns, systems: Sequence[System], *, level: float
) -> tuple[AxisTable, ...]:
    """Return a table for each axis on which these systems have marks, in the rubric's order."""
    marked = {axis for marks in columns.axes for axis in marks}
    system_ids = [system.id for system in systems]
    tables = []
    for axis in AXIS_NAMES:
        if axis in marked:
            comparisons = to_comparisons(
                columns, axis=axis, use_strength=False, system_ids=system_ids
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
    elos, problem = _axis_elos(comparisons, names, level)
    n = count_comparisons(comparisons)
    win_rates = win_matrix(comparisons).sum(axis=1) / n
    shares = percentiles(win_rates)
    n_items = count_items(comparisons)
    standings = {
        name: AxisStanding(
            win_rate=float(win_rates[i]),
            percentile=float(shares[i]),
            elo=elos[name].elo if name in elos else None,
            low=elos[name].low if name in elos else None,
            high=elos[name].high if name in elos else None,
            n_comparisons=int(n[i]),
            n_items=int(n_items[i]),
        )
        for i, name in enumerate(names)
    }
    return AxisTable(axis=axis, standings=standings, problem=problem)


def _axis_elos(
    comparisons: Comparisons, names: Sequence[str], level: float
) -> tuple[Mapping[str, EloEstimate], str | None]:
    """Estimate Elo among systems with marks on two items at least; or say why there is none."""
    enough, kept = keep_compared(comparisons, min_items=2)
    ranked = [names[i] for i in kept]
    try:
        return dict(zip(ranked, estimate_elo(enough, ranked, level=level), strict=True)), None
    except NotIdentifiedError as error:
        return {}, str(error)

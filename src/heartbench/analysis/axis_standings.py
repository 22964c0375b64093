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
    rated: Sequence[EloEstimate | None] = [None] * len(names)
    problem = None
    try:
        rated = estimate_elo(comparisons, names, level=level)
    except NotIdentifiedError as error:
        problem = str(error)
    n = count_comparisons(comparisons)
    win_rates = win_matrix(comparisons).sum(axis=1) / n
    standings = {
        name: AxisStanding(
            win_rate=float(win_rate),
            percentile=float(percentile),
            elo=rating.elo if rating else None,
            low=rating.low if rating else None,
            high=rating.high if rating else None,
            n_comparisons=int(count),
        )
        for name, win_rate, percentile, rating, count in zip(
            names, win_rates, percentiles(win_rates), rated, n, strict=True
        )
    }
    return AxisTable(axis=axis, standings=standings, problem=problem)

"""What a reader of a ranking must know beside its numbers."""

from collections.abc import Mapping, Sequence

from heartbench.analysis.axis_standings import AxisTable
from heartbench.analysis.judgment_columns import JudgmentColumns
from heartbench.analysis.leaderboard_results import EloEstimate
from heartbench.analysis.vote_intervals import MIN_RATERS
from heartbench.domain import AXIS_NAMES

MIN_ITEMS = 2
"""On one item a system's score is 0 at the fit, whatever was judged: it has no interval."""
FEW_ITEMS = 10
"""Measured coverage of a nominal 95 % for a system on 2, 3, 5, 10 items: .65, .73, .88, .94."""
FEW_MARKS = 0.9
"""An axis marked in a smaller share of the judgments is named in the warnings."""
NO_WIDTH = 1e-9


def interval_warnings(
    judged_by: str, interval_used: str, n_people: int, tables: Sequence[AxisTable]
) -> list[str]:
    """Say what the intervals are conditional on, overall and on axes that got another one."""
    warnings = []
    if interval_used == "item-sandwich":
        warnings.append(
            "Intervals are item-sandwich, conditional on these raters: they say how the ratings"
            " would move with other items, not with other raters."
        )
        if judged_by != "judges":
            warnings.append(
                "People voted, and people differ: these intervals are too narrow for a claim about"
                f" other people. A two-way interval, over items and people, needs {MIN_RATERS} of"
                f" them; there {'is' if n_people == 1 else 'are'} {n_people}."
            )
    elif judged_by == "both":
        warnings.append(
            "Two-way intervals say how the ratings would move with other items and other people;"
            " the judges are a fixed panel, so not with other judges."
        )
    if judged_by == "both":
        warnings.append(
            "People and judges are pooled judgment by judgment, without giving both kinds the same"
            " total weight within a pair."
        )
    other = [t.axis for t in tables if t.interval and t.interval.interval_used != interval_used]
    if other:
        warnings.append(
            f"Fewer than {MIN_RATERS} people marked {', '.join(other)}: intervals there are"
            " item-sandwich, conditional on these raters."
        )
    return warnings


def sparse_warnings(n_items_of: Mapping[str, int], estimates: Sequence[EloEstimate]) -> list[str]:
    """Name systems on few items, and intervals without width."""
    warnings = []
    few = [f"{name} ({n})" for name, n in n_items_of.items() if n < FEW_ITEMS]
    if few:
        warnings.append(
            f"Compared on fewer than {FEW_ITEMS} items: {', '.join(few)}; the intervals are too"
            " narrow, these systems' most."
        )
    if max(estimate.se for estimate in estimates) < NO_WIDTH:
        warnings.append(
            "The intervals of the unweighted ratings have no width because every item says the"
            " same, as when a rater answers by position: that is no precision, and what the"
            " weighted ratings differ by is strength alone."
        )
    return warnings


def mark_warnings(columns: JudgmentColumns) -> list[str]:
    """Name the axes on which many judgments say nothing."""
    shares = {
        axis: sum(axis in marks for marks in columns.axes) / len(columns) for axis in AXIS_NAMES
    }
    return [
        f"Axis {axis} is marked in {100 * share:.1f} % of the judgments, where the raters saw a"
        " difference; its figures are among these."
        for axis, share in shares.items()
        if 0 < share < FEW_MARKS
    ]


def absence_warnings(
    absent: Sequence[str], names: Sequence[str], tables: Sequence[AxisTable]
) -> list[str]:
    """Name systems that are not ranked, or not on an axis."""
    warnings = []
    if absent:
        warnings.append(
            f"Not ranked, because fewer than {MIN_ITEMS} items compare them: {', '.join(absent)}."
        )
    for table in tables:
        unmarked = [name for name in names if name not in table.standings]
        if unmarked:
            warnings.append(
                f"Axis {table.axis} has no marks for {', '.join(unmarked)}; its percentiles and Elo"
                " are among the other systems."
            )
    return warnings

"""A plan as a picture: what is seen against what people's hours buy, a line for each crowd."""

import io
from collections import defaultdict
from typing import Any

from hearteval.analysis.planner import Plan, Planned
from hearteval.report.plots.files import MADE_WITHOUT_A_DATE, require_matplotlib
from hearteval.report.plots.style import COLUMN_INCHES, GREY, MARKS, ORANGE, SETTINGS
from hearteval.report.text import plural

HEIGHT = 3.0
SHADES = ("#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#0072b2", "#08519c", "#08306b", "#000000")
"""From few people to many."""


def plan_svg(plan: Plan) -> str:
    """Return the picture as SVG.

    Raises:
        SettingsError: matplotlib is not installed.
    """
    matplotlib, drawing = require_matplotlib()
    with matplotlib.rc_context(SETTINGS):
        canvas = drawing.Figure(figsize=(COLUMN_INCHES * 1.5, HEIGHT), layout="constrained")
        draw_plan(plan, canvas.subplots())
        out = io.StringIO()
        canvas.savefig(out, format="svg", metadata=MADE_WITHOUT_A_DATE["svg"])
    return out.getvalue()


def draw_plan(plan: Plan, axes: Any) -> None:
    """Draw how often a difference would be seen against hours, or votes where nobody is asked."""
    has_hours = plan.planned.person_hours is not None

    def across(one: Planned) -> float:
        return one.person_hours or 0.0 if has_hours else float(one.n_votes)

    lines: dict[int, list[Planned]] = defaultdict(list)
    for one in plan.curves:
        lines[one.n_raters].append(one)
    for k, (n_raters, line) in enumerate(lines.items()):
        noun = ("judge", "judges") if plan.by == "judges" else ("person", "people")
        at, seen = [across(one) for one in line], [100 * one.power for one in line]
        axes.plot(
            at,
            seen,
            marker=MARKS[k % len(MARKS)],
            color=SHADES[k % len(SHADES)],
            label=plural(n_raters, *noun),
        )
    planned = [across(plan.planned)], [100 * plan.planned.power]
    axes.plot(
        *planned, marker="*", markersize=11, color=ORANGE, linestyle="none", label="as planned"
    )
    if plan.power is not None:
        axes.axhline(100 * plan.power, color=GREY, linewidth=0.8, linestyle=":")
    axes.set_ylim(0, 100)
    axes.set_xlim(left=0)
    axes.set_ylabel(f"of 100 studies see {100 * plan.gap:g} points")
    axes.set_xlabel("hours of people in all" if has_hours else "votes")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), reverse=True)

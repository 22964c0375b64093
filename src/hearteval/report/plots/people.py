"""People beside models and judges, as figures."""

from typing import Any

from hearteval.analysis.people.study import PeopleResults
from hearteval.report.plots.style import BLUE, GREY, ORANGE

LIGHT = "#bdbdbd"


def draw_against_models(found: PeopleResults, figure: Any) -> None:
    """Draw whose reply is preferred where a model's meets a person's, by kind of rater."""
    rows = [row for row in found.against_models if row.writers is None]
    axes = figure.subplots()
    parts = (
        ("the model's", BLUE, "model"),
        ("a tie", LIGHT, "tie"),
        ("the person's", ORANGE, "person"),
    )
    start = [0.0] * len(rows)
    for label, colour, name in parts:
        shares = [getattr(row, name).rate for row in rows]
        axes.barh(range(len(rows)), shares, left=start, color=colour, height=0.6, label=label)
        for place, (share, left) in enumerate(zip(shares, start, strict=True)):
            if share > 0.06:
                dark = colour != LIGHT
                axes.text(
                    left + share / 2,
                    place,
                    f"{100 * share:.0f}",
                    ha="center",
                    va="center",
                    color="white" if dark else "black",
                )
        start = [left + share for left, share in zip(start, shares, strict=True)]
    axes.axvline(0.5, color=GREY, linewidth=0.8, linestyle=":")
    axes.set_yticks(range(len(rows)), [f"judged by {row.judged_by}" for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100"])
    axes.set_xlabel("preferred reply, % of judgments")
    figure.legend(loc="outside upper center", ncols=3)

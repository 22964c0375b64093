"""People beside models and judges, as figures."""

from typing import Any

from hearteval.report.plots.style import BLUE, GREY, ORANGE
from hearteval.sections.people.models.shares import AgainstModels
from hearteval.sections.people.study import PeopleResults

LIGHT = "#bdbdbd"
LEAST_LABELLED = 0.06
"""A narrower bar has no number on it."""
PARTS = (
    ("the model's", BLUE, "model"),
    ("a tie", LIGHT, "tie"),
    ("the person's", ORANGE, "person"),
)


def outcomes(found: PeopleResults) -> list[tuple[str, AgainstModels]]:
    """Return what is drawn of models against people: by kind of rater, then on each subset."""
    rows = []
    for whole in (row for row in found.against_models if row.writers is None):
        rows.append((f"{whole.judged_by}, all items", whole))
        rows += [
            (f"{one.judged_by}, {one.value}", one.against)
            for one in found.against_models_by
            if one.by == "subset" and one.judged_by == whole.judged_by and one.against is not None
        ]
    return rows


def draw_against_models(found: PeopleResults, figure: Any) -> None:
    """Draw whose reply is preferred where a model's meets a person's, by kind of rater."""
    rows = outcomes(found)
    axes = figure.subplots()
    start = [0.0] * len(rows)
    for label, colour, name in PARTS:
        shares = [getattr(row, name).rate for _, row in rows]
        axes.barh(range(len(rows)), shares, left=start, color=colour, height=0.7, label=label)
        for place, (share, left) in enumerate(zip(shares, start, strict=True)):
            if share > LEAST_LABELLED:
                ink = "black" if colour == LIGHT else "white"
                middle = left + share / 2
                words = f"{100 * share:.0f}"
                axes.text(middle, place, words, ha="center", va="center", color=ink, fontsize=7)
        start = [left + share for left, share in zip(start, shares, strict=True)]
    for place, (_, row) in enumerate(rows):
        if row.model.low is not None:
            axes.plot([row.model.low, row.model.high], [place + 0.42] * 2, color="black")
    axes.axvline(0.5, color=GREY, linewidth=0.8, linestyle=":")
    axes.set_yticks(range(len(rows)), [name for name, _ in rows])
    axes.set_ylim(len(rows) - 0.4, -0.5)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100"])
    axes.set_xlabel("preferred reply, % of judgments; line: interval of the model's share")
    figure.legend(loc="outside upper center", ncols=3)

"""People beside models and judges, as figures."""

from typing import TYPE_CHECKING, Any

from hearteval.analysis.judges.agreement import JudgesAgreement
from hearteval.analysis.people.against_models import AgainstModels
from hearteval.analysis.people.study import PeopleResults
from hearteval.analysis.people.with_judges import PeopleAndJudges
from hearteval.report.plots.style import BLUE, GREY, ORANGE, Heat, draw_heat_of_pairs

if TYPE_CHECKING:
    from hearteval.analysis.agreement.ratings import AgreementMeasure

LIGHT = "#bdbdbd"
LEAST_LABELLED = 0.06
"""A narrower bar has no number on it."""
PARTS = (
    ("the model's", BLUE, "model"),
    ("a tie", LIGHT, "tie"),
    ("the person's", ORANGE, "person"),
)
PEOPLE = "most people"


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


Cells = tuple[list[str], list[list[Heat | None]]]
"""Of the matrix of agreement: who stands in its rows and columns, and how often they agree."""


def agreement_cells(beside: PeopleAndJudges | None, judges: JudgesAgreement | None) -> Cells | None:
    """Return how often every two give one answer to a pair: most people, and each judge."""
    same: dict[frozenset[str], AgreementMeasure] = {}
    if beside is not None:
        same |= {frozenset({PEOPLE, one.judge}): one.same for one in beside.judges}
    if judges is not None:
        two = (one for one in judges.together if len(one.judges) == len({*one.judges}) == 2)
        same |= {frozenset(one.judges): one.same for one in two}
    names = sorted({name for pair in same for name in pair} - {PEOPLE})
    names = [PEOPLE, *names] if beside is not None else names
    cells: list[list[Heat | None]] = []
    for row in names:
        line: list[Heat | None] = []
        for column in names:
            at = same.get(frozenset({row, column})) if row != column else None
            if at is None or at.value is None:
                line.append(None)
            else:
                line.append(
                    Heat(at.value, at.low is not None and not at.low <= 0.5 <= (at.high or 1))
                )
        cells.append(line)
    return (names, cells) if len(names) > 1 else None


def draw_agreement(found: Cells, figure: Any) -> None:
    """Draw how often every two of people's majority and the judges give the same answer."""
    names, cells = found
    draw_heat_of_pairs(figure.subplots(), cells, names)

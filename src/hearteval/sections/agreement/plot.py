"""How far everyone agrees with everyone, as a figure."""

from typing import TYPE_CHECKING, Any

from hearteval.report.plots.style import Heat, draw_heat_of_pairs
from hearteval.sections.agreement.judges import JudgesAgreement
from hearteval.sections.people.judges.study import PeopleAndJudges

if TYPE_CHECKING:
    from hearteval.analysis.agreement.measures import AgreementMeasure

PEOPLE = "most people"
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

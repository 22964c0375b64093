"""What replies do, as figures: heat maps, and models beside people."""

from collections.abc import Callable
from typing import Any, NamedTuple

from hearteval.analysis.section import Figure, Section
from hearteval.report.plots.style import (
    Heat,
    draw_forest,
    draw_heat,
    names_of,
    rows_height,
)
from hearteval.report.text import FEWEST_ITEMS
from hearteval.sections.labels.differences import RateDifference
from hearteval.sections.labels.use import LabelResults, LabelSource, LabelUse
from hearteval.sections.labels.words import GROUPS, headline_source

Labels = Section[tuple[LabelResults, ...]]
BASELINE = "the offline baseline: it looks\nfor words, measures nothing"


class Drawn(NamedTuple):
    """One taxonomy, and the labeler whose figures are drawn."""

    found: LabelResults
    source: LabelSource


def families_of(taxonomy: str) -> Callable[[Labels], Drawn | None]:
    """Return what finds the heat map of a taxonomy: two families at least."""

    def find(section: Labels) -> Drawn | None:
        drawn = _labelled(section, taxonomy)
        return drawn if drawn is not None and len(drawn.source.families) > 1 else None

    return find


def differences_of(taxonomy: str) -> Callable[[Labels], Drawn | None]:
    """Return what finds the comparison of models with people by a taxonomy."""

    def find(section: Labels) -> Drawn | None:
        drawn = _labelled(section, taxonomy)
        return drawn if drawn is not None and compared(drawn) else None

    return find


def _labelled(section: Labels, taxonomy: str) -> Drawn | None:
    found = next((one for one in section.found if one.taxonomy == taxonomy), None)
    return None if found is None else Drawn(found, headline_source(found))


def compared(drawn: Drawn) -> list[RateDifference]:
    """Return models less people by category, what models do more often first."""
    rows = [row for row in drawn.source.differences if row.comparison == "models-people"]
    return sorted(rows, key=lambda row: (-row.difference, row.category))


def family_cells(drawn: Drawn) -> tuple[list[str], list[list[Heat | None]]]:
    """Return the categories, the most frequent first, and how often each family uses each."""
    uses, averages = drawn.source.families, drawn.source.averages
    keys = sorted(averages, key=lambda key: (-averages[key], key))
    cells = [[_cell(use, key, averages[key]) for use in uses] for key in keys]
    return [drawn.found.categories[key] for key in keys], cells


def _cell(use: LabelUse, key: str, average: float) -> Heat | None:
    at = next(rate for rate in use.rates if rate.category == key)
    if use.n_items < FEWEST_ITEMS:
        return None
    is_open = at.low is None or at.high is None or at.low <= average <= at.high
    return Heat(at.rate, not is_open, average)


def draw_families(drawn: Drawn, figure: Any) -> None:
    """Draw percent of replies by family, coloured against the mean of the systems."""
    names, cells = family_cells(drawn)
    axes = figure.subplots()
    columns = names_of([GROUPS.get(use.group, use.group) for use in drawn.source.families], 16)
    draw_heat(axes, cells, rows=names, columns=columns)
    axes.set_xticks(range(len(columns)), columns, rotation=35, ha="right")
    axes.set_xlabel(by_whom(drawn.source, "% of replies"), fontsize=7)


def draw_differences(drawn: Drawn, figure: Any) -> None:
    """Draw how much more often models do something than people, with intervals."""
    rows = compared(drawn)
    axes = figure.subplots()
    shown = {"": [percents(row.difference, row.low, row.high) for row in rows]}
    draw_forest(axes, [row.name for row in rows], shown, centre=0)
    axes.set_xlabel(by_whom(drawn.source, "models less people, points"), fontsize=7)


def percents(
    value: float, low: float | None, high: float | None
) -> tuple[float, float | None, float | None]:
    """Return a share and its ends in percent."""
    low, high = (None if end is None else 100 * end for end in (low, high))
    return 100 * value, low, high


def by_whom(source: Any, what: str) -> str:
    """Return what stands below a figure: what is drawn, and which labeler it is by."""
    (who,) = names_of([source.labeler])
    baseline = f",\n{BASELINE}" if source.kind == "baseline" else ""
    return f"{what}\nlabelled by {who}{baseline}"


LABELLED = {"strategies": "support strategies", "micro-skills": "micro-skills"}
FIGURES = (
    *(
        Figure(
            name,
            f"How often replies hold each of the {what}, percent; coloured: more (blue) or less"
            " (orange) than the systems on average; pale where that is open.",
            families_of(name),
            draw_families,
            lambda drawn, _: rows_height(3 + len(drawn.source.averages)),
        )
        for name, what in LABELLED.items()
    ),
    *(
        Figure(
            f"{name}-of-models-and-people",
            f"How much more often models' replies hold each of the {what} than people's, with"
            " intervals.",
            differences_of(name),
            draw_differences,
            lambda drawn, _: rows_height(1 + len(drawn.source.averages)),
        )
        for name, what in LABELLED.items()
    ),
)

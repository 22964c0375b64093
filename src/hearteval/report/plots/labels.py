"""What replies do, and what raters choose by, as figures: heat maps, and two kinds side by side."""

from collections.abc import Callable
from typing import Any, NamedTuple

from hearteval.analysis.labels.differences import RateDifference
from hearteval.analysis.labels.rationales import RationaleSource, ThemeRate
from hearteval.analysis.labels.use import LabelResults, LabelSource, LabelUse
from hearteval.analysis.study import StudyResults
from hearteval.report import rationales
from hearteval.report.labels import GROUPS, headline_source
from hearteval.report.plots.style import (
    BLUE,
    GREY,
    MARKS,
    ORANGE,
    Heat,
    draw_heat,
    draw_intervals,
    names_of,
)
from hearteval.report.text import FEWEST_ITEMS

BASELINE = "the offline baseline: it looks\nfor words, measures nothing"


class Drawn(NamedTuple):
    """One taxonomy, and the labeler whose figures are drawn."""

    found: LabelResults
    source: LabelSource


def families_of(taxonomy: str) -> Callable[[StudyResults], Drawn | None]:
    """Return what finds the heat map of a taxonomy: two families at least."""

    def find(results: StudyResults) -> Drawn | None:
        drawn = _labelled(results, taxonomy)
        return drawn if drawn is not None and len(drawn.source.families) > 1 else None

    return find


def differences_of(taxonomy: str) -> Callable[[StudyResults], Drawn | None]:
    """Return what finds the comparison of models with people by a taxonomy."""

    def find(results: StudyResults) -> Drawn | None:
        drawn = _labelled(results, taxonomy)
        return drawn if drawn is not None and compared(drawn) else None

    return find


def _labelled(results: StudyResults, taxonomy: str) -> Drawn | None:
    found = next((one for one in results.labels if one.taxonomy == taxonomy), None)
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
    axes.set_xlabel(_by_whom(drawn.source, "% of replies"), fontsize=7)


def draw_differences(drawn: Drawn, figure: Any) -> None:
    """Draw how much more often models do something than people, with intervals."""
    rows = compared(drawn)
    axes = figure.subplots()
    axes.axvline(0, color=GREY, linewidth=0.8, linestyle=":")
    draw_intervals(axes, [_points(row.difference, row.low, row.high) for row in rows])
    axes.set_yticks(range(len(rows)), [row.name for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel(_by_whom(drawn.source, "models less people, points"), fontsize=7)


def themes_of(results: StudyResults) -> RationaleSource | None:
    """Return the labeler whose themes are drawn, where people and judges both gave reasons."""
    if results.rationales is None:
        return None
    source = rationales.headline_source(results.rationales)
    is_enough = source.n_items >= FEWEST_ITEMS
    return source if is_enough and compared_themes(source) else None


def compared_themes(source: RationaleSource) -> list[ThemeRate]:
    """Return the themes that people and judges could both give, what people give more first."""
    both = [
        (one.people.value - one.judges.value, one)
        for one in source.themes
        if one.people and one.judges
    ]
    return [one for _, one in sorted(both, key=lambda row: (-row[0], row[1].name))]


def draw_themes(source: RationaleSource, figure: Any) -> None:
    """Draw how often people and judges give each theme as a reason, with intervals."""
    rows = compared_themes(source)
    axes = figure.subplots()
    for k, (who, colour) in enumerate((("people", ORANGE), ("judges", BLUE))):
        given = [one.people if who == "people" else one.judges for one in rows]
        draw_intervals(
            axes,
            [_points(at.value, at.low, at.high) for at in given if at],
            places=[place + 0.3 * (k - 0.5) for place in range(len(rows))],
            colour=colour,
            mark=MARKS[k],
            label=who,
        )
    axes.set_yticks(range(len(rows)), [_with_axis(row) for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(left=-1)  # so that a dot at 0 is whole
    axes.set_xlabel(_by_whom(source, "speak of it, %"), fontsize=7)
    figure.legend(loc="outside upper center", ncols=2, handletextpad=0.2)


def _with_axis(row: ThemeRate) -> str:
    return f"{row.name} ({row.axis})" if row.axis else row.name


def _points(
    value: float, low: float | None, high: float | None
) -> tuple[float, float | None, float | None]:
    low, high = (None if end is None else 100 * end for end in (low, high))
    return 100 * value, low, high


def _by_whom(source: LabelSource | RationaleSource, what: str) -> str:
    (who,) = names_of([source.labeler])
    baseline = f",\n{BASELINE}" if source.kind == "baseline" else ""
    return f"{what}\nlabelled by {who}{baseline}"

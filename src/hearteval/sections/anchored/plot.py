"""People alone, judges alone and both, as a figure."""

from typing import Any

from hearteval.analysis.ranking.anchored import AnchoredRanking
from hearteval.report.figures import MEAN_ELO
from hearteval.report.plots.style import BLUE, GREY, ORANGE, draw_forest, names_of
from hearteval.report.text import level_percent

SERIES = {"people alone": "_people", "judges alone": "_judges", "anchored": ""}
"""What is drawn of each system, and how its fields end."""


def draw_anchored(found: AnchoredRanking, figure: Any) -> None:
    """Draw each system three times: by people alone, by judges alone, anchored."""
    axes = figure.subplots()
    elos = {}
    for label, by in SERIES.items():
        ends = (
            [getattr(row, f"{end}{by}") for end in ("elo", "low", "high")] for row in found.systems
        )
        elos[label] = [None if at is None else (at, low, high) for at, low, high in ends]
    names = names_of([row.system for row in found.systems])
    draw_forest(axes, names, elos, centre=MEAN_ELO, apart=0.26, colours=(ORANGE, GREY, BLUE))
    axes.set_xlabel(f"Elo, {level_percent(found.level)} interval")
    figure.legend(loc="outside upper right", ncols=3)

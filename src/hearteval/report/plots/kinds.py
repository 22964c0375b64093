"""What the ranking depends on, as figures: factors of the axes."""

from typing import Any

from hearteval.analysis.factors import FactorResults
from hearteval.report.plots.style import (
    BLUE,
    COLOURS,
    GREY,
)


def draw_factors(found: FactorResults, figure: Any) -> None:
    """Draw the eigenvalues beside those of unrelated axes, and the loadings of each axis."""
    values, loadings = figure.subplots(1, 2)
    numbers = [one.number for one in found.eigenvalues]
    values.plot(numbers, [one.found for one in found.eigenvalues], "o-", color=BLUE, label="found")
    values.plot(
        numbers, [one.chance for one in found.eigenvalues], "s--", color=GREY, label="by chance"
    )
    values.set_xticks(numbers)
    values.set_xlabel("factor")
    values.set_ylabel("eigenvalue")
    width = 0.8 / max(len(found.factors), 1)
    for k, factor in enumerate(found.factors):
        shift = (k - (len(found.factors) - 1) / 2) * width
        loadings.bar(
            [place + shift for place in range(len(found.axes))],
            [row.loadings[factor.name] for row in found.axes],
            width=width,
            color=COLOURS[k % len(COLOURS)],
            label=factor.name,
        )
    loadings.axhline(0, color=GREY, linewidth=0.8)
    loadings.set_xticks(range(len(found.axes)), [row.axis for row in found.axes])
    loadings.set_ylabel("loading")
    if len(found.factors) > 1:
        figure.legend(*loadings.get_legend_handles_labels(), loc="outside upper right", ncols=3)
    figure.legend(*values.get_legend_handles_labels(), loc="outside upper left", ncols=2)

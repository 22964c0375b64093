"""What the ranking depends on, as figures: kinds of item, factors of the axes."""

import math
from typing import Any

from hearteval.analysis.factors import FactorResults
from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.analysis.ranking.strata import StratifiedFactor, StratifiedRanking
from hearteval.report.figures import MEAN_ELO
from hearteval.report.plots.style import (
    BLUE,
    COLOURS,
    GREY,
    MARKS,
    PAGE_INCHES,
    SHORT_NAME,
    draw_intervals,
    names_of,
)

MOST_ACROSS = 4
STRATUM_NAME = 22
MOST_STRATA = 4
"""Of one factor in one picture; more are told by the table."""


def drawn_factors(strata: StratifiedRanking) -> list[StratifiedFactor]:
    """Return the factors of which a picture is made: with two to four strata that are ranked."""
    return [
        factor
        for factor in strata.factors
        if 2 <= sum(bool(one.standings) for one in factor.strata) <= MOST_STRATA
    ]


def strata_across(width: float) -> int:
    """Return how many factors stand side by side in a figure so many inches wide."""
    return MOST_ACROSS if width >= PAGE_INCHES else 2


def draw_strata(found: tuple[StratifiedRanking, Leaderboard], figure: Any) -> None:
    """Draw each system's Elo on every kind of item, with intervals."""
    strata, board = found
    factors = drawn_factors(strata)
    names = [row.system for row in board.rows]
    n_across = strata_across(figure.get_figwidth())
    n_down = math.ceil(len(factors) / n_across)
    n_across = min(n_across, len(factors))
    drawn = figure.subplots(n_down, n_across, sharey=True, squeeze=False)
    for axes in drawn.ravel()[len(factors) :]:
        axes.set_visible(False)
    for axes, factor in zip(drawn.ravel(), factors, strict=False):
        ranked = [one for one in factor.strata if one.standings]
        labels = names_of([one.name for one in ranked], STRATUM_NAME)
        axes.axvline(MEAN_ELO, color=GREY, linewidth=0.8, linestyle=":", zorder=0)
        for k, stratum in enumerate(ranked):
            at = {one.system: one for one in stratum.standings if one.elo is not None}
            rows = [(at[name].elo, at[name].low, at[name].high) for name in names if name in at]
            places = [place for place, name in enumerate(names) if name in at]
            draw_intervals(
                axes,
                rows,
                places=[
                    place + (k - (len(ranked) - 1) / 2) * 0.8 / len(ranked) for place in places
                ],
                colour=COLOURS[k],
                mark=MARKS[k],
                label=f"{labels[k]} ({stratum.n_items})",
            )
        axes.set_title(factor.factor)
        axes.set_xlabel("Elo")
        axes.locator_params(axis="x", nbins=3)
        axes.legend(
            loc="upper center", bbox_to_anchor=(0.5, 0), borderaxespad=4.5, handletextpad=0.2
        )
        axes.set_yticks(range(len(names)), names_of(names, SHORT_NAME))
        axes.set_ylim(len(names) - 0.5, -0.5)


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

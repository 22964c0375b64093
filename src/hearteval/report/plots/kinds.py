"""What the ranking depends on, as figures: kinds of item, single items, factors of the axes."""

import math
from typing import Any

from hearteval.analysis.factors import FactorResults
from hearteval.analysis.ranking.difficulty import ItemDifficulty
from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.analysis.ranking.strata import StratifiedFactor, StratifiedRanking
from hearteval.analysis.traits.speed import VOICE_BAND_MS, SpeedResults
from hearteval.report.figures import MEAN_ELO
from hearteval.report.plots.style import (
    BLUE,
    GREEN,
    GREY,
    MARKS,
    ORANGE,
    PAGE_INCHES,
    SHORT_NAME,
    draw_intervals,
    names_of,
)

MOST_ACROSS = 4
MOST_FAMILIES = 8
MOST_NAMED = 10
"""Of more systems only those on the front are named."""
STRATUM_NAME = 22
MOST_STRATA = 4
"""Of one factor in one picture; more are told by the table."""
LIGHT_BAND = "#e6f0e6"
COLOURS = (BLUE, ORANGE, GREEN, GREY)


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


def draw_speed(found: SpeedResults, figure: Any) -> None:
    """Draw Elo against the time to first text, with the front of what is quick and good."""
    axes = figure.subplots()
    families = sorted({one.family for one in found.systems})
    labels = names_of(families, SHORT_NAME)
    shown = names_of([one.system for one in found.systems], SHORT_NAME)
    names = dict(zip((one.system for one in found.systems), shown, strict=True))
    front = [one for one in found.systems if one.is_on_front]
    axes.step(
        [one.first_token_ms for one in front],
        [one.elo for one in front],
        where="post",
        color=GREY,
        linestyle="--",
        linewidth=0.8,
    )
    for k, family in enumerate(families):
        own = [one for one in found.systems if one.family == family]
        style = {"color": COLOURS[k % len(COLOURS)], "marker": MARKS[k % len(MARKS)]}
        axes.plot([], [], linestyle="none", label=labels[k], **style)
        for one in own:
            if one.low is not None and one.high is not None:
                ends = [one.low, one.high]
                axes.plot([one.first_token_ms] * 2, ends, color=style["color"], alpha=0.5)
            axes.plot([one.first_token_ms], [one.elo], **style)
            if one.is_on_front or len(found.systems) <= MOST_NAMED:
                axes.annotate(
                    names[one.system],
                    (one.first_token_ms, one.elo),
                    xytext=(4, 3),
                    textcoords="offset points",
                    fontsize=5.5,
                )
    axes.axhline(MEAN_ELO, color=GREY, linewidth=0.8, linestyle=":")
    times = [one.first_token_ms for one in found.systems]
    low, high = min(*times, VOICE_BAND_MS) / 1.5, max(*times, VOICE_BAND_MS) * 1.5
    axes.axvspan(low, VOICE_BAND_MS, color=LIGHT_BAND, zorder=0)
    axes.set_xscale("log")
    axes.minorticks_off()
    ticks = [m * 10**power for power in range(7) for m in (1, 2, 5) if low < m * 10**power < high]
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.set_xlim(low, high)
    axes.set_xlabel("time to first text, median, ms (log scale)")
    axes.set_ylabel("Elo")
    if len(families) <= MOST_FAMILIES:
        n_across = 4 if figure.get_figwidth() >= PAGE_INCHES else 2
        figure.legend(loc="outside upper center", ncols=n_across, handletextpad=0.2)


def draw_difficulty(found: ItemDifficulty, figure: Any) -> None:
    """Draw how far apart systems are on each item, and how far that follows the ranking."""
    axes = figure.subplots()
    for k, subset in enumerate(sorted({item.subset for item in found.items}, reverse=True)):
        shown = [
            item
            for item in found.items
            if item.subset == subset and item.discrimination is not None
        ]
        axes.scatter(
            [item.spread for item in shown],
            [item.discrimination for item in shown],
            s=10,
            color=COLOURS[k % len(COLOURS)],
            marker=MARKS[k % len(MARKS)],
            alpha=0.7,
            linewidths=0,
            label=f"{subset} ({len(shown)})",
        )
    axes.axvline(found.expected_spread, color=GREY, linewidth=0.8, linestyle=":")
    axes.set_xlabel("spread of the systems on an item")
    axes.set_ylabel("correlation with the ranking")
    axes.legend()


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

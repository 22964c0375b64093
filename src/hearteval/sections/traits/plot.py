"""Elo against the time to first text, for a paper."""

from typing import Any

from hearteval.report.figures import MEAN_ELO
from hearteval.report.plots.kinds import COLOURS
from hearteval.report.plots.style import GREY, MARKS, PAGE_INCHES, SHORT_NAME, names_of
from hearteval.sections.traits.speed import VOICE_BAND_MS, SpeedResults

MOST_FAMILIES = 8
"""Of more families there is no legend."""
MOST_NAMED = 10
"""Of more systems only those on the front are named."""
LIGHT_BAND = "#e6f0e6"


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

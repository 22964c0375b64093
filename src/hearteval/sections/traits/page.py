"""Speed and other traits of the systems: a picture of Elo against time, and tables."""

import math
from typing import Any, NamedTuple

from markupsafe import Markup

from hearteval.report.figures import MEAN_ELO, Scale, round_ticks
from hearteval.report.plots.style import COLOURS, GREY, MARKS, PAGE_INCHES, SHORT_NAME, names_of
from hearteval.report.text import (
    NO_BREAK_SPACE,
    NO_VALUE,
    count,
    fine_interval,
    hundredths,
    listed,
    pixels,
    plural,
    shortened,
    signed,
)
from hearteval.sections.traits.covariates import Correlation, CovariateResult, CovariateResults
from hearteval.sections.traits.speed import VOICE_BAND_MS, SpeedCorrelation, SpeedResults

WIDTH, HEIGHT = 440, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 14, 14, 44
LONGEST_NAME = 22
MOST_FAMILIES = 8
"""Of more families there is no legend."""
MOST_NAMED = 10
"""Of more systems only those on the front are named."""
LIGHT_BAND = "#e6f0e6"
RHO = "\N{GREEK SMALL LETTER RHO}"
OUTCOMES = {"elo": "Elo", "win_rate": "share won"}
NAME_WIDTH = 7.0
"""Of a letter, about."""
Box = tuple[float, float, float, float]
"""Left, top, right and bottom."""
OVER = {
    "systems": "over systems",
    "families": "over families (means)",
    "systems within families": "within families",
}


class Place(NamedTuple):
    """One system on the picture; its name is empty unless it is written there."""

    x: str
    y: str
    name: str
    anchor: str
    text_x: str
    text_y: str


class Picture(NamedTuple):
    """Elo against time to first text on a log scale."""

    across: Scale
    up: Scale
    ticks: tuple[tuple[str, str], ...]
    band: str
    """Where the band of voices ends; empty where all of the picture is in it or none."""
    front: str
    """Points of the Pareto front's line."""
    places: tuple[Place, ...]
    description: str


def answer(found: SpeedResults) -> Markup:
    """Say in a sentence or two how speed and quality go together."""
    over = found.correlations[0]
    n = sum(one.is_within_band for one in found.systems)
    band = f"{plural(n, 'system')} of {len(found.systems)}" if n else "no system"
    front = listed([one.system for one in found.systems if one.is_on_front])
    rest = Markup(
        " On the front, where none is both quicker and better: {}. Within {}: {}."
    ).format(front, milliseconds(VOICE_BAND_MS), band)
    if over.spearman is None:
        said = Markup("<b>Too few systems</b> to say whether the slower ones do better.")
    elif over.spearman.low is None or over.spearman.low * (over.spearman.high or 0) <= 0:
        said = Markup("<b>No link between speed and Elo is shown</b> ({}).").format(
            _with_ends(over.spearman, RHO)
        )
    else:
        words = "slower systems do better" if over.spearman.r > 0 else "quicker systems do better"
        said = Markup("<b>Here {}</b> ({}).").format(words, _with_ends(over.spearman, RHO))
    return said + rest


def correlation_words(found: SpeedResults) -> str:
    """Write the correlations over systems, over families and within them."""
    said = [
        f"{OVER[one.over]} {_with_ends(one.spearman, RHO)}, {_units(one)}"
        for one in found.correlations
        if one.spearman is not None
    ]
    missing = [OVER[one.over] for one in found.correlations if one.spearman is None]
    words = f"Rank correlation of time and Elo: {'; '.join(said)}." if said else ""
    if missing:
        words += f" Too few for a figure: {', '.join(missing)}."
    return words.strip()


def _units(one: SpeedCorrelation) -> str:
    if one.over == "families":
        return plural(one.n, "family", "families")
    return plural(one.n, "system")


def milliseconds(value: float) -> str:
    """Write a time in whole milliseconds, or in seconds from ten of them."""
    if value >= 10_000:
        return f"{value / 1000:.1f}{NO_BREAK_SPACE}s"
    return f"{count(round(value))}{NO_BREAK_SPACE}ms"


def picture(found: SpeedResults) -> Picture:
    """Return the picture; systems on the front are named."""
    logs = [math.log10(one.first_token_ms) for one in found.systems]
    low, high = min(*logs, 2.5) - 0.08, max(*logs, 3.0) + 0.08
    decades = range(math.floor(low), math.ceil(high) + 1)
    ticks = [m * 10.0**k for k in decades for m in (1, 2, 5)]
    across = Scale(low=low, high=high, start=_LEFT, end=WIDTH - _RIGHT, ticks=())
    elos = [one.elo for one in found.systems]
    bottom, top = min(elos) - 15, max(elos) + 15
    up = Scale(
        low=bottom,
        high=top,
        start=HEIGHT - _BOTTOM,
        end=_TOP,
        ticks=round_ticks(bottom, top, n_most=5),
    )
    at = [
        (across.place(log), up.place(one.elo)) for one, log in zip(found.systems, logs, strict=True)
    ]
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in at]
    places, front = [], []
    for one, (x, y) in zip(found.systems, at, strict=True):
        name = shortened(one.system, LONGEST_NAME) if one.is_on_front else ""
        text_x, text_y, anchor = _beside(x, y, name, taken)
        places.append(Place(pixels(x), pixels(y), name, anchor, pixels(text_x), pixels(text_y)))
        if one.is_on_front:
            front.append(f"{pixels(x)},{pixels(y)}")
    return Picture(
        across=across,
        up=up,
        ticks=tuple(
            (count(round(tick)), pixels(across.place(math.log10(tick))))
            for tick in ticks
            if low <= math.log10(tick) <= high
        ),
        band=pixels(across.place(math.log10(VOICE_BAND_MS))),
        front=" ".join(front),
        places=tuple(places),
        description=f"{plural(len(places), 'system')}, quickest"
        f" {found.systems[0].system} at {milliseconds(found.systems[0].first_token_ms)}",
    )


def _beside(x: float, y: float, name: str, taken: list[Box]) -> tuple[float, float, str]:
    """Return where a name stands, clear of dots and of names before it where there is room."""
    width = NAME_WIDTH * len(name)
    spots = [(x + 8, y + up, "start") for up in (-7, 16, 4)]
    spots += [(x - 8, y + up, "end") for up in (-7, 16, 4)]
    if not name:
        return spots[0]

    def box(spot: tuple[float, float, str]) -> Box:
        left = spot[0] - (width if spot[2] == "end" else 0)
        return left, spot[1] - 11, left + width, spot[1] + 2

    def cost(spot: tuple[float, float, str]) -> float:
        left, above, right, below = box(spot)
        out = max(0.0, _LEFT - left) + max(0.0, right - WIDTH)
        meets = [
            min(right, b[2]) - max(left, b[0])
            for b in taken
            if left < b[2] and b[0] < right and above < b[3] and b[1] < below
        ]
        return 3 * out + sum(meets)

    best = min(spots, key=cost)
    taken.append(box(best))
    return best


def correlation(one: Correlation | None) -> Markup:
    """Write a correlation with its interval below it."""
    if one is None:
        return Markup("{}").format(NO_VALUE)
    ends = "" if one.low is None else fine_interval(one.low, one.high)
    q = "" if one.q is None else f", q{NO_BREAK_SPACE}{_p(one.q)}"
    return Markup("<b>{}</b><small>{}{}</small>").format(hundredths(one.r), ends, q)


def beside_words(row: CovariateResult) -> str:
    """Name the systems farthest above and below the line."""
    if row.problem is not None:
        return row.problem
    best, worst = row.residuals[0], row.residuals[-1]
    is_elo = row.outcome == "elo"

    def gap(value: float) -> str:
        return signed(value) if is_elo else f"{signed(100 * value)} points"

    return (
        f"above the line {best.system} ({gap(best.residual)}),"
        f" below {worst.system} ({gap(worst.residual)})"
    )


def unmatched_words(found: CovariateResults) -> str:
    """Name what the table and the ranking do not share."""
    said = []
    if found.without:
        said.append(f"Not in the table: {listed(found.without)}.")
    if found.unknown:
        said.append(f"In the table, but not ranked: {listed(found.unknown)}.")
    return " ".join(said)


def _with_ends(one: Correlation | None, letter: str) -> str:
    if one is None:
        return NO_VALUE
    ends = "" if one.low is None else f" {fine_interval(one.low, one.high)}"
    return f"{letter}{NO_BREAK_SPACE}={NO_BREAK_SPACE}{hundredths(one.r)}{ends}"


def _p(value: float) -> str:
    small = f"<{NO_BREAK_SPACE}.001"
    return small if value < 0.001 else f"={NO_BREAK_SPACE}{value:.3f}"


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

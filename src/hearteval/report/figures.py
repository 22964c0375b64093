"""Geometry and colours of the figures, which the templates draw as inline SVG.

The scatter's coordinates are pixels from its top left corner; the scale beside the leaderboard is
in percent, so that it fills its column. The heat scale of win rates is blue above one half and
orange below: both arms have the same lightness at the same distance from one half, so that hue
tells the side and lightness the distance; blue and orange stay apart for colour-blind readers.
Colours are interpolated in OKLab (Ottosson 2020). Text on them is the page's ink; the contrast is
tested.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from hearteval.analysis.ranking.leaderboard import Leaderboard
from hearteval.analysis.ranking.rank import FitCheck, PairFit
from hearteval.report.text import percent, points

Theme = Literal["light", "dark"]
Oklab = tuple[float, float, float]

HEAT_LOW = 0.1
HEAT_HIGH = 0.9
N_HEAT_STEPS = 41
Z95 = 1.96

MARGIN_PERCENT = 8.0
MEAN_ELO = 1500.0
HALF_WON = 50.0
"""Percent."""
PLOT_WIDTH = 440
PLOT_HEIGHT = 380
N_LABELS = 6
MANY = 9
"""More systems have numbers above their columns, not names, and fewer tables."""
MIN_HALF_WIDTH = 0.1
"""A scale of effects shows at least 40 % to 60 %, so that small ones look small."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 12, 44
_LABEL_WIDTH, _LABEL_HEIGHT = 10, 12
_LARGEST_DOT, _SMALLEST_DOT = 5.0, 2.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A straight scale from values to places: pixels, or percent of a width."""

    low: float
    """Value at `start`."""
    high: float
    """Value at `end`, which may be less than `start` (upward axes)."""
    start: float
    end: float
    ticks: tuple[float, ...]

    def place(self, value: float) -> float:
        """Return the place of a value."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


class Dot(NamedTuple):
    """One pair of systems in the scatter, with the number of its label if it has one."""

    x: float
    y: float
    radius: float
    pair: PairFit
    number: int | None
    label: tuple[float, float]


class Scatter(NamedTuple):
    """Observed against predicted share of wins."""

    across: Scale
    up: Scale
    dots: tuple[Dot, ...]
    """One for each pair of systems; labelled ones last, so that they lie on top."""
    labelled: tuple[PairFit, ...]
    """The pairs with the largest gaps, in the order of their numbers."""


def scale_around(centre: float, shown: Iterable[float | None]) -> Scale:
    """Return one scale for what is shown and a centre, ticks at round distances from that."""
    ends = [centre, *(end for end in shown if end is not None)]
    low, high = min(ends), max(ends)
    if low == high:
        low, high = low - 1, high + 1
    ticks = round_ticks(low - centre, high - centre, n_most=6)
    return _across_column(low, high, tuple(centre + tick for tick in ticks))


def _across_column(low: float, high: float, ticks: tuple[float, ...]) -> Scale:
    start, end = MARGIN_PERCENT, 100 - MARGIN_PERCENT
    return Scale(low=low, high=high, start=start, end=end, ticks=ticks)


def effect_scale(shares: Sequence[float | None]) -> Scale:
    """Return a scale of shares, in percent of its column, as wide on both sides of one half."""
    farthest = max((abs(share - 0.5) for share in shares if share is not None), default=0.0)
    half_width = max(math.ceil(farthest * 20 - 1e-9) / 20, MIN_HALF_WIDTH)
    low, high = 0.5 - half_width, 0.5 + half_width
    return _across_column(low, high, (low, 0.5, high))


def round_ticks(low: float, high: float, *, n_most: int) -> tuple[float, ...]:
    """Return at most `n_most` + 1 multiples of 1, 2 or 5 times a power of ten within the ends."""
    rough = (high - low) / n_most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(round(k * step, 10) for k in range(first, last + 1))


def favoured(pair: PairFit, *, by: PairFit | None = None) -> PairFit:
    """Return a pair seen from the system that a fit, its own by default, expects to win more."""
    if (by or pair).predicted >= 0.5:
        return pair
    observed, predicted = 1 - pair.observed, 1 - pair.predicted
    return replace(pair, left=pair.right, right=pair.left, observed=observed, predicted=predicted)


def pairs_by_gap(fit: FitCheck) -> tuple[PairFit, ...]:
    """Return pairs from the favoured side, largest gap first, then by name."""
    return tuple(sorted(map(favoured, fit.pairs), key=_by_gap))


def pairs_in_both_fits(board: Leaderboard) -> tuple[tuple[PairFit, PairFit], ...]:
    """Return each pair as the unweighted fit and as the headline see it, largest gap first.

    Both are seen from the side that the unweighted fit favours.
    """
    both = [
        (favoured(pair), favoured(headline, by=pair))
        for pair, headline in zip(board.fit.pairs, board.fit_weighted.pairs, strict=True)
    ]
    return tuple(sorted(both, key=lambda fits: _by_gap(fits[0])))


def _by_gap(pair: PairFit) -> tuple[float, str, str]:
    return (-abs(pair.observed - pair.predicted), pair.left, pair.right)


def fit_scatter(fit: FitCheck) -> Scatter:
    """Return the scatter of the fit check, the largest gaps numbered; needs a pair."""
    pairs = pairs_by_gap(fit)
    across = _share_scale(
        [0.5, *(pair.predicted for pair in pairs)], start=_LEFT, end=PLOT_WIDTH - _RIGHT
    )
    up = _share_scale(
        [0.5, *(pair.observed for pair in pairs), across.high],
        start=PLOT_HEIGHT - _BOTTOM,
        end=_TOP,
    )
    most = max(pair.n for pair in pairs)
    places = [(across.place(pair.predicted), up.place(pair.observed)) for pair in pairs]
    labels = _label_places(places)
    dots = tuple(
        Dot(
            x=x,
            y=y,
            radius=max(_LARGEST_DOT * math.sqrt(pair.n / most), _SMALLEST_DOT),
            pair=pair,
            number=k + 1 if k < len(labels) else None,
            label=labels[k] if k < len(labels) else (x, y),
        )
        for k, (pair, (x, y)) in enumerate(zip(pairs, places, strict=True))
    )
    return Scatter(across=across, up=up, dots=dots[::-1], labelled=pairs[: len(labels)])


def describe_pair(pair: PairFit) -> str:
    """Say in words what one dot shows."""
    gap = points(pair.observed - pair.predicted)
    return (
        f"{pair.left} over {pair.right}: observed {percent(pair.observed)}, "
        f"predicted {percent(pair.predicted)}, gap {gap} points, n {pair.n}"
    )


def _share_scale(shares: Sequence[float], *, start: float, end: float) -> Scale:
    low = max(math.floor(min(shares) * 10 - 1e-9) / 10, 0.0) if min(shares) < 0.5 else 0.5
    high = min(math.ceil(max(shares) * 10 + 1e-9) / 10, 1.0)
    high = max(high, low + 0.1)
    return Scale(low=low, high=high, start=start, end=end, ticks=round_ticks(low, high, n_most=6))


def _label_places(dots: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Place the labels of the first dots beside them, clear of all dots and earlier labels."""
    taken = list(dots)
    placed: list[tuple[float, float]] = []
    for x, y in dots[:N_LABELS]:
        candidates = [
            (x + r * math.cos(a), y + r * math.sin(a))
            for r in (12, 18, 26)
            for a in (math.pi * k / 4 for k in range(8))
        ]
        inside = [place for place in candidates if _is_inside(*place)]
        spot = max(inside, key=lambda place: min(12, *(math.dist(place, dot) for dot in taken)))
        placed.append(spot)
        taken.append(spot)
    return placed


def _is_inside(x: float, y: float) -> bool:
    return (
        _LEFT + _LABEL_WIDTH / 2 < x < PLOT_WIDTH - _LABEL_WIDTH / 2
        and _LABEL_HEIGHT / 2 < y < PLOT_HEIGHT - _BOTTOM - _LABEL_HEIGHT / 2
    )


_ARMS: Mapping[Theme, tuple[Oklab, Oklab, Oklab]] = {
    "light": ((0.97, 0.003, 90), (0.73, 0.13, 58), (0.73, 0.12, 250)),
    "dark": ((0.27, 0.006, 260), (0.50, 0.11, 55), (0.50, 0.12, 255)),
}
"""Middle of the heat scale, its lower and its upper end: lightness, chroma, hue in degrees."""


def heat_step(share: float) -> int:
    """Return the step of the scale for a win rate: 0 at 10 % and below, 40 at 90 % and above."""
    position = (share - HEAT_LOW) / (HEAT_HIGH - HEAT_LOW)
    return round(min(max(position, 0.0), 1.0) * (N_HEAT_STEPS - 1))


def half_width(n_items: int) -> float:
    """Return how far from one half equals come out in 19 of 20 cases, each item one answer."""
    return Z95 / (2 * math.sqrt(n_items))


def z_step(z: float) -> int:
    """Return the step of the scale for a z-score: 0 at -1 and below, 40 at 1 and above."""
    return heat_step(0.5 + z * (HEAT_HIGH - HEAT_LOW) / 2)


def heat_colours(theme: Theme) -> tuple[str, ...]:
    """Return the background colour of every step as ``#rrggbb``."""
    middle, below, above = (_oklab(*colour) for colour in _ARMS[theme])
    half = (N_HEAT_STEPS - 1) / 2
    return tuple(
        _hexadecimal(
            _between(middle, below if step < half else above, share=abs(step - half) / half)
        )
        for step in range(N_HEAT_STEPS)
    )


def _oklab(lightness: float, chroma: float, hue: float) -> Oklab:
    angle = math.radians(hue)
    return (lightness, chroma * math.cos(angle), chroma * math.sin(angle))


def _between(start: Oklab, end: Oklab, *, share: float) -> Oklab:
    one, two, three = (a + (b - a) * share for a, b in zip(start, end, strict=True))
    return (one, two, three)


def _hexadecimal(colour: Oklab) -> str:
    lightness, a, b = colour
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
    )
    return "#" + "".join(f"{round(255 * _gamma(channel)):02x}" for channel in linear)


def _gamma(linear: float) -> float:
    inside = min(max(linear, 0.0), 1.0)
    return 12.92 * inside if inside <= 0.0031308 else 1.055 * inside ** (1 / 2.4) - 0.055

"""Geometry of the figures: scales, ticks, dots and the places of their labels.

The templates draw it as inline SVG. The scatter's coordinates are pixels from its top left corner;
the scale beside the leaderboard is in percent, so that it fills its column.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from heartbench.analysis.leaderboard_results import FitCheck, Leaderboard, PairFit
from heartbench.report.numbers import percent, points

MARGIN_PERCENT = 8.0
MEAN_ELO = 1500.0
PLOT_WIDTH = 440
PLOT_HEIGHT = 380
N_LABELS = 6
MIN_HALF_WIDTH = 0.1
"""A scale of effects shows at least 40 % to 60 %, so that small ones look small."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 12, 44
_LABEL_WIDTH, _LABEL_HEIGHT = 10, 12
_LARGEST_DOT, _SMALLEST_DOT = 5.0, 2.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A straight scale from values to places: pixels, or percent of a width.

    Attributes:
        low: Value at `start`.
        high: Value at `end`.
        start: Place of `low`.
        end: Place of `high`; may be less than `start` (upward axes).
        ticks: Round values within.
    """

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]

    def place(self, value: float) -> float:
        """Return the place of a value."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """One pair of systems in the scatter, with the number of its label if it has one."""

    x: float
    y: float
    radius: float
    pair: PairFit
    number: int | None
    label_x: float
    label_y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Scatter:
    """Observed against predicted share of wins.

    Attributes:
        across: Scale of the prediction.
        up: Scale of what was observed.
        dots: One for each pair of systems; labelled ones last, so that they lie on top.
        labelled: The pairs with the largest gaps, in the order of their numbers.
    """

    across: Scale
    up: Scale
    dots: tuple[Dot, ...]
    labelled: tuple[PairFit, ...]


def elo_scale(shown: Sequence[float]) -> Scale:
    """Return one scale, in percent of its column, for ratings and interval ends, and 1500."""
    ends = [MEAN_ELO, *shown]
    low, high = min(ends), max(ends)
    if low == high:
        low, high = low - 1, high + 1
    return Scale(
        low=low,
        high=high,
        start=MARGIN_PERCENT,
        end=100 - MARGIN_PERCENT,
        ticks=tuple(
            MEAN_ELO + tick for tick in round_ticks(low - MEAN_ELO, high - MEAN_ELO, n_most=6)
        ),
    )


def z_scale(shown: Sequence[float]) -> Scale:
    """Return one scale, in percent of its column, for z-scores and interval ends, and 0."""
    low, high = min((0.0, *shown)), max((0.0, *shown))
    if low == high:
        low, high = low - 1, high + 1
    return Scale(
        low=low,
        high=high,
        start=MARGIN_PERCENT,
        end=100 - MARGIN_PERCENT,
        ticks=round_ticks(low, high, n_most=6),
    )


def effect_scale(shares: Sequence[float]) -> Scale:
    """Return a scale of shares, in percent of its column, as wide on both sides of one half."""
    farthest = max((abs(share - 0.5) for share in shares), default=0.0)
    half_width = max(math.ceil(farthest * 20 - 1e-9) / 20, MIN_HALF_WIDTH)
    low, high = 0.5 - half_width, 0.5 + half_width
    return Scale(
        low=low, high=high, start=MARGIN_PERCENT, end=100 - MARGIN_PERCENT, ticks=(low, 0.5, high)
    )


def round_ticks(low: float, high: float, *, n_most: int) -> tuple[float, ...]:
    """Return at most `n_most` + 1 multiples of 1, 2 or 5 times a power of ten within the ends."""
    rough = (high - low) / n_most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(round(k * step, 10) for k in range(first, last + 1))


def favoured(pair: PairFit) -> PairFit:
    """Return a pair seen from the system that the fit expects to win more often."""
    return pair if pair.predicted >= 0.5 else turned(pair)


def turned(pair: PairFit) -> PairFit:
    """Return a pair seen from the other system."""
    return PairFit(
        left=pair.right,
        right=pair.left,
        n=pair.n,
        observed=1 - pair.observed,
        predicted=1 - pair.predicted,
    )


def pairs_by_gap(fit: FitCheck) -> tuple[PairFit, ...]:
    """Return pairs from the favoured side, largest gap first, then by name."""
    return tuple(sorted(map(favoured, fit.pairs), key=_by_gap))


def pairs_in_both_fits(board: Leaderboard) -> tuple[tuple[PairFit, PairFit], ...]:
    """Return each pair as the unweighted fit and as the headline see it, largest gap first.

    Both are seen from the side that the unweighted fit favours.
    """
    both = [
        (pair, headline) if pair.predicted >= 0.5 else (turned(pair), turned(headline))
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
            label_x=labels[k][0] if k < len(labels) else x,
            label_y=labels[k][1] if k < len(labels) else y,
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
        spot = max(
            inside, key=lambda place: (min(_clearance(place, taken), 12), -inside.index(place))
        )
        placed.append(spot)
        taken.append(spot)
    return placed


def _is_inside(x: float, y: float) -> bool:
    return (
        _LEFT + _LABEL_WIDTH / 2 < x < PLOT_WIDTH - _LABEL_WIDTH / 2
        and _LABEL_HEIGHT / 2 < y < PLOT_HEIGHT - _BOTTOM - _LABEL_HEIGHT / 2
    )


def _clearance(place: tuple[float, float], taken: Sequence[tuple[float, float]]) -> float:
    return min((math.dist(place, other) for other in taken), default=math.inf)

"""The heat scale of win rates: blue above one half, orange below, even to the eye.

Both arms have the same lightness at the same distance from one half, so that hue tells the side
and lightness the distance; blue and orange stay apart for colour-blind readers. Colours are
interpolated in OKLab (Ottosson 2020). Text on them is the page's ink; the contrast is tested.
"""

import math
from dataclasses import dataclass
from typing import Literal

Theme = Literal["light", "dark"]
Oklab = tuple[float, float, float]

HEAT_LOW = 0.1
HEAT_HIGH = 0.9
N_HEAT_STEPS = 41


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arms:
    """Middle and ends of the scale in one theme, as lightness, chroma, hue in degrees."""

    middle: tuple[float, float, float]
    below: tuple[float, float, float]
    above: tuple[float, float, float]


_ARMS: dict[Theme, _Arms] = {
    "light": _Arms(middle=(0.97, 0.003, 90), below=(0.73, 0.13, 58), above=(0.73, 0.12, 250)),
    "dark": _Arms(middle=(0.27, 0.006, 260), below=(0.50, 0.11, 55), above=(0.50, 0.12, 255)),
}


def heat_step(share: float) -> int:
    """Return the step of the scale for a win rate: 0 at 10 % and below, 40 at 90 % and above."""
    position = (share - HEAT_LOW) / (HEAT_HIGH - HEAT_LOW)
    return round(min(max(position, 0.0), 1.0) * (N_HEAT_STEPS - 1))


def z_step(z: float) -> int:
    """Return the step of the scale for a z-score: 0 at -1 and below, 40 at 1 and above."""
    return heat_step(0.5 + z * (HEAT_HIGH - HEAT_LOW) / 2)


def heat_colours(theme: Theme) -> tuple[str, ...]:
    """Return the background colour of every step as ``#rrggbb``."""
    arms = _ARMS[theme]
    middle, below, above = (_oklab(*arm) for arm in (arms.middle, arms.below, arms.above))
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

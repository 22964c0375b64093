"""Geometry of the radars: one a system, its mean raw score on each axis (SPEC section 5).

The centre is 1 and the outer ring 5, the ends of the scale. Coordinates are pixels from the top
left corner; the template draws them as inline SVG beside a table with the same numbers.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from heartbench.analysis.rating_results import RatedSystem, RatingResults, ScoreEstimate
from heartbench.domain import AXIS_NAMES, Axis
from heartbench.domain.rating import MAX_SCORE
from heartbench.report.numbers import ends_of, hundredths, pixels

WIDTH, HEIGHT = 200, 186
_CENTRE = (100.0, 98.0)
_RADIUS = 72.0
_LABEL_RADIUS = 84.0
MIN_AXES = 3
"""Fewer make no area."""

Place = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class RadarLabel:
    """The letter of an axis, at the end of its spoke."""

    axis: Axis
    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RadarFrame:
    """What all radars share.

    Attributes:
        axes: Axes, clockwise from the top.
        rings: Corners of the rings at 2, 3, 4 and 5, as SVG points.
        spokes: Ends of the spokes.
        labels: Letters of the axes.
        field: Corners of the mean of all systems, as SVG points.
    """

    axes: tuple[Axis, ...]
    rings: tuple[str, ...]
    spokes: tuple[Place, ...]
    labels: tuple[RadarLabel, ...]
    field: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Radar:
    """One system's radar.

    Attributes:
        system: Its name.
        score: Its overall score with the interval, in words.
        shape: Corners of its scores, as SVG points.
        whiskers: Both ends of the interval on each axis that has one.
        description: The same in words.
    """

    system: str
    score: str
    shape: str
    whiskers: tuple[tuple[Place, Place], ...]
    description: str


def radar_frame(ratings: RatingResults) -> RadarFrame | None:
    """Return what all radars share; None where too few axes have scores."""
    axes = tuple(axis for axis in AXIS_NAMES if axis in ratings.field)
    if len(axes) < MIN_AXES:
        return None
    angles = _angles(axes)
    outer = [_place(MAX_SCORE, angle) for angle in angles.values()]
    labels = [_from_centre(_LABEL_RADIUS, angle) for angle in angles.values()]
    return RadarFrame(
        axes=axes,
        rings=tuple(_ring(ring, angles) for ring in range(2, MAX_SCORE + 1)),
        spokes=tuple(outer),
        labels=tuple(
            RadarLabel(axis=axis, x=x, y=y) for axis, (x, y) in zip(axes, labels, strict=True)
        ),
        field=_points(_place(ratings.field[axis], angles[axis]) for axis in axes),
    )


def radars(ratings: RatingResults, frame: RadarFrame) -> tuple[Radar, ...]:
    """Return the radar of every system that has a score on all axes of the frame."""
    return tuple(
        _radar(row, frame.axes) for row in ratings.systems if set(frame.axes) <= set(row.axes)
    )


def _radar(row: RatedSystem, axes: Sequence[Axis]) -> Radar:
    angles = _angles(axes)
    whiskers = [_whisker(row.axes[axis], angles[axis]) for axis in axes]
    scores = [f"{AXIS_NAMES[axis]} {hundredths(row.axes[axis].mean)}" for axis in axes]
    return Radar(
        system=row.system,
        score=f"{hundredths(row.overall.mean)} {ends_of(row.overall.low, row.overall.high)}",
        shape=_points(_place(row.axes[axis].mean, angles[axis]) for axis in axes),
        whiskers=tuple(whisker for whisker in whiskers if whisker is not None),
        description=f"Mean raw scores from 1 to 5: {', '.join(scores)}.",
    )


def _whisker(at: ScoreEstimate, angle: float) -> tuple[Place, Place] | None:
    if at.low is None or at.high is None:
        return None
    return _place(at.low, angle), _place(at.high, angle)


def _angles(axes: Sequence[Axis]) -> Mapping[Axis, float]:
    """Return the angle of each axis, clockwise from the top."""
    return {axis: 2 * math.pi * k / len(axes) for k, axis in enumerate(axes)}


def _place(score: float, angle: float) -> Place:
    return _from_centre(_RADIUS * (score - 1) / (MAX_SCORE - 1), angle)


def _from_centre(radius: float, angle: float) -> Place:
    x, y = _CENTRE
    return x + radius * math.sin(angle), y - radius * math.cos(angle)


def _ring(score: float, angles: Mapping[Axis, float]) -> str:
    return _points(_place(score, angle) for angle in angles.values())


def _points(places: Iterable[Place]) -> str:
    return " ".join(f"{pixels(x)},{pixels(y)}" for x, y in places)

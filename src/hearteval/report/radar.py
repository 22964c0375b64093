"""Radars: one system's standing on each axis, of scores or of axis Elos.

Coordinates are pixels from the top left corner; a template draws them as inline SVG beside a table
with the same numbers. The centre is the low end of the scale and the outer ring the high one.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from hearteval.analysis.ranking.leaderboard import Leaderboard, LeaderboardRow
from hearteval.analysis.scores.scores import RatedSystem
from hearteval.analysis.scores.study import RatingResults
from hearteval.domain import MAX_SCORE, Axis, in_order
from hearteval.report.figures import MEAN_ELO
from hearteval.report.text import fine_interval, hundredths, interval, pixels, whole

MIN_AXES = 3
"""Fewer make no radar: they make no area."""
_CENTRE = (100.0, 98.0)
_RADIUS = 72.0
_LABELS = 84.0
"""Labels stand this far from the centre, outside the outer ring."""

Place = tuple[float, float]
Arm = tuple[float, float | None, float | None]
"""A value on an axis and both ends of its interval."""


class RadarFrame(NamedTuple):
    """What all radars share."""

    axes: tuple[Axis, ...]
    """Axes, clockwise from the top."""
    low: float
    """Value in the centre."""
    high: float
    """Value on the outer ring."""
    ring_values: tuple[float, ...]
    rings: tuple[str, ...]
    """Corners of the rings, as SVG points."""
    spokes: tuple[Place, ...]
    labels: tuple[tuple[Axis, Place], ...]
    field: str
    """Corners of the mean of all systems, as SVG points."""


class Radar(NamedTuple):
    """One system's radar."""

    system: str
    score: str
    """What it stands at over all axes, with the interval, in words."""
    shape: str
    """Corners of its values, as SVG points."""
    whiskers: tuple[tuple[Place, Place], ...]
    """Both ends of the interval on each axis that has one."""
    description: str


def score_frame(ratings: RatingResults) -> RadarFrame | None:
    """Return what the radars of scores share; None where too few axes have scores."""
    axes = in_order(ratings.field)
    rings = range(2, MAX_SCORE + 1)
    return _frame(axes, [ratings.field[axis] for axis in axes], 1, rings)


def score_radars(ratings: RatingResults, names: Mapping[Axis, str]) -> tuple[Radar, ...]:
    """Return the radar of every system that has a score on all axes of the frame."""
    frame = score_frame(ratings)
    if frame is None:
        return ()
    return tuple(
        _score_radar(row, frame, names)
        for row in ratings.systems
        if set(frame.axes) <= set(row.axes)
    )


def _score_radar(row: RatedSystem, frame: RadarFrame, names: Mapping[Axis, str]) -> Radar:
    shown = [row.axes[axis] for axis in frame.axes]
    scores = [f"{names[axis]} {hundredths(row.axes[axis].mean)}" for axis in frame.axes]
    return _radar(
        frame,
        row.system,
        f"{hundredths(row.overall.mean)} {fine_interval(row.overall.low, row.overall.high)}",
        [(at.mean, at.low, at.high) for at in shown],
        f"Mean raw scores from 1 to 5: {', '.join(scores)}.",
    )


def elo_frame(board: Leaderboard) -> RadarFrame | None:
    """Return what the radars of axis Elos share; None where too few axes have an Elo.

    The outer ring is round and beyond every system and interval, so that shapes can be compared.
    """
    axes = in_order(
        {axis for row in board.rows for axis in row.axes if _arm(row, axis) is not None}
    )
    arms = [arm for row in board.rows for axis in axes if (arm := _arm(row, axis)) is not None]
    if not arms:
        return None
    farthest = max(abs(end - MEAN_ELO) for arm in arms for end in arm if end is not None)
    step = next(tick for tick in _round_numbers() if 2 * tick >= max(farthest, 1.0))
    rings = [MEAN_ELO + step * k for k in (-1, 0, 1, 2)]
    return _frame(axes, [MEAN_ELO] * len(axes), MEAN_ELO - 2 * step, rings)


def elo_arms(board: Leaderboard) -> list[tuple[LeaderboardRow, list[Arm]]]:
    """Return the systems that have an Elo on all axes of the frame, with these."""
    frame = elo_frame(board)
    found = [(row, [_arm(row, axis) for axis in frame.axes]) for row in board.rows if frame]
    return [(row, [arm for arm in arms if arm]) for row, arms in found if None not in arms]


def elo_radars(board: Leaderboard, names: Mapping[Axis, str]) -> tuple[Radar, ...]:
    """Return the radar of every system that has an Elo on all axes of the frame."""
    frame = elo_frame(board)
    if frame is None:
        return ()
    return tuple(_elo_radar(row, arms, frame, names) for row, arms in elo_arms(board))


def _elo_radar(
    row: LeaderboardRow, arms: Sequence[Arm], frame: RadarFrame, names: Mapping[Axis, str]
) -> Radar:
    overall = row.weighted
    said = [f"{names[a]} {whole(arm[0])}" for a, arm in zip(frame.axes, arms, strict=True)]
    return _radar(
        frame,
        row.system,
        f"{whole(overall.elo)} {interval(overall.low, overall.high)}",
        arms,
        f"Elo by axis, the mean system being at 1500: {', '.join(said)}.",
    )


def _arm(row: LeaderboardRow, axis: Axis) -> Arm | None:
    at = row.axes.get(axis)
    return None if at is None or at.elo is None else (at.elo, at.low, at.high)


def _round_numbers() -> Iterable[float]:
    return (m * 10.0**power for power in range(8) for m in (1, 1.5, 2, 2.5, 3, 4, 5, 7.5))


def _frame(
    axes: Sequence[Axis], field: Sequence[float], low: float, rings: Sequence[float]
) -> RadarFrame | None:
    n, high = len(axes), float(rings[-1])
    if n < MIN_AXES:
        return None

    def spread(values: Sequence[float]) -> tuple[Place, ...]:
        return tuple(_place(value, k, n, low, high) for k, value in enumerate(values))

    outside = low + (high - low) * _LABELS / _RADIUS
    return RadarFrame(
        axes=tuple(axes),
        low=low,
        high=high,
        ring_values=tuple(map(float, rings)),
        rings=tuple(_points(spread([ring] * n)) for ring in rings),
        spokes=spread([high] * n),
        labels=tuple(zip(axes, spread([outside] * n), strict=True)),
        field=_points(spread(field)),
    )


def _radar(
    frame: RadarFrame, system: str, score: str, arms: Sequence[Arm], description: str
) -> Radar:
    n = len(frame.axes)

    def place(value: float, axis: int) -> Place:
        return _place(min(max(value, frame.low), frame.high), axis, n, frame.low, frame.high)

    return Radar(
        system=system,
        score=score,
        shape=_points(place(at, k) for k, (at, _, _) in enumerate(arms)),
        whiskers=tuple(
            (place(low, k), place(high, k))
            for k, (_, low, high) in enumerate(arms)
            if low is not None and high is not None
        ),
        description=description,
    )


def _place(value: float, axis: int, n_axes: int, low: float, high: float) -> Place:
    angle, radius = 2 * math.pi * axis / n_axes, _RADIUS * (value - low) / (high - low)
    return _CENTRE[0] + radius * math.sin(angle), _CENTRE[1] - radius * math.cos(angle)


def _points(places: Iterable[Place]) -> str:
    return " ".join(f"{pixels(x)},{pixels(y)}" for x, y in places)

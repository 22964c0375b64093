"""Ratings -> scores by system and axis, raw and normalised per rater (SPEC section 5).

All ratings of one item are one value, their mean over raters, so that a system's score is a mean
over items and its interval t over items. The stress set and repeats never enter it; what they say
of the judges is in `rating_checks`.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from heartbench.analysis.rating_intervals import ItemSums, ZPart, sum_by_item, z_interval
from heartbench.analysis.rating_results import JudgeScore, RatedSystem, ScoreEstimate
from heartbench.domain import (
    AXES,
    AXIS_NAMES,
    Axis,
    Completion,
    Rater,
    Rating,
    RatingTarget,
    System,
)
from heartbench.domain.rating import MAX_SCORE
from heartbench.stats.means import bounded_interval

EQUAL_WEIGHTS: Mapping[Axis, float] = dict.fromkeys(AXES, 1.0)
OVERALL = "overall"


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingRecords:
    """What a study holds of ratings.

    Attributes:
        targets: Every rating that is wanted.
        ratings: Every rating that is stored; those not wanted are left out of the results.
    """

    targets: Sequence[RatingTarget]
    ratings: Sequence[Rating]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRow:
    """One rating with what it is about.

    Attributes:
        rater_id: Who rated.
        system_id: Who wrote the completion.
        item_id: What it answers.
        completion_id: The completion.
        repeat: 0 for the first rating.
        scores: By axis, and ``overall`` where every weighted axis has a score.
        z: The same in z-scores; ``overall`` over the axes that have one.
    """

    rater_id: str
    system_id: str
    item_id: str
    completion_id: str
    repeat: int
    scores: Mapping[str, float]
    z: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """One rater's scores on one axis: their mean, and their standard deviation over all of them."""

    mean: float
    sd: float


def wanted_rows(
    records: RatingRecords, completions: Sequence[Completion], *, weights: Mapping[Axis, float]
) -> list[ScoreRow]:
    """Return the ratings that are wanted, without z-scores, in the order of their ids."""
    wanted = set(records.targets)
    written = {completion.id: completion for completion in completions}
    rows = []
    for rating in sorted(records.ratings, key=lambda rating: rating.id):
        if rating.target not in wanted:
            continue
        completion = written[rating.completion_id]
        scores: dict[str, float] = {axis: float(score) for axis, score in rating.axes.items()}
        if set(weights) <= set(rating.axes):
            scores[OVERALL] = _weighted(scores, weights)
        rows.append(
            ScoreRow(
                rater_id=rating.rater_id,
                system_id=completion.system_id,
                item_id=completion.item_id,
                completion_id=completion.id,
                repeat=rating.repeat,
                scores=scores,
                z={},
            )
        )
    return rows


def moments_of(rows: Sequence[ScoreRow]) -> Mapping[tuple[str, Axis], Moments]:
    """Return the mean and standard deviation of each rater's scores, by rater id and axis."""
    given: dict[tuple[str, Axis], list[float]] = defaultdict(list)
    for row in rows:
        for axis in AXIS_NAMES:
            if axis in row.scores:
                given[row.rater_id, axis].append(row.scores[axis])
    return {key: _moments(scores) for key, scores in sorted(given.items())}


def normalised(
    rows: Sequence[ScoreRow],
    moments: Mapping[tuple[str, Axis], Moments],
    *,
    weights: Mapping[Axis, float],
) -> list[ScoreRow]:
    """Return rows with z-scores: (score - mean) / standard deviation, by rater and axis.

    A rater that gave everything one score on an axis has no z-score there; its overall z-score is
    the weighted mean over its other axes.
    """
    return [_normalised(row, moments, weights) for row in rows]


def score_systems(
    rows: Sequence[ScoreRow],
    systems: Sequence[System],
    raters: Sequence[Rater],
    *,
    weights: Mapping[Axis, float],
    level: float,
) -> tuple[RatedSystem, ...]:
    """Return the scores of every system with ratings, highest overall z-score first.

    Args:
        rows: First ratings of ranked systems, normalised.
        systems: The ranked systems.
        raters: The study's raters.
        weights: Weight of each axis in the overall score.
        level: Nominal coverage.
    """
    parts = (part for row in rows for axis in AXIS_NAMES for part in _parts(row, axis, weights))
    given = _Given(sums=sum_by_item(parts), weights=weights, level=level)
    rated = []
    for system in systems:
        own = [row for row in rows if row.system_id == system.id and OVERALL in row.scores]
        if own:
            rated.append(_rated(system, own, raters, given))
    return tuple(sorted(rated, key=_order))


def field_means(systems: Sequence[RatedSystem]) -> dict[Axis, float]:
    """Return the mean of the systems' mean raw scores by axis, a system being one value."""
    means: dict[Axis, float] = {}
    for axis in AXIS_NAMES:
        scores = [system.axes[axis].mean for system in systems if axis in system.axes]
        if scores:
            means[axis] = math.fsum(scores) / len(scores)
    return means


def mean_over_items(values: Iterable[tuple[str, float]]) -> tuple[float, list[float]] | None:
    """Return the mean over items of each item's mean, and these; None without any value."""
    by_item: dict[str, list[float]] = defaultdict(list)
    for item_id, value in values:
        by_item[item_id].append(value)
    means = [math.fsum(by_item[item]) / len(by_item[item]) for item in sorted(by_item)]
    return (math.fsum(means) / len(means), means) if means else None


def raw_interval(means: Sequence[float], *, level: float) -> tuple[float | None, float | None]:
    """Return the interval of a mean raw score over items; none under two."""
    found = bounded_interval(np.array(means), lowest=1, highest=MAX_SCORE, level=level)
    return found or (None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Given:
    """What the estimates of all systems share."""

    sums: Mapping[tuple[str, Axis], ItemSums]
    weights: Mapping[Axis, float]
    level: float


def _rated(
    system: System, rows: Sequence[ScoreRow], raters: Sequence[Rater], given: _Given
) -> RatedSystem:
    axes: dict[Axis, ScoreEstimate] = {
        axis: _estimate(rows, axis, given)
        for axis in AXIS_NAMES
        if any(axis in row.scores for row in rows)
    }
    by_judge = {
        rater.name: [row for row in rows if row.rater_id == rater.id]
        for rater in sorted(raters, key=lambda rater: rater.name)
    }
    return RatedSystem(
        system=system.name,
        kind=system.kind,
        family=system.family,
        overall=_estimate(rows, OVERALL, given),
        axes=axes,
        judges={name: _judge_score(own) for name, own in by_judge.items() if own},
    )


def _estimate(rows: Sequence[ScoreRow], axis: str, given: _Given) -> ScoreEstimate:
    rated = [row for row in rows if axis in row.scores]
    raw = mean_over_items((row.item_id, row.scores[axis]) for row in rated)
    assert raw is not None, "an axis without a score"
    z = mean_over_items((row.item_id, row.z[axis]) for row in rated if axis in row.z)
    low, high = raw_interval(raw[1], level=given.level)
    of_items: dict[str, list[list[ZPart]]] = defaultdict(list)
    for row in rated:
        if axis in row.z:
            of_items[row.item_id].append(_parts(row, axis, given.weights))
    z_low, z_high = z_interval(of_items, given.sums, level=given.level)
    return ScoreEstimate(
        mean=raw[0],
        low=low,
        high=high,
        z=z and z[0],
        z_low=z_low,
        z_high=z_high,
        n_ratings=len(rated),
        n_items=len(raw[1]),
    )


def _parts(row: ScoreRow, axis: str, weights: Mapping[Axis, float]) -> list[ZPart]:
    """Return the z-scores that a rating's z-score is made of, on an axis or over all."""
    if axis == OVERALL:
        shares = _known_weights(row.z, weights)
        total = math.fsum(shares.values())
    else:
        shares = {name: 1.0 for name in AXIS_NAMES if name == axis and name in row.z}
        total = 1.0
    return [
        ZPart(
            rater_id=row.rater_id,
            axis=name,
            item_id=row.item_id,
            z=row.z[name],
            share=share / total,
        )
        for name, share in shares.items()
    ]


def _known_weights(z: Mapping[str, float], weights: Mapping[Axis, float]) -> dict[Axis, float]:
    return {axis: weight for axis, weight in weights.items() if axis in z and weight > 0}


def _judge_score(rows: Sequence[ScoreRow]) -> JudgeScore:
    raw = mean_over_items((row.item_id, row.scores[OVERALL]) for row in rows)
    assert raw is not None, "a judge without a rating"
    z = mean_over_items((row.item_id, row.z[OVERALL]) for row in rows if OVERALL in row.z)
    return JudgeScore(mean=raw[0], z=z and z[0], n_ratings=len(rows))


def _normalised(
    row: ScoreRow, moments: Mapping[tuple[str, Axis], Moments], weights: Mapping[Axis, float]
) -> ScoreRow:
    z: dict[str, float] = {}
    for axis in AXIS_NAMES:
        at = moments.get((row.rater_id, axis))
        if axis in row.scores and at is not None and at.sd > 0:
            z[axis] = (row.scores[axis] - at.mean) / at.sd
    known = _known_weights(z, weights)
    if OVERALL in row.scores and known:
        z[OVERALL] = _weighted(z, known)
    return replace(row, z=z)


def _weighted(values: Mapping[str, float], weights: Mapping[Axis, float]) -> float:
    total = math.fsum(weights.values())
    return math.fsum(weight * values[axis] for axis, weight in weights.items()) / total


def _moments(scores: Sequence[float]) -> Moments:
    if len(set(scores)) == 1:
        return Moments(mean=scores[0], sd=0.0)
    mean = math.fsum(scores) / len(scores)
    return Moments(
        mean=mean, sd=math.sqrt(math.fsum((score - mean) ** 2 for score in scores) / len(scores))
    )


def _order(row: RatedSystem) -> tuple[bool, float, float, str]:
    z = row.overall.z
    return z is None, -(z or 0.0), -row.overall.mean, row.system

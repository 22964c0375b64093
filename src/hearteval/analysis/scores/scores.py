"""Ratings -> scores by system and axis, raw and normalised per rater (SPEC section 5).

All ratings of one item are one value, their mean over raters, so that a system's score is a mean
over items and its interval t over items. The stress set and repeats never enter it; what they say
of the judges is in `checks`.

A z-score moves with its rater's mean and standard deviation, and these with every item: what an
item does to all of them at once is its influence. Taken as given, they would make intervals that
cover up to .999 of a nominal .95 where items differ in how much any reply can get (simulated).
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from hearteval.analysis.data import StudyData
from hearteval.domain import MAX_SCORE, Axis, Rater, System, in_order
from hearteval.stats.means import bounded_interval, influence_interval, q_where_tested
from hearteval.stats.special import stdtr, t_quantile

OVERALL = "overall"
PEOPLE = "people"
"""What all people who rated are called together: they are sampled, and none is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreEstimate:
    """One system's mean score, on one axis or over all, an item being one value."""

    mean: float
    """Mean over items of each item's mean raw score."""
    low: float | None
    """t interval over items, within 1 and 5; where all items say the same, the score interval of as
    many. None under two items."""
    high: float | None
    z: float | None
    """The same mean of z-scores; None where no rater has any."""
    z_low: float | None
    """t interval over items, the raters' own means and standard deviations moving with them; None
    under two items and where no item departs from the others."""
    z_high: float | None
    n_ratings: int
    n_items: int
    z_df: int | None = None
    """Degrees of freedom of that interval; None without one."""
    p: float | None = None
    """Two-sided, that z is 0, by the same t; on an axis."""
    q: float | None = None
    """The same, adjusted over all systems and axes (Benjamini and Hochberg 1995)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeScore:
    """What one rater gave one system over all axes."""

    mean: float
    """Mean over items of its raw scores."""
    z: float | None
    """Mean over items of its z-scores; None where it has none."""
    n_ratings: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedSystem:
    """One system's scores."""

    system: str
    kind: str
    family: str
    overall: ScoreEstimate
    """Weighted mean over the axes."""
    axes: Mapping[Axis, ScoreEstimate]
    """By axis; only axes with scores."""
    judges: Mapping[str, JudgeScore]
    """What each judge gave it, by name, and people together as ``people``; only who rated it."""


class ScoreRow(NamedTuple):
    """One rating with what it is about."""

    rater_id: str
    system_id: str
    """Who wrote the completion."""
    item_id: str
    completion_id: str
    repeat: int
    """0 for the first rating."""
    scores: Mapping[str, float]
    """By axis, and ``overall`` where every weighted axis has a score."""
    z: Mapping[str, float] = {}
    """The same in z-scores; ``overall`` over the axes that have one."""


class Moments(NamedTuple):
    """One rater's scores on one axis: their mean, and their standard deviation over all of them."""

    mean: float
    sd: float


class ZPart(NamedTuple):
    """One z-score that a mean is made of."""

    rater_id: str
    axis: Axis
    item_id: str
    z: float
    share: float
    """How much of its rating it is: 1 for an axis, its weight's share overall."""


class ItemSums(NamedTuple):
    """One rater's z-scores on one axis, summed by item."""

    n: int
    z: Mapping[str, float]
    """Sum of z by item; what the item does to the mean, in deviations, times `n`."""
    excess: Mapping[str, float]
    """Sum of z squared minus 1 by item; likewise to the variance."""


def wanted_rows(data: StudyData, *, weights: Mapping[Axis, float]) -> list[ScoreRow]:
    """Return the ratings that are wanted, without z-scores, in the order of their ids."""
    wanted = set(data.targets or ())
    written = {completion.id: completion for completion in data.completions}
    rows = []
    for rating in sorted(data.ratings, key=lambda rating: rating.id):
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
            )
        )
    return rows


def moments_of(rows: Sequence[ScoreRow]) -> Mapping[tuple[str, Axis], Moments]:
    """Return the mean and standard deviation of each rater's scores, by rater id and axis."""
    given: dict[tuple[str, Axis], list[float]] = defaultdict(list)
    for row in rows:
        for axis in in_order(row.scores):
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
    found = []
    for row in rows:
        z: dict[str, float] = {}
        for axis in in_order(row.scores):
            at = moments.get((row.rater_id, axis))
            if at is not None and at.sd > 0:
                z[axis] = (row.scores[axis] - at.mean) / at.sd
        known = _known_weights(z, weights)
        if OVERALL in row.scores and known:
            z[OVERALL] = _weighted(z, known)
        found.append(row._replace(z=z))
    return found


def score_systems(
    rows: Sequence[ScoreRow],
    systems: Sequence[System],
    raters: Sequence[Rater],
    *,
    weights: Mapping[Axis, float],
    level: float,
) -> tuple[RatedSystem, ...]:
    """Return the scores of every system with ratings, highest overall z-score first.

    Rows are first ratings of ranked systems, normalised.
    """
    parts = (
        part for row in rows for axis in in_order(row.z) for part in _parts(row, axis, weights)
    )
    sums = sum_by_item(parts)
    called = {rater.id: PEOPLE if rater.kind == "human" else rater.name for rater in raters}
    rated = []
    for system in systems:
        own = [row for row in rows if row.system_id == system.id and OVERALL in row.scores]
        if not own:
            continue
        by_rater: dict[str, list[ScoreRow]] = {name: [] for name in sorted(set(called.values()))}
        for row in own:
            by_rater[called[row.rater_id]].append(row)
        axes = in_order({axis for row in own for axis in row.scores})
        rated.append(
            RatedSystem(
                system=system.name,
                kind=system.kind,
                family=system.family,
                overall=_estimate(own, OVERALL, sums, weights, level),
                axes={axis: _estimate(own, axis, sums, weights, level) for axis in axes},
                judges={name: _judge_score(given) for name, given in by_rater.items() if given},
            )
        )
    return tuple(sorted(rated, key=_order))


def adjust_cells(systems: Sequence[RatedSystem], *, level: float) -> tuple[RatedSystem, ...]:
    """Return the systems with p and q of every axis: the cells of a table are one family."""
    cells = [(row.system, axis, at) for row in systems for axis, at in row.axes.items()]
    p = [_p_value(at, level=level) for *_, at in cells]
    found = {
        (system, axis): replace(at, p=own, q=q)
        for (system, axis, at), own, q in zip(cells, p, q_where_tested(p), strict=True)
    }
    return tuple(
        replace(row, axes={axis: found[row.system, axis] for axis in row.axes}) for row in systems
    )


def _p_value(at: ScoreEstimate, *, level: float) -> float | None:
    if at.z is None or at.z_low is None or at.z_high is None or at.z_df is None:
        return None
    quantile = t_quantile(at.z_df, level=level)
    return 2 * float(stdtr(at.z_df, -abs(at.z) * 2 * quantile / (at.z_high - at.z_low)))


def field_means(systems: Sequence[RatedSystem]) -> dict[Axis, float]:
    """Return the mean of the systems' mean raw scores by axis, a system being one value."""
    scores: dict[Axis, list[float]] = {
        axis: [system.axes[axis].mean for system in systems if axis in system.axes]
        for axis in in_order({axis for system in systems for axis in system.axes})
    }
    return {axis: mean(given) for axis, given in scores.items()}


def item_means(values: Iterable[tuple[str, float]]) -> list[float]:
    """Return the mean value of each item."""
    by_item: dict[str, list[float]] = defaultdict(list)
    for item_id, value in values:
        by_item[item_id].append(value)
    return [mean(by_item[item]) for item in sorted(by_item)]


def mean(values: Sequence[float]) -> float:
    """Return the mean, rounded once."""
    return math.fsum(values) / len(values)


def raw_interval(means: Sequence[float], *, level: float) -> tuple[float | None, float | None]:
    """Return the interval of a mean raw score over items; none under two."""
    found = bounded_interval(np.array(means), lowest=1, highest=MAX_SCORE, level=level)
    return found or (None, None)


def sum_by_item(parts: Iterable[ZPart]) -> Mapping[tuple[str, Axis], ItemSums]:
    """Sum the z-scores of all systems, by rater and axis; all of those that normalised them."""
    n: dict[tuple[str, Axis], int] = defaultdict(int)
    z: dict[tuple[str, Axis], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    excess: dict[tuple[str, Axis], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for part in parts:
        key = (part.rater_id, part.axis)
        n[key] += 1
        z[key][part.item_id] += part.z
        excess[key][part.item_id] += part.z**2 - 1
    return {key: ItemSums(n=n[key], z=z[key], excess=excess[key]) for key in sorted(n)}


def z_interval(
    ratings: Mapping[str, Sequence[Sequence[ZPart]]],
    sums: Mapping[tuple[str, Axis], ItemSums],
    *,
    level: float,
) -> tuple[float | None, float | None]:
    """Return the interval of a system's mean z-score, an item being one value.

    With m the mean over n items of each item's mean over ratings, w the weight in m of a rater's
    z-scores on an axis and v their part of m, the influence of an item is its own mean / n - m / n
    (0 where it has none), less, by rater and axis, (w sum z + v sum (z^2 - 1) / 2) / N over all N
    z-scores that normalised them. Ratings are by item, each as its parts.
    """
    n_items = len(ratings)
    own: dict[str, float] = {}
    weight: dict[tuple[str, Axis], float] = defaultdict(float)
    value: dict[tuple[str, Axis], float] = defaultdict(float)
    for item_id, of_item in ratings.items():
        each = 1 / (n_items * len(of_item))
        own[item_id] = sum(each * part.share * part.z for parts in of_item for part in parts)
        for part in (part for parts in of_item for part in parts):
            weight[part.rater_id, part.axis] += each * part.share
            value[part.rater_id, part.axis] += each * part.share * part.z
    at = sum(own.values())
    influence: dict[str, float] = defaultdict(float)
    for item_id, of_own in own.items():
        influence[item_id] += of_own - at / n_items
    for key, of_rater in weight.items():
        for item_id, total in sums[key].z.items():
            pull = of_rater * total + value[key] * sums[key].excess[item_id] / 2
            influence[item_id] -= pull / sums[key].n
    moved = np.array([influence[item_id] for item_id in sorted(influence)])
    return influence_interval(at, moved, df=n_items - 1, level=level) or (None, None)


def _estimate(
    rows: Sequence[ScoreRow],
    axis: str,
    sums: Mapping[tuple[str, Axis], ItemSums],
    weights: Mapping[Axis, float],
    level: float,
) -> ScoreEstimate:
    rated = [row for row in rows if axis in row.scores]
    raw = item_means((row.item_id, row.scores[axis]) for row in rated)
    z = item_means((row.item_id, row.z[axis]) for row in rated if axis in row.z)
    low, high = raw_interval(raw, level=level)
    of_items: dict[str, list[list[ZPart]]] = defaultdict(list)
    for row in rated:
        if axis in row.z:
            of_items[row.item_id].append(_parts(row, axis, weights))
    z_low, z_high = z_interval(of_items, sums, level=level)
    return ScoreEstimate(
        mean=mean(raw),
        low=low,
        high=high,
        z=mean(z) if z else None,
        z_low=z_low,
        z_high=z_high,
        n_ratings=len(rated),
        n_items=len(raw),
        z_df=None if z_low is None else len(of_items) - 1,
    )


def _parts(row: ScoreRow, axis: str, weights: Mapping[Axis, float]) -> list[ZPart]:
    """Return the z-scores that a rating's z-score is made of, on an axis or over all."""
    if axis == OVERALL:
        shares = _known_weights(row.z, weights)
        total = math.fsum(shares.values())
    else:
        shares = {name: 1.0 for name in in_order(row.z) if name == axis}
        total = 1.0
    return [
        ZPart(row.rater_id, name, row.item_id, row.z[name], share / total)
        for name, share in shares.items()
    ]


def _known_weights(z: Mapping[str, float], weights: Mapping[Axis, float]) -> dict[Axis, float]:
    return {axis: weight for axis, weight in weights.items() if axis in z and weight > 0}


def _judge_score(rows: Sequence[ScoreRow]) -> JudgeScore:
    raw = item_means((row.item_id, row.scores[OVERALL]) for row in rows)
    z = item_means((row.item_id, row.z[OVERALL]) for row in rows if OVERALL in row.z)
    return JudgeScore(mean=mean(raw), z=mean(z) if z else None, n_ratings=len(rows))


def _weighted(values: Mapping[str, float], weights: Mapping[Axis, float]) -> float:
    total = math.fsum(weights.values())
    return math.fsum(weight * values[axis] for axis, weight in weights.items()) / total


def _moments(scores: Sequence[float]) -> Moments:
    if len(set(scores)) == 1:
        return Moments(mean=scores[0], sd=0.0)
    center = mean(scores)
    return Moments(mean=center, sd=math.sqrt(mean([(score - center) ** 2 for score in scores])))


def _order(row: RatedSystem) -> tuple[bool, float, float, str]:
    z = row.overall.z
    return z is None, -(z or 0.0), -row.overall.mean, row.system

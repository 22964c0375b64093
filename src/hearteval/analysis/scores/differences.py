"""Which systems are rated apart: ranks and the differences of every two, with intervals and tests.

Of mean z-scores over all axes, by which systems are ordered; raw scores beside them. Intervals are
two-way over items and people with five people or more, else over items (SPEC section 6); q-values
are over all differences (Benjamini and Hochberg 1995).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hearteval.analysis.estimates import (
    Estimate,
    clustered_estimates,
    clustered_variance,
    interval_name,
)
from hearteval.analysis.scores.columns import RatingColumns, group_means, z_influence
from hearteval.analysis.scores.scores import RatedSystem, ScoreEstimate
from hearteval.domain import MAX_SCORE, Axis
from hearteval.stats.bradley_terry.differences import pairwise_differences, rank_bounds

MIN_ITEMS = 5
"""Of a system that is compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedScore:
    """The place of one system by its mean z-score over all axes.

    Attributes:
        low: Best rank that its differences from all others leave open; `high` the worst.
        n_apart: Systems from which it differs with q of at most 1 - level.
    """

    system: str
    rank: int
    low: int
    high: int
    n_apart: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreDifference:
    """How much higher one system is rated than another that stands below it.

    Attributes:
        z: Difference of their mean z-scores over all axes, with its interval, p and q.
        low: None where no item departs from the others.
        score: Difference of their mean raw scores over all axes.
    """

    system: str
    other: str
    z: float
    low: float | None
    high: float | None
    p: float
    q: float
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreComparison:
    """Ranks, best first, and every difference, that of the best two first.

    Attributes:
        left_out: Systems with z-scores on fewer than `MIN_ITEMS` items, by name.
        interval_used: ``two-way`` or ``item-sandwich``, as in rankings of pairs.
        df: Degrees of freedom of t.
    """

    ranks: tuple[RankedScore, ...]
    differences: tuple[ScoreDifference, ...]
    left_out: tuple[str, ...]
    interval_used: str
    df: int
    level: float


def compare_scores(columns: RatingColumns, *, level: float) -> ScoreComparison | None:
    """Compare every two systems with z-scores; None under two that have them on enough items."""
    means, influence = z_influence(columns)
    n_items = np.array(
        [
            len(np.unique(columns.item[(columns.system == k) & ~np.isnan(columns.z_overall)]))
            for k in range(len(columns.systems))
        ]
    )
    kept = np.flatnonzero(n_items >= MIN_ITEMS)
    kept = kept[np.argsort(-means[kept], kind="stable")]
    if len(kept) < 2:
        return None
    variance = clustered_variance(influence[:, kept], columns.item, columns.sampled_rater)
    if variance is None:
        return None
    raw, _, _ = group_means(columns.overall, columns.system, columns.item, len(columns.systems))
    spread = variance.of_differences()
    found = pairwise_differences(means[kept], spread, variance.df, level=level)
    bounds = rank_bounds(means[kept], spread, variance.df, level=level)
    names = [columns.systems[k].name for k in kept]
    is_apart = found.q <= 1 - level
    np.fill_diagonal(is_apart, val=False)
    return ScoreComparison(
        ranks=tuple(
            RankedScore(
                system=name,
                rank=k + 1,
                low=int(bounds.low[k]),
                high=int(bounds.high[k]),
                n_apart=int(is_apart[k].sum()),
            )
            for k, name in enumerate(names)
        ),
        differences=tuple(
            ScoreDifference(
                system=names[i],
                other=names[j],
                z=float(found.difference[i, j]),
                low=_finite(found.low[i, j]),
                high=_finite(found.high[i, j]),
                p=float(found.p[i, j]),
                q=float(found.q[i, j]),
                score=float(raw[kept[i]] - raw[kept[j]]),
            )
            for i in range(len(names))
            for j in range(i + 1, len(names))
        ),
        left_out=tuple(columns.systems[k].name for k in np.flatnonzero(n_items < MIN_ITEMS)),
        interval_used=interval_name(columns.sampled_rater),
        df=variance.df,
        level=level,
    )


def sample_people(
    systems: Sequence[RatedSystem], columns: RatingColumns, *, level: float
) -> tuple[RatedSystem, ...]:
    """Return scores with two-way intervals over items and people, as they are with five or more."""
    place = {system.name: k for k, system in enumerate(columns.systems)}
    found: dict[Axis | None, list[tuple[Estimate, Estimate]]] = {}
    for axis in (None, *columns.axes):
        means, influence = z_influence(columns, axis)
        z = clustered_estimates(
            np.nan_to_num(means), influence, columns.item, columns.sampled_rater, level=level
        )
        found[axis] = list(zip(_raw_means(columns, axis, level=level), z, strict=True))
    return tuple(
        replace(
            row,
            overall=_sampled(row.overall, found[None][place[row.system]]),
            axes={
                axis: _sampled(at, found[axis][place[row.system]]) for axis, at in row.axes.items()
            },
        )
        for row in systems
    )


def _raw_means(columns: RatingColumns, axis: Axis | None, *, level: float) -> list[Estimate]:
    """Return the mean raw score of each system, its interval from its own ratings alone."""
    values = columns.column(axis, is_z=False)
    n = len(columns.systems)
    means, _, influence = group_means(values, columns.system, columns.item, n)
    found = []
    for k in range(n):
        rows = (columns.system == k) & ~np.isnan(values)
        if not rows.any():
            found.append(Estimate(value=float("nan"), low=None, high=None))
            continue
        found += clustered_estimates(
            means[k : k + 1],
            influence[rows, k : k + 1],
            columns.item[rows],
            columns.sampled_rater[rows],
            level=level,
        )
    return found


def _sampled(at: ScoreEstimate, ends: tuple[Estimate, Estimate]) -> ScoreEstimate:
    """Give a score the intervals of two estimates; it keeps its own where nothing varies."""
    raw, z = ends
    if at.low is not None and raw.low is not None and raw.high is not None:
        at = replace(at, low=max(1.0, raw.low), high=min(float(MAX_SCORE), raw.high))
    if at.z_low is not None and z.low is not None:
        at = replace(at, z_low=z.low, z_high=z.high)
    return at


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None

"""Which systems are rated apart: ranks and the differences of every two, with intervals and tests.

Of mean z-scores over all axes, by which systems are ordered; raw scores beside them. Intervals are
two-way over items and people with five people or more, else over items (SPEC section 6). Who is
apart follows the one rule of `family_p`; q-values are over all differences (Benjamini and Hochberg
1995).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hearteval.analysis.estimates import (
    clustered_errors,
    clustered_variance,
    count_people,
    interval_name,
)
from hearteval.analysis.ranking.warnings import MIN_RATERS, MIN_WRITERS
from hearteval.analysis.scores.columns import RatingColumns, group_means, z_influence
from hearteval.analysis.scores.scores import RatedSystem, ScoreEstimate
from hearteval.domain import MAX_SCORE, Axis
from hearteval.stats.bradley_terry.differences import pairwise_differences, rank_bounds
from hearteval.stats.bradley_terry.simultaneous import family_p
from hearteval.stats.comparisons import FloatArray, IntArray
from hearteval.stats.means import ROUNDING
from hearteval.stats.special import t_quantile

MIN_ITEMS = 5
"""Of a system that is compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedScore:
    """The place of one system by its mean z-score over all axes.

    Attributes:
        low: Best rank that its differences from all others leave open; `high` the worst.
        n_apart: Systems above or below it for certain, which give its ranks.
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
        p_family: As in `ranking.rank.Difference`.
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
    p_family: float
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreComparison:
    """Ranks, best first, and every difference, that of the best two first.

    Attributes:
        left_out: Systems with z-scores on fewer than `MIN_ITEMS` items, by name.
        interval_used: As in rankings of pairs, ``three-way`` to ``item-sandwich``.
        df: Degrees of freedom of t, of systems rated on every item; of others by their own items,
            of people who write by who wrote.
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
    rater, writer = columns.sampled_rater, columns.writer
    variance = clustered_variance(influence[:, kept], columns.item, rater, writer)
    if variance is None:
        return None
    raw, _, _ = group_means(columns.overall, columns.system, columns.item, len(columns.systems))
    # A difference rests on no more items than the one of the two that has fewer.
    fewer = np.minimum.outer(n_items[kept], n_items[kept])
    inflation = fewer / (fewer - 1) * (variance.n_items - 1) / variance.n_items
    spread = variance.of_differences() * inflation
    is_human = np.array([columns.systems[k].kind == "human" for k in kept], dtype=np.bool_)
    most = np.where(np.logical_or.outer(is_human, is_human), variance.df_of_writers, variance.df)
    df = np.minimum(fewer - 1, most).astype(np.float64)
    found = pairwise_differences(means[kept], spread, df, level=level)
    of_all = family_p(means[kept], spread, df, variance.joint())
    bounds = rank_bounds(means[kept], of_all, level=level)
    names = [columns.systems[k].name for k in kept]
    return ScoreComparison(
        ranks=tuple(
            RankedScore(
                system=name,
                rank=k + 1,
                low=int(bounds.low[k]),
                high=int(bounds.high[k]),
                n_apart=int((of_all[k] <= 1 - level).sum()),
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
                p_family=float(of_all[i, j]),
                score=float(raw[kept[i]] - raw[kept[j]]),
            )
            for i in range(len(names))
            for j in range(i + 1, len(names))
        ),
        left_out=tuple(columns.systems[k].name for k in np.flatnonzero(n_items < MIN_ITEMS)),
        interval_used=interval_name(rater, writer),
        df=variance.df,
        level=level,
    )


def sample_people(
    systems: Sequence[RatedSystem], columns: RatingColumns, *, level: float
) -> tuple[RatedSystem, ...]:
    """Return scores with intervals over items and people, those who rate and those who write.

    Those of a system rest on the items and people that rated it, and on who wrote it: one of fewer
    than five of either keeps its own.
    """
    place = {system.name: k for k, system in enumerate(columns.systems)}
    found = {axis: _two_way(columns, axis, level=level) for axis in (None, *columns.axes)}
    return tuple(
        replace(
            row,
            overall=_sampled(row.overall, found[None].get(place[row.system])),
            axes={
                axis: _sampled(at, found[axis].get(place[row.system]))
                for axis, at in row.axes.items()
            },
        )
        for row in systems
    )


Ends = tuple[float, float, int] | None
"""Of an interval, and its degrees of freedom."""


def _two_way(
    columns: RatingColumns, axis: Axis | None, *, level: float
) -> dict[int, tuple[Ends, Ends]]:
    """Return the intervals of raw and z means, by system that people enough rated or wrote."""
    values, n = columns.column(axis, is_z=False), len(columns.systems)
    item, rater, writer = columns.item, columns.sampled_rater, columns.writer
    means, _, influence = group_means(values, columns.system, item, n)
    z_means, z_moved = z_influence(columns, axis)
    found = {}
    for k in range(n):
        own = (columns.system == k) & ~np.isnan(values)
        n_raters, n_writers = count_people(rater[own]), count_people(writer[own])
        n_people = [n_raters] if n_raters >= MIN_RATERS else []
        n_people += [n_writers] if n_writers >= MIN_WRITERS else []
        if not n_people:
            continue
        most = min(len(np.unique(item[own])), *n_people) - 1
        # What raters make of people's replies moves a model's z-scores too, but hardly.
        theirs = writer if n_writers else None
        found[k] = (
            _ends(
                means[k], (influence[own, k], item[own], rater[own], writer[own]), most, level=level
            ),
            _ends(z_means[k], (z_moved[:, k], item, rater, theirs), most, level=level),
        )
    return found


def _ends(
    value: float,
    rows: tuple[FloatArray, IntArray, IntArray, IntArray | None],
    most: int,
    *,
    level: float,
) -> Ends:
    """Return the t interval of a mean, of `most` degrees of freedom at most.

    `rows` are what each does to it, their items, raters and writers.
    """
    influence, item, rater, writer = rows
    se, df = clustered_errors(influence[:, None], item, rater, writer)
    if min(df, most) < 1 or se[0] <= ROUNDING:
        return None
    df = min(df, most)
    reach = t_quantile(df, level=level) * float(se[0])
    return float(value) - reach, float(value) + reach, df


def _sampled(at: ScoreEstimate, ends: tuple[Ends, Ends] | None) -> ScoreEstimate:
    """Give a score two intervals; it keeps its own where there is none, or nothing varies."""
    raw, z = ends or (None, None)
    if at.low is not None and raw is not None:
        at = replace(at, low=max(1.0, raw[0]), high=min(float(MAX_SCORE), raw[1]))
    if at.z_low is not None and z is not None:
        at = replace(at, z_low=z[0], z_high=z[1], z_df=z[2])
    return at


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None

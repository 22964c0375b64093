"""Which systems are rated apart: ranks and the differences of every two, with intervals and tests.

Of mean z-scores over all axes, by which systems are ordered; raw scores beside them. Intervals are
two-way over items and people with five people or more, else over items (SPEC section 6). Who is
apart follows the one rule of `family_p`; q-values are over all differences (Benjamini and Hochberg
1995).
"""

from dataclasses import dataclass

import numpy as np

from hearteval.analysis.estimates import clustered_variance, interval_name
from hearteval.analysis.scores.columns import RatingColumns, group_means, z_influence
from hearteval.stats.bradley_terry.differences import pairwise_differences, rank_bounds
from hearteval.stats.bradley_terry.simultaneous import family_p

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


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None

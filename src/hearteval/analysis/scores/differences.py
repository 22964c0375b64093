"""Which systems are rated apart: ranks and the differences of every two, with intervals and tests.

Of mean z-scores over all axes, by which systems are ordered; raw scores beside them. Intervals are
two-way over items and people with five people or more, else over items (SPEC section 6); q-values
are over all differences (Benjamini and Hochberg 1995).
"""

from dataclasses import dataclass

import numpy as np

from hearteval.analysis.estimates import clustered_variance, interval_name
from hearteval.analysis.scores.columns import RatingColumns, group_means, z_influence
from hearteval.stats.bradley_terry.differences import pairwise_differences, rank_bounds


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
        interval_used: ``two-way`` or ``item-sandwich``, as in rankings of pairs.
        df: Degrees of freedom of t.
    """

    ranks: tuple[RankedScore, ...]
    differences: tuple[ScoreDifference, ...]
    interval_used: str
    df: int
    level: float


def compare_scores(columns: RatingColumns, *, level: float) -> ScoreComparison | None:
    """Compare every two systems with z-scores; None under two of them, or two items."""
    means, influence = z_influence(columns)
    kept = np.flatnonzero(~np.isnan(means))
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
        interval_used=interval_name(columns.sampled_rater),
        df=variance.df,
        level=level,
    )


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None

"""Intervals for Bradley-Terry strengths, each for the contrast theta_i - mean theta.

``two-way`` treats items and raters as the sampled units, ``item-sandwich`` items alone, raters as
given; both are made here from a `ClusteredVariance`. ``published`` is the paper's (HEART 9.8), kept
to compare with its table; it is too narrow. The bootstrap is in `bootstrap`.
"""

import math
from dataclasses import dataclass

import numpy as np

from hearteval.stats.bradley_terry.clustered_variance import (
    ClusteredVariance,
    InfluenceOf,
    vary_over_votes,
)
from hearteval.stats.bradley_terry.fit import BradleyTerryFit, centred_inverse
from hearteval.stats.comparisons import (
    Comparisons,
    FloatArray,
    IntArray,
    count_items,
    count_met,
    in_parts,
    number_labels,
    order_pairs,
    pack,
    round_below,
)
from hearteval.stats.special import expit, ndtri, stdtrit


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Intervals:
    """One interval per system, in theta's units."""

    low: FloatArray
    high: FloatArray
    se: FloatArray
    df: float
    """Degrees of freedom of t, the most of any system; infinite for the normal distribution."""


def clustered(
    theta: FloatArray, variance: ClusteredVariance, *, level: float, df: FloatArray | None = None
) -> Intervals:
    """Return theta_i +- t se_i, t with min(items, raters) - 1 degrees of freedom.

    They are ``two-way`` if the variance is over items and raters, ``item-sandwich`` if it is over
    items (SPEC section 6). Systems may have degrees of freedom of their own: see `own_df`.
    """
    se = np.sqrt(variance.of_parameters())
    quantile = stdtrit(variance.df if df is None else df, (1 + level) / 2)
    return _symmetric(theta, se, quantile, variance.df)


def own_df(
    comparisons: Comparisons, df: int, *, over_raters: bool, over_writers: bool = False
) -> FloatArray:
    """Return each system's degrees of freedom: those of all, its own items - 1 at most.

    What is known of a system on a few items varies over these few, however many others have.
    Likewise its own people - 1, where people are sampled too and any of them judged it; and its
    writers - 1, where every comparison of it holds a completion by a person: its own, if it is
    people who write. At least 1, though of one item nothing is known to vary.
    """
    n_own = count_items(comparisons)
    if over_raters:
        n_people = count_met(comparisons, comparisons.rater)
        n_own = np.where(n_people > 0, np.minimum(n_own, n_people), n_own)
    if over_writers and comparisons.writer is not None:
        is_written = comparisons.writer >= 0
        ends = np.concatenate((comparisons.left[~is_written], comparisons.right[~is_written]))
        met_none = np.bincount(ends, minlength=comparisons.n_systems) == 0
        n_writers = count_met(comparisons, comparisons.writer)
        n_own = np.where(met_none, np.minimum(n_own, n_writers), n_own)
    return np.clip(n_own - 1.0, 1, df)


def published(theta: FloatArray, n_comparisons: IntArray, *, level: float) -> Intervals:
    """Return the paper's normal intervals, SE = sqrt(1/n_i), n_i the comparisons of system i.

    A comparison carries at most 1/4 unit of information on a difference. Even for independent
    comparisons of S equal systems, all pairs equally often, the standard error is 2 (S - 1)/S times
    this one: 1 with two systems, 1.9 with 18, and more for unequal ones. Both orders count as two.
    """
    quantile = float(ndtri((1 + level) / 2))
    return _symmetric(theta, np.sqrt(1 / n_comparisons), quantile, math.inf)


def influence_on_strengths(comparisons: Comparisons, fit: BradleyTerryFit) -> InfluenceOf:
    """Return what gives the influence of clusters on theta - mean theta, B u_g.

    B inverts the information on contrasts and u_g is the score of cluster g. A weight is part of
    the score, so weights need not be counts.
    """
    bread = centred_inverse(fit.information)
    return lambda cluster: scores_by_cluster(comparisons, fit.theta, cluster) @ bread


def independent_votes(comparisons: Comparisons, fit: BradleyTerryFit) -> ClusteredVariance:
    """Return the variance of a fit whose votes are all independent of each other.

    Raises:
        NotIdentifiedError: Under two votes.
    """
    low, high, score = order_pairs(comparisons)
    points = comparisons.weight * (score - expit(fit.theta[low] - fit.theta[high]))
    return vary_over_votes(comparisons, points, centred_inverse(fit.information))


def scores_by_cluster(comparisons: Comparisons, theta: FloatArray, cluster: IntArray) -> FloatArray:
    """Return the derivative of each cluster's log-likelihood, as (clusters, systems).

    Clusters are in the order of their indices, those without a row left out.
    """
    numbered, n_clusters = number_labels(cluster)
    row_cluster = pack(numbered)
    del numbered
    n_systems, n_rows = comparisons.n_systems, len(comparisons)
    n_cells = n_clusters * n_systems
    parts = [*in_parts(comparisons, n_cells=n_cells)]
    residuals = [_residuals(part, theta) for _, part in parts]
    largest = max(float(np.abs(one).max(initial=0.0)) for one in residuals)
    sums = np.zeros((2, n_cells))
    for (rows, part), residual in zip(parts, residuals, strict=True):
        exact = round_below(residual, largest, 2 * n_rows)
        for side, end in enumerate(order_pairs(part)[:2]):
            keys = row_cluster[rows].astype(np.int64) * n_systems + end
            sums[side] += np.bincount(keys, weights=exact, minlength=n_cells)
    return np.asarray(sums[0] - sums[1]).reshape(n_clusters, n_systems)


def _residuals(comparisons: Comparisons, theta: FloatArray) -> FloatArray:
    """Return what the lower system of each row won above what was expected."""
    low, high, score = order_pairs(comparisons)
    return np.asarray(comparisons.total_weight * (score - expit(theta[low] - theta[high])))


def _symmetric(
    theta: FloatArray, se: FloatArray, quantile: float | FloatArray, df: float
) -> Intervals:
    return Intervals(low=theta - quantile * se, high=theta + quantile * se, se=se, df=df)

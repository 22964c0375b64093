"""Differences between systems, their tests, and what they leave open of the ranks.

The variances come from any interval method. A difference whose variance is 0 to rounding is one on
which no cluster departs from the others: that says nothing of how far it may be off, so its
interval is unbounded and its p-value 1, and its ``se`` of 0 shows it.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hearteval.stats.comparisons import FloatArray, IntArray
from hearteval.stats.means import false_discovery_q
from hearteval.stats.special import stdtr, stdtrit

MIN_SE = 1e-9
"""In theta's units; below it there is rounding only (1e8 even votes leave 1e-4)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairwiseDifferences:
    """theta_i - theta_j of every two systems, as (systems, systems) with i in rows.

    The diagonal is 0 with p and q 1; all but `se`, `p` and `q` change sign with the order.
    """

    difference: FloatArray
    """Estimates, in theta's units."""
    se: FloatArray
    low: FloatArray
    """Lower ends of the intervals, each at its own level."""
    high: FloatArray
    p: FloatArray
    q: FloatArray
    """The same, adjusted over all S (S - 1) / 2 differences (Benjamini and Hochberg 1995): of the
    differences with q <= x, a share of at most x is expected to be none. So it is for independent
    tests; differences share systems, and for them it is approximate."""


class RankBounds(NamedTuple):
    """The best (`low`) and the worst rank each system may have, 1 the best."""

    low: IntArray
    high: IntArray


def pairwise_differences(
    theta: FloatArray, variance: FloatArray, df: float | FloatArray, *, level: float
) -> PairwiseDifferences:
    """Return every difference of two systems or more with a t interval, a t test and its q.

    The variance is that of each difference, (systems, systems), and so may the degrees of freedom
    be; infinite ones make t the normal distribution. `level` is the nominal coverage of each
    interval.
    """
    n = len(theta)
    upper = np.triu_indices(n, 1)
    difference = theta[upper[0]] - theta[upper[1]]
    se = np.sqrt(variance[upper])
    of_pairs = np.broadcast_to(df, variance.shape)[upper]
    half_width = _half_width(se, stdtrit(of_pairs, (1 + level) / 2))
    is_known = se > MIN_SE
    t = np.abs(difference) / np.where(is_known, se, np.inf)
    p = np.asarray(2 * stdtr(of_pairs, -t), dtype=np.float64)
    q = np.asarray(false_discovery_q(p), dtype=np.float64)

    def square(values: FloatArray, *, sign: float, diagonal: float) -> FloatArray:
        result = np.full((n, n), diagonal)
        result[upper] = values
        result.T[upper] = sign * values
        return result

    low = square(difference - half_width, sign=-1, diagonal=0.0)
    high = square(difference + half_width, sign=-1, diagonal=0.0)
    return PairwiseDifferences(
        difference=square(difference, sign=-1, diagonal=0.0),
        se=square(se, sign=1, diagonal=0.0),
        low=np.where(np.tri(n, dtype=bool), high, low),
        high=np.where(np.tri(n, dtype=bool), low, high),
        p=square(p, sign=1, diagonal=1.0),
        q=square(q, sign=1, diagonal=1.0),
    )


def rank_bounds(theta: FloatArray, family_p: FloatArray, *, level: float) -> RankBounds:
    """Return the ranks that the differences leave open, by one rule for all of them.

    The best is 1 + the systems that lie above this one for certain, the worst S - those below:
    differences with an adjusted p (`simultaneous.family_p`) of at most 1 - level. So in at least
    `level` of studies every system's bounds hold its true rank.
    """
    n = len(theta)
    is_below = (theta[None, :] > theta[:, None]) & (family_p <= 1 - level)
    return RankBounds(low=1 + is_below.sum(axis=1), high=n - is_below.sum(axis=0))


def _half_width(se: FloatArray, quantile: float | FloatArray) -> FloatArray:
    return np.where(se > MIN_SE, quantile * se, np.inf)

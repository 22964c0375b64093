"""p-values of all differences at once: the chance that any of them is called one and is none.

Max-t over every two systems, step-down (Romano and Wolf 2005), with the multivariate t of their
contrasts (docs/decisions/0041). Of the differences with an adjusted p of at most a, none at all is
false in at least 1 - a of studies; `differences` has the shares of false ones (q) instead.
"""

from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hearteval.stats import one_blas_thread
from hearteval.stats.bradley_terry.differences import MIN_SE
from hearteval.stats.comparisons import FloatArray, IntArray
from hearteval.stats.special import erfc, expit, gammaincinv, stdtr, stdtrit

MAX_SYSTEMS: Final = 64
"""Systems up to which max-t is drawn; above it Sidak's inequality bounds it: 1 to 4 % more width,
and no 20,000 pairs times draws."""
MIN_DRAWS, MAX_DRAWS, N_DRAWN = 8_192, 16_384, 1 << 20
"""Draws: so many that with the pairs they make a million numbers, within bounds. A p of .05 is then
off by .0017 to .0024, the same way each time."""
IN_CACHE: Final = 1 << 14
"""Numbers at once, or 128 draws: they stay in the nearest cache, which halves the time."""
FEWEST: Final = 80
"""Draws beyond a statistic, under which its chance is bounded, not counted: 11 % error."""
SEED: Final = 41
"""Fixed: the same differences have the same p whatever the seed of a study."""
N_NODES: Final = 128
"""So many leave the trapezoid of `_bound` exact to rounding."""
FARTHEST: Final = 36.0
"""Log odds of the outermost nodes: chances of 2e-16."""
N_PLACES: Final = 2_048
"""Of more differences the bound is computed at so many, in their order; the others take the next
larger p."""


class _Pairs(NamedTuple):
    """Differences that are known, the most certain first."""

    first: IntArray
    second: IntArray
    t: FloatArray
    """As large as each is rare, at the degrees of freedom of all."""


def family_p(
    theta: FloatArray, variance: FloatArray, df: float | FloatArray, joint: FloatArray
) -> FloatArray:
    """Return each difference's p-value adjusted for all, (systems, systems), the diagonal 1.

    T_k = |theta_i - theta_j| / se_k is compared with the largest of those that are no larger, under
    equal strengths: |z| / sqrt(W / df), z normal with the correlations that `joint` gives the
    contrasts and W one chi-squared for all. So the first step is Tukey's test where the design is
    even. A difference of fewer df than the most counts as a statistic of the most df that is as
    rare. One without variance, or of infinite variance, is never called: p is 1, and it is no part
    of the family. Renaming systems changes nothing.

    Args:
        theta: Strengths, two or more.
        variance: Of each difference, as in `pairwise_differences`.
        df: Degrees of freedom of all or of each.
        joint: Covariance of the strengths, of which contrasts take only their correlations; what
            is negative among its eigenvalues, as two-way ones may be, counts as 0.
    """
    n = len(theta)
    # The draws are given out by place, so that names and their order change nothing.
    order = np.argsort(-theta, kind="stable")
    square = np.ix_(order, order)
    most, pairs = _known(theta[order], variance[square], np.broadcast_to(df, (n, n))[square])
    adjusted = np.ones((n, n))
    if len(pairs.t):
        p = _bound(pairs.t, most)
        if n <= MAX_SYSTEMS:
            p = np.maximum(_drawn(pairs, joint[square], most, p), 2 * stdtr(most, -pairs.t))
        p = np.clip(np.maximum.accumulate(p), 0, 1)
        first, second = order[pairs.first], order[pairs.second]
        adjusted[first, second] = adjusted[second, first] = p
    return adjusted


def _known(theta: FloatArray, variance: FloatArray, df: FloatArray) -> tuple[float, _Pairs]:
    """Return the most degrees of freedom, and the differences that have a variance."""
    first, second = np.triu_indices(len(theta), 1)
    is_known = (variance[first, second] > MIN_SE**2) & np.isfinite(variance[first, second])
    first, second = first[is_known], second[is_known]
    t = np.abs(theta[first] - theta[second]) / np.sqrt(variance[first, second])
    of_pairs = df[first, second]
    most = float(of_pairs.max(initial=1.0))
    fewer = of_pairs < most
    # A chance that underflows has a quantile without end, in SciPy of the wrong sign.
    t[fewer] = np.abs(stdtrit(most, stdtr(of_pairs[fewer], -t[fewer])))
    rarest = np.argsort(-t, kind="stable")
    return most, _Pairs(first[rarest], second[rarest], t[rarest])


def _bound(t: FloatArray, df: float) -> FloatArray:
    """Bound the chance that any of those not before exceeds t, whatever their correlations.

    Given W the z are normal, and P(every |z_k| <= c) >= (1 - 2 Phi(-c))^m (Sidak 1967).
    """
    m = len(t)
    places = np.unique(np.linspace(0, m - 1, min(m, N_PLACES)).astype(np.intp))
    # A place answers for those since the last one, which more differences follow.
    n_left = m - np.concatenate(([0], places[:-1] + 1))
    # A trapezoid in log odds: exact to rounding for what is as smooth as this.
    chance = expit(np.linspace(-FARTHEST, FARTHEST, N_NODES))
    mass = chance * (1 - chance)
    tails = erfc(t[places, None] * (_spreads(df, chance) / np.sqrt(2)))
    with np.errstate(divide="ignore"):
        exceeds = -np.expm1(n_left[:, None] * np.log1p(-tails)) @ (mass / mass.sum())
    return np.asarray(exceeds[np.searchsorted(places, np.arange(m))])


def _drawn(pairs: _Pairs, joint: FloatArray, df: float, bound: FloatArray) -> FloatArray:
    """Count how often any of those not before exceeds t; where that is rare, keep the bound."""
    with one_blas_thread():
        value, vector = np.linalg.eigh(joint)
        root = vector * np.sqrt(np.clip(value, 0, None))
        contrast = root[pairs.first] - root[pairs.second]
        length = np.sqrt((contrast**2).sum(axis=1, keepdims=True))
        # The least certain first, so that the largest so far is that of those not before.
        contrast = (contrast / np.where(length > MIN_SE, length, np.inf))[::-1].astype(np.float32)
        t = pairs.t[::-1, None].astype(np.float32)
        n_draws = min(MAX_DRAWS, max(MIN_DRAWS, N_DRAWN // len(t)))
        z = _draws(len(joint), df, n_draws)
        n_beyond = np.zeros(len(t), dtype=np.int64)
        n_block = max(128, IN_CACHE // len(t))
        for start in range(0, n_draws, n_block):
            drawn = np.abs(contrast @ z[:, start : start + n_block])
            np.maximum.accumulate(drawn, axis=0, out=drawn)
            n_beyond += np.count_nonzero(drawn >= t, axis=1)
    n_beyond = n_beyond[::-1]
    return np.where(n_beyond >= FEWEST, n_beyond / n_draws, bound)


@lru_cache(maxsize=8)
def _draws(n_systems: int, df: float, n: int) -> NDArray[np.float32]:
    """Draw n multivariate t of independent systems, (systems, n); the same each time."""
    rng = np.random.default_rng(SEED)
    # As evenly spread as so many can be: with few degrees of freedom most chance is in W.
    spread = _spreads(df, (rng.permutation(n) + 0.5) / n)
    z = rng.standard_normal((n_systems, n), dtype=np.float32)
    return np.asarray(z / spread.astype(np.float32))


def _spreads(df: float, chance: FloatArray) -> FloatArray:
    """Return quantiles of sqrt(W / df), W chi-squared."""
    if np.isinf(df):
        return np.ones(len(chance))
    return np.asarray(np.sqrt(2 * gammaincinv(df / 2, chance) / df))

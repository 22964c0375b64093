"""Other ways to rank from pairwise comparisons: Elo in sequence, Rank Centrality; rank correlation.

None is the ranking of a study: they show how much of it depends on the method.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from hearteval.stats.bradley_terry.fit import require_identified
from hearteval.stats.comparisons import FloatArray, IntArray

ELO_STEP: Final = 16.0
"""K: points that change hands where an equal wins is half of it."""
N_ORDERS: Final = 100
"""Elo depends on the order of votes; a mean over so many moves by a tenth of what one does."""
MOST_STEPS: Final = 5_000
"""Of one order. Elo forgets: with K = 16 what came 100 comparisons of a system ago counts 1/10."""
MOST_PERMUTED: Final = 10
"""Values of one group up to which all permutations are counted, in a few hundredths of a second."""


def elo_in_sequence(
    left: IntArray,
    right: IntArray,
    score: FloatArray,
    *,
    n_systems: int,
    orders: Sequence[IntArray] | IntArray,
    step: float = ELO_STEP,
) -> FloatArray:
    """Return Elo about 1500 after each order of comparisons, (orders, systems).

    After each comparison, left gains K (score - 1 / (1 + 10^((right - left) / 400))) and right
    loses it (Elo 1978).

    Args:
        left: Index of one system of each comparison; `right` that of the other.
        right: See `left`.
        score: 1 where left won, 1/2 for a tie.
        n_systems: How many systems there are.
        orders: Rows in the order in which they come, all orders equally long.
        step: K.
    """
    orders = np.asarray(orders)
    elo, every = np.full((len(orders), n_systems), 1500.0), np.arange(len(orders))
    for rows in orders.T:
        one, other = left[rows], right[rows]
        gap = elo[every, other] - elo[every, one]
        gain = step * (score[rows] - 1 / (1 + 10 ** (gap / 400)))
        elo[every, one] += gain
        elo[every, other] -= gain
    return elo


def draw_orders(n: int, *, seed: int) -> IntArray:
    """Draw orders of n comparisons; of many each order holds some only."""
    rng = np.random.default_rng(seed)
    length = min(n, MOST_STEPS)
    return np.array([rng.choice(n, length, replace=False, shuffle=True) for _ in range(N_ORDERS)])


def rank_centrality(wins: FloatArray) -> FloatArray:
    """Return log-strengths, mean 0: the stationary distribution of a walk to who wins.

    From i it goes to j at the rate of the share that j won of their comparisons (Negahban, Oh and
    Shah 2017). Shares count, not how many comparisons they are of.

    Args:
        wins: The weight with which system i (row) beat system j (column), ties half.

    Raises:
        NotIdentifiedError: Wins do not connect all systems both ways.
    """
    require_identified(wins)
    counts = wins + wins.T
    share = np.divide(wins.T, counts, out=np.zeros_like(wins), where=counts > 0)
    # Systems are taken out one after another (Grassmann, Taksar and Heyman 1985): nothing is
    # subtracted, so that small probabilities keep their digits.
    n, rates = len(wins), share.copy()
    for k in range(n - 1, 0, -1):
        rates[:k, k] /= rates[k, :k].sum()
        rates[:k, :k] += np.outer(rates[:k, k], rates[k, :k])
    pi = np.ones(n)
    for k in range(1, n):
        pi[k] = pi[:k] @ rates[:k, k]
    theta = np.log(pi)
    return np.asarray(theta - theta.mean())


def kendall_tau(one: FloatArray, other: FloatArray) -> float | None:
    """Return Kendall's tau-b of two rankings; None where either is all ties.

    As `scipy.stats.kendalltau`, whose module takes longer to import than all others.
    """
    upper = np.triu_indices(len(one), 1)
    a, b = (np.sign(x[:, None] - x[None, :])[upper] for x in (one, other))
    scale = float(np.sqrt((a**2).sum() * (b**2).sum()))
    return float((a * b).sum()) / scale if scale else None


def ranks(values: FloatArray) -> FloatArray:
    """Return ranks from 1, the smallest first; equal values share the mean of theirs."""
    ordered = np.sort(values)
    first = np.searchsorted(ordered, values, side="left")
    last = np.searchsorted(ordered, values, side="right")
    return np.asarray((first + last + 1) / 2)


def pearson_r(one: FloatArray, other: FloatArray) -> float | None:
    """Return the correlation of two lists; None where either does not vary."""
    a, b = one - one.mean(), other - other.mean()
    scale = float(np.sqrt((a**2).sum() * (b**2).sum()))
    if scale <= np.finfo(float).tiny or not (np.ptp(one) and np.ptp(other)):
        return None
    return float(np.clip((a * b).sum() / scale, -1.0, 1.0))


def spearman_rho(one: FloatArray, other: FloatArray) -> float | None:
    """Return the correlation of ranks; None where either is all ties."""
    return pearson_r(ranks(one), ranks(other))


def spearman_p(one: FloatArray, other: FloatArray, group: IntArray) -> float | None:
    """Return the exact two-sided p of no rank correlation; None where a group is too large.

    The share of permutations within groups whose rank products depart from their mean by as much or
    more, ties as they are. With few values t is too generous: five in one order have p = 1/60.

    Args:
        one: One value a system; `other` likewise.
        other: See `one`.
        group: Of each; all one where values can be exchanged freely.
    """
    # Ranks in halves are whole numbers, so that sums are exact.
    a, b = (np.rint(2 * ranks(x)).astype(np.int64) for x in (one, other))
    found, centre = np.ones(1), 0.0
    for k in np.unique(group):
        own = [tuple(sorted(x[group == k].tolist())) for x in (a, b)]
        if len(own[0]) > MOST_PERMUTED:
            return None
        found = np.convolve(found, _sums_of_permutations(own[0], own[1]))
        centre += sum(own[0]) * sum(own[1]) / len(own[0])
    departs = np.abs(np.arange(len(found)) - centre)
    is_as_far = departs >= abs(int(a @ b) - centre) - 1e-6
    return min(1.0, float(found[is_as_far].sum()))


@lru_cache(maxsize=32)
def _sums_of_permutations(a: tuple[int, ...], b: tuple[int, ...]) -> FloatArray:
    """Return the chance of every sum of a_i b_j over permutations j, from 0 to the largest."""
    n = len(a)
    # By set of the b that the first a were multiplied with: each permutation once.
    chance = np.zeros((1 << n, sum(x * y for x, y in zip(a, b, strict=True)) + 1))
    chance[0, 0] = 1.0
    for used in range(1, 1 << n):
        size = used.bit_count()
        for j in range(n):
            if used >> j & 1:
                moved = a[size - 1] * b[j]
                before = chance[used ^ (1 << j)]
                chance[used, moved:] += before[: len(before) - moved] / size
    return np.asarray(chance[-1])

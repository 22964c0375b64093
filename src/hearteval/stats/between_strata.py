"""Do vectors differ between strata of items by more than items, and raters, make them differ?

With many systems a Wald test has more contrasts than a small stratum has items, so differences are
not standardised by their covariance but summed (Brown and Forsythe 1974, for vectors; Anderson and
others 2017): F = sum_k n_k |m_k - m|^2 / sum_k (1 - n_k / n) s_k^2, m_k the mean of the n_k items
of stratum k and s_k^2 how much they vary within it. Unequal variances are allowed for.
"""

import math
from typing import Final

import numpy as np

from hearteval.stats import one_blas_thread
from hearteval.stats.comparisons import FloatArray, IntArray
from hearteval.stats.means import ROUNDING
from hearteval.stats.special import fdtrc

N_PERMUTATIONS: Final = 999
"""The least p is .001; at .05 it is off by .007 (Davison and Hinkley 1997, section 4.2)."""


def permutation_test(
    influence: FloatArray, stratum: IntArray, *, seed: int, n_permutations: int = N_PERMUTATIONS
) -> tuple[float, float]:
    """Return F and its p over permutations of items between strata, raters given.

    Exact where items of all strata are alike but for their label.

    Args:
        influence: What each item does to the strengths, (items, systems).
        stratum: Of each item, from 0; at least two items in each.
        seed: Of the permutations.
        n_permutations: How many; the strata as they are count as one more.
    """
    n, sizes = len(stratum), np.bincount(stratum)
    # The strata as they are, then permuted: (1 + permutations, items).
    rng = np.random.default_rng(seed)
    drawn = rng.permuted(np.tile(stratum, (n_permutations, 1)), axis=1)
    labels = np.concatenate((stratum[None, :], drawn))
    values = influence - influence.mean(axis=0)
    squares = (values**2).sum(axis=1)
    above, below = np.zeros(len(labels)), np.zeros(len(labels))
    with one_blas_thread():
        for k, size in enumerate(sizes):
            inside = (labels == k).astype(np.float64)
            between = ((inside @ values) ** 2).sum(axis=1) / size
            variance = (inside @ squares - between) / (size - 1)
            above += between
            below += (1 - size / n) * variance
    statistics = above / np.maximum(below, ROUNDING)
    at_least = statistics[1:] >= statistics[0] * (1 - 1e-9)
    return float(statistics[0]), float((1 + at_least.sum()) / (1 + n_permutations))


def two_way_test(
    influence: FloatArray, item: IntArray, rater: IntArray, stratum: IntArray
) -> tuple[float, float]:
    """Return F and its p where people are sampled as items are.

    The error is two-way (SPEC section 6). Degrees of freedom are Box's above (Brunner, Dette and
    Munk 1997) and Satterthwaite's below, people being those of the stratum with the fewest, of whom
    there have to be two. At no difference it rejects .02 to .08 of the time at .05
    (`benchmarks/strata_test.py`).

    Args:
        influence: What each rater's judgments of an item do to the strengths, (cells, systems).
        item: Of each cell, from 0, none left out.
        rater: Of each cell, -1 for the panel of judges.
        stratum: Of each item, from 0; at least two items in each.
    """
    n_items, sizes = len(stratum), np.bincount(stratum)
    kind, share = stratum[item], 1 / np.bincount(item)[item]
    means = np.zeros((len(sizes), influence.shape[1]))
    np.add.at(means, kind, influence)
    means /= sizes[:, None]
    # An item stands for one of its stratum; its raters share what it departs by from the mean.
    departs = (influence - means[kind] * share[:, None]) * np.sqrt(sizes / (sizes - 1))[kind, None]
    weights = np.sqrt(sizes)[None, :] * (np.eye(len(sizes)) / sizes - 1 / n_items)
    by_item = np.zeros((n_items, influence.shape[1]))
    np.add.at(by_item, item, departs)
    spread = (weights**2).sum(axis=1)  # what a unit of each stratum adds to the trace
    over_items = float((spread[stratum] * (by_item**2).sum(axis=1)).sum()) * _correction(n_items)
    n_people = max(fewest_people(rater, kind), 2)
    of_people = max(_over_people(departs, rater, kind, weights, n_people), 0.0)
    expected = over_items + of_people
    if expected <= ROUNDING**2:
        return 0.0, 1.0  # every item says the same
    overall = (sizes[:, None] * means).sum(axis=0) / n_items
    statistic = float((sizes[:, None] * (means - overall) ** 2).sum()) / expected
    df_above = _box(by_item, stratum)
    # Satterthwaite: what of the error is known from how few people, the rest from items.
    share_of_people = of_people / expected
    df_below = 1 / (
        (1 - share_of_people) ** 2 / (n_items - len(sizes)) + share_of_people**2 / (n_people - 1)
    )
    return statistic, float(fdtrc(df_above, df_below, statistic))


def fewest_people(rater: IntArray, stratum: IntArray) -> int:
    """Return the people of the stratum with the fewest, of those that have any; 0 without people.

    Args:
        rater: Of each cell, -1 for the panel of judges.
        stratum: Of each cell.
    """
    found = [len(np.unique(rater[(rater >= 0) & (stratum == k)])) for k in np.unique(stratum)]
    return min((n for n in found if n), default=0)


def _over_people(
    departs: FloatArray, rater: IntArray, kind: IntArray, weights: FloatArray, n_people: int
) -> float:
    """Return the trace of the variance over raters less that over cells, as in two-way variances.

    That over raters has the G/(G - 1) of the stratum with the fewest people. Sums are about their
    mean, as those of `vary_over_items_and_raters`.
    """
    sampled = rater >= 0
    departs, kind = departs[sampled], kind[sampled]
    raters, label = np.unique(rater[sampled], return_inverse=True)
    sums = np.zeros((len(raters), len(weights), departs.shape[1]))
    np.add.at(sums, (label, kind), departs)
    by_rater = np.einsum("kj,rks->rjs", weights, sums)
    drift, n = by_rater.sum(axis=0), len(departs)
    over_raters = float((by_rater**2).sum() - (drift**2).sum() / len(raters))
    squares = (weights**2).sum(axis=1)[kind] * (departs**2).sum(axis=1)
    over_cells = float(squares.sum() - (drift**2).sum() / n)
    return over_raters * _correction(n_people) - over_cells * _correction(n)


def _correction(n: int) -> float:
    return n / (n - 1)


def _box(departs: FloatArray, stratum: IntArray) -> float:
    """Return tr(V)^2 / tr(V^2) of the sum that is tested, V between strata times that of systems.

    Args:
        departs: What each item departs by from the mean of its stratum, (items, systems).
        stratum: Of each item.
    """
    sizes = np.bincount(stratum)
    within = np.bincount(stratum, weights=(departs**2).sum(axis=1)) / sizes
    between = (np.eye(len(sizes)) - np.sqrt(np.outer(sizes, sizes)) / len(stratum)) * within
    of_systems = departs.T @ departs
    return math.prod(
        float(np.trace(one)) ** 2 / max(float(np.trace(one @ one)), ROUNDING)
        for one in (between, of_systems)
    )

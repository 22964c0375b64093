"""Intervals for Bradley-Terry strengths, each for the contrast theta_i - mean theta.

``item-sandwich`` treats items as the sampled units and raters as given. ``published`` is the
paper's (HEART 9.8), kept to compare with its table; it is too narrow. Two-way and bootstrap
intervals are left out.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, ndtri, stdtrit
from threadpoolctl import threadpool_limits

from heartbench.errors import NotIdentifiedError
from heartbench.stats.bradley_terry import BradleyTerryFit, centred_inverse
from heartbench.stats.comparisons import Comparisons, FloatArray, IntArray, sum_by


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Intervals:
    """One interval per system, in theta's units.

    Attributes:
        low: Lower ends.
        high: Upper ends.
        se: Standard errors.
        df: Degrees of freedom of t, infinite for the normal distribution.
    """

    low: FloatArray
    high: FloatArray
    se: FloatArray
    df: float


def item_sandwich(comparisons: Comparisons, fit: BradleyTerryFit, *, level: float) -> Intervals:
    """Return cluster-robust intervals over items with t(items - 1) (SPEC section 6).

    Raises:
        NotIdentifiedError: Under two items.
    """
    variance = np.diag(item_covariance(comparisons, fit))
    df = len(np.unique(comparisons.item)) - 1
    quantile = float(stdtrit(df, (1 + level) / 2))
    return _symmetric(fit.theta, np.sqrt(variance), quantile, df)


def published(theta: FloatArray, n_comparisons: IntArray, *, level: float) -> Intervals:
    """Return the paper's normal intervals, SE = sqrt(1/n_i), n_i the comparisons of system i.

    A comparison carries at most 1/4 unit of information on theta, so these are at least two times
    too narrow even for independent comparisons (SPEC section 14); both orders of a pair are two.
    """
    quantile = float(ndtri((1 + level) / 2))
    return _symmetric(theta, np.sqrt(1 / n_comparisons), quantile, math.inf)


def item_covariance(comparisons: Comparisons, fit: BradleyTerryFit) -> FloatArray:
    """Return the covariance of theta - mean theta over items: B (sum_g u_g u_g') B G/(G - 1).

    B inverts the information on contrasts, u_g is the score of item g and G counts the items
    (Liang and Zeger 1986). A weight is part of the score, so weights need not be counts.

    Raises:
        NotIdentifiedError: Under two items.
    """
    scores = scores_by_cluster(comparisons, fit.theta, comparisons.item)
    n_items = len(scores)
    if n_items < 2:
        raise NotIdentifiedError(f"an interval over items needs at least two items, not {n_items}")
    with threadpool_limits(limits=1, user_api="blas"):
        influence = scores @ centred_inverse(fit.information)
        return influence.T @ influence * (n_items / (n_items - 1))


def scores_by_cluster(comparisons: Comparisons, theta: FloatArray, cluster: IntArray) -> FloatArray:
    """Return the derivative of each cluster's log-likelihood, as (clusters, systems).

    Clusters are in the order of their indices, those without a row left out.
    """
    names, row_cluster = np.unique(cluster, return_inverse=True)
    is_turned = comparisons.left > comparisons.right
    low = np.where(is_turned, comparisons.right, comparisons.left)
    high = np.where(is_turned, comparisons.left, comparisons.right)
    score = np.where(is_turned, 1 - comparisons.score, comparisons.score)
    residual = comparisons.weight * (score - expit(theta[low] - theta[high]))
    n_systems = comparisons.n_systems
    keys = np.concatenate((row_cluster * n_systems + low, row_cluster * n_systems + high))
    sums = sum_by(keys, np.concatenate((residual, -residual)), len(names) * n_systems)
    return sums.reshape(len(names), n_systems)


def _symmetric(theta: FloatArray, se: FloatArray, quantile: float, df: float) -> Intervals:
    return Intervals(low=theta - quantile * se, high=theta + quantile * se, se=se, df=df)

"""Bradley-Terry with ties of their own (Davidson 1970).

With pi = exp(theta) and a tie parameter nu, P(i beats j) = pi_i / D and P(tie) = nu sqrt(pi_i pi_j)
/ D, where D = pi_i + pi_j + nu sqrt(pi_i pi_j). These strengths answer "how often does i win where
somebody wins", half-ties "how many points does i take": they are not the same number.
"""

import math
from dataclasses import dataclass

import numpy as np

from heartbench.errors import NotIdentifiedError
from heartbench.stats.bradley_terry import fit_win_matrix, require_identified
from heartbench.stats.comparisons import (
    TIE_SCORE,
    Comparisons,
    FloatArray,
    IntArray,
    number_labels,
    order_pairs,
    sum_scores,
)
from heartbench.stats.newton import climb, fix_gauge, mean_curvature
from heartbench.stats.threads import one_blas_thread


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DavidsonFit:
    """Strengths and the tie parameter that maximise the likelihood.

    Attributes:
        theta: Log-strengths, mean 0.
        tie: The tie parameter nu; 0 where nothing was tied, and the fit is the plain one.
        information: Negative second derivative of the log-likelihood at (theta, log nu), as
            (n_systems + 1, n_systems + 1); its last row and column are 0 where nu is.
        n_iterations: Newton steps taken.
    """

    theta: FloatArray
    tie: float
    information: FloatArray
    n_iterations: int


def fit_davidson(points: FloatArray, n_ties: float) -> DavidsonFit:
    """Fit strengths and the tie parameter.

    Both are canonical, so these sums suffice (the log-likelihood is concave).

    Args:
        points: What system i (row) took from system j, a win 1 and a tie 1/2, by weight.
        n_ties: Weight of all ties.

    Raises:
        NotIdentifiedError: As `heartbench.stats.bradley_terry.fit_win_matrix`, or every comparison
            is a tie.
    """
    require_identified(points)
    total = float(points.sum())
    if n_ties >= total:
        raise NotIdentifiedError("every comparison is a tie: there is no tie parameter to estimate")
    counts = points + points.T
    with one_blas_thread():
        if n_ties == 0:
            return _without_ties(points)
        log_tie = math.log(2 * n_ties / (total - n_ties))
        start = np.append(np.zeros(len(points)), log_tie)
        found, information, n_iterations = climb(
            lambda at: _derivatives(at, points.sum(axis=1), n_ties, counts),
            start,
            gauge=slice(0, len(points)),
        )
    return DavidsonFit(
        theta=found[:-1],
        tie=math.exp(found[-1]),
        information=information,
        n_iterations=n_iterations,
    )


def tie_probabilities(theta: FloatArray, tie: float) -> tuple[FloatArray, FloatArray]:
    """Return P(i beats j) and P(i and j tie) for every pair, as (n_systems, n_systems) each."""
    return pair_probabilities(theta[:, None] - theta[None, :], tie)


def pair_probabilities(difference: FloatArray, tie: float) -> tuple[FloatArray, FloatArray]:
    """Return P(i beats j) and P(tie) for theta_i - theta_j, of any shape."""
    # Divided by the larger of the two strengths, so that nothing overflows.
    half = np.abs(difference) / 2
    weaker, tied = np.exp(-2 * half), tie * np.exp(-half)
    total = 1 + weaker + tied
    return np.where(difference >= 0, 1.0, weaker) / total, tied / total


def davidson_scores(comparisons: Comparisons, fit: DavidsonFit, cluster: IntArray) -> FloatArray:
    """Return the derivative of each cluster's log-likelihood at the fit.

    Columns are the systems, then log nu; clusters are in the order of their labels.
    """
    row_cluster, n_clusters = number_labels(cluster)
    low, high, score = order_pairs(comparisons)
    win, tied = pair_probabilities(fit.theta[low] - fit.theta[high], fit.tie)
    weight = comparisons.total_weight
    points = weight * (score - win - tied / 2)
    ties = weight * ((score == TIE_SCORE) - tied)
    width = comparisons.n_systems + 1
    keys = np.concatenate([row_cluster * width + column for column in (low, high, width - 1)])
    sums = sum_scores(keys, np.concatenate((points, -points, ties)), n_clusters * width)
    return sums.reshape(n_clusters, width)


def influence_on_theta(fit: DavidsonFit) -> FloatArray:
    """Return what turns scores into influence on theta - mean theta, (n_systems + 1, n_systems)."""
    n = len(fit.theta)
    information = fix_gauge(fit.information, slice(0, n))
    if fit.tie == 0:
        information[n, n] = 1.0
    inverse = np.linalg.inv(information)
    inverse[:n, :n] -= 1 / (mean_curvature(fit.information[:n, :n]) * n**2)
    return np.asarray(inverse[:, :n])


def _without_ties(points: FloatArray) -> DavidsonFit:
    fit = fit_win_matrix(points)
    information = np.pad(fit.information, (0, 1))
    return DavidsonFit(
        theta=fit.theta, tie=0.0, information=information, n_iterations=fit.n_iterations
    )


def _derivatives(
    at: FloatArray, points: FloatArray, n_ties: float, counts: FloatArray
) -> tuple[FloatArray, FloatArray]:
    win, tied = tie_probabilities(at[:-1], math.exp(at[-1]))
    expected = win + tied / 2
    gradient = np.append(
        points - (counts * expected).sum(axis=1), n_ties - (counts * tied).sum() / 2
    )
    # Variance of the points of a comparison, and their covariance with its being tied.
    spread = counts * (win + tied / 4 - expected**2)
    with_tie = (counts * (tied / 2 - expected * tied)).sum(axis=1)
    n = len(points)
    information = np.empty((n + 1, n + 1))
    information[:n, :n] = np.diag(spread.sum(axis=1)) - spread
    information[:n, n] = information[n, :n] = with_tie
    information[n, n] = (counts * tied * (1 - tied)).sum() / 2
    return gradient, information

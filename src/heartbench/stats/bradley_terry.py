"""Bradley-Terry strengths from pairwise comparisons, and their Elo scale (HEART 9.8).

P(i beats j) = exp(theta_i) / (exp(theta_i) + exp(theta_j)); a tie counts half for each side. Plain
maximum likelihood: no prior is added, so comparisons that do not determine the strengths are an
error. Intervals are in `heartbench.stats.intervals`.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.special import expit
from threadpoolctl import threadpool_limits

from heartbench.errors import NotIdentifiedError
from heartbench.stats.comparisons import Comparisons, FloatArray, win_matrix

ELO_MEAN: Final = 1500.0
ELO_PER_THETA: Final = 400 / math.log(10)
STEP_TOLERANCE = 1e-10
MAX_ITERATIONS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BradleyTerryFit:
    """Strengths that maximise the likelihood.

    Attributes:
        theta: Log-strengths, mean 0.
        information: Negative second derivative of the log-likelihood at theta; its rows sum to 0.
        n_iterations: Newton steps taken.
    """

    theta: FloatArray
    information: FloatArray
    n_iterations: int


def fit_bradley_terry(comparisons: Comparisons) -> BradleyTerryFit:
    """Fit strengths to comparisons, each counted with its weight.

    Raises:
        NotIdentifiedError: As `fit_win_matrix`.
    """
    return fit_win_matrix(win_matrix(comparisons))


def fit_win_matrix(wins: FloatArray) -> BradleyTerryFit:
    """Fit strengths to the weight with which system i (row) beat system j (column).

    Raises:
        NotIdentifiedError: Under two systems, a win graph that is not strongly connected (Ford
            1957; a tie is an edge both ways), or wins so uneven that Newton does not converge.
    """
    require_identified(wins)
    with threadpool_limits(limits=1, user_api="blas"):
        return _maximise_likelihood(wins)


def require_identified(wins: FloatArray) -> None:
    """Raise `NotIdentifiedError` with the components unless every strength is determined."""
    n_systems = len(wins)
    if n_systems < 2:
        raise NotIdentifiedError(
            f"a ranking needs at least two systems that were compared, not {n_systems}",
            components=[[i] for i in range(n_systems)],
        )
    n_components, label = connected_components(wins > 0, directed=True, connection="strong")
    if n_components > 1:
        members = [np.flatnonzero(label == k).tolist() for k in range(n_components)]
        members.sort()
        raise NotIdentifiedError(
            f"wins and ties do not connect all systems both ways: {members} are apart",
            components=members,
        )


def win_probabilities(theta: FloatArray) -> FloatArray:
    """Return P(i beats j) for every pair of systems, as (n_systems, n_systems)."""
    return np.asarray(expit(theta[:, None] - theta[None, :]))


def centred_inverse(information: FloatArray) -> FloatArray:
    """Invert on the contrasts that sum to 0, as the pseudoinverse does.

    It is the covariance of theta - mean theta if comparisons are independent and weights counts.
    """
    shift = _mean_curvature(information)
    return np.asarray(np.linalg.inv(information + shift) - 1 / (shift * len(information) ** 2))


def elo_from_theta(theta: FloatArray) -> FloatArray:
    """Scale strengths to Elo, 400 (theta - mean theta) / ln 10 + 1500 (HEART 9.8)."""
    return np.asarray(ELO_PER_THETA * (theta - theta.mean()) + ELO_MEAN)


def _maximise_likelihood(wins: FloatArray) -> BradleyTerryFit:
    theta = np.zeros(len(wins))
    for n_iterations in range(1, MAX_ITERATIONS + 1):
        gradient, information = _derivatives(wins, theta)
        try:
            step = np.linalg.solve(information + _mean_curvature(information), gradient)
        except np.linalg.LinAlgError:
            break
        # Damped as log(1 + r) / r, which cannot overshoot a logistic likelihood (Bach 2010) and
        # becomes a full Newton step near the maximum: no line search is needed.
        spread = float(np.ptp(step))
        theta = theta + step * (math.log1p(spread) / spread if spread > 0 else 1.0)
        theta -= theta.mean()
        if spread <= STEP_TOLERANCE * (1 + float(np.ptp(theta))):
            information = _derivatives(wins, theta)[1]
            return BradleyTerryFit(theta=theta, information=information, n_iterations=n_iterations)
    raise NotIdentifiedError(
        f"strengths did not converge in {MAX_ITERATIONS} steps: wins are too uneven"
        f" (weights from {wins[wins > 0].min():g} to {wins.max():g})"
    )


def _derivatives(wins: FloatArray, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    chance = win_probabilities(theta)
    # Equal to wins - n * chance, without its cancellation where one side nearly always wins.
    gradient = (wins * chance.T - wins.T * chance).sum(axis=1)
    curvature = (wins + wins.T) * chance * chance.T
    return gradient, np.diag(curvature.sum(axis=1)) - curvature


def _mean_curvature(information: FloatArray) -> float:
    """Return a number of the matrix's size; added to every entry, it makes it invertible."""
    return float(np.trace(information)) / len(information) ** 2

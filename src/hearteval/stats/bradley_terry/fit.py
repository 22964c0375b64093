"""Bradley-Terry strengths from pairwise comparisons, and their Elo scale (HEART 9.8).

P(i beats j) = exp(theta_i) / (exp(theta_i) + exp(theta_j)); a tie counts half for each side. Plain
maximum likelihood: no prior is added, so comparisons that do not determine the strengths are an
error. Intervals are in `hearteval.stats.bradley_terry.intervals`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy

from hearteval.errors import NotIdentifiedError
from hearteval.stats import one_blas_thread
from hearteval.stats.comparisons import Comparisons, FloatArray, win_matrix
from hearteval.stats.special import expit

STEP_TOLERANCE = 1e-10
MAX_ITERATIONS = 1_000
MANY = 512
"""Systems from which on matrices are worth a faster way that rounds otherwise."""
MAX_RANGE = 600.0
"""Of log-strengths whose exponentials do not overflow."""

Derivatives = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def climb(
    derivatives: Derivatives, start: FloatArray, *, gauge: slice
) -> tuple[FloatArray, FloatArray, int]:
    """Return the maximum, the information there and the steps taken.

    Args:
        derivatives: Gradient and information (negative second derivative) at a point.
        start: Where to begin.
        gauge: Parameters of which only differences matter; they are kept at mean 0.

    Raises:
        NotIdentifiedError: The steps do not converge.
    """
    at: FloatArray = start
    for n_iterations in range(1, MAX_ITERATIONS + 1):
        gradient, information = derivatives(at)
        try:
            step = solve_symmetric(fix_gauge(information, gauge), gradient)
        except np.linalg.LinAlgError:
            break
        # Damped as log(1 + r) / r, which cannot overshoot a logistic likelihood (Bach 2010) and
        # becomes a full Newton step near the maximum: no line search is needed.
        length = _reach(step, gauge)
        at = at + step * (math.log1p(length) / length if length > 0 else 1.0)
        at[gauge] -= at[gauge].mean()
        if length <= STEP_TOLERANCE * (1 + _reach(at, gauge)):
            return at, derivatives(at)[1], n_iterations
    raise NotIdentifiedError(f"the fit did not converge in {MAX_ITERATIONS} steps")


def solve_symmetric(matrix: FloatArray, values: FloatArray) -> FloatArray:
    """Solve for a positive definite matrix, a large one by its Cholesky factor: twice as fast.

    Raises:
        LinAlgError: The matrix is singular.
    """
    if len(matrix) < MANY:
        return np.asarray(np.linalg.solve(matrix, values))
    return np.asarray(
        scipy.linalg.cho_solve(
            scipy.linalg.cho_factor(matrix, lower=True, check_finite=False), values
        )
    )


def fix_gauge(information: FloatArray, gauge: slice) -> FloatArray:
    """Return the information made invertible where only differences matter."""
    fixed = information.copy()
    fixed[gauge, gauge] += mean_curvature(information[gauge, gauge])
    return fixed


def mean_curvature(information: FloatArray) -> float:
    """Return a number of the matrix's size; added to every entry, it makes it invertible."""
    return float(np.trace(information)) / len(information) ** 2


def _reach(step: FloatArray, gauge: slice) -> float:
    """Return how far a step can move the log-odds of an outcome."""
    free = np.abs(step).sum() - np.abs(step[gauge]).sum()
    return float(np.ptp(step[gauge]) + free)


ELO_MEAN: Final = 1500.0
ELO_PER_THETA: Final = 400 / math.log(10)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BradleyTerryFit:
    """Strengths that maximise the likelihood."""

    theta: FloatArray
    """Log-strengths, mean 0."""
    information: FloatArray
    """Negative second derivative of the log-likelihood at theta; its rows sum to 0."""
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
    everyone = slice(0, len(wins))
    try:
        with one_blas_thread():
            theta, information, n_iterations = climb(
                _derivatives_by_pair(wins)
                if len(wins) >= MANY
                else lambda theta: _derivatives(wins, theta),
                np.zeros(len(wins)),
                gauge=everyone,
            )
    except NotIdentifiedError as error:
        raise NotIdentifiedError(
            f"{error}: wins are too uneven (weights from {wins[wins > 0].min():g} to"
            f" {wins.max():g})"
        ) from error
    return BradleyTerryFit(theta=theta, information=information, n_iterations=n_iterations)


def add_prior(wins: FloatArray, prior: float) -> FloatArray:
    """Add `prior` half-won comparisons to every pair of systems; 0 adds nothing.

    A declared prior pulls strengths together and makes any comparisons identify them.

    Raises:
        ValueError: A prior below 0, infinite or NaN.
    """
    if not (math.isfinite(prior) and prior >= 0):
        raise ValueError(f"a prior is a finite weight of 0 or more, not {prior}")
    return np.asarray(wins + prior / 2 * (1 - np.eye(len(wins))))


def require_identified(wins: FloatArray) -> None:
    """Raise `NotIdentifiedError` with the components unless every strength is determined."""
    n_systems = len(wins)
    if n_systems < 2:
        raise NotIdentifiedError(
            f"a ranking needs at least two systems that were compared, not {n_systems}",
            components=[[i] for i in range(n_systems)],
        )
    members = strong_components(wins)
    if len(members) > 1:
        raise NotIdentifiedError(
            f"wins and ties do not connect all systems both ways: {members} are apart",
            components=members,
        )


def strong_components(wins: FloatArray) -> list[list[int]]:
    """Return the groups within which wins lead from every system to every other and back."""
    n_components, label = scipy.sparse.csgraph.connected_components(
        wins > 0, directed=True, connection="strong"
    )
    return sorted(np.flatnonzero(label == k).tolist() for k in range(n_components))


def win_probabilities(theta: FloatArray) -> FloatArray:
    """Return P(i beats j) for every pair of systems, as (n_systems, n_systems)."""
    if len(theta) < MANY or np.ptp(theta) > MAX_RANGE:
        return np.asarray(expit(theta[:, None] - theta[None, :]))
    # The same but for rounding, several times as fast.
    strength = np.exp(theta - theta.mean())
    return np.asarray(strength[:, None] / (strength[:, None] + strength[None, :]))


def centred_inverse(information: FloatArray) -> FloatArray:
    """Invert on the contrasts that sum to 0, as the pseudoinverse does.

    It is the covariance of theta - mean theta if comparisons are independent and weights counts.
    """
    shift = mean_curvature(information)
    shifted = information + shift
    inverse = np.linalg.inv(shifted) if len(shifted) < MANY else _invert_symmetric(shifted)
    return np.asarray(inverse - 1 / (shift * len(information) ** 2))


def _invert_symmetric(matrix: FloatArray) -> FloatArray:
    factor, _ = scipy.linalg.cho_factor(matrix, lower=True)
    inverse, _ = scipy.linalg.lapack.dpotri(factor, lower=1)
    return np.asarray(np.tril(inverse) + np.tril(inverse, -1).T)


def elo_from_theta(theta: FloatArray) -> FloatArray:
    """Scale strengths to Elo, 400 (theta - mean theta) / ln 10 + 1500 (HEART 9.8)."""
    return np.asarray(ELO_PER_THETA * (theta - theta.mean()) + ELO_MEAN)


def _derivatives(wins: FloatArray, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    chance = win_probabilities(theta)
    # Equal to wins - n * chance, without its cancellation where one side nearly always wins.
    gradient = (wins * chance.T - wins.T * chance).sum(axis=1)
    curvature = (wins + wins.T) * chance * chance.T
    return gradient, np.diag(curvature.sum(axis=1)) - curvature


def _derivatives_by_pair(wins: FloatArray) -> Derivatives:
    """Return what gives the same, at the cost of the pairs that met: of many systems, few did."""
    n = len(wins)
    low, high = np.nonzero(np.triu(wins + wins.T))
    won, lost = wins[low, high], wins[high, low]

    def derivatives(theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        chance, turned = expit(theta[low] - theta[high]), expit(theta[high] - theta[low])
        points = won * turned - lost * chance
        curvature = (won + lost) * chance * turned
        gradient = np.bincount(low, points, n) - np.bincount(high, points, n)
        information = np.zeros((n, n))
        information[low, high] = information[high, low] = -curvature
        np.fill_diagonal(
            information, np.bincount(low, curvature, n) + np.bincount(high, curvature, n)
        )
        return np.asarray(gradient, dtype=np.float64), information

    return derivatives

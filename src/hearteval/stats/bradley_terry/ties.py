"""One fit of pairwise comparisons under a declared treatment of ties, with what intervals need.

Ties count half a win for each side, or have a parameter of their own (Davidson 1970). With
pi = exp(theta) and a tie parameter nu, P(i beats j) = pi_i / D and P(tie) = nu sqrt(pi_i pi_j) / D,
where D = pi_i + pi_j + nu sqrt(pi_i pi_j). These strengths answer "how often does i win where
somebody wins", half-ties "how many points does i take": they are not the same number. Dropping ties
is leaving rows out, which is the caller's.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hearteval.errors import NotIdentifiedError
from hearteval.stats import one_blas_thread
from hearteval.stats.bradley_terry.clustered_variance import (
    ClusteredVariance,
    InfluenceOf,
    vary_over_votes,
)
from hearteval.stats.bradley_terry.fit import (
    BradleyTerryFit,
    add_prior,
    climb,
    fit_win_matrix,
    fix_gauge,
    mean_curvature,
    require_identified,
    win_probabilities,
)
from hearteval.stats.bradley_terry.intervals import independent_votes, influence_on_strengths
from hearteval.stats.comparisons import (
    TIE_SCORE,
    Comparisons,
    FloatArray,
    IntArray,
    number_labels,
    order_pairs,
    sum_scores,
    win_matrix,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DavidsonFit(BradleyTerryFit):
    """Strengths and the tie parameter that maximise the likelihood.

    Attributes:
        tie: The tie parameter nu; 0 where nothing was tied, and the fit is the plain one.
        information: Negative second derivative of the log-likelihood at (theta, log nu), as
            (n_systems + 1, n_systems + 1); its last row and column are 0 where nu is.
    """

    tie: float


def fit_davidson(points: FloatArray, n_ties: float) -> DavidsonFit:
    """Fit strengths and the tie parameter to `TiedFit.points` and the weight of all ties.

    Both are canonical, so these sums suffice (the log-likelihood is concave).

    Raises:
        NotIdentifiedError: As `fit_win_matrix`, or every comparison is a tie.
    """
    require_identified(points)
    total = float(points.sum())
    if n_ties >= total:
        raise NotIdentifiedError("every comparison is a tie: there is no tie parameter to estimate")
    if n_ties == 0:
        plain = fit_win_matrix(points)
        information = np.pad(plain.information, (0, 1))
        found, n_iterations = np.append(plain.theta, -np.inf), plain.n_iterations
    else:
        counts = points + points.T
        start = np.append(np.zeros(len(points)), math.log(2 * n_ties / (total - n_ties)))
        with one_blas_thread():
            found, information, n_iterations = climb(
                lambda at: _derivatives(at, points.sum(axis=1), n_ties, counts),
                start,
                gauge=slice(0, len(points)),
            )
    tie = math.exp(found[-1])
    return DavidsonFit(
        theta=found[:-1], tie=tie, information=information, n_iterations=n_iterations
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
    low, high, _ = order_pairs(comparisons)
    points, ties = _residuals(comparisons, fit, comparisons.total_weight)
    width = comparisons.n_systems + 1
    keys = np.concatenate([row_cluster * width + column for column in (low, high, width - 1)])
    sums = sum_scores(keys, np.concatenate((points, -points, ties)), n_clusters * width)
    return sums.reshape(n_clusters, width)


def _residuals(
    comparisons: Comparisons, fit: DavidsonFit, weight: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the derivatives by the strength of a row's lower system, and by log nu."""
    low, high, score = order_pairs(comparisons)
    win, tied = pair_probabilities(fit.theta[low] - fit.theta[high], fit.tie)
    return weight * (score - win - tied / 2), weight * ((score == TIE_SCORE) - tied)


def influence_on_theta(fit: DavidsonFit) -> FloatArray:
    """Return what turns scores into influence on theta - mean theta, (n_systems + 1, n_systems)."""
    n = len(fit.theta)
    inverse = invert_information(fit)
    inverse[:n, :n] -= 1 / (mean_curvature(fit.information[:n, :n]) * n**2)
    return np.asarray(inverse[:, :n])


def invert_information(fit: DavidsonFit) -> FloatArray:
    """Invert the information on (theta, log nu); only differences of theta mean anything."""
    n = len(fit.theta)
    information = fix_gauge(fit.information, slice(0, n))
    if fit.tie == 0:
        information[n, n] = 1.0
    return np.asarray(np.linalg.inv(information))


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


TieModel = Literal["half", "davidson"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TiedFit:
    """Strengths, what they predict, and how clusters of votes move them."""

    fit: BradleyTerryFit
    """The fit, with its tie parameter under Davidson."""
    comparisons: Comparisons
    points: FloatArray
    """Points system i (row) took from j: a win 1, a tie 1/2, by weight; no prior in it."""

    @property
    def theta(self) -> FloatArray:
        """Log-strengths, mean 0."""
        return self.fit.theta

    @property
    def expected_points(self) -> FloatArray:
        """Points a comparison gives system i (row) against j, P(win) + P(tie) / 2."""
        if isinstance(self.fit, DavidsonFit):
            win, tied = tie_probabilities(self.fit.theta, self.fit.tie)
            return win + tied / 2
        return win_probabilities(self.fit.theta)

    @property
    def influence_of(self) -> InfluenceOf:
        """What gives the influence of clusters on theta - mean theta."""
        fit, comparisons = self.fit, self.comparisons
        if isinstance(fit, DavidsonFit):
            bread = influence_on_theta(fit)
            return lambda cluster: davidson_scores(comparisons, fit, cluster) @ bread
        return influence_on_strengths(comparisons, fit)

    def vary_over_votes(self) -> ClusteredVariance:
        """Return the variance if every vote is independent of the others."""
        if not isinstance(self.fit, DavidsonFit):
            return independent_votes(self.comparisons, self.fit)
        points, ties = _residuals(self.comparisons, self.fit, self.comparisons.weight)
        return vary_over_votes(self.comparisons, points, influence_on_theta(self.fit), ties=ties)


def fit_ties(comparisons: Comparisons, *, ties: TieModel, prior: float = 0.0) -> TiedFit:
    """Fit strengths under a treatment of ties, after `add_prior`.

    Comparisons of a prior count as decided: under ``davidson`` they lower the share of ties.

    Raises:
        NotIdentifiedError: As `fit_win_matrix` and `fit_davidson`.
    """
    points = win_matrix(comparisons)
    with_prior = add_prior(points, prior)
    if ties == "half":
        return TiedFit(fit=fit_win_matrix(with_prior), comparisons=comparisons, points=points)
    is_tie = comparisons.score == TIE_SCORE
    n_ties = float(np.sort(comparisons.total_weight[is_tie]).sum())
    return TiedFit(fit=fit_davidson(with_prior, n_ties), comparisons=comparisons, points=points)

"""Bradley-Terry strengths from judges who differ in how sharply they tell systems apart.

logit P(left beats right | judge k) = a_k (theta_left - theta_right) + b_k, discrimination a_k and
position bias b_k: Birnbaum's two-parameter logistic model (1968) on pairs. Of its kind are Crowd-BT
(Chen et al. 2013), whose judges flip a choice with some probability instead, and the judge-aware
ranking of Xu, Tan, Wu and Zhou (2026, arXiv 2601.21817), which has no b_k. The panel is taken as
given; how a judge differs from item to item or system to system is left out.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import scipy

from hearteval.errors import NotIdentifiedError
from hearteval.stats import one_blas_thread
from hearteval.stats.bradley_terry.covariates import (
    CovariateFit,
    Rows,
    constrained_inverse,
    fit_with_covariates,
    merge_rows,
    not_determined,
    scale_information,
    sum_scores,
)
from hearteval.stats.bradley_terry.fit import STEP_TOLERANCE, require_identified
from hearteval.stats.comparisons import (
    Comparisons,
    FloatArray,
    IntArray,
    blocks_of_labels,
    renumber,
    select_comparisons,
    sum_by,
    win_matrix,
)

MAX_ITERATIONS = 100
"""A step moves log odds by little more than 1, so this reaches odds of e^50 and beyond."""
FLAT = 1e-9
"""Eigenvalue of the information, scaled to unit diagonal, that counts as 0."""
ROUNDING = 1e-12
"""Part of the log-likelihood within which a fall counts as none."""
CANCELS = 1e-6
"""Mean discrimination, relative to the largest, that counts as 0."""
OF_JUDGES = "parameters of judges"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgeAwareFit:
    """Strengths and judges' parameters at a maximum of the likelihood."""

    theta: FloatArray
    """Log-strengths for a judge of discrimination 1, mean 0, (S,)."""
    discrimination: FloatArray
    """Of each judge, mean 1; negative where it prefers the weaker system, (K,)."""
    position_bias: FloatArray
    """Log odds each judge gives to the system shown left, (K,)."""
    information: FloatArray
    """Negative second derivative of the log-likelihood by (theta, discrimination, position bias),
    (S + 2K, S + 2K); singular along what the two means fix."""
    n_iterations: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Point:
    theta: FloatArray
    a: FloatArray
    b: FloatArray

    def moved(self, step: FloatArray) -> "_Point":
        by_theta, by_a, by_b = np.split(step, np.cumsum((len(self.theta), len(self.a))))
        return _Point(theta=self.theta + by_theta, a=self.a + by_a, b=self.b + by_b)

    def log_odds(self, rows: Rows) -> FloatArray:
        difference = self.theta[rows.first] - self.theta[rows.second]
        return self.a[rows.label] * difference + self.b[rows.label] * rows.covariates[:, 0]

    def null_vectors(self) -> FloatArray:
        """Return the directions along which no log odds change: theta shifts, a theta is kept."""
        zeros = np.zeros_like(self.a)
        shift = np.concatenate((np.ones_like(self.theta), zeros, zeros))
        return np.stack((shift, np.concatenate((self.theta, -self.a, zeros))), axis=1)


def fit_judge_aware(comparisons: Comparisons) -> JudgeAwareFit:
    """Fit strengths, discriminations and position biases by maximum likelihood; a tie is half.

    Judges are `comparisons.rater`, 0 to K - 1. With theta and a unknown only their product has a
    unit: mean a = 1 makes theta that of the average judge, so that judges who are all alike and
    favour no side give the theta of the plain fit, and `elo_from_theta` its scale; those who favour
    one give that of the fit with a position effect, which is wider than the plain one, and so does
    a single judge. The likelihood is not concave: Newton steps (Fisher scoring where the curvature
    is not that of a maximum, halved while the likelihood falls) start from the pooled fit with one
    position effect, and end at a maximum near it, which need not be the highest.

    Raises:
        NotIdentifiedError: As `require_identified`; or the parameters of judges are not determined:
            a judge without a comparison, always for one side, too few comparisons, or
            discriminations that cancel out. `ids` are then the indices of the judges.
        ValueError: A rater index below 0.
    """
    n_judges = _count_judges(comparisons)
    start = _fit_pooled(comparisons, n_judges)
    rows = merge_rows(comparisons, [np.ones(len(comparisons))], comparisons.rater)
    with one_blas_thread():
        point, n_iterations = _climb(
            rows, _Point(theta=start.theta, a=np.ones(n_judges), b=np.full(n_judges, start.beta[0]))
        )
        point = _rescaled(point)
        information = _information(rows, point)
        _require_maximum(information, point)
    return JudgeAwareFit(
        theta=point.theta,
        discrimination=point.a,
        position_bias=point.b,
        information=information,
        n_iterations=n_iterations,
    )


def influence(comparisons: Comparisons, fit: JudgeAwareFit, cluster: IntArray) -> FloatArray:
    """Return how far each cluster moves (theta, discrimination, position bias).

    B u_g, u_g the derivative of the cluster's log-likelihood at the fit and B the inverse of the
    information among parameters with mean theta = 0 and mean discrimination = 1 (Silvey 1959). So
    parts of a row by theta sum to 0, and those by discrimination too. `cluster` labels each row's
    cluster; results, (n_clusters, S + 2K), are in ascending order of the labels.
    """
    point = _Point(theta=fit.theta, a=fit.discrimination, b=fit.position_bias)
    scores = []
    with one_blas_thread():
        for some, label in blocks_of_labels(renumber(cluster)):
            part, n = select_comparisons(comparisons, some), int(label.max()) + 1
            rows = merge_rows(part, [np.ones(len(part))], part.rater * n + label)
            by_judge = replace(rows, label=rows.label // n)
            by_cluster = replace(rows, label=rows.label % n)
            odds = point.log_odds(by_judge)
            scores.append(sum_scores(by_cluster, odds, _derivatives(by_judge, point)))
        n_systems, n_judges = len(point.theta), len(point.a)
        means = np.zeros((2, len(fit.information)))
        means[0, :n_systems] = 1 / n_systems
        means[1, n_systems : n_systems + n_judges] = 1 / n_judges
        inverse = constrained_inverse(fit.information, point.null_vectors(), means)
        return np.asarray(np.concatenate(scores) @ inverse)


def _count_judges(comparisons: Comparisons) -> int:
    """Return K, every judge of which chose each side at least once."""
    judge = comparisons.rater
    if (judge < 0).any():
        raise ValueError(f"row {np.argmax(judge < 0)} has a rater below 0")
    n_judges = int(judge.max(initial=-1)) + 1
    left = sum_by(judge, comparisons.score, n_judges)
    right = sum_by(judge, 1 - comparisons.score, n_judges)
    is_one_sided = (left == 0) | (right == 0)
    if is_one_sided.any():
        reason = "they never chose one of the two sides, left or right"
        raise not_determined(OF_JUDGES, np.flatnonzero(is_one_sided), reason)
    return n_judges


def _fit_pooled(comparisons: Comparisons, n_judges: int) -> CovariateFit:
    require_identified(win_matrix(comparisons))
    try:
        return fit_with_covariates(comparisons, [np.ones(len(comparisons))])
    except NotIdentifiedError as error:
        reason = "position and systems cannot be told apart: show pairs both ways"
        raise not_determined(OF_JUDGES, np.arange(n_judges), reason) from error


def _climb(rows: Rows, point: _Point) -> tuple[_Point, int]:
    move: FloatArray = np.zeros(len(rows.won))
    for n_iterations in range(1, MAX_ITERATIONS + 1):
        eta = point.log_odds(rows)
        step = _ascent(rows, point)
        move = _derivatives(rows, point) @ step
        reach = float(np.abs(move).max())
        if reach <= STEP_TOLERANCE * (1 + float(np.abs(eta).max())):
            return point.moved(step), n_iterations
        # Damped as in `climb`; what the damping does not foresee is that eta is not linear.
        step = step * (math.log1p(reach) / reach)
        before = rows.log_likelihood(eta)
        lowest = before - ROUNDING * abs(before)
        while rows.log_likelihood(point.moved(step).log_odds(rows)) < lowest:
            step = step / 2
        point = point.moved(step)
    by_judge = np.zeros(len(point.a))
    np.maximum.at(by_judge, rows.label, np.abs(move))
    raise not_determined(
        OF_JUDGES,
        np.flatnonzero(by_judge > by_judge.max() / 10),
        f"the fit still moves after {MAX_ITERATIONS} steps; too few comparisons or none against"
        " the order of the systems",
    )


def _ascent(rows: Rows, point: _Point) -> FloatArray:
    """Return a Newton step, or one of Fisher scoring where the likelihood is not concave."""
    gradient = _derivatives(rows, point).T @ rows.residual(point.log_odds(rows))
    observed, expected = _information(rows, point), _expected_information(rows, point)
    matrix, scale = scale_information(observed, point.null_vectors())
    values, vectors = np.linalg.eigh(matrix)
    if values[0] <= FLAT:
        matrix, scale = scale_information(expected, point.null_vectors())
        values, vectors = np.linalg.eigh(matrix)
    is_steep = values > FLAT
    along = vectors[:, is_steep]
    return np.asarray(scale * (along @ ((along.T @ (scale * gradient)) / values[is_steep])))


def _derivatives(rows: Rows, point: _Point) -> "scipy.sparse.csr_array":
    """Return the derivatives of each row's log odds, (n_rows, S + 2K)."""
    n_rows, n_systems, n_judges = len(rows.won), len(point.theta), len(point.a)
    shape = (n_rows, n_systems + 2 * n_judges)
    of_a = n_systems + rows.label
    a = point.a[rows.label]
    values = (a, -a, point.theta[rows.first] - point.theta[rows.second], rows.covariates[:, 0])
    columns = (rows.first, rows.second, of_a, of_a + n_judges)
    flat = (np.stack(parts, axis=1).ravel() for parts in (values, columns))
    return scipy.sparse.csr_array((*flat, np.arange(0, 4 * n_rows + 1, 4)), shape)


def _expected_information(rows: Rows, point: _Point) -> FloatArray:
    derivatives = _derivatives(rows, point)
    curvature = scipy.sparse.diags_array(rows.curvature(point.log_odds(rows)))
    return np.asarray((derivatives.T @ curvature @ derivatives).toarray())


def _information(rows: Rows, point: _Point) -> FloatArray:
    """Return the negative second derivative of the log-likelihood."""
    n_systems, n_judges = len(point.theta), len(point.a)
    residual = rows.residual(point.log_odds(rows))
    keys = np.concatenate((rows.first, rows.second)) * n_judges + np.tile(rows.label, 2)
    parts = np.concatenate((residual, -residual))
    # Log odds bend only between theta and a: d2 eta / d theta_first d a_k = 1.
    bend = np.bincount(keys, weights=parts, minlength=n_systems * n_judges)
    information = _expected_information(rows, point)
    of_a = slice(n_systems, n_systems + n_judges)
    information[:n_systems, of_a] -= bend.reshape(n_systems, n_judges)
    information[of_a, :n_systems] -= bend.reshape(n_systems, n_judges).T
    return information


def _rescaled(point: _Point) -> _Point:
    """Give a mean 1 and theta mean 0, at the same log odds."""
    unit = float(point.a.mean())
    if abs(unit) <= CANCELS * float(np.abs(point.a).max()):
        reason = "discriminations cancel out, so that no average judge exists"
        raise not_determined(OF_JUDGES, np.arange(len(point.a)), reason)
    theta = point.theta * unit
    return _Point(theta=theta - theta.mean(), a=point.a / unit, b=point.b)


def _require_maximum(information: FloatArray, point: _Point) -> None:
    values, vectors = np.linalg.eigh(scale_information(information, point.null_vectors())[0])
    if values[0] > FLAT:
        return
    part = np.square(vectors[len(point.theta) :, 0]).reshape(2, -1).sum(axis=0)
    reason = "other values fit as well or better; too few comparisons, or systems too alike"
    raise not_determined(OF_JUDGES, np.flatnonzero(part > part.max() / 10), reason)

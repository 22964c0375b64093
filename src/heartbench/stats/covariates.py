"""Bradley-Terry strengths with other differences between the two answers held equal.

P(left beats right) = expit(theta_left - theta_right + x . beta), x the covariates of the row:
differences left minus right (length, formatting) or a column of ones (being shown first). Adjusts
for what is measured, linearly on the log-odds scale, with one effect for all raters; whether a
longer answer wins because it is longer or because it says more, no such fit can tell.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from heartbench.errors import NotIdentifiedError
from heartbench.stats.bradley_terry import require_identified
from heartbench.stats.comparisons import Comparisons, FloatArray, IntArray, win_matrix
from heartbench.stats.constrained import constrained_inverse
from heartbench.stats.newton import climb, fix_gauge
from heartbench.stats.row_scores import Rows, incidence, is_separated, merge_rows, sum_scores
from heartbench.stats.threads import one_blas_thread

COLLINEARITY_TOLERANCE = 1e-8
"""Part of a covariate, by root mean square, that systems and other covariates must leave open."""
LARGE_MOVE = 0.1
"""Change of log odds in one step above which a fit is not yet near a maximum."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CovariateFit:
    """Strengths and effects that maximise the likelihood.

    Attributes:
        theta: Log-strengths where all covariates are 0, mean 0, (S,).
        beta: Log odds that left gains per unit of each covariate, (k,).
        information: Negative second derivative of the log-likelihood by (theta, beta),
            (S + k, S + k); singular along equal shifts of theta.
        n_iterations: Newton steps taken.
    """

    theta: FloatArray
    beta: FloatArray
    information: FloatArray
    n_iterations: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Basis:
    """X = D C + Q T: covariates split into what differences of systems explain, and the rest.

    Columns of Q are orthogonal to D and to each other, rows weighted as they count, and at most 1.
    """

    d: sparse.csr_array
    q: FloatArray
    c: FloatArray
    t: FloatArray


def relative_difference(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return (left - right)/(left + right) for lengths or counts, from -1 to 1; 0 where both are 0.

    20 words against 40 differ much and 500 against 520 little (Li, Angelopoulos and Chiang 2024,
    "Does style matter?", who standardise it besides; that changes the unit of beta alone).

    Raises:
        ValueError: A value is negative, infinite or missing.
    """
    values = np.concatenate((left, right))
    if not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError("lengths and counts must be finite and not negative")
    total = left + right
    return np.asarray((left - right) / np.where(total > 0, total, 1.0))


def fit_with_covariates(comparisons: Comparisons, covariates: FloatArray) -> CovariateFit:
    """Fit strengths and effects of covariates, (n_rows, k), by maximum likelihood; a tie is half.

    Rows count with their weights. Assumes that an effect is the same
    for all systems and raters and linear in log odds.

    Raises:
        NotIdentifiedError: As `require_identified`; or a covariate is 0 throughout, is a difference
            of constants of the two systems, follows from covariates before it, or separates wins
            from losses. `ids` are then the indices of the covariates.
        ValueError: Covariates are not finite or of another length.
    """
    _require_finite(comparisons, covariates)
    require_identified(win_matrix(comparisons))
    rows = merge_rows(comparisons, covariates, np.zeros(len(comparisons), dtype=np.int64))
    with one_blas_thread():
        return _fit_rows(rows, _split_covariates(rows, comparisons.n_systems))


def influence(
    comparisons: Comparisons, covariates: FloatArray, fit: CovariateFit, cluster: IntArray
) -> FloatArray:
    """Return how far each cluster moves (theta - mean theta, beta), as (n_clusters, S + k).

    B u_g, u_g the derivative of the cluster's log-likelihood at the fit and B the inverse of the
    information with theta of mean 0 (Liang and Zeger 1986).

    Args:
        comparisons: Rows that were fitted.
        covariates: Their covariates, (n_rows, k).
        fit: The fit to them.
        cluster: Label of each row's cluster; results are in ascending order of the labels.

    Raises:
        ValueError: Covariates are not finite or of another length.
    """
    _require_finite(comparisons, covariates)
    rows = merge_rows(comparisons, covariates, np.unique(cluster, return_inverse=True)[1])
    d = incidence(rows, comparisons.n_systems)
    shift = _equal_shift(len(fit.information), comparisons.n_systems)
    with one_blas_thread():
        eta = d @ fit.theta + rows.covariates @ fit.beta
        derivatives = sparse.hstack((d, sparse.csr_array(rows.covariates)), format="csr")
        scores = sum_scores(rows, eta, derivatives)
        return np.asarray(scores @ constrained_inverse(fit.information, shift, shift.T))


def _require_finite(comparisons: Comparisons, covariates: FloatArray) -> None:
    if covariates.ndim != 2 or len(covariates) != len(comparisons):
        raise ValueError(
            f"covariates must be ({len(comparisons)}, k), a row for each comparison,"
            f" not {covariates.shape}"
        )
    is_bad = ~np.isfinite(covariates).all(axis=1)
    if is_bad.any():
        raise ValueError(
            f"row {np.argmax(is_bad)} has a covariate that is missing or infinite"
            f" ({is_bad.sum()} such rows)"
        )


def _equal_shift(n_parameters: int, n_systems: int) -> FloatArray:
    return (np.arange(n_parameters) < n_systems).astype(np.float64)[:, None]


def _split_covariates(rows: Rows, n_systems: int) -> _Basis:
    """Split covariates, so that the fit is precise however close to collinear they are."""
    d = incidence(rows, n_systems)
    n = rows.won + rows.lost
    largest = np.abs(rows.covariates).max(axis=0, initial=0.0)
    x = rows.covariates / np.where(largest > 0, largest, 1.0)
    met = (d.T @ sparse.diags_array(n) @ d).toarray()
    c = np.linalg.solve(fix_gauge(met, slice(0, n_systems)), d.T @ (n[:, None] * x))
    root = np.sqrt(n)[:, None]
    q, t = np.linalg.qr(root * (x - d @ c))
    left_open = np.zeros(x.shape[1])
    left_open[: len(t)] = np.abs(np.diag(t))
    is_fixed = left_open <= COLLINEARITY_TOLERANCE * np.linalg.norm(root * x, axis=0)
    if is_fixed.any():
        raise _not_determined(
            np.flatnonzero(is_fixed),
            "each is 0 throughout, or follows from the systems and other covariates",
        )
    q /= root
    size = np.abs(q).max(axis=0)
    return _Basis(d=d, q=q / size, c=c * largest, t=size[:, None] * t * largest)


def _fit_rows(rows: Rows, basis: _Basis) -> CovariateFit:
    n_systems, k = basis.d.shape[1], len(basis.t)
    last_eta = np.zeros(len(rows.first))

    def derivatives(at: FloatArray) -> tuple[FloatArray, FloatArray]:
        nonlocal last_eta
        eta = basis.d @ at[:n_systems] + basis.q @ at[n_systems:]
        _require_not_separated(rows, basis, eta - last_eta)
        last_eta = eta
        residual = rows.residual(eta)
        gradient = np.concatenate((basis.d.T @ residual, basis.q.T @ residual))
        return gradient, _information(basis.d, basis.q, rows.curvature(eta))

    at, _, n_iterations = climb(derivatives, np.zeros(n_systems + k), gauge=slice(0, n_systems))
    beta = np.asarray(np.linalg.solve(basis.t, at[n_systems:]), dtype=np.float64)
    theta = at[:n_systems] - basis.c @ beta
    curvature = rows.curvature(last_eta)
    return CovariateFit(
        theta=theta - theta.mean(),
        beta=beta,
        information=_information(basis.d, rows.covariates, curvature),
        n_iterations=n_iterations,
    )


def _information(d: sparse.csr_array, x: FloatArray, curvature: FloatArray) -> FloatArray:
    weighted = curvature[:, None] * x
    cross = d.T @ weighted
    systems = (d.T @ sparse.diags_array(curvature) @ d).toarray()
    return np.block([[systems, cross], [cross.T, x.T @ weighted]])


def _require_not_separated(rows: Rows, basis: _Basis, move: FloatArray) -> None:
    """Raise if a step of the fit could go on for ever, naming the covariates that take it there."""
    if np.abs(move).max() <= LARGE_MOVE or not is_separated(rows, move):
        return
    n = (rows.won + rows.lost)[:, None]
    step = (basis.q * n).T @ move / (basis.q**2 * n).sum(axis=0)
    part = np.abs(np.linalg.solve(basis.t, step)) * np.abs(rows.covariates).max(axis=0)
    raise _not_determined(
        np.flatnonzero(part > 1e-3 * part.max()),
        "with the systems they foretell some wins without exception",
    )


def _not_determined(covariates: IntArray, reason: str) -> NotIdentifiedError:
    indices = covariates.tolist()
    return NotIdentifiedError(
        f"effects of covariates {indices} are not determined: {reason}",
        ids=[str(index) for index in indices],
    )

"""Bradley-Terry strengths with other differences between the two answers held equal.

P(left beats right) = expit(theta_left - theta_right + x . beta), x the covariates of the row:
differences left minus right (length, formatting) or a column of ones (being shown first). Adjusts
for what is measured, linearly on the log-odds scale, with one effect for all raters; whether a
longer answer wins because it is longer or because it says more, no such fit can tell.

Rows are first turned the same way round, merged where equal, and sorted, so that every sum runs in
an order that depends on the values alone, and two equal rows are one row of double weight. Only
differences of strengths matter, so information matrices are singular along equal shifts (null
vectors); as many constraints (strengths of mean 0) fix the parameters.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np
import scipy
from numpy.typing import NDArray

from hearteval.errors import NotIdentifiedError
from hearteval.stats import one_blas_thread
from hearteval.stats.bradley_terry.fit import climb, fix_gauge, require_identified
from hearteval.stats.comparisons import (
    PART_ROWS,
    Comparisons,
    FloatArray,
    IntArray,
    Packed,
    blocks_of_labels,
    order_pairs,
    pack,
    packed_columns,
    renumber,
    select_comparisons,
    sum_by,
    win_matrix,
)
from hearteval.stats.special import expit, log_expit

SEPARATION_TOLERANCE = 1e-6
"""Part of the longest move below which a row counts as left where it was."""
COLLINEARITY_TOLERANCE = 1e-8
"""Part of a covariate, by root mean square, that systems and other covariates must leave open."""
LARGE_MOVE = 0.1
"""Change of log odds in one step above which a fit is not yet near a maximum."""


class Covariate(Protocol):
    """A covariate of many rows, an array or what is made one when rows are asked for."""

    def __len__(self) -> int: ...
    def __getitem__(self, rows: slice | IntArray, /) -> FloatArray: ...


Covariates = FloatArray | Sequence[Covariate]
"""Some covariates: an array, (n_rows, k), or k of them."""


class TextDifference:
    """How two texts of each row differ, left minus right: `relative_difference` of their values."""

    def __init__(self, left: NDArray[Any], right: NDArray[Any], value: FloatArray) -> None:
        self.left, self.right, self.value = left, right, value

    def __len__(self) -> int:
        return len(self.left)

    def __getitem__(self, rows: slice | IntArray) -> FloatArray:
        left, right = self.left[rows], self.right[rows]
        found = np.empty(len(left))
        for start in range(0, len(left), PART_ROWS):
            some = slice(start, start + PART_ROWS)
            found[some] = relative_difference(self.value[left[some]], self.value[right[some]])
        return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """Distinct rows, sorted by label, first, second and covariates."""

    label: Packed[IntArray] = Packed()
    """What rows are told apart by besides: a judge, a cluster or both."""
    first: Packed[IntArray] = Packed()
    """The system of the pair with the lower index."""
    second: Packed[IntArray] = Packed()
    covariates: FloatArray
    """Differences first minus second, (n_rows, k)."""
    won: FloatArray
    """Weight with which first won, ties half."""
    lost: FloatArray

    def log_likelihood(self, eta: FloatArray) -> float:
        """Return the sum of won log p + lost log(1 - p), p = expit(eta)."""
        return float((self.won * log_expit(eta) + self.lost * log_expit(-eta)).sum())

    def residual(self, eta: FloatArray) -> FloatArray:
        """Return the derivative of each row's log-likelihood by eta."""
        # Equal to won - n * p, without its cancellation where one side nearly always wins.
        return np.asarray(self.won * expit(-eta) - self.lost * expit(eta))

    def curvature(self, eta: FloatArray) -> FloatArray:
        """Return the negative second derivative of each row's log-likelihood by eta."""
        return np.asarray((self.won + self.lost) * expit(eta) * expit(-eta))


def merge_rows(comparisons: Comparisons, covariates: Sequence[Covariate], label: IntArray) -> Rows:
    """Turn, merge and sort comparisons; rows with different labels are not merged."""
    n, lie = comparisons.n_systems, packed_columns(comparisons)
    low, high = (of(lie["left"], lie["right"]) for of in (np.minimum, np.maximum))
    cell = pack((label.astype(np.int64) * n + low) * n + high)
    if int(cell.max(initial=0)) >= len(cell):  # labels are too many to be told apart in a table
        return _merge(comparisons, covariates, cell)
    parts = [
        _merge(select_comparisons(comparisons, rows), [one[rows] for one in covariates], cell[rows])
        for rows, _ in blocks_of_labels(cell)
        if len(rows)
    ]
    return Rows(
        **{
            each.name: np.concatenate([vars(part)[each.name] for part in parts])
            for each in fields(Rows)
        }
    )


def _merge(comparisons: Comparisons, covariates: Sequence[Covariate], cell: NDArray[Any]) -> Rows:
    """Do the same, given a number for label, lower and higher system of each row."""
    n = comparisons.n_systems
    _, _, score = order_pairs(comparisons)
    is_turned = comparisons.left > comparisons.right
    turned = np.empty((len(cell), len(covariates)))
    for place, one in enumerate(covariates):
        values = np.asarray(one[:], dtype=np.float64)
        turned[:, place] = np.where(is_turned, -values, values)
    order = np.lexsort((*turned.T[::-1], cell))
    is_new = np.diff(cell[order].astype(np.int64), prepend=-1) != 0
    for column in turned.T:
        is_new[1:] |= np.diff(column[order]) != 0
    rows, group = order[is_new], np.cumsum(is_new) - 1
    weight, score = comparisons.total_weight[order], score[order]
    labels, pair = np.divmod(cell[rows].astype(np.int64), n * n)
    return Rows(
        label=labels,
        first=pair // n,
        second=pair % n,
        covariates=turned[rows],
        won=sum_by(group, weight * score, len(rows)),
        lost=sum_by(group, weight * (1 - score), len(rows)),
    )


def incidence(rows: Rows, n_systems: int) -> "scipy.sparse.csr_array":
    """Return D, (n_rows, n_systems): 1 at the first system of a row and -1 at the second."""
    n_rows = len(rows.won)
    columns = np.stack((rows.first, rows.second), axis=1).ravel()
    ends = np.arange(0, 2 * n_rows + 1, 2)
    return scipy.sparse.csr_array(
        (np.tile((1.0, -1.0), n_rows), columns, ends), (n_rows, n_systems)
    )


def sum_scores(rows: Rows, eta: FloatArray, derivatives: "scipy.sparse.csr_array") -> FloatArray:
    """Return the derivative of the log-likelihood of each label, (n_labels, m).

    Labels of rows run from 0; derivatives are those of eta by each of m parameters, (n_rows, m).
    """
    n_rows = len(eta)
    entries = (rows.residual(eta), (rows.label, np.arange(n_rows)))
    sums = scipy.sparse.csr_array(entries, (int(rows.label.max()) + 1, n_rows))
    return np.asarray((sums @ derivatives).toarray())


def is_separated(rows: Rows, move: FloatArray) -> bool:
    """Tell whether a move of eta, (n_rows,), makes every row more likely that it changes at all.

    Where eta is linear in the parameters, such a move can be repeated for ever and no maximum
    exists (Albert and Anderson 1984).
    """
    worse = np.where(rows.won > 0, -move, move)
    worse = np.where((rows.won > 0) & (rows.lost > 0), np.abs(move), worse)
    return bool(worse.max() <= SEPARATION_TOLERANCE * np.abs(move).max())


def scale_information(
    information: FloatArray, null_vectors: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Scale a matrix to unit diagonal and make it regular along the null vectors, (m, n_null).

    The unit of a covariate (characters or pages) then does not matter to the precision. Also
    return what each parameter was divided by, about its standard error were the rest known.
    """
    diagonal = np.diag(information)
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    flat = np.linalg.qr(null_vectors / scale[:, None])[0]
    return scale[:, None] * information * scale + flat @ flat.T, scale


def constrained_inverse(
    information: FloatArray, null_vectors: FloatArray, constraints: FloatArray
) -> FloatArray:
    """Invert the information among parameters that obey linear constraints (Silvey 1959).

    It is N (N' I N)^-1 N', N any basis of the vectors v with C v = 0, for an information I, (m, m),
    singular along exactly its null vectors V, (m, n_null), and constraints C, (n_null, m), that
    fix a point along them: C V is regular.
    """
    matrix, scale = scale_information(information, null_vectors)
    inverse = scale[:, None] * np.linalg.inv(matrix) * scale
    onto = np.linalg.solve(constraints @ null_vectors, constraints)
    project = np.eye(len(information)) - null_vectors @ onto
    return np.asarray(project @ inverse @ project.T)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CovariateFit:
    """Strengths and effects that maximise the likelihood."""

    theta: FloatArray
    """Log-strengths where all covariates are 0, mean 0, (S,)."""
    beta: FloatArray
    """Log odds that left gains per unit of each covariate, (k,)."""
    information: FloatArray
    """Negative second derivative of the log-likelihood by (theta, beta), (S + k, S + k); singular
    along equal shifts of theta."""
    n_iterations: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Basis:
    """X = D C + Q T: covariates split into what differences of systems explain, and the rest.

    Columns of Q are orthogonal to D and to each other, rows weighted as they count, and at most 1.
    """

    d: "scipy.sparse.csr_array"
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
    if not all((np.isfinite(values) & (values >= 0)).all() for values in (left, right)):
        raise ValueError("lengths and counts must be finite and not negative")
    total = left + right
    return np.asarray((left - right) / np.where(total > 0, total, 1.0))


def fit_with_covariates(comparisons: Comparisons, covariates: Covariates) -> CovariateFit:
    """Fit strengths and effects of k covariates by maximum likelihood; a tie is half.

    Rows count with their weights. Assumes that an effect is the same for all systems and raters
    and linear in log odds.

    Raises:
        NotIdentifiedError: As `require_identified`; or a covariate is 0 throughout, is a difference
            of constants of the two systems, follows from covariates before it, or separates wins
            from losses. `ids` are then the indices of the covariates.
        ValueError: Covariates are not finite or of another length.
    """
    columns = _finite_columns(comparisons, covariates)
    require_identified(win_matrix(comparisons))
    rows = merge_rows(comparisons, columns, np.zeros(len(comparisons), dtype=np.int64))
    with one_blas_thread():
        return _fit_rows(rows, _split_covariates(rows, comparisons.n_systems))


def influence(
    comparisons: Comparisons, covariates: Covariates, fit: CovariateFit, cluster: IntArray
) -> FloatArray:
    """Return how far each cluster moves (theta - mean theta, beta), as (n_clusters, S + k).

    B u_g, u_g the derivative of the cluster's log-likelihood at the fit and B the inverse of the
    information with theta of mean 0 (Liang and Zeger 1986). `cluster` labels each row's cluster;
    results are in ascending order of the labels.

    Raises:
        ValueError: Covariates are not finite or of another length.
    """
    columns = _finite_columns(comparisons, covariates)
    shift = _equal_shift(len(fit.information), comparisons.n_systems)
    scores = []
    with one_blas_thread():
        for some, label in blocks_of_labels(renumber(cluster)):
            part, of_part = select_comparisons(comparisons, some), [one[some] for one in columns]
            rows = merge_rows(part, of_part, label)
            d = incidence(rows, comparisons.n_systems)
            derivatives = scipy.sparse.hstack(
                (d, scipy.sparse.csr_array(rows.covariates)), format="csr"
            )
            eta = d @ fit.theta + rows.covariates @ fit.beta
            scores.append(sum_scores(rows, eta, derivatives))
        inverse = constrained_inverse(fit.information, shift, shift.T)
        return np.asarray(np.concatenate(scores) @ inverse)


def columns_of(covariates: Covariates) -> Sequence[Covariate]:
    """Return covariates one by one."""
    return [*covariates.T] if isinstance(covariates, np.ndarray) else covariates


def _finite_columns(comparisons: Comparisons, covariates: Covariates) -> Sequence[Covariate]:
    columns, n = columns_of(covariates), len(comparisons)
    is_flat = isinstance(covariates, np.ndarray) and covariates.ndim != 2
    if is_flat or {*map(len, columns)} - {n}:
        raise ValueError(f"covariates must be ({n}, k), a row for each comparison")
    is_bad = np.zeros(n, dtype=np.bool_)
    for rows in (slice(k, k + PART_ROWS) for k in range(0, n, PART_ROWS)):
        for one in columns:
            is_bad[rows] |= ~np.isfinite(one[rows])
    if is_bad.any():
        raise ValueError(
            f"row {np.argmax(is_bad)} has a covariate that is missing or infinite"
            f" ({is_bad.sum()} such rows)"
        )
    return columns


def _equal_shift(n_parameters: int, n_systems: int) -> FloatArray:
    return (np.arange(n_parameters) < n_systems).astype(np.float64)[:, None]


def _split_covariates(rows: Rows, n_systems: int) -> _Basis:
    """Split covariates, so that the fit is precise however close to collinear they are."""
    d = incidence(rows, n_systems)
    n = rows.won + rows.lost
    largest = np.abs(rows.covariates).max(axis=0, initial=0.0)
    x = rows.covariates / np.where(largest > 0, largest, 1.0)
    met = (d.T @ scipy.sparse.diags_array(n) @ d).toarray()
    c = np.linalg.solve(fix_gauge(met, slice(0, n_systems)), d.T @ (n[:, None] * x))
    root = np.sqrt(n)[:, None]
    sizes = np.linalg.norm(root * x, axis=0)
    x -= d @ c
    x *= root
    q, t = np.linalg.qr(x)
    left_open = np.zeros(len(sizes))
    left_open[: len(t)] = np.abs(np.diag(t))
    is_fixed = left_open <= COLLINEARITY_TOLERANCE * sizes
    if is_fixed.any():
        reason = "each is 0 throughout, or follows from the systems and other covariates"
        raise not_determined("effects of covariates", np.flatnonzero(is_fixed), reason)
    q /= root
    size = np.abs(q).max(axis=0)
    return _Basis(d=d, q=q / size, c=c * largest, t=size[:, None] * t * largest)


def _fit_rows(rows: Rows, basis: _Basis) -> CovariateFit:
    n_systems, k = basis.d.shape[1], len(basis.t)
    last_eta = np.zeros(len(rows.won))

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


def _information(d: "scipy.sparse.csr_array", x: FloatArray, curvature: FloatArray) -> FloatArray:
    weighted = curvature[:, None] * x
    cross = d.T @ weighted
    systems = (d.T @ scipy.sparse.diags_array(curvature) @ d).toarray()
    return np.block([[systems, cross], [cross.T, x.T @ weighted]])


def _require_not_separated(rows: Rows, basis: _Basis, move: FloatArray) -> None:
    """Raise if a step of the fit could go on for ever, naming the covariates that take it there."""
    if np.abs(move).max() <= LARGE_MOVE or not is_separated(rows, move):
        return
    n = (rows.won + rows.lost)[:, None]
    step = (basis.q * n).T @ move / (basis.q**2 * n).sum(axis=0)
    part = np.abs(np.linalg.solve(basis.t, step)) * np.abs(rows.covariates).max(axis=0)
    reason = "with the systems they foretell some wins without exception"
    raise not_determined("effects of covariates", np.flatnonzero(part > 1e-3 * part.max()), reason)


def not_determined(parameters: str, indices: IntArray, reason: str) -> NotIdentifiedError:
    """Return the error for parameters that the comparisons do not determine."""
    return NotIdentifiedError(
        f"{parameters} {indices.tolist()} are not determined: {reason}", ids=list(map(str, indices))
    )

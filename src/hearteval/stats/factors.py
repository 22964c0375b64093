"""Exploratory factor analysis of a correlation matrix: how many things do the columns measure?

What it takes as given: rows are independent draws. Rotation turns the axes of a fit and leaves what
it explains. Scores of rows are left to whoever has the rows: `score_weights` is what they need.
"""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy

from hearteval.errors import NotIdentifiedError
from hearteval.stats.comparisons import FloatArray
from hearteval.stats.special import chdtrc

Method = Literal["ml", "minres"]
LEAST_UNIQUENESS = 0.005
"""Bound below which no uniqueness goes, as in R's ``factanal``: at it is a Heywood case."""
ROUNDING = 1e-10
MAX_STEPS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FactorFit:
    """Loadings of a model with some factors, unrotated or rotated.

    Attributes:
        loadings: (columns, factors), the factor with the largest sum of squares first; after an
            oblique rotation the pattern.
        uniquenesses: Share of the variance of each column that the factors leave.
        phi: Correlations of the factors; the identity unless the rotation is oblique.
        chi2: Bartlett's corrected statistic of fit, with `df` and `p_value`; None of minres, and
            where no degree of freedom is left.
        is_heywood: Whether a uniqueness lies at its bound: some column would be explained whole.
    """

    method: Method
    loadings: FloatArray
    uniquenesses: FloatArray
    phi: FloatArray
    chi2: float | None
    df: int
    p_value: float | None
    is_heywood: bool

    @property
    def communalities(self) -> FloatArray:
        """Share of the variance of each column that the factors explain."""
        return 1 - self.uniquenesses


def correlate(rows: FloatArray) -> FloatArray:
    """Return the correlations of columns, (columns, columns).

    Raises:
        NotIdentifiedError: Under three rows, or a column that does not vary.
    """
    if len(rows) < 3:
        raise NotIdentifiedError(f"needs three rows, not {len(rows)}")
    centred = rows - rows.mean(axis=0)
    sd = np.sqrt((centred**2).mean(axis=0))
    if (sd <= ROUNDING).any():
        raise NotIdentifiedError(f"column {int(np.argmin(sd))} does not vary")
    z = centred / sd
    found: FloatArray = z.T @ z / len(rows)
    np.fill_diagonal(found, 1.0)
    return found


def sampling_adequacy(correlations: FloatArray) -> tuple[float, FloatArray]:
    """Return Kaiser's measure over all columns and of each (Kaiser 1974).

    sum r^2 / (sum r^2 + sum q^2) over pairs of columns, q their correlation with the others held
    equal. Near 1 correlations are shared by many columns; at .5 and below they are of pairs only.

    Raises:
        NotIdentifiedError: A column is a sum of others.
    """
    inverse = _inverse(correlations)
    scale = np.sqrt(np.diag(inverse))
    partial = inverse / np.outer(scale, scale)
    off = ~np.eye(len(correlations), dtype=np.bool_)
    r2 = np.where(off, correlations**2, 0.0)
    q2 = np.where(off, partial**2, 0.0)
    each = r2.sum(axis=0) / np.maximum(r2.sum(axis=0) + q2.sum(axis=0), ROUNDING)
    return float(r2.sum() / max(r2.sum() + q2.sum(), ROUNDING)), each


def sphericity(correlations: FloatArray, n: int) -> tuple[float, int, float]:
    """Return chi2, df and p of the test that no two columns correlate (Bartlett 1951).

    -(n - 1 - (2 p + 5) / 6) log det R on p (p - 1) / 2 degrees of freedom, for n normal rows.

    Raises:
        NotIdentifiedError: A column is a sum of others.
    """
    p = len(correlations)
    sign, log_det = np.linalg.slogdet(correlations)
    if sign <= 0 or log_det < math.log(ROUNDING):
        raise NotIdentifiedError("a column is a sum of others")
    chi2 = max(0.0, -(n - 1 - (2 * p + 5) / 6) * float(log_det))
    df = p * (p - 1) // 2
    return chi2, df, float(chdtrc(df, chi2))


def eigenvalues(correlations: FloatArray) -> FloatArray:
    """Return the eigenvalues, the largest first."""
    return np.asarray(np.linalg.eigvalsh(correlations)[..., ::-1], dtype=np.float64)


def chance_eigenvalues(
    n: int, p: int, rng: np.random.Generator, *, n_draws: int = 1000, percentile: float = 95
) -> FloatArray:
    """Return a percentile of each eigenvalue of p unrelated normal columns of n rows (Horn 1965).

    The sums of squares and products are drawn from their Wishart distribution (Bartlett 1933), not
    as rows.

    Raises:
        NotIdentifiedError: Not more rows than columns.
    """
    if n <= p:
        raise NotIdentifiedError(f"needs more rows than the {p} columns, not {n}")
    root = np.zeros((n_draws, p, p))
    below = np.tril_indices(p, -1)
    root[:, below[0], below[1]] = rng.standard_normal((n_draws, len(below[0])))
    each = np.arange(p)
    root[:, each, each] = np.sqrt(rng.chisquare(n - 1 - each, size=(n_draws, p)))
    root /= np.sqrt((root**2).sum(axis=2, keepdims=True))
    drawn = eigenvalues(root @ root.transpose(0, 2, 1))
    return np.asarray(np.percentile(drawn, percentile, axis=0), dtype=np.float64)


def count_factors(found: FloatArray, chance: FloatArray) -> int:
    """Return how many eigenvalues, from the first on, lie above those of chance (Horn 1965)."""
    above = found > chance
    return len(above) if above.all() else int(np.argmin(above))


def degrees_of_freedom(p: int, n_factors: int) -> int:
    """Return ((p - m)^2 - p - m) / 2: correlations less what m factors of p columns have free."""
    return ((p - n_factors) ** 2 - p - n_factors) // 2


def fit_factors(
    correlations: FloatArray, n_factors: int, n: int, *, method: Method = "ml"
) -> FactorFit:
    """Fit the model R = L L' + diag(u) with m factors, unrotated.

    ``ml`` maximises the likelihood of n normal rows over the uniquenesses u (Joreskog 1967), as R's
    ``factanal``; ``minres`` minimises the squares of the residual correlations (Harman and Jones
    1966). L-BFGS within the bounds of u.

    Raises:
        NotIdentifiedError: More factors than the columns have degrees of freedom for, or, for
            ``ml``, a column that is a sum of others.
    """
    p = len(correlations)
    df = degrees_of_freedom(p, n_factors)
    if n_factors < 1 or df < 0:
        raise NotIdentifiedError(f"{p} columns do not determine {n_factors} factors")
    start = np.full(p, 0.5)
    if method == "ml":
        start = (1 - 0.5 * n_factors / p) / np.diag(_inverse(correlations))
    lose = _ml_loss if method == "ml" else _minres_loss
    found = scipy.optimize.minimize(
        lose,
        np.clip(start, LEAST_UNIQUENESS, 1),
        args=(correlations, n_factors),
        jac=True,
        method="L-BFGS-B",
        bounds=[(LEAST_UNIQUENESS, 1)] * p,
        options={"ftol": 1e-14, "gtol": 1e-9, "maxiter": MAX_STEPS},
    )
    if found.nit >= MAX_STEPS:
        raise NotIdentifiedError(f"the fit has not converged in {MAX_STEPS} steps")
    u: FloatArray = found.x
    load = _ml_loadings if method == "ml" else _minres_loadings
    loadings = _in_order(load(u, correlations, n_factors))
    chi2 = p_value = None
    if method == "ml" and df > 0:
        # Bartlett's (1951) correction, as in factanal.
        chi2 = max(0.0, (n - 1 - (2 * p + 5) / 6 - 2 * n_factors / 3) * float(found.fun))
        p_value = float(chdtrc(df, chi2))
    return FactorFit(
        method=method,
        loadings=loadings,
        uniquenesses=u,
        phi=np.eye(n_factors),
        chi2=chi2,
        df=df,
        p_value=p_value,
        is_heywood=bool((u <= LEAST_UNIQUENESS * (1 + 1e-6)).any()),
    )


def rotate_varimax(fit: FactorFit) -> FactorFit:
    """Turn the factors so that each column loads on few: varimax with Kaiser's normalisation.

    Maximises the variance of the squared loadings of each factor, columns scaled to communality 1
    (Kaiser 1958). A single factor stays as it is.
    """
    length = np.sqrt((fit.loadings**2).sum(axis=1, keepdims=True))
    length = np.where(length > 0, length, 1.0)
    turned = (fit.loadings / length) @ _varimax_turn(fit.loadings / length)
    return replace(fit, loadings=_in_order(turned * length))


def rotate_oblimin(fit: FactorFit) -> FactorFit:
    """Turn the factors so that each column loads on few, and let them correlate: quartimin.

    Minimises sum over pairs of factors of sum l^2 l'^2 of the pattern: direct oblimin with gamma 0
    (Jennrich and Sampson 1966), without normalisation, by gradient projection (Jennrich 2002), from
    varimax on. A single factor stays as it is.
    """
    start = rotate_varimax(fit).loadings
    turn = _oblique_turn(start)
    pattern = start @ np.linalg.inv(turn).T
    order, sign = _order(pattern)
    phi = (turn.T @ turn)[np.ix_(order, order)] * np.outer(sign, sign)
    np.fill_diagonal(phi, 1.0)
    return replace(fit, loadings=pattern[:, order] * sign, phi=phi)


def omega_total(fit: FactorFit, correlations: FloatArray) -> float:
    """Return 1 - sum u / sum R: the share of the sum of columns that the factors explain.

    McDonald's (1999) omega, of columns in standard deviations.

    Raises:
        NotIdentifiedError: The sum of the columns does not vary.
    """
    total = float(correlations.sum())
    if total <= ROUNDING:
        raise NotIdentifiedError("the sum of the columns does not vary")
    return 1 - float(fit.uniquenesses.sum()) / total


def score_weights(fit: FactorFit, correlations: FloatArray) -> FloatArray:
    """Return R^-1 L phi: what columns in standard deviations count in the scores (Thurstone 1935).

    Raises:
        NotIdentifiedError: A column is a sum of others.
    """
    weights: FloatArray = _inverse(correlations) @ fit.loadings @ fit.phi
    return weights


def _ml_loss(u: FloatArray, r: FloatArray, m: int) -> tuple[float, FloatArray]:
    """Return the discrepancy, -(sum over the smaller roots of log e - e) + m - p, and its slope."""
    root = np.sqrt(u)
    values = np.linalg.eigvalsh(r / np.outer(root, root))
    small = values[: len(u) - m]
    loadings = _ml_loadings(u, r, m)
    slope = np.diag(loadings @ loadings.T + np.diag(u) - r) / u**2
    return -float((np.log(small) - small).sum()) + m - len(u), slope


def _ml_loadings(u: FloatArray, r: FloatArray, m: int) -> FloatArray:
    root = np.sqrt(u)
    values, vectors = np.linalg.eigh(r / np.outer(root, root))
    found: FloatArray = root[:, None] * vectors[:, -m:] * np.sqrt(np.maximum(values[-m:] - 1, 0))
    return found


def _minres_loss(u: FloatArray, r: FloatArray, m: int) -> tuple[float, FloatArray]:
    """Return half the squares of the residual of r - diag(u), and its slope.

    At its minimum the diagonal is met exactly, so the rest is what correlations leave.
    """
    values, vectors = np.linalg.eigh(r - np.diag(u))
    left = values.copy()
    left[-m:] = np.minimum(left[-m:], 0)
    return 0.5 * float((left**2).sum()), -(vectors**2 @ left)


def _minres_loadings(u: FloatArray, r: FloatArray, m: int) -> FloatArray:
    values, vectors = np.linalg.eigh(r - np.diag(u))
    found: FloatArray = vectors[:, -m:] * np.sqrt(np.maximum(values[-m:], 0))
    return found


def _varimax_turn(loadings: FloatArray) -> FloatArray:
    turn, before, now = np.eye(loadings.shape[1]), -1.0, 0.0
    while now > before * (1 + 1e-12):
        at = loadings @ turn
        pull = loadings.T @ (at**3 - at * (at**2).mean(axis=0))
        left, sizes, right = np.linalg.svd(pull)
        turn, before, now = left @ right, now, float(sizes.sum())
    return turn


def _oblique_turn(start: FloatArray) -> FloatArray:
    """Return the turn, columns of length 1, at which the criterion is least (Jennrich 2002)."""
    turn, step = np.eye(start.shape[1]), 1.0
    value, gradient = _criterion(start, turn)
    while np.linalg.norm(gradient) > 1e-8 and step > 1e-10:
        step *= 2
        wanted = 0.5 * float((gradient**2).sum())
        tried = _unit_columns(turn - step * gradient)
        while step > 1e-10 and value - _criterion(start, tried)[0] < wanted * step:
            step /= 2
            tried = _unit_columns(turn - step * gradient)
        turn = tried
        value, gradient = _criterion(start, turn)
    return turn


def _criterion(start: FloatArray, turn: FloatArray) -> tuple[float, FloatArray]:
    """Return quartimin of the pattern, and its slope along turns that keep columns' lengths."""
    back = np.linalg.inv(turn)
    pattern = start @ back.T
    others = (pattern**2).sum(axis=1, keepdims=True) - pattern**2
    gradient = -(pattern.T @ (pattern * others) @ back).T
    return float((pattern**2 * others).sum()) / 4, gradient - turn * (turn * gradient).sum(axis=0)


def _unit_columns(turn: FloatArray) -> FloatArray:
    return np.asarray(turn / np.linalg.norm(turn, axis=0), dtype=np.float64)


def _order(loadings: FloatArray) -> tuple[Any, FloatArray]:
    """Return the order of factors by their sums of squares, and signs that make sums positive."""
    order = np.argsort(-(loadings**2).sum(axis=0), kind="stable")
    return order, np.where(loadings[:, order].sum(axis=0) < 0, -1.0, 1.0)


def _in_order(loadings: FloatArray) -> FloatArray:
    order, sign = _order(loadings)
    found: FloatArray = loadings[:, order] * sign
    return found


def _inverse(correlations: FloatArray) -> FloatArray:
    if np.linalg.eigvalsh(correlations)[0] < ROUNDING:
        raise NotIdentifiedError("a column is a sum of others")
    return np.asarray(np.linalg.inv(correlations), dtype=np.float64)

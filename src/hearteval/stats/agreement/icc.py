"""Intraclass correlations (McGraw and Wong 1996), over units that all raters rated.

ICC(C,1) asks whether raters agree up to a constant of their own, ICC(A,1) whether they agree, both
in the two-way model; ICC(1) whether they agree where each unit has raters of its own. ICC(C,k) and
ICC(A,k) are of the mean of k raters.
"""

import numpy as np

from hearteval.errors import NotIdentifiedError
from hearteval.stats.agreement.table import Coefficient, RatingTable, divide
from hearteval.stats.comparisons import FloatArray, IntArray

NO_VARIANCE = "the variances it compares add up to 0"
ROUNDING = 1e-10
"""Share of the sum of squares below which a difference of such sums is rounding, so zero."""


def count_complete(table: RatingTable) -> int:
    """Count the units that every rater rated."""
    return int(table.count[table.sizes == table.n_raters].sum())


def icc_c1(table: RatingTable) -> Coefficient:
    """Return ICC(C,1), consistency: (MSR - MSE) / (MSR + (k - 1) MSE) (McGraw and Wong 1996).

    MSR and MSE are the mean squares of units and of the rest, k the raters. Two-way model, single
    ratings, units that all raters rated.

    Raises:
        NotIdentifiedError: Under two raters or two such units.
    """
    return _icc(table, is_absolute=False)


def icc_a1(table: RatingTable) -> Coefficient:
    """Return ICC(A,1), absolute agreement (McGraw and Wong 1996).

    (MSR - MSE) / (MSR + (k - 1) MSE + (k / n) (MSC - MSE)) with MSC the mean square of raters and n
    the units; otherwise as `icc_c1`.

    Raises:
        NotIdentifiedError: Under two raters or two such units.
    """
    return _icc(table, is_absolute=True)


def icc_1(table: RatingTable) -> Coefficient:
    """Return ICC(1), agreement in the one-way model: (MSR - MSW) / (MSR + (k - 1) MSW).

    MSW is the mean square within units: raters are not told apart, as where each unit has others
    (Shrout and Fleiss 1979; McGraw and Wong 1996).

    Raises:
        NotIdentifiedError: Under two raters or two units that all of them rated.
    """
    units, x = _complete(table)
    k = table.n_raters

    def of_weights(weights: FloatArray) -> FloatArray:
        n = weights[units].sum(axis=0)
        ms_rows, ms_columns, ms_error, floor = _mean_squares(x, weights[units], n)
        within = divide(ms_columns + np.where(n >= 2, n - 1, 0) * ms_error, n)
        denominator = ms_rows + (k - 1) * within
        return divide(ms_rows - within, np.where(denominator > floor, denominator, 0))

    return Coefficient(of_weights=of_weights, undefined=NO_VARIANCE)


def step_up(single: float, k: int) -> float:
    """Return k r / (1 + (k - 1) r): of one rater's, the reliability of the mean of k.

    Spearman (1910) and Brown (1910). It makes ICC(C,k) and ICC(A,k) of ICC(C,1) and ICC(A,1), and
    keeps the order of numbers above -1 / (k - 1), so it turns their intervals too.

    Raises:
        NotIdentifiedError: r is at or below -1 / (k - 1), where there is no such mean.
    """
    if 1 + (k - 1) * single <= ROUNDING:
        raise NotIdentifiedError(
            f"the mean of {k} raters has no reliability where one rater's may be {single:.3g}"
        )
    return k * single / (1 + (k - 1) * single)


def _icc(table: RatingTable, *, is_absolute: bool) -> Coefficient:
    units, x = _complete(table)
    k = table.n_raters

    def of_weights(weights: FloatArray) -> FloatArray:
        n = weights[units].sum(axis=0)
        ms_rows, ms_columns, ms_error, floor = _mean_squares(x, weights[units], n)
        denominator = ms_rows + (k - 1) * ms_error
        if is_absolute:
            denominator = denominator + k * divide(ms_columns - ms_error, n)
        return divide(ms_rows - ms_error, np.where(denominator > floor, denominator, 0))

    return Coefficient(of_weights=of_weights, undefined=NO_VARIANCE)


def _complete(table: RatingTable) -> tuple[IntArray, FloatArray]:
    """Return the units that every rater rated, and their ratings as (units, raters)."""
    if table.n_raters < 2:
        raise NotIdentifiedError(f"needs two raters, not {table.n_raters}")
    n_complete = count_complete(table)
    if n_complete < 2:
        raise NotIdentifiedError(f"needs two units that every rater rated, not {n_complete}")
    is_complete = table.sizes == table.n_raters
    units = np.flatnonzero(is_complete)
    ratings = table.category[is_complete[table.unit]]
    x = table.values[ratings].reshape(len(units), table.n_raters)
    return units, x - np.median(x)


def _mean_squares(
    x: FloatArray, weights: FloatArray, n: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Analyse the variance of x, as (units, raters), with weights as (units, samples), n in all.

    Returns:
        For each sample the mean squares between units, between raters and of the rest, and below
        which number one of them is rounding.
    """
    k = x.shape[1]
    raw = (x**2).sum(axis=1) @ weights
    column_means = divide(x.T @ weights, n)
    correction = n * k * column_means.mean(axis=0) ** 2
    between_rows = x.sum(axis=1) ** 2 @ weights / k - correction
    between_columns = n * (column_means**2).sum(axis=0) - correction
    # Rounding must not push a sum of squares below 0, and with it perfect agreement above 1.
    rest = np.maximum(raw - correction - between_rows - between_columns, 0)
    degrees = np.where(n >= 2, n - 1, 0)
    return (
        divide(between_rows, degrees),
        between_columns / (k - 1),
        divide(rest, degrees * (k - 1)),
        divide(ROUNDING * raw, n),
    )

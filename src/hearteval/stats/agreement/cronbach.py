"""Cronbach's alpha: do the items of a questionnaire, or raters as items, measure one thing?"""

import numpy as np

from hearteval.errors import NotIdentifiedError
from hearteval.stats.agreement.table import RatingTable
from hearteval.stats.comparisons import FloatArray
from hearteval.stats.special import fdtri

MAX_CELLS = 20_000_000
"""Units times raters up to which they are laid out as one table (160 MB)."""


def cronbach_alpha(table: RatingTable) -> float:
    """Return k / (k - 1) (1 - sum_j s_jj / sum_jl s_jl) (Cronbach 1951), k raters as items.

    Covariances s_jl are of the units that both rated, variances of those that one rated, so that
    gaps lose nothing (pairwise deletion); without gaps this is ICC(C,k).

    Raises:
        NotIdentifiedError: Under two raters, two that share under two units, or no variance.
    """
    k = table.n_raters
    if k < 2:
        raise NotIdentifiedError(f"needs two raters, not {k}")
    if table.n_units * k > MAX_CELLS:
        raise NotIdentifiedError(f"needs a table of {table.n_units:,} units by {k:,} raters")
    x = np.zeros((table.n_units, k))
    is_there = np.zeros((table.n_units, k))
    is_there[table.unit, table.rater] = 1
    x[table.unit, table.rater] = table.values[table.category] - np.median(
        table.values[table.category]
    )
    weight = table.count[:, np.newaxis]
    n = is_there.T @ (weight * is_there)
    if n.min() < 2:
        raise NotIdentifiedError("needs two units at least that each two raters both rated")
    # Sums over the units that both rated: x_j, and x_j x_l.
    sums = (weight * x).T @ is_there
    products = x.T @ (weight * x)
    covariance = (products - sums * sums.T / n) / (n - 1)
    total = covariance.sum()
    if not total > 1e-12 * np.abs(products).max(initial=1e-300):
        raise NotIdentifiedError("the covariances it compares add up to 0 or less")
    return float(k / (k - 1) * (1 - np.trace(covariance) / total))


def alpha_of_rows(x: FloatArray) -> tuple[float, FloatArray]:
    """Return alpha of whole rows, (units, items), and what each row does to it.

    The influence is what alpha moves by as the weight of a row goes from 0 to 1: with c the trace
    of the covariances and t their sum, -k / (k - 1) (dc / t - c dt / t^2). Rows may be weighed
    together where they share a cluster, which `feldt_interval` does not allow for.

    Raises:
        NotIdentifiedError: Under two items or rows, or no variance of the sum.
    """
    n, k = x.shape
    if min(n, k) < 2:
        raise NotIdentifiedError(f"needs two items and two units, not {k} and {n}")
    centred = x - x.mean(axis=0)
    own, together = (centred**2).sum(axis=1), centred.sum(axis=1) ** 2
    trace, total = float(own.sum()), float(together.sum())
    if not total > 1e-12 * max(trace, 1e-300):
        raise NotIdentifiedError("the covariances it compares add up to 0 or less")
    scale = k / (k - 1)
    influence: FloatArray = scale * (trace * together / total - own) / total
    return scale * (1 - trace / total), influence


def feldt_interval(alpha: float, n_units: int, k: int, *, level: float) -> tuple[float, float]:
    """Return 1 - (1 - alpha) F_q for the quantiles of F on n - 1 and (n - 1)(k - 1) (Feldt 1965).

    It takes units as drawn, their scores as normal and the items' as equally related; with gaps it
    is approximate, n being the units with any rating.
    """
    df = (n_units - 1, (n_units - 1) * (k - 1))
    quantiles: FloatArray = fdtri(*df, np.array([(1 + level) / 2, (1 - level) / 2]))
    low, high = (1 - (1 - alpha) * quantiles).tolist()
    return low, high

"""Intervals and tests over independent units, for a share and a mean on a scale; many tests."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from hearteval.stats.comparisons import FloatArray
from hearteval.stats.special import ndtr, ndtri, stdtr, t_quantile

ROUNDING = 1e-12
"""Distance of two means of the same numbers, each of about 1, that counts as none."""


def wilson_interval(share: float, n: int, *, level: float) -> tuple[float, float]:
    """Return the score interval of a share of n independent units (Wilson 1927).

    Ends are the p at which |share - p| is z sqrt(p (1 - p) / n); they stay within 0 and 1. Units
    may be worth one half: their variance is smaller, so the interval is then wider than needed.

    Raises:
        ValueError: A share outside 0 to 1, or no units.
    """
    _check_share(share, n)
    z = float(ndtri((1 + level) / 2))
    centre = share + z * z / (2 * n)
    margin = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # At 0 and 1 the nearer end is the share itself, but for rounding.
    low = max(0.0, min(share, (centre - margin) / scale))
    high = min(1.0, max(share, (centre + margin) / scale))
    return low, high


def share_p_value(share: float, n: int, *, null: float) -> float:
    """Return the two-sided p of the score test that a share is `null`, between 0 and 1.

    It is below 1 - level where `wilson_interval` leaves `null` out.

    Raises:
        ValueError: A share outside 0 to 1, or no units.
    """
    _check_share(share, n)
    return 2 * float(ndtr(-abs(share - null) / math.sqrt(null * (1 - null) / n)))


def mean_interval(shares: FloatArray, *, level: float) -> tuple[float, float]:
    """Return the t interval of the mean of shares, one an independent unit, within 0 and 1.

    Where all units have the same share t has no width, and the score interval of as many units
    stands in.

    Raises:
        ValueError: No units.
    """
    n = len(shares)
    mean, se = _mean_and_error(shares)
    if se is None:
        return wilson_interval(mean, n, level=level)
    margin = t_quantile(n - 1, level=level) * se
    return max(0.0, mean - margin), min(1.0, mean + margin)


def mean_p_value(shares: FloatArray, *, null: float) -> float:
    """Return the two-sided p that the mean of shares is `null`, as `mean_interval` tells it.

    Raises:
        ValueError: No units.
    """
    n = len(shares)
    mean, se = _mean_and_error(shares)
    if se is None:
        return share_p_value(mean, n, null=null)
    return 2 * float(stdtr(n - 1, -abs(mean - null) / se))


def bounded_interval(
    values: FloatArray, *, lowest: float, highest: float, level: float
) -> tuple[float, float] | None:
    """Return the t interval of the mean of values on a scale, one a unit, kept within the scale.

    Where all units have one value, the score interval of as many stands in, as in `mean_interval`:
    no distribution on a scale varies more about its mean than one on its ends. None under two
    units.
    """
    if len(values) < 2:
        return None
    width = highest - lowest
    low, high = mean_interval((values - lowest) / width, level=level)
    return lowest + width * low, lowest + width * high


def influence_interval(
    estimate: float, influence: FloatArray, *, df: int, level: float
) -> tuple[float, float] | None:
    """Return the t interval of an estimate from the influence of each item on it.

    The variance is G/(G - 1) sum d^2 over the G items (Liang and Zeger 1986), as in
    `clustered_variance`. None under two items, and where no item departs from the others: that is
    no precision. An influence is what the estimate moves by as the weight of an item goes from 0 to
    1; below 1 degree of freedom there is no interval.
    """
    n = len(influence)
    if n < 2 or df < 1:
        return None
    se = math.sqrt(n / (n - 1) * math.fsum(influence**2))
    if se <= ROUNDING:
        return None
    margin = t_quantile(df, level=level) * se
    return estimate - margin, estimate + margin


def false_discovery_q(p_values: ArrayLike) -> FloatArray:
    """Return the q-values of some tests: each the share of false discoveries, were it called one.

    Benjamini and Hochberg 1995, as `scipy.stats.false_discovery_control`, whose module takes longer
    to import than all else that a study needs.

    Raises:
        ValueError: A value outside 0 to 1, NaN included.
    """
    p = np.asarray(p_values, dtype=np.float64)
    if not np.all((p >= 0) & (p <= 1)):
        raise ValueError("p-values must lie between 0 and 1")
    order = np.argsort(p)
    scaled = p[order] * (len(p) / np.arange(1, len(p) + 1))
    q = np.empty_like(p)
    q[order] = np.clip(np.minimum.accumulate(scaled[::-1])[::-1], 0, 1)
    return q


def q_where_tested(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the q-values of a family of tests; None where there was none, which counts as none."""
    q = iter(false_discovery_q([p for p in p_values if p is not None]).tolist())
    return [None if p is None else next(q) for p in p_values]


def _mean_and_error(shares: FloatArray) -> tuple[float, float | None]:
    """Return the mean and its standard error, None where no unit departs from the others."""
    n = len(shares)
    mean = float(np.mean(shares)) if n else 0.0
    if n < 2 or float(np.ptp(shares)) <= ROUNDING:
        return mean, None
    return mean, float(np.std(shares, ddof=1)) / math.sqrt(n)


def _check_share(share: float, n: int) -> None:
    if n < 1 or not 0 <= share <= 1:
        raise ValueError(f"expected a share from 0 to 1 of at least one unit, not {share} of {n}")

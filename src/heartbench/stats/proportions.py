"""Intervals and tests for a share of independent units."""

import math

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from heartbench.stats.comparisons import FloatArray

ROUNDING = 1e-12
"""Distance of two means of the same numbers, each of about 1, that counts as none."""


def wilson_interval(share: float, n: int, *, level: float) -> tuple[float, float]:
    """Return the score interval of a share of n independent units (Wilson 1927).

    Ends are the p at which |share - p| is z sqrt(p (1 - p) / n); they stay within 0 and 1. Units
    may be worth one half: their variance is smaller, so the interval is then wider than needed.

    Raises:
        ValueError: A share outside 0 to 1, or no units.
    """
    if n < 1 or not 0 <= share <= 1:
        raise ValueError(f"expected a share from 0 to 1 of at least one unit, not {share} of {n}")
    z = float(ndtri((1 + level) / 2))
    centre = share + z * z / (2 * n)
    margin = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # At 0 and 1 the nearer end is the share itself, but for rounding.
    low = max(0.0, min(share, (centre - margin) / scale))
    high = min(1.0, max(share, (centre + margin) / scale))
    return low, high


def mean_interval(shares: FloatArray, *, level: float) -> tuple[float, float]:
    """Return the t interval of the mean of shares, one an independent unit, within 0 and 1.

    Where all units have the same share t has no width, and the score interval of as many units
    stands in.

    Raises:
        ValueError: No units.
    """
    n = len(shares)
    if n < 2 or float(np.ptp(shares)) <= ROUNDING:
        return wilson_interval(float(np.mean(shares)) if n else 0.0, n, level=level)
    mean, se = float(np.mean(shares)), float(np.std(shares, ddof=1)) / math.sqrt(n)
    margin = float(stdtrit(n - 1, (1 + level) / 2)) * se
    return max(0.0, mean - margin), min(1.0, mean + margin)


def share_p_value(share: float, n: int, *, null: float) -> float:
    """Return the two-sided p of the score test that a share is `null`, between 0 and 1.

    It is below 1 - level where `wilson_interval` leaves `null` out.

    Raises:
        ValueError: A share outside 0 to 1, or no units.
    """
    if n < 1 or not 0 <= share <= 1:
        raise ValueError(f"expected a share from 0 to 1 of at least one unit, not {share} of {n}")
    return 2 * float(ndtr(-abs(share - null) / math.sqrt(null * (1 - null) / n)))


def mean_p_value(shares: FloatArray, *, null: float) -> float:
    """Return the two-sided p that the mean of shares is `null`, as `mean_interval` tells it.

    Raises:
        ValueError: No units.
    """
    n = len(shares)
    if n < 2 or float(np.ptp(shares)) <= ROUNDING:
        return share_p_value(float(np.mean(shares)) if n else 0.0, n, null=null)
    mean, se = float(np.mean(shares)), float(np.std(shares, ddof=1)) / math.sqrt(n)
    return 2 * float(stdtr(n - 1, -abs(mean - null) / se))

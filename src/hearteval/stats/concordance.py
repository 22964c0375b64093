"""How far two lists of numbers of the same things say the same: as values, and as orders.

Intervals take the things as sampled from many, and the numbers as given.
"""

import math

import numpy as np

from hearteval.errors import NotIdentifiedError
from hearteval.stats.comparisons import FloatArray
from hearteval.stats.special import ndtri

MIN_N = 5
"""Fewer things have no interval: Kendall's needs more than four."""
AT_END = 1e-9
"""So near 1 or -1 a coefficient is at the end of its scale."""


def lin_concordance(x: FloatArray, y: FloatArray) -> float:
    """Return 2 s_xy / (s_x^2 + s_y^2 + (mean x - mean y)^2), moments over n (Lin 1989).

    1 where each pair is equal; a shift or another scale costs, which a correlation does not see.

    Raises:
        NotIdentifiedError: Under two things, or all numbers are one.
    """
    _check(x, y)
    spread = x.var() + y.var() + (x.mean() - y.mean()) ** 2
    if not spread > 0:
        raise NotIdentifiedError("all numbers are one, so nothing tells them apart")
    return float(2 * np.mean((x - x.mean()) * (y - y.mean())) / spread)


def lin_interval(x: FloatArray, y: FloatArray, *, level: float) -> tuple[float, float]:
    """Return the interval of Fisher's z with Lin's delta-method error (Lin 1989, corrected 2000).

    Raises:
        NotIdentifiedError: Too few things, the value is at an end of the scale, or all numbers of
            one list are equal.
    """
    c = lin_concordance(x, y)
    _check_interval(c, len(x))
    _check_spread(x, y)
    r = float(np.corrcoef(x, y)[0, 1])
    if abs(r) < AT_END:
        raise NotIdentifiedError("no interval: the two lists do not correlate at all")
    shift = (x.mean() - y.mean()) ** 2 / (x.std() * y.std())
    variance = (
        (1 - r**2) * c**2 / ((1 - c**2) * r**2)
        + 2 * c**3 * (1 - c) * shift / (r * (1 - c**2) ** 2)
        - c**4 * shift**2 / (2 * r**2 * (1 - c**2) ** 2)
    ) / (len(x) - 2)
    return _fisher(c, variance, level)


def spearman(x: FloatArray, y: FloatArray) -> float:
    """Return the correlation of mid-ranks (Spearman 1904).

    Raises:
        NotIdentifiedError: Under two things, or all numbers of one list are equal.
    """
    _check(x, y)
    a, b = _mid_ranks(x), _mid_ranks(y)
    _check_spread(a, b)
    return float(np.corrcoef(a, b)[0, 1])


def spearman_interval(rho: float, n: int, *, level: float) -> tuple[float, float]:
    """Return the interval of Fisher's z with variance (1 + rho^2 / 2) / (n - 3).

    Bonett and Wright (2000).

    Raises:
        NotIdentifiedError: Too few things, or the value is at an end of the scale.
    """
    _check_interval(rho, n)
    return _fisher(rho, (1 + rho**2 / 2) / (n - 3), level)


def kendall(x: FloatArray, y: FloatArray) -> float:
    """Return tau-b: pairs in one order less pairs in the other, ties apart (Kendall 1945).

    Raises:
        NotIdentifiedError: Under two things, or all numbers of one list are equal.
    """
    _check(x, y)
    _check_spread(x, y)
    a, b = (np.sign(each[:, np.newaxis] - each[np.newaxis, :]) for each in (x, y))
    return float((a * b).sum() / math.sqrt((a**2).sum() * (b**2).sum()))


def kendall_interval(tau: float, n: int, *, level: float) -> tuple[float, float]:
    """Return the interval of Fisher's z with variance .437 / (n - 4) (Fieller and others 1957).

    Raises:
        NotIdentifiedError: Too few things, or the value is at an end of the scale.
    """
    _check_interval(tau, n)
    return _fisher(tau, 0.437 / (n - 4), level)


def _fisher(value: float, variance: float, level: float) -> tuple[float, float]:
    reach = float(ndtri((1 + level) / 2)) * math.sqrt(max(variance, 0.0))
    z = math.atanh(value)
    return math.tanh(z - reach), math.tanh(z + reach)


def _check(x: FloatArray, y: FloatArray) -> None:
    if len(x) != len(y):
        raise ValueError(f"expected two lists of one length, not {len(x)} and {len(y)}")
    if len(x) < 2:
        raise NotIdentifiedError(f"needs two things that both lists name, not {len(x)}")


def _check_spread(x: FloatArray, y: FloatArray) -> None:
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        raise NotIdentifiedError("all numbers of one list are equal: they order nothing")


def _check_interval(value: float, n: int) -> None:
    if n < MIN_N:
        raise NotIdentifiedError(f"no interval: it takes {MIN_N} things or more, and there are {n}")
    if abs(value) > 1 - AT_END:
        raise NotIdentifiedError(f"no interval: {value:g} is the end of the scale")


def _mid_ranks(x: FloatArray) -> FloatArray:
    _, places, counts = np.unique(x, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[places], dtype=np.float64)

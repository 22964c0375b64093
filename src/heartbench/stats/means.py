"""Intervals over items for means that are no shares."""

import math

from scipy.special import stdtrit

from heartbench.stats.comparisons import FloatArray
from heartbench.stats.proportions import ROUNDING, mean_interval


def influence_interval(
    estimate: float, influence: FloatArray, *, df: int, level: float
) -> tuple[float, float] | None:
    """Return the t interval of an estimate from the influence of each item on it.

    The variance is G/(G - 1) sum d^2 over the G items (Liang and Zeger 1986), as in
    `clustered_variance`. None under two items, and where no item departs from the others: that is
    no precision.

    Args:
        estimate: The estimate.
        influence: What it moves by as the weight of an item goes from 0 to 1, one a item.
        df: Degrees of freedom of t; below 1 there is no interval.
        level: Nominal coverage.
    """
    n = len(influence)
    if n < 2 or df < 1:
        return None
    se = math.sqrt(n / (n - 1) * math.fsum(influence**2))
    if se <= ROUNDING:
        return None
    margin = float(stdtrit(df, (1 + level) / 2)) * se
    return estimate - margin, estimate + margin


def bounded_interval(
    values: FloatArray, *, lowest: float, highest: float, level: float
) -> tuple[float, float] | None:
    """Return the t interval of the mean of values on a scale, kept within the scale.

    Where all units have one value, the score interval of as many stands in, as in `mean_interval`:
    no distribution on a scale varies more about its mean than one on its ends. None under two
    units.

    Args:
        values: One an independent unit.
        lowest: Lower end of the scale.
        highest: Upper end of it.
        level: Nominal coverage.
    """
    if len(values) < 2:
        return None
    width = highest - lowest
    low, high = mean_interval((values - lowest) / width, level=level)
    return lowest + width * low, lowest + width * high

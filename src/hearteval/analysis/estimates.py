"""Means and contrasts of judgments with the intervals of SPEC section 6.

People are sampled: with five or more of them among the rows an interval is two-way over items and
people. Judges are a fixed panel: without people enough it is over items, these raters given.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hearteval.analysis.ranking.warnings import MIN_RATERS
from hearteval.stats.bradley_terry.clustered_variance import (
    vary_over_items,
    vary_over_items_and_raters,
)
from hearteval.stats.comparisons import FloatArray, IntArray, number_labels
from hearteval.stats.means import ROUNDING, wilson_interval
from hearteval.stats.special import stdtr, stdtrit


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A figure with its interval."""

    value: float
    low: float | None
    """None under two items, and where nothing varies and the figure is no share."""
    high: float | None


def interval_name(rater: IntArray) -> str:
    """Return the interval that rows get, by their raters; -1 is a judge of a fixed panel."""
    n_people = len(np.unique(rater[rater >= 0]))
    return "two-way" if n_people >= MIN_RATERS else "item-sandwich"


def mean_estimates(
    columns: FloatArray, item: IntArray, rater: IntArray, *, level: float
) -> list[Estimate]:
    """Return the mean of each column with its interval.

    A share that does not vary at all gets Wilson's interval over items.

    Args:
        columns: Shares between 0 and 1, (rows, columns); at least one row.
        item: Item of each row, 0 or more.
        rater: Rater of each row, -1 for a judge.
        level: Nominal coverage.
    """
    means = columns.mean(axis=0)
    influence = (columns - means) / len(columns)
    found = clustered_estimates(means, influence, item, rater, level=level)
    n_items = len(np.unique(item))
    return [_within(one, n_items, level=level) for one in found]


def clustered_estimates(
    values: Sequence[float] | FloatArray,
    influence: FloatArray,
    item: IntArray,
    rater: IntArray,
    *,
    level: float,
) -> list[Estimate]:
    """Return t intervals of some figures from what each row does to them.

    Args:
        values: The figures, (k,).
        influence: What a figure moves by as the weight of a row goes from 0 to 1, (rows, k).
        item: Item of each row, 0 or more.
        rater: Rater of each row, -1 for a judge.
        level: Nominal coverage.
    """
    se, df = clustered_errors(influence, item, rater)
    reach = float(stdtrit(df, (1 + level) / 2)) if df else 0.0
    return [
        Estimate(value=float(value), low=float(value - reach * s), high=float(value + reach * s))
        if s > ROUNDING
        else Estimate(value=float(value), low=None, high=None)
        for value, s in zip(values, se, strict=True)
    ]


def clustered_errors(
    influence: FloatArray, item: IntArray, rater: IntArray
) -> tuple[FloatArray, int]:
    """Return standard errors, (k,), and degrees of freedom; zeros and 0 under two items."""
    items, n_items = number_labels(item)
    if n_items < 2:
        return np.zeros(influence.shape[1]), 0

    def influence_of(label: IntArray) -> FloatArray:
        total = np.zeros((int(label.max()) + 1, influence.shape[1]))
        np.add.at(total, label, influence)
        return total

    is_sampled = interval_name(rater) == "two-way"
    variance = (
        vary_over_items_and_raters(influence_of, items, rater)
        if is_sampled
        else vary_over_items(influence_of, items)
    )
    return np.sqrt(variance.of_parameters()), variance.df


def two_sided_p(value: float, se: float, df: int, *, null: float = 0.0) -> float | None:
    """Return the two-sided p of t that a figure is `null`; None where nothing varies."""
    if not df or se <= ROUNDING:
        return None
    return 2 * float(stdtr(df, -abs(value - null) / se))


def _within(one: Estimate, n_items: int, *, level: float) -> Estimate:
    """Keep the interval of a share within 0 and 1, and give it one where nothing varies."""
    if one.low is not None and one.high is not None:
        return Estimate(value=one.value, low=max(0.0, one.low), high=min(1.0, one.high))
    if n_items < 2:
        return one
    low, high = wilson_interval(min(max(one.value, 0.0), 1.0), n_items, level=level)
    return Estimate(value=one.value, low=low, high=high)

"""Means and contrasts of judgments with the intervals of SPEC section 6.

People are sampled: with five or more of them among the rows an interval is two-way over items and
people. Judges are a fixed panel: without people enough it is over items, these raters given. People
who write are sampled as well: a figure about their completions names the writer of each row, and
from five writers on its interval is over these too; under five it holds for these writers.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from hearteval.analysis.ranking.warnings import MIN_RATERS, MIN_WRITERS
from hearteval.stats.bradley_terry.clustered_variance import (
    ClusteredVariance,
    add_writers,
    vary_over_items,
    vary_over_items_and_raters,
)
from hearteval.stats.comparisons import BoolArray, FloatArray, IntArray, number_labels
from hearteval.stats.means import ROUNDING, q_where_tested, wilson_interval
from hearteval.stats.special import stdtr, t_quantile

Row = TypeVar("Row")
PLANNED: Final = "planned"
EXPLORATORY: Final = "exploratory"
"""Whether a figure was decided on before the data were seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A figure with its interval."""

    value: float
    low: float | None
    """None under two items, and where nothing varies and the figure is no share."""
    high: float | None


def t_estimate(value: float, se: float, df: int, *, level: float) -> Estimate:
    """Return a figure with its interval of t; without one where nothing varies."""
    if not df or se <= ROUNDING:
        return Estimate(value=value, low=None, high=None)
    reach = t_quantile(df, level=level) * se
    return Estimate(value=value, low=value - reach, high=value + reach)


INTERVALS: Final = {
    (False, False): "item-sandwich",
    (True, False): "two-way",
    (False, True): "item-writer",
    (True, True): "three-way",
}
"""By whether it is over raters, and over writers; each is over items."""


def interval_name(rater: IntArray, writer: IntArray | None = None) -> str:
    """Return the interval that rows get, by their raters and writers.

    A rater of -1 is a judge of a fixed panel; a row of writer -1 is about no person's completion.
    """
    return INTERVALS[count_people(rater) >= MIN_RATERS, count_people(writer) >= MIN_WRITERS]


def count_people(people: IntArray | None) -> int:
    """Return how many there are, those below 0 apart."""
    return 0 if people is None else len(np.unique(people[people >= 0]))


def mean_estimates(
    columns: FloatArray,
    item: IntArray,
    rater: IntArray,
    *,
    writer: IntArray | None = None,
    level: float,
) -> list[Estimate]:
    """Return the mean of each column with its interval.

    A share that does not vary at all gets Wilson's interval over items.

    Args:
        columns: Shares between 0 and 1, (rows, columns); at least one row.
        item: Item of each row, 0 or more.
        rater: Rater of each row, -1 for a judge.
        writer: Who wrote what each row is about, -1 for no person; None where that is nothing.
        level: Nominal coverage.
    """
    weight = np.ones(len(columns))
    summed = Summed(item=item, rater=rater, writer=writer, weight=weight, sums=columns)
    return ratio_estimates(summed, level=level)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summed:
    """Rows that may each stand for several judgments of one rater on one item."""

    item: IntArray
    """0 or more."""
    rater: IntArray
    """-1 for a judge of a fixed panel."""
    weight: FloatArray
    """What each row weighs, above 0."""
    sums: FloatArray
    """Weighted sums of shares between 0 and 1, (rows, columns)."""
    writer: IntArray | None = None
    """The person whose completion it is about, -1 where it is about none."""

    def select(self, rows: BoolArray) -> "Summed":
        """Return some of the rows."""
        return Summed(
            item=self.item[rows],
            rater=self.rater[rows],
            weight=self.weight[rows],
            sums=self.sums[rows],
            writer=None if self.writer is None else self.writer[rows],
        )


def join(several: Sequence[Summed]) -> Summed:
    """Return the rows of several, one after another; there is at least one.

    All name writers, or none does.
    """
    writers = [one.writer for one in several if one.writer is not None]
    return Summed(
        item=np.concatenate([one.item for one in several]),
        rater=np.concatenate([one.rater for one in several]),
        weight=np.concatenate([one.weight for one in several]),
        sums=np.concatenate([one.sums for one in several]),
        writer=np.concatenate(writers) if writers else None,
    )


def ratio_estimates(rows: Summed, *, level: float) -> list[Estimate]:
    """Return the weighted mean of each column, its sum over that of the weights, with intervals."""
    total = rows.weight.sum()
    means = rows.sums.sum(axis=0) / total
    influence = (rows.sums - np.outer(rows.weight, means)) / total
    found = clustered_estimates(
        means, influence, rows.item, rows.rater, writer=rows.writer, level=level
    )
    n_items = len(np.unique(rows.item))
    return [_within(one, n_items, level=level) for one in found]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast(Estimate):
    """A difference of means with its interval and the test that it is none.

    It has neither under two items on a side, under two people there who are sampled on both, and
    where nothing varies.
    """

    p: float | None
    """Two-sided, of t."""
    df: float | None
    """Degrees of freedom of t; a fraction where items on both sides differ in how they vary."""


class Side(NamedTuple):
    """Rows whose mean enters a contrast."""

    rows: BoolArray
    sign: float
    """What the mean is multiplied by."""


def contrast_means(
    rows: Summed, sides: Sequence[Side], *, part: IntArray | None = None, level: float
) -> Contrast:
    """Return the signed sum of some weighted means of the first column.

    Rows are of parts, each with its own G/(G - 1), and t has the degrees of freedom of Welch and
    Satterthwaite: items - 1 at most, and people - 1 and writers - 1 where they are sampled, of the
    part with the fewest. So few items, people or writers on one side are not hidden by many on the
    other. What items and people share on both sides cancels.

    Args:
        rows: What is compared.
        sides: Rows and sign of each mean; no row is on two sides.
        part: Part that a row belongs to, 0 or more; by default each side is one.
        level: Nominal coverage.
    """
    sums, weight = rows.sums[:, 0], rows.weight
    influence, value = np.zeros(len(sums)), 0.0
    is_used = np.zeros(len(sums), dtype=bool)
    parts = np.zeros_like(rows.item) if part is None else part
    for k, side in enumerate(sides):
        total = weight[side.rows].sum()
        mean = sums[side.rows].sum() / total
        influence[side.rows] = side.sign * (sums - weight * mean)[side.rows] / total
        value += side.sign * float(mean)
        is_used |= side.rows
        if part is None:
            parts[side.rows] = k
    used = rows.select(is_used)
    return contrast_of(
        value,
        influence[is_used],
        used.item,
        used.rater,
        writer=used.writer,
        part=parts[is_used],
        level=level,
    )


def contrast_of(  # noqa: PLR0913 - a judgment is of an item, a rater and a writer
    value: float,
    influence: FloatArray,
    item: IntArray,
    rater: IntArray,
    *,
    writer: IntArray | None = None,
    part: IntArray,
    level: float,
) -> Contrast:
    """Test a contrast by what its rows do to it, as `contrast_means` says."""
    none = Contrast(value=value, low=None, high=None, p=None, df=None)
    of_parts = [np.unique(item[part == k]).size for k in np.unique(part)]
    if min(of_parts) < 2:
        return none
    n_items = np.unique(item).size
    scaled, variances = influence.copy(), []
    for k, n in zip(np.unique(part), of_parts, strict=True):
        rows = part == k
        scaled[rows] *= math.sqrt(n / (n - 1) * (n_items - 1) / n_items)
        d = np.bincount(number_labels(item[rows])[0], weights=influence[rows])
        variances.append((n / (n - 1) * float(d @ d), n - 1))
    errors, df_all = clustered_errors(scaled[:, None], item, rater, writer)
    se = float(errors[0])
    if se <= ROUNDING:
        return none
    squares = sum(v * v / n for v, n in variances)
    welch = sum(v for v, _ in variances) ** 2 / squares if squares else float(df_all)
    df = min(welch, df_all, _df_of_parts(rater, part, MIN_RATERS))
    if writer is not None:
        df = min(df, _df_of_parts(writer, part, MIN_WRITERS))
    if df < 1:
        return none
    reach = t_quantile(df, level=level) * se
    p = 2 * float(stdtr(df, -abs(value) / se))
    return Contrast(value=value, low=value - reach, high=value + reach, p=p, df=df)


def _df_of_parts(people: IntArray, part: IntArray, fewest: int) -> float:
    """Return the people of the part with the fewest, less one; infinite where none are sampled.

    Parts without any of them, as what judges said has no people who judge, do not count.
    """
    if count_people(people) < fewest:
        return math.inf
    found = (count_people(people[part == k]) for k in np.unique(part))
    return min(n - 1 for n in found if n)


def clustered_estimates(
    values: Sequence[float] | FloatArray,
    influence: FloatArray,
    item: IntArray,
    rater: IntArray,
    *,
    writer: IntArray | None = None,
    level: float,
) -> list[Estimate]:
    """Return t intervals of some figures from what each row does to them.

    Args:
        values: The figures, (k,).
        influence: What a figure moves by as the weight of a row goes from 0 to 1, (rows, k).
        item: Item of each row, 0 or more.
        rater: Rater of each row, -1 for a judge.
        writer: Who wrote what each row is about, -1 for no person; None where that is nothing.
        level: Nominal coverage.
    """
    se, df = clustered_errors(influence, item, rater, writer)
    return [
        t_estimate(float(value), float(s), df, level=level)
        for value, s in zip(values, se, strict=True)
    ]


def clustered_tests(
    values: Sequence[float] | FloatArray,
    influence: FloatArray,
    item: IntArray,
    rater: IntArray,
    *,
    level: float,
) -> tuple[list[Estimate], list[float | None]]:
    """Return the same, and the p of each that it is 0."""
    se, df = clustered_errors(influence, item, rater)
    of_each = [(float(value), float(s), df) for value, s in zip(values, se, strict=True)]
    found = [t_estimate(*one, level=level) for one in of_each]
    return found, [two_sided_p(*one) for one in of_each]


def with_q(rows: Iterable[Row]) -> list[Row]:
    """Return records with the q of each that has a p, adjusted over all of them."""
    tested: list[Any] = [*rows]
    q = q_where_tested([row.p for row in tested])
    return [replace(row, q=own) for row, own in zip(tested, q, strict=True)]


def clustered_errors(
    influence: FloatArray, item: IntArray, rater: IntArray, writer: IntArray | None = None
) -> tuple[FloatArray, int]:
    """Return standard errors, (k,), and degrees of freedom; zeros and 0 under two items."""
    variance = clustered_variance(influence, item, rater, writer)
    if variance is None:
        return np.zeros(influence.shape[1]), 0
    return np.sqrt(variance.of_parameters()), variance.df_of_writers


def clustered_variance(
    influence: FloatArray, item: IntArray, rater: IntArray, writer: IntArray | None = None
) -> ClusteredVariance | None:
    """Return the covariances of figures; None under two items."""
    items, n_items = number_labels(item)
    if n_items < 2:
        return None

    def influence_of(label: IntArray) -> FloatArray:
        total = np.zeros((int(label.max()) + 1, influence.shape[1]))
        np.add.at(total, label, influence)
        return total

    if count_people(rater) >= MIN_RATERS:
        over = vary_over_items_and_raters(influence_of, items, rater)
    else:
        over = vary_over_items(influence_of, items)
    if writer is None or count_people(writer) < MIN_WRITERS:
        return over
    return add_writers(over, influence_of, items, rater, writer)


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

"""Agreement of a table of units by raters: the coefficients asked for, each with its interval.

Every front builds a table, names its coefficients and says what is resampled: units, or clusters of
them. `AgreementMeasure` is what comes back, also where votes are summed by item (`votes`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from hearteval.errors import NotIdentifiedError
from hearteval.stats.agreement.bootstrap import (
    bootstrap_units,
    estimate,
    fisher_interval,
    percentile_interval,
)
from hearteval.stats.agreement.icc import count_complete, step_up
from hearteval.stats.agreement.table import Coefficient, Level, RatingTable, count_holders
from hearteval.stats.comparisons import FloatArray, IntArray

IntervalKind = Literal["fisher-z", "percentile"]
Builder = Callable[[], Coefficient]
SHARES = ("percent_agreement", "specific_agreement")
"""Measures from 0 to 1, not from -1."""
MIN_UNITS = 6
"""Units below which there is no interval: percentiles of 2 to 5 covered .21 to .89 as measured."""
MAX_SCALE = 20
MIN_HOLDERS = 5
"""With more values than `MAX_SCALE`, the lowest or the highest of which fewer units than these
hold, AC2 at interval and ratio level has no interval: its weights rest on that range, which grows
with the units, and no interval covers what more units would give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementMeasure:
    """One measure of agreement.

    Attributes:
        value: The estimate, as it is, below 0 too; None where the measure does not apply.
        low: Lower end of the interval over units; None where there is none.
        reason: Why value or interval is None.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str | None = None


def measured(
    value: Callable[[], float], interval: Callable[[float], tuple[float, float]]
) -> AgreementMeasure:
    """Return a value with its interval; where either is not determined, why."""
    found = None
    try:
        found = value()
        low, high = interval(found)
    except NotIdentifiedError as error:
        return AgreementMeasure(value=found, reason=str(error))
    return AgreementMeasure(value=found, low=low, high=high)


def stepped_up(single: AgreementMeasure, k: int) -> AgreementMeasure:
    """Return the reliability of the mean of k raters, from that of one."""
    if single.value is None:
        return single
    try:
        value = step_up(single.value, k)
    except NotIdentifiedError as error:
        return AgreementMeasure(reason=str(error))
    if single.low is None or single.high is None:
        return replace(single, value=value)
    try:
        low, high = step_up(single.low, k), step_up(single.high, k)
    except NotIdentifiedError as error:
        return AgreementMeasure(value=value, reason=f"no interval: {error}")
    return AgreementMeasure(value=value, low=low, high=high)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementSettings:
    """How the ratings were read and resampled.

    Attributes:
        min: Lowest value that counts; None for no limit.
        max: Highest value that counts; None for no limit.
        resamples: Bootstrap samples of units.
        interval: ``fisher-z``, with the samples' standard error, or their ``percentile`` points.
        confidence: Nominal coverage of the intervals.
        reverse: Raters, or items, whose values are turned: max + min - value.
    """

    level: Level
    min: float | None = None
    max: float | None = None
    resamples: int = 1000
    seed: int = 0
    interval: IntervalKind = "fisher-z"
    confidence: float = 0.95
    reverse: tuple[str, ...] = ()


def value_of(build: Builder, table: RatingTable) -> float | None:
    """Return a coefficient of a table without an interval; None where it is undefined."""
    try:
        return estimate(build(), table)
    except NotIdentifiedError:
        return None


def measure_table(
    table: RatingTable,
    wanted: Mapping[str, Builder],
    settings: AgreementSettings,
    *,
    n_units: Callable[[str], int] | None = None,
    cluster: IntArray | None = None,
) -> tuple[dict[str, AgreementMeasure], dict[str, FloatArray]]:
    """Measure the coefficients that are wanted of a table, by name.

    Args:
        table: Units by raters.
        wanted: Makes each coefficient, or says why it does not apply.
        settings: How units are resampled, and the interval that is made of it.
        n_units: How many independent units a measure rests on; raises `NotIdentifiedError` where
            they are too few for an interval. By default the units that carry pairs.
        cluster: Number of each unit's cluster, from 0: these are drawn, with all their units.

    Returns:
        The measures, and of each that has a value what it is on every sample.
    """
    values: dict[str, float] = {}
    coefficients: dict[str, Coefficient] = {}
    measures: dict[str, AgreementMeasure] = {}
    for name, build in wanted.items():
        try:
            coefficient = build()
            values[name] = estimate(coefficient, table)
        except NotIdentifiedError as error:
            measures[name] = AgreementMeasure(reason=str(error))
        else:
            coefficients[name] = coefficient
    if not coefficients:
        return measures, {}
    drawn = bootstrap_units(
        list(coefficients.values()),
        table,
        n_resamples=settings.resamples,
        rng=np.random.default_rng(settings.seed),
        cluster=cluster,
    )
    samples = dict(zip(coefficients, drawn, strict=True))

    def interval(name: str, value: float) -> tuple[float, float]:
        n = n_units(name) if n_units else check_support(name, table, settings.level)
        level = settings.confidence
        if settings.interval == "percentile":
            return percentile_interval(samples[name], level=level)
        lowest = 0.0 if name in SHARES else -1.0
        return fisher_interval(value, samples[name], n_units=n, level=level, lowest=lowest)

    for name in coefficients:
        measures[name] = measured(partial(values.__getitem__, name), partial(interval, name))
    return measures, samples


def require_units(n: int, what: str) -> int:
    """Return how many units, or items, there are, if they are enough for an interval.

    Raises:
        NotIdentifiedError: They are not.
    """
    if n < MIN_UNITS:
        there = f"there {'is' if n == 1 else 'are'} {n}"
        raise NotIdentifiedError(f"no interval: it takes {MIN_UNITS} {what}, and {there}")
    return n


def check_support(name: str, table: RatingTable, level: Level) -> int:
    """Return how many units are behind a measure, if they can say how far others would differ.

    Raises:
        NotIdentifiedError: There are too few, or AC2 rests on the range of a few of them.
    """
    is_icc = name.startswith("icc_")
    which = "that all raters rated" if is_icc else "with two values"
    n_units = require_units(
        count_complete(table) if is_icc else table.n_pairable, f"units {which} or more"
    )
    is_range = name == "gwet_ac2" and level != "ordinal" and len(table.values) > MAX_SCALE
    if is_range and min(count_holders(table)[[0, -1]]) < MIN_HOLDERS:
        raise NotIdentifiedError(
            "no interval: it weighs by the lowest and the highest value in use, which fewer than"
            f" {MIN_HOLDERS} units hold, so that other units make it another measure"
        )
    return n_units

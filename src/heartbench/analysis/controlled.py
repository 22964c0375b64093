"""Ratings with other differences held equal, and ratings by judges who are not all alike.

Both stand beside the raw ratings of the same comparisons, with intervals of the same kind. They are
exploratory: what a covariate explains may also be what makes an answer good (SPEC section 13).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from heartbench.analysis.elo import name_components, vary_as_sampled
from heartbench.analysis.support import find_support
from heartbench.analysis.vote_ranking import REMEDY
from heartbench.errors import NotIdentifiedError
from heartbench.stats import covariates as controlled_fit
from heartbench.stats import judge_aware as judged_fit
from heartbench.stats.bradley_terry import ELO_MEAN, ELO_PER_THETA, fit_bradley_terry
from heartbench.stats.clustered_variance import ClusteredVariance, vary_over_items
from heartbench.stats.comparisons import BoolArray, Comparisons, FloatArray
from heartbench.stats.contrasts import MIN_SE
from heartbench.stats.intervals import Intervals, clustered, influence_on_strengths

TWICE_AS_MUCH = 1 / 3
"""The relative difference of 2 n and n."""
MAX_MEAN_DISCRIMINATION = 2.0
"""Mean size |a| of discriminations whose mean is 1, above which more than half of it cancels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustedSystem:
    """One system's raw and adjusted rating, with intervals.

    Attributes:
        system: Its name.
        elo: Raw rating: plain Bradley-Terry, every comparison once.
        low: Lower end; None where the comparisons determine no interval.
        high: Upper end; None likewise.
        elo_adjusted: Rating with the covariates held equal, or by the judges' average.
        low_adjusted: Lower end; None likewise.
        high_adjusted: Upper end; None likewise.
    """

    system: str
    elo: float
    low: float | None
    high: float | None
    elo_adjusted: float
    low_adjusted: float | None
    high_adjusted: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What one covariate does to who wins.

    Attributes:
        covariate: Its name.
        beta: Log odds that left gains for one unit more on its side. One unit of a relative
            difference is an answer against an empty one; `step` is one that may happen.
        low: Lower end; None where the comparisons determine no interval.
        high: Upper end; None likewise.
        step: Units that `win_rate` is of: 1/3 is twice as much as the other, 1 being shown first.
        win_rate: Share that left wins against its equal with one step more; 1/2 is no effect.
    """

    covariate: str
    beta: float
    low: float | None
    high: float | None
    step: float
    win_rate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTraits:
    """What one judge is like.

    Attributes:
        judge: Its name.
        n_comparisons: Comparisons it judged.
        discrimination: How sharply it tells systems apart, 1 the mean of the judges; below 0 it
            prefers the weaker.
        discrimination_low: Lower end; None where the comparisons determine no interval, and where
            there is one judge, 1 by definition.
        discrimination_high: Upper end; None likewise.
        position_bias: Log odds it gives to what is shown first; 0 is none.
        position_bias_low: Lower end; None likewise.
        position_bias_high: Upper end; None likewise.
    """

    judge: str
    n_comparisons: int
    discrimination: float
    discrimination_low: float | None
    discrimination_high: float | None
    position_bias: float
    position_bias_low: float | None
    position_bias_high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlledRatings:
    """Raw and covariate-controlled ratings side by side.

    Attributes:
        systems: Systems, best adjusted rating first.
        effects: The covariates' effects, in the order given.
        interval_used: Name of the interval of every figure.
        df: Degrees of freedom of t.
        level: Nominal coverage.
        warnings: What a reader must know beside the numbers.
    """

    systems: tuple[AdjustedSystem, ...]
    effects: tuple[Effect, ...]
    interval_used: str
    df: int
    level: float
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAwareRatings:
    """Raw and judge-aware ratings side by side.

    Attributes:
        systems: Systems, best adjusted rating first.
        judges: What the judges are like, by name.
        interval_used: Name of the interval of every figure.
        df: Degrees of freedom of t.
        level: Nominal coverage.
        warnings: What a reader must know beside the numbers.
    """

    systems: tuple[AdjustedSystem, ...]
    judges: tuple[JudgeTraits, ...]
    interval_used: str
    df: int
    level: float
    warnings: tuple[str, ...] = ()


class _Rated(NamedTuple):
    """Log-strengths first, then whatever else was estimated, with intervals."""

    parameters: FloatArray
    intervals: Intervals
    is_known: BoolArray

    def end(self, ends: FloatArray, place: int) -> float | None:
        """Return one of the ends of an interval, None where there is none."""
        return float(ends[place]) if self.is_known[place] else None

    def elo_end(self, ends: FloatArray, place: int) -> float | None:
        """Do the same in Elo, for a log-strength."""
        return _elo(ends[place]) if self.is_known[place] else None


def control(
    comparisons: Comparisons,
    covariates: FloatArray,
    *,
    names: Sequence[str],
    covariate_names: Sequence[str],
    steps: Sequence[float],
    level: float,
) -> ControlledRatings:
    """Rate with covariates held equal.

    Args:
        comparisons: Comparisons with items; rater -1 throughout, or under five raters, stands for
            raters taken as given.
        covariates: (rows, k), left minus right, or ones for being shown first.
        names: Systems by index.
        covariate_names: Covariates by index.
        steps: Units of each covariate that its `win_rate` is of.
        level: Nominal coverage.

    Raises:
        NotIdentifiedError: Strengths or effects are not determined; it names them.
    """
    try:
        fit = controlled_fit.fit_with_covariates(comparisons, covariates)
        plain = fit_bradley_terry(comparisons)
        raw_variance, used = vary_as_sampled(
            influence_on_strengths(comparisons, plain), comparisons
        )
        variance, _ = vary_as_sampled(
            lambda cluster: controlled_fit.influence(comparisons, covariates, fit, cluster),
            comparisons,
        )
    except NotIdentifiedError as error:
        raise _named(error, names, covariate_names, "covariates") from error
    n = len(names)
    row, column = np.nonzero(covariates)
    support = find_support(
        comparisons,
        (*names, *(f"effect of {name}" for name in covariate_names)),
        others=(n + column, row),
        over_raters=used == "two-way",
    )
    raw = _rate(plain.theta, raw_variance, support.is_enough[:n], level)
    found = _rate(np.concatenate((fit.theta, fit.beta)), variance, support.is_enough, level)
    return ControlledRatings(
        systems=_systems(names, raw, found),
        effects=tuple(
            Effect(
                covariate=name,
                beta=float(fit.beta[k]),
                low=found.end(found.intervals.low, n + k),
                high=found.end(found.intervals.high, n + k),
                step=step,
                win_rate=float(expit(step * fit.beta[k])),
            )
            for k, (name, step) in enumerate(zip(covariate_names, steps, strict=True))
        ),
        interval_used=used,
        df=variance.df,
        level=level,
        warnings=tuple(support.warnings(has_width=found.intervals.se > MIN_SE)),
    )


def rate_judge_aware(
    comparisons: Comparisons, *, names: Sequence[str], judges: Sequence[str], level: float
) -> JudgeAwareRatings:
    """Rate by a panel whose judges differ in discrimination and position bias.

    Args:
        comparisons: Comparisons with items and, as raters, judges.
        names: Systems by index.
        judges: Judges by index.
        level: Nominal coverage.

    Raises:
        NotIdentifiedError: Strengths or a judge's parameters are not determined; it names them.
    """
    try:
        fit = judged_fit.fit_judge_aware(comparisons)
        plain = fit_bradley_terry(comparisons)
        raw_variance = vary_over_items(influence_on_strengths(comparisons, plain), comparisons.item)
        variance = vary_over_items(
            lambda cluster: judged_fit.influence(comparisons, fit, cluster), comparisons.item
        )
    except NotIdentifiedError as error:
        raise _named(error, names, judges, "judges") from error
    n = len(names)
    support = find_support(
        comparisons,
        (*names, *(f"judge {judge}" for judge in judges)),
        others=(n + comparisons.rater, np.arange(len(comparisons))),
        over_raters=False,
    )
    raw = _rate(plain.theta, raw_variance, support.is_enough[:n], level)
    found = _rate(
        np.concatenate((fit.theta, fit.discrimination, fit.position_bias)),
        variance,
        np.append(support.is_enough, support.is_enough[n:]),
        level,
    )
    has_width = found.intervals.se > MIN_SE
    # What is known of a judge's bias alone is known of it: one judge's discrimination is 1.
    of_judges = has_width[n : n + len(judges)] | has_width[n + len(judges) :]
    return JudgeAwareRatings(
        systems=_systems(names, raw, found),
        judges=_traits(comparisons, found, judges),
        interval_used="item-sandwich",
        df=variance.df,
        level=level,
        warnings=(
            *support.warnings(has_width=np.append(has_width[:n], of_judges)),
            *_unit_warnings(fit.discrimination),
        ),
    )


def _traits(
    comparisons: Comparisons, found: _Rated, judges: Sequence[str]
) -> tuple[JudgeTraits, ...]:
    low, high = found.intervals.low, found.intervals.high
    counts = np.bincount(comparisons.rater, weights=comparisons.count, minlength=len(judges))
    a, b = comparisons.n_systems, comparisons.n_systems + len(judges)
    return tuple(
        JudgeTraits(
            judge=judge,
            n_comparisons=int(counts[k]),
            discrimination=float(found.parameters[a + k]),
            discrimination_low=found.end(low, a + k),
            discrimination_high=found.end(high, a + k),
            position_bias=float(found.parameters[b + k]),
            position_bias_low=found.end(low, b + k),
            position_bias_high=found.end(high, b + k),
        )
        for k, judge in enumerate(judges)
    )


def _unit_warnings(discrimination: FloatArray) -> tuple[str, ...]:
    size = float(np.abs(discrimination).mean())
    if size <= MAX_MEAN_DISCRIMINATION:
        return ()
    return (
        f"Judges prefer opposite systems: {100 * (1 - 1 / size):.0f} % of their discrimination"
        " cancels in the mean, which is the unit. Discriminations are large and ratings close"
        " together for that reason alone; read their order and signs, not their size.",
    )


def _rate(
    parameters: FloatArray, variance: ClusteredVariance, is_enough: BoolArray, level: float
) -> _Rated:
    intervals = clustered(parameters, variance, level=level)
    return _Rated(parameters, intervals, is_enough & (intervals.se > MIN_SE))


def _systems(names: Sequence[str], raw: _Rated, adjusted: _Rated) -> tuple[AdjustedSystem, ...]:
    rows = [
        AdjustedSystem(
            system=name,
            elo=_elo(raw.parameters[k]),
            low=raw.elo_end(raw.intervals.low, k),
            high=raw.elo_end(raw.intervals.high, k),
            elo_adjusted=_elo(adjusted.parameters[k]),
            low_adjusted=adjusted.elo_end(adjusted.intervals.low, k),
            high_adjusted=adjusted.elo_end(adjusted.intervals.high, k),
        )
        for k, name in enumerate(names)
    ]
    return tuple(sorted(rows, key=lambda row: (-round(row.elo_adjusted, 6), row.system)))


def _elo(theta: float) -> float:
    """Scale a log-strength whose field has mean 0."""
    return float(ELO_MEAN + ELO_PER_THETA * theta)


def _named(
    error: NotIdentifiedError, systems: Sequence[str], others: Sequence[str], kind: str
) -> NotIdentifiedError:
    """Name systems, or the covariates or judges whose indices the error carries."""
    if error.components or not error.ids:
        return name_components(error, systems, remedy=REMEDY)
    names = [others[int(index)] for index in error.ids]
    return NotIdentifiedError(f"{kind} {', '.join(names)}: {error}", ids=names)

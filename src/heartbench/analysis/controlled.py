"""Ratings with other differences held equal, and ratings by judges who are not all alike.

Both stand beside the raw ratings of the same comparisons, with intervals of the same kind. They are
exploratory: what a covariate explains may also be what makes an answer good (SPEC section 13).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from heartbench.analysis.elo import name_components
from heartbench.analysis.vote_intervals import MIN_RATERS
from heartbench.analysis.vote_ranking import REMEDY
from heartbench.errors import NotIdentifiedError
from heartbench.stats import covariates as controlled_fit
from heartbench.stats import judge_aware as judged_fit
from heartbench.stats.bradley_terry import ELO_MEAN, ELO_PER_THETA, fit_bradley_terry
from heartbench.stats.clustered_variance import (
    ClusteredVariance,
    InfluenceOf,
    vary_over_items,
    vary_over_items_and_raters,
)
from heartbench.stats.comparisons import Comparisons, FloatArray
from heartbench.stats.intervals import Intervals, clustered, influence_on_strengths


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustedSystem:
    """One system's raw and adjusted rating, with intervals.

    Attributes:
        system: Its name.
        elo: Raw rating: plain Bradley-Terry, every comparison once.
        low: Lower end.
        high: Upper end.
        elo_adjusted: Rating with the covariates held equal, or by the judges' average.
        low_adjusted: Lower end.
        high_adjusted: Upper end.
    """

    system: str
    elo: float
    low: float
    high: float
    elo_adjusted: float
    low_adjusted: float
    high_adjusted: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What one covariate does to who wins.

    Attributes:
        covariate: Its name.
        beta: Log odds that left gains for one unit more on its side.
        low: Lower end.
        high: Upper end.
        win_rate: Share that left wins against its equal with one unit more; 1/2 is no effect.
    """

    covariate: str
    beta: float
    low: float
    high: float
    win_rate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTraits:
    """What one judge is like.

    Attributes:
        judge: Its name.
        n_comparisons: Comparisons it judged.
        discrimination: How sharply it tells systems apart, 1 the mean of the judges; below 0 it
            prefers the weaker.
        discrimination_low: Lower end.
        discrimination_high: Upper end.
        position_bias: Log odds it gives to what is shown first; 0 is none.
        position_bias_low: Lower end.
        position_bias_high: Upper end.
    """

    judge: str
    n_comparisons: int
    discrimination: float
    discrimination_low: float
    discrimination_high: float
    position_bias: float
    position_bias_low: float
    position_bias_high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlledRatings:
    """Raw and covariate-controlled ratings side by side.

    Attributes:
        systems: Systems, best adjusted rating first.
        effects: The covariates' effects, in the order given.
        interval_used: Name of the interval of every figure.
        df: Degrees of freedom of t.
        level: Nominal coverage.
    """

    systems: tuple[AdjustedSystem, ...]
    effects: tuple[Effect, ...]
    interval_used: str
    df: int
    level: float


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAwareRatings:
    """Raw and judge-aware ratings side by side.

    Attributes:
        systems: Systems, best adjusted rating first.
        judges: What the judges are like, by name.
        interval_used: Name of the interval of every figure.
        df: Degrees of freedom of t.
        level: Nominal coverage.
    """

    systems: tuple[AdjustedSystem, ...]
    judges: tuple[JudgeTraits, ...]
    interval_used: str
    df: int
    level: float


class _Rated(NamedTuple):
    """Log-strengths first, then whatever else was estimated, with intervals."""

    theta: FloatArray
    intervals: Intervals


def control(
    comparisons: Comparisons,
    covariates: FloatArray,
    *,
    names: Sequence[str],
    covariate_names: Sequence[str],
    level: float,
) -> ControlledRatings:
    """Rate with covariates held equal.

    Args:
        comparisons: Comparisons with items; rater -1 throughout, or under five raters, stands for
            raters taken as given.
        covariates: (rows, k), left minus right, or ones for being shown first.
        names: Systems by index.
        covariate_names: Covariates by index.
        level: Nominal coverage.

    Raises:
        NotIdentifiedError: Strengths or effects are not determined; it names them.
    """
    try:
        fit = controlled_fit.fit_with_covariates(comparisons, covariates)
        raw, used = _rate_plainly(comparisons, level)
        variance, _ = _vary(
            lambda cluster: controlled_fit.influence(comparisons, covariates, fit, cluster),
            comparisons,
        )
    except NotIdentifiedError as error:
        raise _named(error, names, covariate_names, "covariates") from error
    parameters = np.concatenate((fit.theta, fit.beta))
    found = clustered(parameters, variance, level=level)
    n = len(names)
    return ControlledRatings(
        systems=_systems(names, raw, _Rated(parameters, found)),
        effects=tuple(
            Effect(
                covariate=name,
                beta=float(fit.beta[k]),
                low=float(found.low[n + k]),
                high=float(found.high[n + k]),
                win_rate=float(expit(fit.beta[k])),
            )
            for k, name in enumerate(covariate_names)
        ),
        interval_used=used,
        df=variance.df,
        level=level,
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
    raw = _Rated(plain.theta, clustered(plain.theta, raw_variance, level=level))
    parameters = np.concatenate((fit.theta, fit.discrimination, fit.position_bias))
    found = clustered(parameters, variance, level=level)
    n, n_judges = len(names), len(judges)
    counts = np.bincount(comparisons.rater, weights=comparisons.count, minlength=n_judges)
    return JudgeAwareRatings(
        systems=_systems(names, raw, _Rated(parameters, found)),
        judges=tuple(
            JudgeTraits(
                judge=judge,
                n_comparisons=int(counts[k]),
                discrimination=float(parameters[n + k]),
                discrimination_low=float(found.low[n + k]),
                discrimination_high=float(found.high[n + k]),
                position_bias=float(parameters[n + n_judges + k]),
                position_bias_low=float(found.low[n + n_judges + k]),
                position_bias_high=float(found.high[n + n_judges + k]),
            )
            for k, judge in enumerate(judges)
        ),
        interval_used="item-sandwich",
        df=variance.df,
        level=level,
    )


def _rate_plainly(comparisons: Comparisons, level: float) -> tuple[_Rated, str]:
    plain = fit_bradley_terry(comparisons)
    variance, used = _vary(influence_on_strengths(comparisons, plain), comparisons)
    return _Rated(plain.theta, clustered(plain.theta, variance, level=level)), used


def _vary(influence_of: InfluenceOf, comparisons: Comparisons) -> tuple[ClusteredVariance, str]:
    raters = np.unique(comparisons.rater[comparisons.rater >= 0])
    if len(raters) < MIN_RATERS:
        return vary_over_items(influence_of, comparisons.item), "item-sandwich"
    variance = vary_over_items_and_raters(influence_of, comparisons.item, comparisons.rater)
    return variance, "two-way"


def _systems(names: Sequence[str], raw: _Rated, adjusted: _Rated) -> tuple[AdjustedSystem, ...]:
    rows = [
        AdjustedSystem(
            system=name,
            elo=_elo(raw.theta[k]),
            low=_elo(raw.intervals.low[k]),
            high=_elo(raw.intervals.high[k]),
            elo_adjusted=_elo(adjusted.theta[k]),
            low_adjusted=_elo(adjusted.intervals.low[k]),
            high_adjusted=_elo(adjusted.intervals.high[k]),
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

"""Elo with other differences held equal, and Elo by judges who are not all alike.

Both stand beside the raw Elo of the same comparisons, with intervals of the same kind. They are
exploratory: what a covariate explains may also be what makes an answer good (SPEC section 13).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from hearteval.analysis.ranking.intervals import OVER_RATERS, choose_interval, vary
from hearteval.analysis.ranking.rank import name_components
from hearteval.analysis.ranking.votes import Votes
from hearteval.analysis.ranking.warnings import ALL, JUDGMENTS, VOTES, Wording, find_support
from hearteval.domain import flat_fields
from hearteval.errors import NotIdentifiedError, SettingsError
from hearteval.notices import Kind, Notice
from hearteval.stats.bradley_terry import covariates as controlled_fit
from hearteval.stats.bradley_terry import judge_aware as judged_fit
from hearteval.stats.bradley_terry.clustered_variance import ClusteredVariance
from hearteval.stats.bradley_terry.covariates import (
    Covariate,
    Covariates,
    columns_of,
    relative_difference,
)
from hearteval.stats.bradley_terry.differences import MIN_SE
from hearteval.stats.bradley_terry.fit import ELO_MEAN, ELO_PER_THETA, fit_bradley_terry
from hearteval.stats.bradley_terry.intervals import (
    Intervals,
    clustered,
    influence_on_strengths,
    own_df,
)
from hearteval.stats.comparisons import BoolArray, Comparisons, FloatArray, with_columns
from hearteval.stats.means import false_discovery_q, q_where_tested
from hearteval.stats.special import expit, stdtr, t_quantile

TWICE_AS_MUCH = 1 / 3
"""The relative difference of 2 n and n."""
MAX_MEAN_DISCRIMINATION = 2.0
"""Mean size |a| of discriminations whose mean is 1, above which more than half of it cancels."""
NOT_DETERMINED = (
    "its effect is not determined: it follows from which systems were compared and from the other"
    " differences, or foretells some wins without exception"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustedSystem:
    """One system's raw and adjusted strength, with intervals.

    Attributes:
        elo: Raw strength: plain Bradley-Terry, every comparison once.
        low: Lower end; None where the comparisons determine no interval.
        elo_adjusted: Strength with the covariates held equal, or by the judges' average.
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
        beta: Log odds that left gains for one unit more on its side. One unit of a relative
            difference is an answer against an empty one; `step` is one that may happen.
        low: Lower end; None where the comparisons determine no interval.
        step: Units that `win_rate` is of: 1/3 is twice as much as the other, 1 being shown first.
        win_rate: Share that left wins against its equal with one step more; 1/2 is no effect.
        win_rate_low: Lower end of its interval; None likewise.
        df: Degrees of freedom of t: those of all, and at most the items (and people, where they are
            sampled) less one on whom the two sides differ in it; of what texts are like also the
            writers less one, where these are sampled.
    """

    covariate: str
    beta: float
    low: float | None
    high: float | None
    step: float
    win_rate: float
    win_rate_low: float | None
    win_rate_high: float | None
    df: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectTest:
    """The test that one effect is none, by the t of its interval."""

    covariate: str
    p: float
    """Two-sided."""
    q: float
    """Adjusted over the tests of one family (Benjamini and Hochberg 1995): in a study's results all
    its planned contrasts (`analysis.planned`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTraits:
    """What one judge is like.

    Attributes:
        discrimination: How sharply it tells systems apart, 1 the mean of the judges; below 0 it
            prefers the weaker.
        discrimination_low: Lower end; None where the comparisons determine no interval, and where
            there is one judge, 1 by definition.
        position_bias: Log odds it gives to what is shown first; 0 is none.
        discrimination_q: That its discrimination is 1, adjusted over all judges and over their
            position biases (Benjamini and Hochberg 1995); None where there is no interval.
        position_bias_q: The same, that the bias is 0.
    """

    judge: str
    n_comparisons: int
    discrimination: float
    discrimination_low: float | None
    discrimination_high: float | None
    position_bias: float
    position_bias_low: float | None
    position_bias_high: float | None
    discrimination_q: float | None = None
    position_bias_q: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Controlled:
    """Raw and covariate-controlled Elo, best controlled first, with the effects as given."""

    systems: tuple[AdjustedSystem, ...]
    effects: tuple[Effect, ...]
    interval_used: str
    df: int
    level: float
    warnings: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAwareStrengths:
    """Raw and judge-aware strengths side by side, best adjusted one first; judges as given."""

    systems: tuple[AdjustedSystem, ...]
    judges: tuple[JudgeTraits, ...]
    interval_used: str
    df: int
    level: float
    warnings: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustedSettings:
    """How adjusted strengths were made.

    Attributes:
        controls: Columns of each control for the left and for the right answer; none where judges
            are modelled.
        n_raters: None where votes name none.
    """

    level: float
    columns: Mapping[str, str]
    controls: Mapping[str, tuple[str, str]]
    position: bool
    n_items: int
    n_raters: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlledVotes(Controlled):
    """The same of a table of votes; `n_dropped` are votes left out, by reason."""

    n_votes: int
    n_ties: int
    n_dropped: Mapping[str, int]
    settings: AdjustedSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedVotes(JudgeAwareStrengths):
    """Judge-aware strengths of a table of votes; `n_dropped` are votes left out, by reason."""

    n_votes: int
    n_ties: int
    n_dropped: Mapping[str, int]
    settings: AdjustedSettings


class _Rated(NamedTuple):
    """Log-strengths first, then whatever else was estimated, with intervals."""

    parameters: FloatArray
    intervals: Intervals
    is_known: BoolArray

    def ends(self, place: int) -> tuple[float, float] | tuple[None, None]:
        """Return the ends of an interval, None where there is none."""
        if not self.is_known[place]:
            return None, None
        return float(self.intervals.low[place]), float(self.intervals.high[place])

    def p_value(self, place: int, null: float) -> float | None:
        """Return the two-sided p that a parameter is `null`, by the t of its interval."""
        se = float(self.intervals.se[place])
        if not self.is_known[place] or se <= MIN_SE:
            return None
        return 2 * float(stdtr(self.intervals.df, -abs(self.parameters[place] - null) / se))

    def elo_ends(self, place: int) -> tuple[float, float] | tuple[None, None]:
        """Do the same in Elo, for a log-strength."""
        low, high = self.ends(place)
        return (None, None) if low is None or high is None else (_elo(low), _elo(high))


def make_effect(
    covariate: str,
    step: float,
    beta: float,
    low: float | None,
    high: float | None,
    *,
    df: int | None,
) -> Effect:
    """Return an effect with the shares of wins that its log odds imply."""
    return Effect(
        covariate=covariate,
        beta=beta,
        low=low,
        high=high,
        step=step,
        win_rate=float(expit(step * beta)),
        win_rate_low=None if low is None else float(expit(step * low)),
        win_rate_high=None if high is None else float(expit(step * high)),
        df=df,
    )


def control(
    comparisons: Comparisons,
    covariates: Covariates,
    *,
    names: Sequence[str],
    steps: Mapping[str, float],
    level: float,
    wording: Wording = VOTES,
) -> Controlled:
    """Estimate strengths with covariates held equal.

    Rater -1 throughout, or under five raters, stands for raters taken as given. Covariates,
    (rows, k), are left minus right, or ones for being shown first; `names` are systems by index and
    `steps` the units of each covariate that its `win_rate` is of, by name, in their order.

    Raises:
        NotIdentifiedError: Strengths or effects are not determined; it names them.
    """
    used, _ = choose_interval(comparisons, wording=wording)
    try:
        fit = controlled_fit.fit_with_covariates(comparisons, covariates)
        plain = fit_bradley_terry(comparisons)
        raw_variance = vary(influence_on_strengths(comparisons, plain), comparisons, used)
        variance = vary(
            lambda cluster: controlled_fit.influence(comparisons, covariates, fit, cluster),
            comparisons,
            used,
        )
    except NotIdentifiedError as error:
        raise _named(error, names, list(steps), wording, "covariates") from error
    n = len(names)
    bears = [column[:] != 0 for column in columns_of(covariates)]
    support = find_support(
        comparisons,
        (*names, *(f"effect of {name}" for name in steps)),
        others=[(np.broadcast_to(n + k, rows.sum()), rows) for k, rows in enumerate(bears)],
        wording=wording,
        over_raters=used in OVER_RATERS,
    )
    own = own_df(
        comparisons,
        variance.df,
        over_raters=used in OVER_RATERS,
        over_writers=variance.writer is not None,
    )
    raw = _rate(plain.theta, raw_variance, own, support.is_enough[:n], level)
    of_effects = _df_of_effects(
        comparisons,
        covariates,
        variance.df,
        over_raters=used in OVER_RATERS,
        over_writers=variance.writer is not None,
    )
    found = _rate(
        np.concatenate((fit.theta, fit.beta)),
        variance,
        np.concatenate((own, of_effects)),
        support.is_enough,
        level,
    )
    effects = (
        make_effect(name, step, float(fit.beta[k]), *found.ends(n + k), df=int(of_effects[k]))
        for k, (name, step) in enumerate(steps.items())
    )
    return Controlled(
        systems=_systems(names, raw, found),
        effects=tuple(effects),
        interval_used=used,
        df=variance.df,
        level=level,
        warnings=tuple(support.warnings(has_width=found.intervals.se > MIN_SE)),
    )


def control_determined(
    comparisons: Comparisons,
    values: Mapping[str, Covariate],
    names: Sequence[str],
    *,
    steps: Mapping[str, float],
    level: float,
) -> tuple[Controlled | None, Collection[str]]:
    """Control for what is determined; also name what is not. None if nothing is.

    Values and steps are by covariate, as in `control`.

    Raises:
        NotIdentifiedError: Something else than a covariate is not determined.
    """
    undetermined: list[str] = []
    while kept := [name for name in values if name not in undetermined]:
        try:
            held = control(
                comparisons,
                [values[name] for name in kept],
                names=names,
                steps={name: steps[name] for name in kept},
                level=level,
                wording=JUDGMENTS,
            )
        except NotIdentifiedError as error:
            if error.components or not set(error.ids).intersection(kept):
                raise
            undetermined += error.ids
        else:
            return held, undetermined
    return None, undetermined


def find_tests(effects: Sequence[Effect], *, level: float) -> tuple[EffectTest, ...]:
    """Test each effect that has an interval, by the same t; the tests are one family."""
    known, p_values = [], []
    for effect in effects:
        if effect.low is None or effect.high is None or effect.df is None:
            continue
        se = (effect.high - effect.low) / (2 * t_quantile(effect.df, level=level))
        p_values.append(2 * float(stdtr(effect.df, -abs(effect.beta) / se)))
        known.append(effect)
    return tuple(
        EffectTest(covariate=effect.covariate, p=p, q=q)
        for effect, p, q in zip(known, p_values, false_discovery_q(p_values).tolist(), strict=True)
    )


def _df_of_effects(
    comparisons: Comparisons,
    covariates: Covariates,
    df: int,
    *,
    over_raters: bool,
    over_writers: bool,
) -> FloatArray:
    """Return the degrees of freedom of each effect, as `own_df` does of each system.

    What rests on a few items, where alone the two sides differ, varies over these few; what is of
    texts, as all is that is not the same in every comparison, over their few writers.
    """
    found = []
    for each in columns_of(covariates):
        column = each[:]
        rows = column != 0
        n_own = len(np.unique(comparisons.item[rows]))
        n_people = len(np.unique(comparisons.rater[rows & (comparisons.rater >= 0)]))
        if over_raters and n_people:
            n_own = min(n_own, n_people)
        if over_writers and comparisons.writer is not None and np.ptp(column) > 0:
            n_own = min(n_own, len(np.unique(comparisons.writer[comparisons.writer >= 0])))
        found.append(n_own)
    return np.clip(np.array(found, dtype=np.float64) - 1, 1, df)


def rank_judge_aware_panel(
    comparisons: Comparisons,
    *,
    names: Sequence[str],
    judges: Sequence[str],
    level: float,
    wording: Wording = VOTES,
) -> JudgeAwareStrengths:
    """Estimate strengths by a panel whose judges differ in discrimination and position bias.

    Raters of the comparisons are the judges; `names` are systems by index, as are `judges`.

    Raises:
        NotIdentifiedError: Strengths or a judge's parameters are not determined; it names them.
    """
    panel = with_columns(comparisons, rater=np.full(len(comparisons), -1))
    used, _ = choose_interval(panel, wording=wording)
    try:
        fit = judged_fit.fit_judge_aware(comparisons)
        plain = fit_bradley_terry(comparisons)
        raw_variance = vary(influence_on_strengths(comparisons, plain), panel, used)
        variance = vary(
            lambda cluster: judged_fit.influence(comparisons, fit, cluster), panel, used
        )
    except NotIdentifiedError as error:
        raise _named(error, names, judges, wording, "judges") from error
    n = len(names)
    support = find_support(
        comparisons,
        (*names, *(f"judge {judge}" for judge in judges)),
        others=[(n + comparisons.rater, ALL)],
        wording=wording,
        over_raters=False,
    )
    own = own_df(
        comparisons, variance.df, over_raters=False, over_writers=variance.writer is not None
    )
    raw = _rate(plain.theta, raw_variance, own, support.is_enough[:n], level)
    found = _rate(
        np.concatenate((fit.theta, fit.discrimination, fit.position_bias)),
        variance,
        own,
        np.append(support.is_enough, support.is_enough[n:]),
        level,
    )
    has_width = found.intervals.se > MIN_SE
    # What is known of a judge's bias alone is known of it: one judge's discrimination is 1.
    of_judges = has_width[n : n + len(judges)] | has_width[n + len(judges) :]
    return JudgeAwareStrengths(
        systems=_systems(names, raw, found),
        judges=_traits(comparisons, found, judges),
        interval_used=used,
        df=variance.df,
        level=level,
        warnings=(
            *support.warnings(has_width=np.append(has_width[:n], of_judges)),
            *_unit_warnings(fit.discrimination),
        ),
    )


def control_votes(
    votes: Votes,
    controls: Mapping[str, tuple[str, str]],
    *,
    position: bool,
    level: float,
    columns: Mapping[str, str],
) -> ControlledVotes:
    """Estimate strengths with controls held equal, each as (left - right) / (left + right).

    Args:
        votes: With items, and as covariates the columns of the controls, each once, in the order in
            which the controls first name them.
        controls: Columns of a control for the left and for the right answer, by its name.
        position: Whether to control for being on the left.
        level: Nominal coverage.
        columns: Column by role, to be shown.

    Raises:
        NotIdentifiedError: Strengths or effects are not determined; it names them.
        SettingsError: A control is below 0 somewhere.
    """
    ends = tuple(dict.fromkeys(column for pair in controls.values() for column in pair))
    of_column = dict(zip(ends, votes.covariates.T, strict=True))
    for column, values in of_column.items():
        if (values < 0).any():
            raise SettingsError(
                f"the control column {column!r} holds {values.min():g}; controls are lengths or"
                " counts of 0 or more, compared as (left - right) / (left + right)",
                ids=[column],
            )
    comparisons = votes.sampled
    covariates = [relative_difference(of_column[a], of_column[b]) for a, b in controls.values()]
    by_position = [np.ones(len(comparisons))] * position
    found = control(
        comparisons,
        np.column_stack([*covariates, *by_position]),
        names=votes.systems,
        steps=dict.fromkeys(controls, TWICE_AS_MUCH) | ({"position": 1.0} if position else {}),
        level=level,
    )
    settings = {"level": level, "columns": columns, "controls": controls, "position": position}
    return ControlledVotes(**_of_votes(found, votes, **settings))


def rank_votes_of_judges(votes: Votes, *, level: float, columns: Mapping[str, str]) -> JudgedVotes:
    """Do `rank_judge_aware_panel` for votes whose raters are judges; `columns` are shown."""
    found = rank_judge_aware_panel(
        votes.comparisons, names=votes.systems, judges=votes.raters or (), level=level
    )
    settings = {"level": level, "columns": columns, "controls": {}, "position": True}
    return JudgedVotes(**_of_votes(found, votes, **settings))


def _of_votes(
    found: Controlled | JudgeAwareStrengths, votes: Votes, **settings: Any
) -> dict[str, Any]:
    """Return what was found and is known of the votes; warnings of the reading come first."""
    return flat_fields(found) | {
        "n_votes": votes.n_votes,
        "n_ties": votes.n_ties,
        "n_dropped": votes.n_dropped,
        "warnings": (*votes.warnings, *found.warnings),
        "settings": AdjustedSettings(
            n_items=votes.n_items or 0, n_raters=votes.n_raters, **settings
        ),
    }


def _traits(
    comparisons: Comparisons, found: _Rated, judges: Sequence[str]
) -> tuple[JudgeTraits, ...]:
    counts = np.bincount(comparisons.rater, weights=comparisons.count, minlength=len(judges))
    traits = []
    for k, judge in enumerate(judges):
        a = comparisons.n_systems + k
        b = a + len(judges)
        (a_low, a_high), (b_low, b_high) = found.ends(a), found.ends(b)
        traits.append(
            JudgeTraits(
                judge=judge,
                n_comparisons=int(counts[k]),
                discrimination=float(found.parameters[a]),
                discrimination_low=a_low,
                discrimination_high=a_high,
                position_bias=float(found.parameters[b]),
                position_bias_low=b_low,
                position_bias_high=b_high,
            )
        )
    nulls = (*[1.0] * len(judges), *[0.0] * len(judges))
    q = q_where_tested(
        [found.p_value(comparisons.n_systems + k, null) for k, null in enumerate(nulls)]
    )
    return tuple(
        replace(one, discrimination_q=q[k], position_bias_q=q[k + len(judges)])
        for k, one in enumerate(traits)
    )


def _unit_warnings(discrimination: FloatArray) -> tuple[Notice, ...]:
    size = float(np.abs(discrimination).mean())
    if size <= MAX_MEAN_DISCRIMINATION:
        return ()
    text = (
        f"Judges prefer opposite systems: {100 * (1 - 1 / size):.0f} % of their discrimination"
        " cancels in the mean, which is the unit. Discriminations are large and strengths close"
        " together for that reason alone; read their order and signs, not their size."
    )
    return (Notice(Kind.JUDGE_FAULT, text),)


def _rate(
    parameters: FloatArray,
    variance: ClusteredVariance,
    own: FloatArray,
    is_enough: BoolArray,
    level: float,
) -> _Rated:
    """Give parameters intervals; those that come first by their own degrees of freedom."""
    df = np.full(len(parameters), float(variance.df))
    df[: len(own)] = own
    intervals = clustered(parameters, variance, level=level, df=df)
    return _Rated(parameters, intervals, is_enough & (intervals.se > MIN_SE))


def _systems(names: Sequence[str], raw: _Rated, adjusted: _Rated) -> tuple[AdjustedSystem, ...]:
    rows = []
    for k, name in enumerate(names):
        (low, high), (low_adjusted, high_adjusted) = raw.elo_ends(k), adjusted.elo_ends(k)
        rows.append(
            AdjustedSystem(
                system=name,
                elo=_elo(raw.parameters[k]),
                low=low,
                high=high,
                elo_adjusted=_elo(adjusted.parameters[k]),
                low_adjusted=low_adjusted,
                high_adjusted=high_adjusted,
            )
        )
    return tuple(sorted(rows, key=lambda row: (-round(row.elo_adjusted, 6), row.system)))


def _elo(theta: float) -> float:
    """Scale a log-strength whose field has mean 0."""
    return float(ELO_MEAN + ELO_PER_THETA * theta)


def _named(
    error: NotIdentifiedError,
    systems: Sequence[str],
    others: Sequence[str],
    wording: Wording,
    kind: str,
) -> NotIdentifiedError:
    """Name systems, or the covariates or judges whose indices the error carries."""
    if error.components or not error.ids:
        return name_components(error, systems, remedy=wording.remedy)
    names = [others[int(index)] for index in error.ids]
    return NotIdentifiedError(f"{kind} {', '.join(names)}: {error}", ids=names)

"""Do length, formatting or position explain who wins (SPEC section 13)?

All three are held equal together, with the strengths. A covariate whose effect the judgments do not
determine is left out by name. The audit of judges towards their own family is left out: judges do
not judge it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from heartbench.analysis.audit_results import (
    EXPLORATORY,
    PLANNED,
    BiasAudit,
    CovariateEffect,
    SystemTexts,
)
from heartbench.analysis.comparisons import to_comparisons
from heartbench.analysis.controlled import TWICE_AS_MUCH, ControlledRatings, Effect, control
from heartbench.analysis.judgment_columns import JudgmentColumns, select_systems
from heartbench.analysis.text_features import count_formatting, count_words
from heartbench.domain import Assignment, Completion, Pair, System
from heartbench.errors import NotIdentifiedError
from heartbench.stats.comparisons import Comparisons, FloatArray
from heartbench.stats.covariates import relative_difference

STEPS: Mapping[str, float] = {"length": TWICE_AS_MUCH, "formatting": TWICE_AS_MUCH, "position": 1.0}
DECIMALS = 9
"""The fit is good to about this many; an effect of exactly 0 is found with a rounding error."""
UNVARIED: Mapping[str, str] = {
    "length": "both completions are equally long in every comparison",
    "formatting": "no two completions that were compared differ in formatting",
}
NOT_DETERMINED = (
    "its effect is not determined: it follows from which systems were compared and from the other"
    " differences, or foretells some wins without exception"
)


Counts = tuple[int, int]
"""Words and formatting marks of one completion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTexts:
    """What raters were shown: the study's completions, and which of them each assignment shows.

    Attributes:
        completions: Completions of the systems to audit.
        pairs: Pairs of these.
        assignments: Assignments of the pairs.
    """

    completions: Sequence[Completion]
    pairs: Sequence[Pair]
    assignments: Sequence[Assignment]


def audit_bias(
    columns: JudgmentColumns,
    systems: Sequence[System],
    shown: ShownTexts,
    *,
    people: Sequence[str],
    level: float,
) -> BiasAudit:
    """Estimate the effects of length, formatting and position, and the ratings without them.

    Args:
        columns: Judgments; those of other systems are left out.
        systems: Systems whose comparisons determine a ranking.
        shown: What was shown.
        people: Ids of the human raters, sorted.
        level: Nominal coverage of the intervals.
    """
    systems = sorted(systems, key=lambda system: system.name)
    ids = [system.id for system in systems]
    columns = select_systems(columns, set(ids))
    comparisons = to_comparisons(columns, use_strength=False, system_ids=ids, rater_ids=people)
    counts = {
        completion.id: (count_words(completion.text), count_formatting(completion.text))
        for completion in shown.completions
        if completion.system_id in ids
    }
    values = _covariates(columns, shown, counts)
    left_out = {name: UNVARIED[name] for name in UNVARIED if not values[name].any()}
    varied = {name: column for name, column in values.items() if name not in left_out}
    names = [system.name for system in systems]
    ratings, problem = None, None
    try:
        ratings, undetermined = _control(comparisons, varied, names, level=level)
        left_out |= dict.fromkeys(undetermined, NOT_DETERMINED)
    except NotIdentifiedError as error:
        problem = str(error)
    return BiasAudit(
        effects=tuple(map(_effect, ratings.effects)) if ratings else (),
        status_of_effects=PLANNED,
        systems=ratings.systems if ratings else (),
        status_of_ratings=EXPLORATORY,
        texts=_describe(systems, shown.completions, counts),
        left_out=left_out,
        problem=problem,
        interval_used=ratings.interval_used if ratings else None,
        df=ratings.df if ratings else None,
        level=level,
    )


def _covariates(
    columns: JudgmentColumns, shown: ShownTexts, counts: Mapping[str, Counts]
) -> dict[str, FloatArray]:
    """Return each covariate of each judgment, first minus second."""
    pairs = {pair.id: pair.completion_ids for pair in shown.pairs}
    first_of = {a.id: a.first_completion_id for a in shown.assignments}
    first = [first_of[assignment_id] for assignment_id in columns.assignment_id]
    second = [
        other if shown_first == one else one
        for shown_first, (one, other) in zip(
            first, (pairs[pair_id] for pair_id in columns.pair_id), strict=True
        )
    ]
    left = np.array([counts[completion_id] for completion_id in first], dtype=np.float64)
    right = np.array([counts[completion_id] for completion_id in second], dtype=np.float64)
    return {
        "length": relative_difference(left[:, 0], right[:, 0]),
        "formatting": relative_difference(left[:, 1], right[:, 1]),
        "position": np.ones(len(columns)),
    }


def _control(
    comparisons: Comparisons,
    values: Mapping[str, FloatArray],
    names: Sequence[str],
    *,
    level: float,
) -> tuple[ControlledRatings | None, Collection[str]]:
    """Control for what is determined; also name what is not. None if nothing is.

    Raises:
        NotIdentifiedError: Something else than a covariate is not determined.
    """
    undetermined: list[str] = []
    while kept := [name for name in values if name not in undetermined]:
        try:
            ratings = control(
                comparisons,
                np.stack([values[name] for name in kept], axis=1),
                names=names,
                covariate_names=kept,
                steps=[STEPS[name] for name in kept],
                level=level,
            )
        except NotIdentifiedError as error:
            if error.components or not set(error.ids).intersection(kept):
                raise
            undetermined += error.ids
        else:
            return ratings, undetermined
    return None, undetermined


def _effect(effect: Effect) -> CovariateEffect:
    # No width stands for no interval, and is read as such.
    ends = (effect.beta if end is None else end for end in (effect.low, effect.high))
    beta, low, high = (round(value, DECIMALS) + 0.0 for value in (effect.beta, *ends))
    return CovariateEffect(
        covariate=effect.covariate,
        beta=beta,
        low=low,
        high=high,
        step=effect.step,
        win_rate=float(expit(effect.step * beta)),
        win_rate_low=float(expit(effect.step * low)),
        win_rate_high=float(expit(effect.step * high)),
    )


def _describe(
    systems: Sequence[System], completions: Sequence[Completion], counts: Mapping[str, Counts]
) -> tuple[SystemTexts, ...]:
    of_system: dict[str, list[Counts]] = {system.id: [] for system in systems}
    for completion in completions:
        if completion.id in counts:
            of_system[completion.system_id].append(counts[completion.id])
    described = []
    for system in systems:
        found = np.array(of_system[system.id], dtype=np.float64)
        words, formatting = found.mean(axis=0)
        described.append(
            SystemTexts(
                system=system.name,
                n_completions=len(found),
                words=float(words),
                formatting=float(formatting),
            )
        )
    return tuple(described)

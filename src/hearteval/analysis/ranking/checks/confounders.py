"""Do length, formatting or position explain who wins (SPEC section 13)?

All three are held equal together, with the strengths. A covariate whose effect the judgments do not
determine is left out by name. Whether judges favour their own family is left out: they do not judge
it.

Of a completion its words and formatting marks are counted in the form that raters saw.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hearteval.analysis.data import JudgmentRow, StudyData, withdrawn_pairs
from hearteval.analysis.estimates import EXPLORATORY, PLANNED
from hearteval.analysis.ranking.checks.adjusted import (
    NOT_DETERMINED,
    TWICE_AS_MUCH,
    AdjustedSystem,
    Effect,
    EffectTest,
    control_determined,
    find_tests,
    make_effect,
)
from hearteval.analysis.ranking.comparisons import to_comparisons
from hearteval.analysis.words import count_formatting, count_words
from hearteval.domain import Completion, System, display_form
from hearteval.errors import NotIdentifiedError
from hearteval.stats.bradley_terry.covariates import relative_difference
from hearteval.stats.comparisons import FloatArray

STEPS: Mapping[str, float] = {"length": TWICE_AS_MUCH, "formatting": TWICE_AS_MUCH, "position": 1.0}
DECIMALS = 9
"""The fit is good to about this many; an effect of exactly 0 is found with a rounding error."""
UNVARIED: Mapping[str, str] = {
    "length": "both completions are equally long in every comparison",
    "formatting": "no two completions that were compared differ in formatting",
}


Counts = tuple[int, int]
"""Words and formatting marks of one completion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemTexts:
    """One system's mean number of words and of formatting marks."""

    system: str
    n_completions: int
    words: float
    formatting: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Confounders:
    """Length, formatting and position: their effects, and the strengths with them held equal.

    Every judgment counts once, and a tie is half. What goes with length may also be what makes a
    completion good; no such figure can tell.
    """

    effects: tuple[Effect, ...]
    """All estimated together with the strengths."""
    status_of_effects: str
    systems: tuple[AdjustedSystem, ...]
    """Best controlled one first; empty without any."""
    status_of_ratings: str
    texts: tuple[SystemTexts, ...]
    left_out: Mapping[str, str]
    """Covariates that could not be controlled for, and why."""
    problem: str | None
    """Why there are no controlled strengths; None where there are, or all were left out."""
    interval_used: str | None
    """Name of the interval of every figure; None without figures."""
    df: int | None
    level: float
    tests: tuple[EffectTest, ...] = ()
    """Of the effects that have an interval."""


def measure_confounders(
    judgments: Sequence[JudgmentRow],
    systems: Sequence[System],
    data: StudyData,
    *,
    people: Sequence[str],
    level: float,
) -> Confounders:
    """Estimate the effects of length, formatting and position, and the strengths without them.

    Comparisons of these systems determine a ranking; judgments of others are left out, and of texts
    that were withdrawn, whose length nobody knows any more. `data` knows which texts were shown,
    and `people` are the ids of the human raters, sorted.
    """
    systems = sorted(systems, key=lambda system: system.name)
    ids = [system.id for system in systems]
    ranked = set(ids)
    gone = withdrawn_pairs(data.pairs, data.completions)
    judgments = [row for row in judgments if row.is_among(ranked) and row.pair_id not in gone]
    comparisons = to_comparisons(
        judgments, use_strength=False, system_ids=ids, rater_ids=people, writers=data.writers
    )
    counts = {
        completion.id: (count_words(text), count_formatting(text))
        for completion in data.completions
        for text in [display_form(completion.text, data.display)]
        if completion.system_id in ids and not completion.is_withdrawn
    }
    values = _covariates(judgments, data, counts)
    left_out = {name: UNVARIED[name] for name in UNVARIED if not values[name].any()}
    varied = {name: column for name, column in values.items() if name not in left_out}
    names = [system.name for system in systems]
    held, problem = None, None
    try:
        steps = {name: STEPS[name] for name in varied}
        held, undetermined = control_determined(
            comparisons, varied, names, steps=steps, level=level
        )
        left_out |= dict.fromkeys(undetermined, NOT_DETERMINED)
    except NotIdentifiedError as error:
        problem = str(error)
    effects = tuple(map(_rounded, held.effects)) if held else ()
    return Confounders(
        effects=effects,
        tests=find_tests(effects, level=level) if held else (),
        status_of_effects=PLANNED,
        systems=held.systems if held else (),
        status_of_ratings=EXPLORATORY,
        texts=_describe(systems, data.completions, counts),
        left_out=left_out,
        problem=problem,
        interval_used=held.interval_used if held else None,
        df=held.df if held else None,
        level=level,
    )


def _covariates(
    judgments: Sequence[JudgmentRow], data: StudyData, counts: Mapping[str, Counts]
) -> dict[str, FloatArray]:
    """Return each covariate of each judgment, first minus second."""
    pairs = {pair.id: pair.completion_ids for pair in data.pairs}
    first = [row.first_completion_id for row in judgments]
    shown = zip(first, (pairs[row.pair_id] for row in judgments), strict=True)
    second = [other if first_id == one else one for first_id, (one, other) in shown]
    place = {completion_id: i for i, completion_id in enumerate(counts)}
    table = np.array([*counts.values()], dtype=np.float64).reshape(-1, len(UNVARIED))
    left, right = (table[[place[id_] for id_ in side]] for side in (first, second))
    values = {name: relative_difference(left[:, i], right[:, i]) for i, name in enumerate(UNVARIED)}
    return values | {"position": np.ones(len(judgments))}


def _rounded(effect: Effect) -> Effect:
    beta, low, high = (
        None if value is None else round(value, DECIMALS) + 0.0
        for value in (effect.beta, effect.low, effect.high)
    )
    assert beta is not None
    return make_effect(effect.covariate, effect.step, beta, low, high, df=effect.df)


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
        if not len(found):
            continue
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

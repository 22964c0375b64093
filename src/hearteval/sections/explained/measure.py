"""Do length, formatting or position explain who wins (SPEC section 13)?

All three are held equal together, with the strengths. A covariate whose effect the judgments do not
determine is left out by name. Whether judges favour their own family is left out: they do not judge
it.

Of a completion its words and formatting marks are counted in the form that raters saw. The judges
of a panel may differ as well: so there is a ranking by each alone, and one that allows for what
each is like. People are left out there: they are sampled, and what one person is like is nobody's
business here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hearteval.analysis.data import StudyData, withdrawn_pairs
from hearteval.analysis.estimates import EXPLORATORY, PLANNED
from hearteval.analysis.judgments import Judgments
from hearteval.analysis.ranking.checks.adjusted import (
    NOT_DETERMINED,
    TWICE_AS_MUCH,
    AdjustedSystem,
    Effect,
    EffectTest,
    JudgeAwareStrengths,
    control_determined,
    find_tests,
    make_effect,
    rank_judge_aware_panel,
)
from hearteval.analysis.ranking.comparisons import keep_rankable, rank_judgments, to_comparisons
from hearteval.analysis.ranking.rank import EloEstimate
from hearteval.analysis.ranking.warnings import JUDGMENTS
from hearteval.analysis.words import count_formatting, count_words
from hearteval.domain import Completion, Rater, System, display_form
from hearteval.errors import NotIdentifiedError
from hearteval.stats.bradley_terry.covariates import Covariate, TextDifference
from hearteval.stats.comparisons import FloatArray, pack, with_columns

USUAL = 0.9
"""Part of the comparisons that differ at all: they differ by no more than the step shown."""
DECIMALS = 9
"""The fit is good to about this many; an effect of exactly 0 is found with a rounding error."""
UNVARIED: Mapping[str, str] = {
    "length": "both replies are equally long in every comparison",
    "formatting": "no two replies that were compared differ in formatting",
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
    judgments: Judgments,
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
    judgments = judgments.select(judgments.is_among(ranked) & ~judgments.pair.is_in(gone))
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
    left_out = {name: UNVARIED[name] for name in UNVARIED if not values[name][:].any()}
    varied = {name: column for name, column in values.items() if name not in left_out}
    names = [system.name for system in systems]
    held, problem = None, None
    try:
        steps = {
            name: _step(column[:]) if name in UNVARIED else 1.0 for name, column in varied.items()
        }
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
    judgments: Judgments, data: StudyData, counts: Mapping[str, Counts]
) -> dict[str, Covariate]:
    """Return each covariate of each judgment, first minus second."""
    place = {completion_id: i for i, completion_id in enumerate(counts)}
    # The two of a pair: what one of them is not is the other.
    low, high = (end.numbers(place) for end in (data.pairs.low, data.pairs.high))
    both = np.where((low < 0) | (high < 0), -1, low + high)
    first = pack(judgments.first_completion.known(place))
    second = pack(data.pairs.known(both, judgments.pair) - first)
    table = np.array([*counts.values()], dtype=np.float64).reshape(-1, len(UNVARIED))
    values: dict[str, Covariate] = {
        name: TextDifference(first, second, of) for name, of in zip(UNVARIED, table.T, strict=True)
    }
    return values | {"position": np.broadcast_to(1.0, len(judgments))}


def _step(differences: FloatArray) -> float:
    """Return a relative difference that was observed: twice as much, or less where that is rare."""
    return min(TWICE_AS_MUCH, float(np.quantile(np.abs(differences[differences != 0]), USUAL)))


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


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRanking:
    """The headline ranking by one judge alone."""

    judge: str
    n_judgments: int
    ratings: Mapping[str, EloEstimate]
    """Strength by system; empty where its judgments do not determine any."""
    problem: str | None
    """Why there are none, else None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePanel:
    """How the judges of a panel differ; people's judgments are left out."""

    judge_aware: JudgeAwareStrengths | None
    """Raw (unweighted) strengths and those with each judge's discrimination and position bias
    estimated beside them, every judgment counting once; None where these are not determined."""
    problem: str | None
    """Why they are not, naming the judges; else None."""
    status_of_ratings: str
    alone: tuple[JudgeRanking, ...]


def compare_judges(
    judgments: Judgments,
    systems: Sequence[System],
    raters: Sequence[Rater],
    *,
    writers: Mapping[str, str] | None = None,
    level: float,
) -> JudgePanel | None:
    """Rank by each judge alone, and by all with what each is like estimated beside.

    `writers` are by pair, as `StudyData.writers` has them.

    What the judgments do not determine is named as a problem. Judgments of other systems than these
    are left out. None with fewer than two judges.
    """
    judgments = judgments.by({rater.id for rater in raters if rater.kind == "llm"})
    there = {*judgments.rater.present}
    by_name = sorted(raters, key=lambda rater: (rater.name, rater.id))
    judges = [rater for rater in by_name if rater.id in there]
    if len(judges) < 2:
        return None
    systems = sorted(systems, key=lambda system: system.name)
    judge_aware, problem = None, None
    try:
        judge_aware = _rate_judge_aware(judgments, systems, judges, writers=writers, level=level)
    except NotIdentifiedError as error:
        problem = str(error)
    return JudgePanel(
        judge_aware=judge_aware,
        problem=problem,
        status_of_ratings=EXPLORATORY,
        alone=tuple(
            _rank_alone(judgments.by({judge.id}), systems, judge.name, writers=writers, level=level)
            for judge in judges
        ),
    )


def _rate_judge_aware(
    judgments: Judgments,
    systems: Sequence[System],
    judges: Sequence[Rater],
    *,
    writers: Mapping[str, str] | None,
    level: float,
) -> JudgeAwareStrengths:
    everyone = to_comparisons(
        judgments,
        use_strength=False,
        system_ids=[system.id for system in systems],
        rater_ids=[judge.id for judge in judges],
        writers=writers,
    )
    comparisons, field = keep_rankable(everyone, systems)
    left = np.unique(comparisons.rater)
    return rank_judge_aware_panel(
        with_columns(comparisons, rater=np.searchsorted(left, comparisons.rater)),
        names=[system.name for system in field],
        judges=[judges[k].name for k in left],
        level=level,
        wording=JUDGMENTS,
    )


def _rank_alone(
    judgments: Judgments,
    systems: Sequence[System],
    judge: str,
    *,
    writers: Mapping[str, str] | None,
    level: float,
) -> JudgeRanking:
    ratings: Mapping[str, EloEstimate] = {}
    problem = None
    try:
        ratings = rank_judgments(
            judgments, systems, use_strength=True, writers=writers, level=level
        ).by_name
    except NotIdentifiedError as error:
        problem = str(error)
    return JudgeRanking(judge=judge, n_judgments=len(judgments), ratings=ratings, problem=problem)

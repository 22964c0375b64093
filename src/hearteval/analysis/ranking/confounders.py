"""Do length, formatting or position explain who wins (SPEC section 13)?

All three are held equal together, with the strengths. A covariate whose effect the judgments do not
determine is left out by name. Whether judges favour their own family is left out: they do not judge
it.

Of a completion, in the form that raters saw, its words are counted, and its formatting marks:
Markdown and emoji, as chat models write them. HTML and emoticons made of punctuation are left out.
Words are what white space separates, so languages written without it have no word count worth
controlling for.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from hearteval.analysis.data import JudgmentRow, StudyData, withdrawn_pairs
from hearteval.analysis.ranking.adjusted import (
    TWICE_AS_MUCH,
    AdjustedSystem,
    Controlled,
    Effect,
    control,
    make_effect,
)
from hearteval.analysis.ranking.comparisons import to_comparisons
from hearteval.analysis.ranking.warnings import JUDGMENTS
from hearteval.domain import Completion, System, display_form
from hearteval.errors import NotIdentifiedError
from hearteval.stats.bradley_terry.covariates import relative_difference
from hearteval.stats.comparisons import Comparisons, FloatArray
from hearteval.stats.means import false_discovery_q
from hearteval.stats.special import stdtr, t_quantile

PLANNED: Final = "planned"
EXPLORATORY: Final = "exploratory"
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
FENCES = ("```", "~~~")

_PICTURE = "[\u2600-\u27bf\u2b00-\u2bff\U0001f300-\U0001faff]"
# Skin tones, variation selectors and zero-width joiners make one emoji of several characters.
_EMOJI = (
    "[\U0001f1e6-\U0001f1ff]{2}|[0-9#*]\ufe0f?\u20e3"
    f"|{_PICTURE}[\ufe0f\U0001f3fb-\U0001f3ff]*(?:\u200d{_PICTURE}[\ufe0f\U0001f3fb-\U0001f3ff]*)*"
)
_IN_LINE = (
    (re.compile(r"^#{1,6}\s+"), ""),
    (re.compile(r"^(?:[-*+•]|\d{1,3}[.)])\s+"), ""),
    (re.compile("`[^`]+`"), "x"),
    (re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)"), r"\1"),
    (re.compile(r"\b(?:https?://|www\.)[^\s<>()]+"), "x"),
    (re.compile(_EMOJI), "x"),
    # Innermost emphasis first: its words stay, so that what encloses it is seen.
    (re.compile(r"\*\*\*(?=[^\s*])([^*]*[^\s*])\*\*\*"), r"\1"),
    (re.compile(r"(?<!\*)\*(?=[^\s*])([^*]*[^\s*])\*(?!\*)"), r"\1"),
    (re.compile(r"\*\*(?=[^\s*])([^*]*[^\s*])\*\*"), r"\1"),
    (re.compile(r"(?<!\w)___(?=[^\s_])([^_]*[^\s_])___(?!\w)"), r"\1"),
    (re.compile(r"(?<!\w)_(?=[^\s_])([^_]*[^\s_])_(?!\w)"), r"\1"),
    (re.compile(r"(?<!\w)__(?=[^\s_])([^_]*[^\s_])__(?!\w)"), r"\1"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemTexts:
    """One system's mean number of words and of formatting marks."""

    system: str
    n_completions: int
    words: float
    formatting: float


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


def control_determined(
    comparisons: Comparisons,
    values: Mapping[str, FloatArray],
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
                np.stack([values[name] for name in kept], axis=1),
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


def count_words(text: str) -> int:
    """Count what white space separates."""
    return len(text.split())


def count_formatting(text: str) -> int:
    """Count formatting marks.

    One each: a heading, a list entry, a row of a table, a run of bold or italic, a code block, a
    piece of code in a line, a link, an emoji. What stands in code is not looked at.
    """
    n = 0
    fence = ""
    for line in text.splitlines():
        bare = line.strip()
        if fence:
            fence = "" if bare.startswith(fence) and not bare.strip(fence[0]) else fence
        elif bare.startswith(FENCES) and bare[0] not in bare.lstrip(bare[0]):
            fence = bare[:3]
            n += 1
        else:
            n += _count_in_line(bare)
    return n


def _count_in_line(line: str) -> int:
    if line.startswith("|") and line.endswith("|") and not line.strip("|-: "):
        return 0  # the rule under the heading of a table
    n = int(len(line) > 1 and line.startswith("|") and line.endswith("|"))
    for pattern, words in _IN_LINE:
        line, n_found = pattern.subn(words, line)
        n += n_found
    return n

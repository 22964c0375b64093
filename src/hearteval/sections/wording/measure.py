"""How replies are worded: varied or by a template, and with how many words for feelings.

HEART 4.2 says that people used a broader emotional vocabulary and that models followed a template.
Each measure is a mean over random draws of a fixed size, or a rate: neither longer nor more replies
make it larger. Intervals are t over items, by what each item does to a figure, these systems and
writers given. No labeler is asked: words are counted. Exploratory.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hearteval.analysis.data import StudyData
from hearteval.analysis.estimates import Estimate, clustered_estimates, clustered_tests, with_q
from hearteval.analysis.words import words_of
from hearteval.domain import Completion, System
from hearteval.protocol import load_protocol
from hearteval.stats.comparisons import BoolArray, FloatArray, IntArray, renumber
from hearteval.stats.variety import different_in_draw, recurring_in_draw

Measure = Literal[
    "different-words",
    "emotion-words",
    "different-emotion-words",
    "recurring-phrases",
    "recurring-openings",
]
Comparison = Literal["models-people", "family-people"]
MEASURES: Final[tuple[Measure, ...]] = (
    "different-words",
    "emotion-words",
    "different-emotion-words",
    "recurring-phrases",
    "recurring-openings",
)
"""Different words among `WORDS_DRAWN` of a system's (HD-D times 42); words for feelings among 100;
different ones among `EMOTION_WORDS_DRAWN` of them; share of a reply's sequences of `PHRASE` words
that one of `REPLIES_DRAWN` of its replies to other items holds too; share of replies whose first
`OPENING` words open one of these."""
WORDS_DRAWN: Final = 42
EMOTION_WORDS_DRAWN: Final = 10
REPLIES_DRAWN: Final = 10
PHRASE: Final = 4
OPENING: Final = 3
HIGHEST: Final[Mapping[Measure, float]] = {
    "different-words": WORDS_DRAWN,
    "emotion-words": 100,
    "different-emotion-words": EMOTION_WORDS_DRAWN,
    "recurring-phrases": 1,
    "recurring-openings": 1,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemWording:
    """How the replies of one system are worded.

    Attributes:
        n_words: In a reply, the mean.
        measures: By `MEASURES`; without those of which there is too little.
    """

    system: str
    kind: str
    family: str
    n_completions: int
    n_items: int
    n_words: float
    measures: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True, kw_only=True)
class WordingDifference:
    """How models are worded less how people are, on items that both have.

    Attributes:
        comparison: ``models-people``, or ``family-people`` for one developer's line.
        difference: Of the means over the systems of each side.
        p: Two-sided, t over items; None where nothing varies.
        q: Benjamini-Hochberg over the tests of one comparison.
    """

    comparison: Comparison
    group: str
    measure: Measure
    models: float
    people: float
    difference: float
    low: float | None
    high: float | None
    p: float | None
    q: float | None
    n_items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WordingResults:
    """How replies are worded, by system.

    Attributes:
        emotion_words: Version of the list of words for feelings (`protocol/emotion_words.toml`);
            it is English, and replies to items in another language have no such figure.
    """

    systems: tuple[SystemWording, ...]
    differences: tuple[WordingDifference, ...]
    emotion_words: str
    level: float


class _Words(NamedTuple):
    """The words of many replies, a row each, text by text."""

    kind: NDArray[np.int32]
    text: NDArray[np.int32]
    """Place of its reply."""
    is_emotion: BoolArray
    """By kind."""
    item_of_text: IntArray
    system_of_text: IntArray
    is_listed: BoolArray
    """By text: whether its language is that of the list."""
    phrases: "_Sequences"
    openings: "_Sequences"
    n_items: int


class _Sequences(NamedTuple):
    """Words in a row: the number of each such sequence, and its text."""

    number: NDArray[Any]
    text: NDArray[np.int32]

    def of(self, texts: IntArray, is_chosen: BoolArray) -> tuple[IntArray, IntArray]:
        """Return those of some texts, each text as its place among them."""
        rows = is_chosen[self.text]
        return self.number[rows].astype(np.int64), np.searchsorted(texts, self.text[rows])


Figures = dict[Measure, tuple[float, FloatArray]]
"""Each figure, and what every item does to it."""


def measure_wording(data: StudyData, *, level: float) -> WordingResults | None:
    """Return how the replies of ranked systems are worded; None without a reply."""
    systems = sorted(data.ranked, key=lambda system: system.name)
    language = {item.id: item.language for item in data.items}
    place = {system.id: k for k, system in enumerate(systems)}
    texts = [
        text
        for text in data.completions
        if text.system_id in place and text.item_id in language and not text.is_withdrawn
    ]
    if not texts:
        return None
    words = _read(texts, place, language)
    present = [k for k in range(len(systems)) if (words.system_of_text == k).any()]
    figures = {k: _measure(words, words.system_of_text == k) for k in present}
    found = [_describe(systems[k], words, k, figures[k], level=level) for k in present]
    return WordingResults(
        systems=tuple(found),
        differences=_differences(words, systems, figures, level=level),
        emotion_words=load_protocol("emotion_words")["version"],
        level=level,
    )


def _read(
    texts: Sequence[Completion], place: Mapping[str, int], language: Mapping[str, str]
) -> _Words:
    read = [words_of(text.text) for text in texts]
    number = {word: k for k, word in enumerate(dict.fromkeys(chain.from_iterable(read)))}
    listed, is_feeling = load_protocol("emotion_words")["language"], _emotion_words().fullmatch
    items = {id_: k for k, id_ in enumerate(sorted({text.item_id for text in texts}))}
    is_listed = [language[text.item_id].split("-")[0].lower() == listed for text in texts]
    kind = np.fromiter(map(number.__getitem__, chain.from_iterable(read)), np.int32)
    text = np.repeat(np.arange(len(texts), dtype=np.int32), [len(each) for each in read])
    del read
    return _Words(
        kind=kind,
        text=text,
        is_emotion=np.array([is_feeling(word) is not None for word in number], dtype=bool),
        item_of_text=np.array([items[text.item_id] for text in texts], dtype=np.int64),
        system_of_text=np.array([place[text.system_id] for text in texts], dtype=np.int64),
        is_listed=np.array(is_listed, dtype=bool),
        phrases=_sequences(kind, text, PHRASE),
        openings=_openings(kind, text),
        n_items=len(items),
    )


@cache
def _emotion_words() -> re.Pattern[str]:
    words = " ".join(load_protocol("emotion_words")["words"].values()).split()
    return re.compile("|".join(re.escape(word).replace(r"\*", r"[\w']*") for word in words))


def _describe(
    system: System, words: _Words, k: int, figures: Figures, *, level: float
) -> SystemWording:
    is_own = words.system_of_text == k
    items = np.unique(words.item_of_text[is_own])
    return SystemWording(
        system=system.name,
        kind=system.kind,
        family=system.family,
        n_completions=int(is_own.sum()),
        n_items=len(items),
        n_words=float(is_own[words.text].sum() / is_own.sum()),
        measures={
            measure: _bounded(measure, value, influence[items], items, level=level)
            for measure, (value, influence) in figures.items()
        },
    )


def _bounded(
    measure: Measure, value: float, influence: FloatArray, items: IntArray, *, level: float
) -> Estimate:
    """Return a figure with its interval over items, within what it can be."""
    judges = np.full(len(items), -1)
    one = clustered_estimates([value], influence[:, None], items, judges, level=level)[0]
    if one.low is None or one.high is None:
        return one
    return Estimate(value=value, low=max(0.0, one.low), high=min(HIGHEST[measure], one.high))


def _measure(words: _Words, is_chosen: BoolArray) -> Figures:
    """Measure the chosen texts, which are of one system; without what has too little."""
    texts = np.flatnonzero(is_chosen)
    rows = is_chosen[words.text]
    kind = words.kind[rows].astype(np.int64)
    text = np.searchsorted(texts, words.text[rows])
    item_of_text = words.item_of_text[texts]
    item, n_items = item_of_text[text], words.n_items
    is_feeling = words.is_emotion[kind] & words.is_listed[texts][text]
    found: dict[Measure, tuple[float, FloatArray] | None] = {
        "different-words": different_in_draw(kind, item, WORDS_DRAWN, n_units=n_items),
        "emotion-words": _rate(is_feeling, text, item_of_text, words.is_listed[texts], n_items),
        "different-emotion-words": different_in_draw(
            kind[is_feeling], item[is_feeling], EMOTION_WORDS_DRAWN, n_units=n_items
        ),
        "recurring-phrases": recurring_in_draw(
            *words.phrases.of(texts, is_chosen), item_of_text, REPLIES_DRAWN, n_units=n_items
        ),
        "recurring-openings": recurring_in_draw(
            *words.openings.of(texts, is_chosen), item_of_text, REPLIES_DRAWN, n_units=n_items
        ),
    }
    return {measure: one for measure, one in found.items() if one is not None}


def _sequences(kind: NDArray[np.int32], text: NDArray[np.int32], n: int) -> _Sequences:
    """Return every `n` words in a row of one text."""
    n_rows = max(len(kind) - n + 1, 0)
    number: NDArray[Any] = kind[:n_rows]
    n_kinds = int(kind.max(initial=0)) + 1
    for k in range(1, n):
        number = renumber(number.astype(np.int64) * n_kinds + kind[k : k + n_rows])
    is_whole = text[:n_rows] == text[len(text) - n_rows :]
    return _Sequences(number[is_whole], text[:n_rows][is_whole])


def _openings(kind: NDArray[np.int32], text: NDArray[np.int32]) -> _Sequences:
    number, of_text = _sequences(kind, text, OPENING)
    _, first = np.unique(of_text, return_index=True)
    return _Sequences(number[first], of_text[first])


def _rate(
    is_feeling: BoolArray,
    text: IntArray,
    item_of_text: IntArray,
    is_listed: BoolArray,
    n_items: int,
) -> tuple[float, FloatArray] | None:
    """Return words for feelings among 100: the mean over items of the mean over their texts."""
    n_words = np.bincount(text, minlength=len(item_of_text))
    counted = np.flatnonzero(is_listed & (n_words > 0))
    if not len(counted):
        return None
    n_feelings = np.bincount(text, weights=is_feeling, minlength=len(item_of_text))
    item, shares = item_of_text[counted], 100 * n_feelings[counted] / n_words[counted]
    n_texts = np.bincount(item, minlength=n_items)
    sums = np.bincount(item, weights=shares, minlength=n_items)
    means = sums / np.maximum(n_texts, 1)
    n_present = int((n_texts > 0).sum())
    value = float(means.sum() / n_present)
    return value, (means - value) * (n_texts > 0) / n_present


def _differences(
    words: _Words, systems: Sequence[System], figures: Mapping[int, Figures], *, level: float
) -> tuple[WordingDifference, ...]:
    people = [k for k in figures if systems[k].kind == "human"]
    models = [k for k in figures if systems[k].kind == "model"]
    families = sorted({systems[k].family for k in models})
    groups: list[tuple[Comparison, str, list[int]]] = [("models-people", "models", models)]
    groups += [
        ("family-people", family, [k for k in models if systems[k].family == family])
        for family in families
    ]
    found: dict[Comparison, list[WordingDifference]] = {"models-people": [], "family-people": []}
    for comparison, group, members in groups:
        sides = _Sides(comparison, group, *_shared(words, members, people, figures))
        found[comparison] += _compare(sides, level=level)
    return tuple(row for rows in found.values() for row in with_q(rows))


class _Sides(NamedTuple):
    """Models and people, on the items of which both have a reply."""

    comparison: Comparison
    group: str
    items: IntArray
    models: Sequence[Figures]
    people: Sequence[Figures]


def _shared(
    words: _Words, models: Sequence[int], people: Sequence[int], figures: Mapping[int, Figures]
) -> tuple[IntArray, list[Figures], list[Figures]]:
    """Return the items that both sides have, and what each system of a side is like on them."""
    is_one, is_other = (np.isin(words.system_of_text, side) for side in (models, people))
    items = np.intersect1d(words.item_of_text[is_one], words.item_of_text[is_other])
    is_shared = np.isin(words.item_of_text, items)

    def of(k: int) -> Figures:
        own = words.system_of_text == k
        return figures[k] if is_shared[own].all() else _measure(words, own & is_shared)

    one, other = ([of(k) for k in side] for side in (models, people))
    return items, one, other


def _compare(sides: _Sides, *, level: float) -> list[WordingDifference]:
    """Compare the means over the systems of each side."""
    items = sides.items
    rows = []
    for measure in MEASURES:
        left = [figures[measure] for figures in sides.models if measure in figures]
        right = [figures[measure] for figures in sides.people if measure in figures]
        if not left or not right:
            continue
        means = [float(np.mean([value for value, _ in side])) for side in (left, right)]
        moves = [np.mean([influence for _, influence in side], axis=0) for side in (left, right)]
        apart, judges = (moves[0] - moves[1])[items][:, None], np.full(len(items), -1)
        value = means[0] - means[1]
        (at,), (p,) = clustered_tests([value], apart, items, judges, level=level)
        rows.append(
            WordingDifference(
                comparison=sides.comparison,
                group=sides.group,
                measure=measure,
                models=means[0],
                people=means[1],
                difference=value,
                low=at.low,
                high=at.high,
                p=p,
                q=None,
                n_items=len(items),
            )
        )
    return rows

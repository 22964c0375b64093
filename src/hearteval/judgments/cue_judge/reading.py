"""What the cue judge sees in one text and in one context, read once and kept.

A reading holds no verdict: words, stems, sentences, topics. `cues` turns two readings into cues.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from hearteval.domain import Turn
from hearteval.judgments.cue_judge.lexicon import (
    content_weight,
    find_phrases,
    find_words,
    groups_of,
    lower_word,
    stem,
)
from hearteval.protocol import load_protocol

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
CACHED_TEXTS = 1 << 16
_CACHED_CONTEXTS = 1 << 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence: its text, the stems of its content words, whether it asks."""

    text: str
    stems: frozenset[str]
    is_question: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One text as the cues see it."""

    text: str
    as_written: tuple[str, ...]
    """Its words."""
    words: tuple[str, ...]
    """The same in lower case."""
    content: Mapping[str, float]
    """Weight of each content stem, in order of appearance."""
    quotes: Mapping[str, str]
    """How each content stem is first written."""
    sentences: tuple[Sentence, ...]
    topics: Mapping[str, str]
    """Topics named, with the first word that names each."""
    feelings: Mapping[str, str]
    """Feeling families named, likewise."""
    persons: Mapping[str, str]
    """Person lists (he, he_nouns, ...) touched, likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextReading:
    """One dialogue history as the cues see it."""

    stems: Mapping[str, float]
    """Weight of each content stem: 1 in the last turn, less the further back."""
    last_stems: frozenset[str]
    """Content stems of the seeker's last turn."""
    topics: Mapping[str, int]
    """In how many words each topic was named."""
    feelings: frozenset[str]
    """Feeling families that the seeker named."""
    persons: frozenset[str]
    """``he`` and ``she`` where such a person was spoken of."""
    places: Mapping[str, tuple[int, ...]]
    """Where each word stands; numbers follow on within a turn, and skip one between turns."""
    is_closing: bool
    """Whether the seeker's last turn thanks or says goodbye."""


@lru_cache(maxsize=CACHED_TEXTS)
def read_text(text: str) -> Reading:
    """Read one text."""
    as_written = tuple(find_words(text))
    words = tuple(lower_word(written) for written in as_written)
    content: dict[str, float] = {}
    quotes: dict[str, str] = {}
    for word, written in zip(words, as_written, strict=True):
        weight = content_weight(word)
        if weight > content.get(stem(word), 0.0):
            content[stem(word)] = weight
            quotes[stem(word)] = written
    return Reading(
        text=text,
        as_written=as_written,
        words=words,
        content=content,
        quotes=quotes,
        sentences=_sentences(text),
        topics=_named("topics", as_written),
        feelings=_named("feelings", as_written),
        persons=_named("persons", as_written),
    )


@lru_cache(maxsize=_CACHED_CONTEXTS)
def read_context(context: tuple[Turn, ...]) -> ContextReading:
    """Read one dialogue history, which ends with a seeker turn."""
    scales = load_protocol("cues")["scales"]
    readings = [read_text(turn.text) for turn in context]
    stems: dict[str, float] = {}
    topic_words: dict[str, set[str]] = {}
    for distance, reading in enumerate(reversed(readings)):
        nearness = max(scales["nearness_floor"], 1.0 - scales["nearness_step"] * distance)
        for one in reading.content:
            stems.setdefault(one, nearness)
        for word in reading.words:
            for topic in groups_of("topics", word):
                topic_words.setdefault(topic, set()).add(word)
    persons = {name.removesuffix("_nouns") for reading in readings for name in reading.persons}
    last = context[-1].text
    return ContextReading(
        stems=stems,
        last_stems=frozenset(readings[-1].content),
        topics={topic: len(words) for topic, words in topic_words.items()},
        feelings=frozenset(
            family
            for turn, reading in zip(context, readings, strict=True)
            if turn.role == "seeker"
            for family in reading.feelings
        ),
        persons=frozenset(persons),
        places=_places(reading.words for reading in readings),
        is_closing=bool(find_phrases("thanks", last) or find_phrases("closing", last)),
    )


def _sentences(text: str) -> tuple[Sentence, ...]:
    sentences = []
    for match in _SENTENCE.finditer(text):
        words = [lower_word(written) for written in find_words(match.group())]
        if words:
            stems = frozenset(stem(word) for word in words if content_weight(word) > 0)
            sentences.append(
                Sentence(text=match.group(), stems=stems, is_question=match.group().endswith("?"))
            )
    return tuple(sentences)


def _places(lines: Iterable[Sequence[str]]) -> dict[str, tuple[int, ...]]:
    places: dict[str, list[int]] = {}
    start = 0
    for line in lines:
        for index, word in enumerate(line, start):
            places.setdefault(word, []).append(index)
        start += len(line) + 1
    return {word: tuple(found) for word, found in places.items()}


def _named(section: str, as_written: Sequence[str]) -> dict[str, str]:
    named: dict[str, str] = {}
    for written in as_written:
        for group in groups_of(section, lower_word(written)):
            named.setdefault(group, written)
    return named

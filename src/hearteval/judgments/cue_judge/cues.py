"""The cues of the offline cue judge: what each is, on which axis, and the words it rests on.

Each cue is a number from 0 to 1, found by counting words from the lists in ``protocol/cues.toml``.
Cues saturate: a pile of hits is worth little more than a few. They measure nothing about empathy.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from hearteval.domain import Axis, Turn
from hearteval.judgments.cue_judge.lexicon import (
    content_weight,
    find_insults,
    find_patterns,
    find_phrases,
    lower_word,
    word_set,
)
from hearteval.judgments.cue_judge.reading import (
    CACHED_TEXTS,
    ContextReading,
    Reading,
    read_context,
    read_text,
)
from hearteval.protocol import load_protocol

MAX_QUOTES = 3
MAX_QUOTE_CHARS = 40
_LAYOUT = re.compile(r"^[ \t]*(?:[-*#\u2022]|\d+[.)])[ \t]", re.MULTILINE)
_ADDRESS = frozenset(["i", "i'm", "i've", "im", "we", "u", "you", "you're", "you've", "your"])


class Cue(NamedTuple):
    """How far a cue holds, from 0 to 1, and up to three short quotes it rests on."""

    value: float
    quotes: tuple[str, ...]


Cues = Mapping[Axis, Mapping[str, Cue]]


class _Case(NamedTuple):
    context: ContextReading
    reply: Reading
    scales: Mapping[str, Any]


_Found = tuple[float, Iterable[str]]


def find_cues(context: tuple[Turn, ...], text: str) -> Cues:
    """Return every cue of a text as an answer to a context, by axis and name."""
    case = _Case(read_context(context), read_text(text), load_protocol("cues")["scales"])
    return {
        axis: {name: _cue(finder(case)) for name, finder in finders.items()}
        for axis, finders in _FINDERS.items()
    }


def _cue(found: _Found) -> Cue:
    value, quotes = found
    short = [quote.strip()[:MAX_QUOTE_CHARS] for quote in quotes]
    return Cue(value=round(value, 4), quotes=tuple(short[:MAX_QUOTES]))


def _saturate(amount: float, half: float) -> float:
    return amount / (amount + half)


def _ramp(amount: float, start: float, end: float) -> float:
    """Return 0 up to `start`, 1 from `end` on (which may lie below it), linear between."""
    return min(1.0, max(0.0, (amount - start) / (end - start)))


def _length(case: _Case) -> _Found:
    """Return 1 for one to three sentences of ordinary length, less for more."""
    reply, scales = case.reply, case.scales
    by_sentences = _ramp(len(reply.sentences), scales["sentences_until"], scales["max_sentences"])
    by_words = _ramp(len(reply.words), scales["words_until"], scales["max_words"])
    return (min(by_sentences, by_words) if reply.words else 0.0), ()


def _conversational(case: _Case) -> _Found:
    """Return 1 where somebody speaks to somebody: I, we or you."""
    return float(any(word in _ADDRESS for word in case.reply.words)), ()


def _word_salad(case: _Case) -> _Found:
    """Return how far words are piled up: few grammar words, long runs without any."""
    runs: list[list[str]] = [[]]
    for word, written in zip(case.reply.words, case.reply.as_written, strict=True):
        if content_weight(word) == 0:
            runs.append([])
        else:
            runs[-1].append(written)
    longest = max(runs, key=len)
    scales, n_words = case.scales, len(case.reply.words)
    salad = _ramp(len(longest), scales["natural_run"], scales["salad_run"])
    if n_words >= scales["salad_min_words"]:
        share = (len(runs) - 1) / n_words
        by_share = _ramp(share, scales["natural_function_share"], scales["salad_function_share"])
        salad = max(salad, by_share)
    return salad, (longest if salad else ())


def _broken_order(case: _Case) -> _Found:
    """Return how often a word follows another that it cannot follow: *the of*, *I the*."""
    reply = case.reply
    broken = [pair for pair in pairwise(reply.words) if _is_broken(*pair)]
    share = len(broken) / max(1, len(reply.words))
    return _ramp(share, case.scales["natural_broken"], case.scales["salad_broken"]), ()


def _is_broken(word: str, following: str) -> bool:
    if word in word_set("articles"):
        return following in word_set("not_after_article")
    return word in word_set("subjects") and following in word_set("not_after_subject")


def _repetition(case: _Case) -> _Found:
    """Return how often one word comes back, most of all one with content."""
    words, scales = case.reply.words, case.scales
    content = Counter(word for word in words if content_weight(word) == 1).most_common(1)
    value = _ramp(
        content[0][1] if content else 0, scales["natural_repeats"], scales["salad_repeats"]
    )
    quotes = _as_written(case.reply, content[0][0]) if value else ()
    if len(words) >= scales["salad_min_words"]:
        word, count = Counter(words).most_common(1)[0]
        share = count / len(words)
        by_share = _ramp(share, scales["natural_top_share"], scales["salad_top_share"])
        if by_share > value:
            value, quotes = by_share, _as_written(case.reply, word)
    return value, quotes


def _robotic(case: _Case) -> _Found:
    """Return 1 for lists and headings, which nobody speaks."""
    return float(bool(_LAYOUT.search(case.reply.text))), ()


def _feeling_named(case: _Case) -> _Found:
    """Return 1 for a feeling of a family that the seeker named, half for another."""
    named = case.reply.feelings
    shared = [quote for family, quote in named.items() if family in case.context.feelings]
    if shared:
        return 1.0, shared
    return (0.5 if named else 0.0), named.values()


def _phrases(name: str, *, half: float) -> Callable[[_Case], _Found]:
    """Make a cue that counts a list's phrases, of which `half` earn half the cue."""

    def find(case: _Case) -> _Found:
        found = find_phrases(name, case.reply.text)
        return _saturate(len(found), half), found

    return find


def _cold(case: _Case) -> _Found:
    """Return 1 where nothing comforts, offers, hedges, shares or asks; less for a sign of it."""
    n_signs = len(find_phrases("warm", case.reply.text))
    n_signs += any(sentence.is_question for sentence in case.reply.sentences)
    return _ramp(n_signs, case.scales["warm_enough"], 0), ()


@lru_cache(maxsize=CACHED_TEXTS)
def find_hostility(text: str) -> tuple[int, tuple[str, ...]]:
    """Return the number of hits in a text and its hostile places, as written there.

    What is hostile is said in ``cues.toml`` by patterns over small classes of words, so that new
    sentences built the same way are found too. A pattern or an insult meant for *you* is a hit; so
    are every two different suspect words in the rest of the text. It sees no irony and no tact.
    """
    sure = find_patterns("hostility", text)
    for sentence in read_text(text).sentences:
        sure += [one for one in find_insults(sentence.text) if one not in sure]
    covered = " / ".join(lower_word(quote) for quote in sure)
    suspects = [one for one in find_phrases("suspect", text) if lower_word(one) not in covered]
    n_pairs = len(suspects) // 2
    return len(sure) + n_pairs, tuple(sure + suspects if n_pairs else sure)


def _harsh(case: _Case) -> _Found:
    """Return how much blame, contempt and insult there is; one hit earns two thirds."""
    n_hits, quotes = find_hostility(case.reply.text)
    return _saturate(n_hits, case.scales["harsh_half"]), quotes


def _relevance(case: _Case) -> _Found:
    """Return how much weight of words the text shares with the dialogue; rare words twice."""
    near = case.context.stems
    shared = {one: w * near[one] for one, w in case.reply.content.items() if one in near}
    weight = sum(w * (2 if case.reply.content[one] == 1 else 1) for one, w in shared.items())
    best = sorted(shared, key=lambda one: -shared[one])
    capped = min(weight, case.scales["relevance_cap"])
    value = _saturate(capped, case.scales["relevance_half"])
    return value, [case.reply.quotes[one] for one in best]


def _unconnected(case: _Case) -> _Found:
    """Return how much weight of words the dialogue has not had."""
    new = [one for one in case.reply.content if one not in case.context.stems]
    weight = sum(case.reply.content[one] for one in new)
    value = _saturate(weight, case.scales["unconnected_half"])
    return value, [case.reply.quotes[one] for one in new]


def _shared_topic(case: _Case) -> _Found:
    """Return how firmly the topics the text names stand in the dialogue."""
    shared = [topic for topic in case.reply.topics if topic in case.context.topics]
    weight = sum(min(2, case.context.topics[topic]) for topic in shared)
    value = _saturate(weight, case.scales["shared_topic_half"])
    return value, [case.reply.topics[topic] for topic in shared]


def _foreign_topic(case: _Case) -> _Found:
    """Return how many topics the text brings in from nowhere."""
    known = case.context.topics
    foreign = [quote for topic, quote in case.reply.topics.items() if topic not in known]
    return _saturate(len(foreign), case.scales["foreign_topic_half"]), foreign


def _known_person(case: _Case) -> _Found:
    """Return 1 where *he* or *she* is somebody the dialogue speaks of."""
    quotes = [quote for person, quote in _pronouns(case) if person in case.context.persons]
    return float(bool(quotes)), quotes


def _unknown_person(case: _Case) -> _Found:
    """Return 1 where *he* or *she* is nobody the dialogue speaks of."""
    quotes = [quote for person, quote in _pronouns(case) if person not in case.context.persons]
    return float(bool(quotes)), quotes


def _copied(case: _Case) -> _Found:
    """Return how far the text only repeats: a long span of one turn, or nearly all its words."""
    scales, reply = case.scales, case.reply
    span = _longest_span(reply.words, case.context.places, enough=scales["copied_span"])
    value = _ramp(span, scales["natural_span"], scales["copied_span"])
    rare = [one for one, weight in reply.content.items() if weight == 1]
    if len(rare) >= scales["shared_min_words"]:
        n_shared = sum(one in case.context.stems for one in rare)
        by_share = _ramp(n_shared / len(rare), scales["natural_shared"], scales["copied_shared"])
        density = n_shared / len(reply.words)
        by_density = _ramp(density, scales["natural_density"], scales["copied_density"])
        value = max(value, by_share, by_density)
    return value, ()


def _out_of_place(case: _Case) -> _Found:
    """Return 1 for greetings mid-way, and for goodbyes and welcomes nobody asked for."""
    found = find_phrases("greeting", case.reply.text)
    if not case.context.is_closing:
        found += find_phrases("closing", case.reply.text)
        found += find_phrases("welcome", case.reply.text)
    return float(bool(found)), found


def _question(case: _Case) -> _Found:
    """Return 1 for a question that takes up a word of the dialogue, half for another."""
    questions = [s for s in case.reply.sentences if s.is_question]
    taken_up = [s.text for s in questions if any(one in case.context.stems for one in s.stems)]
    if taken_up:
        return 1.0, taken_up
    return (0.5 if questions else 0.0), [s.text for s in questions]


def _next_step(case: _Case) -> _Found:
    """Return 1 for a step offered in a sentence that takes up a word of the dialogue, else half."""
    best = 0.0
    quotes: list[str] = []
    for sentence in case.reply.sentences:
        found = find_phrases("next_step", sentence.text)
        if found:
            quotes += found
            takes_up = any(one in case.context.stems for one in sentence.stems)
            best = max(best, 1.0 if takes_up else 0.5)
    return best, quotes


def _on_goal(case: _Case) -> _Found:
    """Return how much weight of words the text shares with the seeker's last turn."""
    last = case.context.last_stems
    shared = {one: w for one, w in case.reply.content.items() if one in last}
    value = _saturate(sum(shared.values()), case.scales["on_goal_half"])
    return value, [case.reply.quotes[one] for one in sorted(shared, key=lambda o: -shared[o])]


def _shouting(case: _Case) -> _Found:
    """Return 1 where too many of the longer words are in capitals."""
    long_words = [written for written in case.reply.as_written if len(written) > 3]
    loud = [written for written in long_words if written.isupper()]
    is_loud = len(loud) > 1 and len(loud) > case.scales["max_capitals"] * len(long_words)
    return float(is_loud), (loud if is_loud else ())


def _pronouns(case: _Case) -> list[tuple[str, str]]:
    return [(one, quote) for one, quote in case.reply.persons.items() if one in ("he", "she")]


def _as_written(reply: Reading, word: str) -> tuple[str, ...]:
    return (reply.as_written[reply.words.index(word)],)


def _longest_span(
    words: tuple[str, ...], places: Mapping[str, tuple[int, ...]], *, enough: float
) -> int:
    """Return the number of words in the first run of `enough` that stands in the context too.

    Where there is none, of the longest one.
    """
    longest = 0
    ending: dict[int, int] = {}
    for word in words:
        found = places.get(word, ())
        ending = {index: ending.get(index - 1, 0) + 1 for index in found} if found else {}
        longest = max(longest, *ending.values()) if ending else longest
        if longest >= enough:
            break
    return longest


_FINDERS: Mapping[Axis, Mapping[str, Callable[[_Case], _Found]]] = {
    "H": {
        "length": _length,
        "conversational": _conversational,
        "word_salad": _word_salad,
        "broken_order": _broken_order,
        "repetition": _repetition,
        "robotic": _robotic,
    },
    "E": {
        "feeling_named": _feeling_named,
        "validation": _phrases("validation", half=1.0),
        "cold": _cold,
        "harsh": _harsh,
        "minimising": _phrases("minimising", half=0.5),
    },
    "A": {
        "relevance": _relevance,
        "unconnected": _unconnected,
        "shared_topic": _shared_topic,
        "foreign_topic": _foreign_topic,
        "known_person": _known_person,
        "unknown_person": _unknown_person,
        "copied": _copied,
        "out_of_place": _out_of_place,
    },
    "R": {"question": _question, "next_step": _next_step},
    "T": {
        "on_goal": _on_goal,
        "hostile": _harsh,
        "overreach": _phrases("overreach", half=0.5),
        "shouting": _shouting,
    },
}

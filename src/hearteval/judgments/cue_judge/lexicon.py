"""The cue judge's word lists and phrases, ready to be looked up; the lists are in ``cues.toml``."""

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from string import ascii_lowercase, ascii_uppercase

from hearteval.protocol import load_protocol

NEGATION_REACH = 3
MAX_GAP = 3
REPORTED_REACH = 4
EXCLAMATION_WORDS = 4
LOOK_BACK = 1_000
"""Characters before a phrase in which the words before it are looked for."""
_SUFFIXES = ("ingly", "edly", "ings", "ing", "ied", "ies", "ed", "ers", "er", "ly", "es", "s")
_STRAIGHT = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
_SEARCHED = _STRAIGHT | str.maketrans(ascii_uppercase, ascii_lowercase)
"""What the patterns see; every position stays where it was."""
_CACHED_MATCHES = 1 << 16
_CLASS = re.compile(r"\\\{(\w+)\\\}")
_SENTENCE_END = re.compile(r"[.!?\n]")
_WORD = re.compile(r"[a-z]+(?:['-][a-z]+)*", re.IGNORECASE | re.ASCII)


def straighten_quotes(text: str) -> str:
    """Return the text with typographic quotes made plain; every position stays where it was."""
    return text.translate(_STRAIGHT)


def find_words(text: str) -> list[str]:
    """Return the words of a text as written there, without digits and punctuation."""
    return [text[m.start() : m.end()] for m in _WORD.finditer(straighten_quotes(text))]


def lower_word(written: str) -> str:
    """Return the form of a word that the lists use."""
    return straighten_quotes(written).lower()


@cache
def stem(word: str) -> str:
    """Return a lower-case word without its common English endings; rough, but always the same."""
    word = word.removesuffix("'s")
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word.removesuffix(suffix) + ("y" if suffix in ("ied", "ies") else "")
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] in "ey" else word


@cache
def content_weight(word: str) -> float:
    """Return what sharing a lower-case word is worth: 0 for grammar, little for common words."""
    if word in word_set("function") or len(word) == 1:
        return 0.0
    is_common = word in word_set("common")
    return float(load_protocol("cues")["scales"]["common_word_weight"]) if is_common else 1.0


@cache
def groups_of(section: str, word: str) -> tuple[str, ...]:
    """Return the lists of a section (topics, feelings, persons) that hold a lower-case word."""
    return tuple(
        name
        for name, (whole, starts) in _groups(section).items()
        if word in whole or word.startswith(starts)
    )


def find_phrases(name: str, text: str) -> list[str]:
    """Return a list's phrases in the text, as written there, each once; negated ones left out.

    A phrase is negated where one of the three words before it in its sentence is a negation.
    """
    return list(_phrases(name, text))


@lru_cache(maxsize=_CACHED_MATCHES)
def _phrases(name: str, text: str) -> tuple[str, ...]:
    return tuple(_unnegated(_matches(_pattern("phrases", name), text)))


def find_patterns(section: str, text: str) -> list[str]:
    """Return what the text has of all lists of a section, as `find_phrases` does for one list."""
    found: dict[str, str] = {}
    for name in load_protocol("cues")[section]:
        for phrase in _unnegated(_matches(_pattern(section, name), text)):
            found.setdefault(lower_word(phrase), phrase)
    return list(found.values())


def find_insults(sentence: str) -> list[str]:
    """Return the insults in a sentence that are meant for *you*, each once; negated ones left out.

    One is meant for *you* where that is the nearest pronoun before it, or where it stands alone:
    no pronoun, and few words in the sentence. It is not where a word just before says that somebody
    feels, calls or makes the seeker so.
    """
    persons, reported = word_set("person"), word_set("reported")
    is_exclamation = len(_WORD.findall(sentence)) <= EXCLAMATION_WORDS
    meant = []
    for phrase, before in _matches(_class_pattern("bad"), sentence):
        nearest = next((word for word in reversed(before) if word in persons), None)
        is_meant = nearest in word_set("you") or (nearest is None and is_exclamation)
        if is_meant and not any(word in reported for word in before[-REPORTED_REACH:]):
            meant.append((phrase, before))
    return _unnegated(meant)


def _unnegated(matches: Iterable[tuple[str, list[str]]]) -> list[str]:
    negations = word_set("negation")
    found: dict[str, str] = {}
    for phrase, before in matches:
        if not any(word in negations for word in before[-NEGATION_REACH:]):
            found.setdefault(lower_word(phrase), phrase)
    return list(found.values())


def _matches(pattern: re.Pattern[str], text: str) -> Iterable[tuple[str, list[str]]]:
    """Yield each match as written, with the lower-case words before it in its sentence."""
    searched = text.translate(_SEARCHED)
    for match in pattern.finditer(searched):
        near = searched[max(0, match.start() - LOOK_BACK) : match.start()]
        in_sentence = _SENTENCE_END.split(near)[-1]
        before = _WORD.findall(in_sentence)
        yield text[match.start() : match.end()], before


@cache
def word_set(name: str) -> frozenset[str]:
    """Return one of the plain word lists."""
    return frozenset(load_protocol("cues")["words"][name].split())


@cache
def _groups(section: str) -> Mapping[str, tuple[frozenset[str], tuple[str, ...]]]:
    return {
        name: (
            frozenset(word for word in words.split() if not word.endswith("*")),
            tuple(word.removesuffix("*") for word in words.split() if word.endswith("*")),
        )
        for name, words in load_protocol("cues")[section].items()
    }


@cache
def _pattern(section: str, name: str) -> re.Pattern[str]:
    return _compile_phrases(load_protocol("cues")[section][name])


def _compile_phrases(phrases: Iterable[str]) -> re.Pattern[str]:
    """Compile phrases for text in lower case, which is searched faster than one that ignores it."""
    longest_first = sorted(phrases, key=len, reverse=True)
    options = "|".join(_as_regex(phrase.lower()) for phrase in longest_first)
    return re.compile(rf"(?<![\w'])(?:{options})(?![\w'])", re.ASCII)


def _as_regex(phrase: str) -> str:
    """Return a phrase as a regular expression: `*`, ``...`` and ``{class}`` have a meaning."""
    regex = re.escape(phrase).replace(r"\ \.\.\.\ ", _gap()).replace(r"\*", r"[\w']*")
    return _CLASS.sub(lambda found: _class_regex(found[1]), regex.replace(r"\ ", r"\s+"))


@cache
def _class_regex(name: str) -> str:
    members = load_protocol("cues")["classes"][name]
    return f"(?:{'|'.join(_as_regex(member.lower()) for member in members)})"


@cache
def _class_pattern(name: str) -> re.Pattern[str]:
    return _compile_phrases(load_protocol("cues")["classes"][name])


@cache
def _gap() -> str:
    """Return a space, or up to three words of one sentence, none of them a negation."""
    negations = "|".join(map(re.escape, sorted(word_set("negation"))))
    word = rf"(?!(?:{negations})\b)[\w'-]+"
    return rf",?\s+(?:{word},?\s+){{0,{MAX_GAP}}}?"

"""Finding what can be echoed: a seeker's turn, as typed, to clauses that stand on their own.

A hand-made reader of English, not a parser: it keeps only clauses whose shape it knows (a subject
first, a verb, no "you", no loose end, 3 to 18 words) and prefers those with a feeling in the first
person. What it does not know it leaves out, so that the echo reads as a sentence most of the time.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from hearteval.completions.baselines.reflective.mirror import (
    mirror_person,
    mirror_question,
    reflection_words,
)
from hearteval.protocol import load_protocol

Kind = Literal["asking", "feeling", "want", "stuck", "others", "plain"]

_MIN_WORDS, _MAX_WORDS = 3, 18
LONGEST_READ = 4_000
"""Characters at the end of a turn that clauses are looked for in."""
_QUOTES = str.maketrans("\u2018\u2019\u00b4`\u201c\u201d", "''''\"\"")
_EMOTICON = re.compile(r"(?<!\w)[:;=8xX]['-]?[)(DPpoO/|\\3]+(?!\w)|<3")
_UNREADABLE = re.compile(r"[^\w\s.,;:!?'\"&%$\u20ac\u00a3/\u2026\u2013\u2014-]+")
_ASIDE = re.compile(r"(?:^|,)\s*you know\s*(?=[,.!]|$)", re.IGNORECASE)
_TAG = re.compile(r"(?:,|(?<!\s))\s*+\b(?:you know|right|huh|yeah|ok|okay)\s*\?", re.IGNORECASE)
_ITS = re.compile(
    r"\bits(?= (?:so|very|really|just|not|no|hard|difficult|been|a|an|like|the|too|getting|all)\b)",
    re.IGNORECASE,
)
_BARE_IDK = re.compile(r"\bidk\b(?!\s+(?:what|how|why|if|who|where|when|whether)\b)", re.IGNORECASE)
_ABBREVIATION = re.compile(r"\b(mr|mrs|ms|dr|vs|etc|a\.m|p\.m|e\.g|i\.e)\.", re.IGNORECASE)
_END = re.compile(
    r"[!?]+|\.{2,}|\u2026+|\n+|;|:\s|\.(?=\s|$)|(?<=[a-z]{2})\.(?=[A-Za-z])"
    r"|\s[-\u2013]+\s|\s*\u2014\s*"
    r"|(?<=[a-z,]) (?=(?:Yes|Yeah|No|Ok|Okay|But|And|So|It|It's|Its|My|The|This|That|That's|We"
    r"|He|She|They|There|Thank|Thanks|How|What|Why|When|Where|Do|Does|Is|Are|Can|Maybe|Sorry)\b)"
)
_SUBJECT = (
    r"(?=(?:i|i'm|i've|i'd|i'll|my|we|he|she|they|it|it's|he's|she's|they're|there's|nobody"
    r"|no one|everyone|people)\b)"
)
_JOINT = re.compile(
    rf",?\s+(?:but|because|although|though|while|which|and then)\s+"
    rf"|,?\s+(?:so|since|and)\s+{_SUBJECT}|,\s*{_SUBJECT}",
    re.IGNORECASE,
)
_SPLICE = re.compile(rf",\s*{_SUBJECT}", re.IGNORECASE)
_SHORT_ANSWER = re.compile(
    r"^i(?:'m)?(?: (?:do|did|am|have|would|will|can|could)(?:n't)?)?(?: not)?,\s*(?:(?:but|and) )?",
    re.IGNORECASE,
)
_SUBORDINATE = re.compile(rf"(?:when|whenever|if|after|every time) .+,\s*{_SUBJECT}")
_RELATIVE = re.compile(r"(?:my|our) (?:\w+ ){1,2}(?:who|that|which|and(?! i\b))\b")
_WANT = re.compile(r"i (?:(?:just|really|only) )?(?:want|need|wish|hope|'d like|would like)\b")
_I_WITHOUT_VERB = frozenset({"and", "or", "too", "in", "on", "at", "the", "a", "my", "with", "i"})
_ELLIPSIS = re.compile(r"\b(?:going|want|wanted|need|have|had|try|trying|used|able) to$")
_FIRST = ("i", "i'm", "i've", "i'd", "i'll", "we", "we're", "we've", "we'd", "we'll")


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A clause that can be echoed."""

    text: str
    """The words, in the seeker's own person, without a full stop; for a question already indirect
    and in the second person."""
    kind: Kind
    """What sort of open question suits it."""
    salience: float
    """Higher is better to echo."""


def find_clauses(turn: str) -> list[Clause]:
    """Return the clauses of a turn that can be echoed, the most salient first."""
    sentences = list(_split_sentences(tidy(turn)[-LONGEST_READ:]))
    found: list[Clause] = []
    for position, (sentence, is_asked) in enumerate(sentences, start=1):
        lateness = position / len(sentences)
        found.extend(_read_sentence(sentence, lateness, is_asked=is_asked))
    return sorted(found, key=lambda clause: -clause.salience)


def tidy(turn: str) -> str:
    """Return a turn with straight quotes and usual contractions, without emojis and fillers."""
    text = _EMOTICON.sub(". ", turn.translate(_QUOTES))
    text = re.sub(r"\([^)]{0,1000}\)", " ", text)
    text = _UNREADABLE.sub(" ", _ABBREVIATION.sub(lambda m: m[0].replace(".", ""), text))
    letters = [c for c in text if c.isalpha()]
    if len(letters) > 10 and sum(c.isupper() for c in letters) > 0.7 * len(letters):
        text = text.lower()
    text = _BARE_IDK.sub(". ", _TAG.sub(".", _ASIDE.sub("", text)))
    text = _ITS.sub("it's", text)
    text = _words_pattern("fillers").sub(" ", text)
    text = _spelling_pattern().sub(lambda m: _spellings()[m[0].lower()], text)
    return re.sub(r"[^\S\n]+", " ", text).strip()


def find_feeling(turn: str) -> str | None:
    """Return the last word of a turn that names a feeling, if any."""
    words = re.findall(r"[a-z']+", tidy(turn).lower())
    feelings = reflection_words("words", "feelings")
    return next((word for word in reversed(words) if word in feelings), None)


def speaks_of_ending(turn: str) -> bool:
    """Return whether a turn speaks of suicide or self-harm, by plain words."""
    text = tidy(turn).lower()
    return any(phrase in text for phrase in reflection_words("words", "unsafe"))


def _split_sentences(text: str) -> Iterator[tuple[str, bool]]:
    start = 0
    for end in [*_END.finditer(text), None]:
        sentence = text[start : end.start() if end else len(text)].strip(" ,'-")
        if sentence:
            yield sentence, end is not None and "?" in end[0]
        start = end.end() if end else start


def _read_sentence(sentence: str, lateness: float, *, is_asked: bool) -> list[Clause]:
    whole = _strip(sentence)
    question = _read_question(whole, lateness)
    if question:
        return question
    statement = _read_statement(_supply_subject(whole), lateness)
    if is_asked:
        return [_as_question(statement)] if statement else []
    pieces = (_SPLICE if statement else _JOINT).split(whole)
    if statement and (len(pieces) == 1 or _SUBORDINATE.match(whole.lower())):
        return [statement]
    readings = [_read_statement(_strip(piece), lateness) for piece in pieces]
    return [clause for clause in readings if clause] or ([statement] if statement else [])


def _read_question(sentence: str, lateness: float) -> list[Clause]:
    words = sentence.lower().split()
    if not words or len(words) > _MAX_WORDS or _is_barred(words) or '"' in sentence:
        return []
    indirect = mirror_question(sentence)
    is_aside = " ".join(words[:3]) in reflection_words("questions", "asides")
    if indirect is None or is_aside or words[-1] in reflection_words("words", "dangling"):
        return []
    salience = (3.0 if {"i", "my", "me"} & set(words) else 1.0) + lateness
    return [Clause(text=indirect, kind="asking", salience=salience)]


def _as_question(statement: Clause) -> Clause:
    """Turn a statement with a question mark: "maybe I should go?" to "whether you should go"."""
    claim = _edge_pattern("leads", "start").sub("", statement.text)
    return replace(statement, text=f"whether {mirror_person(claim)}", kind="asking")


def _strip(clause: str) -> str:
    """Take openers and closers off, one after another, and commas with them."""
    opener, closer = _edge_pattern("openers", "start"), _edge_pattern("closers", "end")
    before = None
    while before != clause:
        before = clause
        clause = _SHORT_ANSWER.sub("", opener.sub("", clause.strip(" ,.'\"-")))
        clause = closer.sub("", clause).strip(" ,.'\"-")
    return clause


def _supply_subject(clause: str) -> str:
    lists = {"subjectless": "I", "subjectless_be": "I'm", "subjectless_have": "I've"}
    for name, subject in lists.items():
        if _edge_pattern(name, "start").match(clause):
            return f"{subject} {clause[0].lower()}{clause[1:]}"
    return clause


def _read_statement(clause: str, lateness: float) -> Clause | None:
    words = re.findall(r"[\w']+", clause.lower())
    if not _MIN_WORDS <= len(words) <= _MAX_WORDS or _is_barred(words) or '"' in clause:
        return None
    if " ".join(words) in reflection_words("words", "empty") or _ELLIPSIS.search(clause):
        return None
    if words[-1] in reflection_words("words", "dangling") or not _has_known_shape(clause, words):
        return None
    kind = _kind(words, clause.lower())
    is_own = any(word in _FIRST for word in words[:3])
    is_felt = any(_has_word(words, name) for name in ("feelings", "feeling", "troubles"))
    salience = (
        2.0 * is_own
        + 1.5 * (words[0] == "my")
        + 2.0 * is_felt
        + 1.0 * (kind in {"want", "stuck"})
        - 1.0 * (len(words) < 5)
        + lateness
    )
    return Clause(text=clause[0].lower() + clause[1:], kind=kind, salience=salience)


def _has_word(words: Iterable[str], name: str) -> bool:
    return not reflection_words("words", name).isdisjoint(words)


def _is_barred(words: Iterable[str]) -> bool:
    barred = reflection_words("words", "barred")
    return any(word.strip(".,'\"") in barred for word in words)


def _has_known_shape(clause: str, words: list[str]) -> bool:
    lead = _edge_pattern("leads", "start").match(clause)
    main = re.findall(r"[\w']+", clause[lead.end() :].lower()) if lead else words
    if _SUBORDINATE.match(clause.lower()):
        return True
    if len(main) < 2:
        return False
    if main[0] in _FIRST:
        return main[1] not in _I_WITHOUT_VERB
    has_verb = any(map(_looks_finite, main, main[1:], [*main[2:], ""]))
    if main[:2] == ["me", "and"]:
        return has_verb
    if main[0] in {"my", "our"}:
        return has_verb and not _RELATIVE.match(" ".join(main))
    starts = reflection_words("words", "others") | reflection_words("words", "things")
    return (main[0] in starts or " ".join(main[:2]) in starts) and (has_verb or "'" in main[0])


def _looks_finite(before: str, word: str, after: str) -> bool:
    return (
        word in reflection_words("words", "verbs")
        or (len(word) > 4 and word.endswith("ed"))
        or (word.endswith("s") and before in reflection_words("words", "adverbs"))
        or (word.endswith("s") and after in {"me", "us", "him", "myself"})
    )


def _kind(words: list[str], clause: str) -> Kind:
    if _WANT.match(clause):
        return "want"
    if _has_word(words, "stuck") or re.search(r"(?:don't|do not) know", clause):
        return "stuck"
    if words[0] in reflection_words("words", "others") or words[0] == "my":
        return "others"
    if _has_word(words, "feelings") or _has_word(words, "feeling"):
        return "feeling"
    return "plain"


@cache
def _spellings() -> Mapping[str, str]:
    return dict(load_protocol("baselines")["reflection"]["spellings"])


@cache
def _spelling_pattern() -> re.Pattern[str]:
    return _any_of(_spellings(), r"(?<![\w'])(?:{})(?![\w'])")


@cache
def _words_pattern(name: str) -> re.Pattern[str]:
    return _any_of(reflection_words("words", name), r"(?<![\w'])(?:{})(?![\w']),?")


@cache
def _edge_pattern(name: str, edge: Literal["start", "end"]) -> re.Pattern[str]:
    pattern = r"^(?:{})(?![\w'])[\s,]*" if edge == "start" else r"[\s,]+(?:{})$"
    return _any_of(reflection_words("words", name), pattern)


def _any_of(words: Iterable[str], pattern: str) -> re.Pattern[str]:
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return re.compile(pattern.format("|".join(map(re.escape, longest_first))), re.IGNORECASE)

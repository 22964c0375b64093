"""Details that tell who somebody is give way to placeholders, before an item's id is made of them.

What is replaced is what labelers and people quoted, and what the rules find, wherever it stands in
the item. A quote that is made of everyday words, or is long, is not replaced blindly: it is left to
a person. The log says what kind of detail stood in which turn, never the detail.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from hearteval.domain import Item, Label, Turn
from hearteval.items.screening import find_identifying
from hearteval.items.second_screen import DETAILS, Decision, texts_of
from hearteval.labels.taxonomy import Taxonomy
from hearteval.protocol import load_protocol

BESIDE = ("situation", "reference")
"""Texts of an item that its id is not made of."""
MOST_WORDS = 8
"""Of a quote: more is a sentence, and no name."""
MIN_PHONE_DIGITS = 7
NAME = "person_name"
LEAST_PART = 3
"""Letters of a word of a name that is also looked for by itself."""
LONG_ENOUGH = 4
"""Letters of a name that is also looked for at the beginning of longer words."""
OF_RULE = {
    "e-mail": "contact",
    "link": "contact",
    "handle": "contact",
    "phone": "contact",
    "address": "contact",
    "name-given": "name",
    "name": "name",
    "first-name": "name",
    "place": "place",
}
"""The placeholder of what a rule finds, by its kind."""
_QUOTES = {"'": "['\u2018\u2019]", '"': '["\u201c\u201d]'}
_STRAIGHT = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
_POSSESSIVE = r"(?=(?:['\u2019]?s)?(?!\w))"


class Detail(NamedTuple):
    """One place where something was replaced; what it was, nobody is told."""

    where: str
    """``situation``, ``context[2]`` or ``reference``."""
    category: str
    """The question that found it, or ``rule`` and its kind."""
    placeholder: str
    n: int
    """How often it stood there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced:
    """An item without the details that were found.

    Attributes:
        item: The new one; the old one where nothing could be replaced.
        details: What was replaced where.
        by_hand: Questions whose detail could not be: nobody quoted it, or not in a way that can be
            replaced without reading.
    """

    item: Item
    details: tuple[Detail, ...]
    by_hand: tuple[str, ...]


class _Found(NamedTuple):
    category: str
    kind: str
    words: str
    is_part: bool = False
    """One word of somebody's name, which is looked for as it is written."""

    @property
    def pattern(self) -> re.Pattern[str]:
        return _pattern(self.words, is_as_written=self.is_part)


def replace_details(decision: Decision, taxonomy: Taxonomy) -> Replaced:
    """Put placeholders in place of every detail that tells who somebody is in a candidate.

    Two details of one kind are told apart: ``[name]`` and ``[name 2]``. Where the conversation is
    rewritten it is another item, whose labels and screenings are to come. Where it is not, nobody
    will read the item again, so its situation, which no system and no rater sees, is left out.
    """
    item = decision.item
    texts = {where: unicodedata.normalize("NFC", text) for where, text in texts_of(item).items()}
    found, by_hand = _find(decision, taxonomy, texts)
    names = _placeholders(found, texts)
    details: list[Detail] = []
    for one in sorted(found, key=lambda one: -len(one.words)):
        pattern, placeholder = one.pattern, names[one.words.casefold()]
        for where, text in texts.items():
            texts[where], n = pattern.subn(placeholder, text)
            if n:
                details.append(Detail(where, one.category, placeholder, n))
    if details and all(one.where in BESIDE for one in details):
        texts["situation"] = ""
    left = [
        one.category for one in found if _is_left(one.words, texts.values(), is_part=one.is_part)
    ]
    order = {where: place for place, where in enumerate(texts)}
    return Replaced(
        item=_rewritten(item, texts) if details else item,
        details=tuple(sorted(details, key=lambda one: (order[one.where], one[1:]))),
        by_hand=tuple(dict.fromkeys((*by_hand, *left))),
    )


def settle_beside(decision: Decision, taxonomy: Taxonomy) -> tuple[Decision, str]:
    """Let a candidate in whose conversation tells nobody's name, though a text beside it does.

    Returns it without these details, and where they were in words; else as it is, and none. Nobody
    reads its reply again but the rules: where they still find a detail, it stays as it is.
    """
    if decision.standing != "identifying":
        return decision, ""
    done = replace_details(decision, taxonomy)
    if done.item.id != decision.item.id or done.by_hand or not done.details:
        return decision, ""
    if find_identifying(done.item.reference or ""):
        return decision, ""
    words = in_words(done.details)
    return replace(decision, item=done.item, standing="in", reasons=()), words


def in_words(details: Iterable[Detail]) -> str:
    """Say what was put where."""
    return ", ".join(dict.fromkeys(f"{one.placeholder} in {one.where}" for one in details))


def find_left(before: Decision, labels: Iterable[Label], item: Item) -> tuple[str, ...]:
    """Return the questions whose detail, found in what an item was before, stands in it still.

    Labels are those of what it was before, of whoever gave them: a study may have other labelers
    since, whose word on it is missing. What anybody but a person disputes is no detail.
    """
    quotes: dict[str, list[str]] = {key: [] for key in DETAILS}
    disputed = set()
    for label in labels:
        if label.verdict == "absent":
            disputed.add(label.category)
        elif label.verdict == "present" and label.category in quotes:
            quotes[label.category].append(label.evidence)
    texts = [*texts_of(item).values()]
    return tuple(
        key
        for key in DETAILS
        if before.answers[key].verdict == "present"
        or (before.answers[key].verdict == "uncertain" and key not in disputed)
        for own in [before.answers[key].quotes or quotes[key]]
        if any(
            _is_left(quote, texts)
            or (key == NAME and any(_is_left(part, texts, is_part=True) for part in _parts(quote)))
            for quote in own
            if _is_usable(quote)
        )
    )


def _find(
    decision: Decision, taxonomy: Taxonomy, texts: Mapping[str, str]
) -> tuple[list[_Found], list[str]]:
    """Return what is to be replaced, each once, and the questions whose detail nobody can."""
    placeholders = {one.key: one.placeholder for one in taxonomy.categories}
    found: dict[str, _Found] = {}
    by_hand = []
    for key in decision.reasons:
        if key in placeholders:
            usable = [quote for quote in decision.answers[key].quotes if _is_usable(quote)]
            if len(usable) < max(1, len(decision.answers[key].quotes)):
                by_hand.append(key)
            for quote in usable:
                kind = _contact_kind(quote) if key == "contact" else placeholders[key]
                found[quote.casefold()] = _Found(key, kind, quote)
                for part in _parts(quote) if key == NAME else ():
                    found.setdefault(part.casefold(), _Found(key, kind, part, is_part=True))
    if any(key not in placeholders for key in decision.reasons):
        for text in texts.values():
            for kind, words in find_identifying(text):
                if not _is_usable(words):
                    by_hand.append(f"rule {kind}")
                    continue
                placeholder = OF_RULE[kind]
                shown = _contact_kind(words) if placeholder == "contact" else placeholder
                found.setdefault(words.casefold(), _Found(f"rule {kind}", shown, words))
    return [*found.values()], by_hand


def _parts(name: str) -> list[str]:
    """Return the words of a name of several that tell whose it is: the rest is common."""
    words = [word.strip(".,!?") for word in name.split()]
    return [
        word
        for word in words
        if len(words) > 1
        and len(word) >= LEAST_PART
        and word[0].isupper()
        and word.lower() not in _everyday()
    ]


def _is_usable(quote: str) -> bool:
    words = quote.split()
    is_everyday = all(word.strip(".,!?").lower() in _everyday() for word in words)
    return len(words) <= MOST_WORDS and not (is_everyday and quote == quote.lower())


def _contact_kind(words: str) -> str:
    if "@" in words:
        return "e-mail"
    n_digits = sum(character.isdigit() for character in words)
    return "phone" if n_digits >= MIN_PHONE_DIGITS else "contact"


def _placeholders(found: Iterable[_Found], texts: Mapping[str, str]) -> dict[str, str]:
    """Number the details of one kind as they come; a part of a longer one is the same person's."""
    whole = "\n".join(texts.values())
    names: dict[str, str] = {}
    heads: dict[str, list[str]] = {}
    places = {one: hit.start() for one in found if (hit := one.pattern.search(whole))}
    for one in sorted(places, key=lambda one: (places[one], -len(one.words))):
        words = one.words.casefold()
        known = heads.setdefault(one.kind, [])
        same = next((head for head in known if words in head or head in words), None)
        if same is None:
            known.append(words)
            n = len(known)
            names[words] = f"[{one.kind}]" if n == 1 else f"[{one.kind} {n}]"
        else:
            names[words] = names[same]
    return {**{one.words.casefold(): f"[{one.kind}]" for one in found}, **names}


@cache
def _pattern(words: str, *, is_as_written: bool = False) -> re.Pattern[str]:
    """Match a detail as it is written, also with another case where it is no everyday word."""
    spelt = r"\s+".join(
        "".join(_QUOTES.get(character, re.escape(character)) for character in word)
        for word in unicodedata.normalize("NFC", words).split()
    )
    flags = (
        0
        if is_as_written or all(word.lower() in _everyday() for word in words.split())
        else re.IGNORECASE
    )
    return re.compile(rf"(?<!\w){spelt}{_POSSESSIVE}", flags)


@cache
def _traces(words: str) -> re.Pattern[str]:
    """Match what may be left of a detail: itself, or a longer word that begins with it."""
    pattern = _pattern(words)
    if len(words) < LONG_ENOUGH:
        return pattern
    return re.compile(pattern.pattern.removesuffix(_POSSESSIVE), pattern.flags)


def _is_left(words: str, texts: Iterable[str], *, is_part: bool = False) -> bool:
    """Say whether a detail stands in texts, or traces of it, spelt with other marks or none."""
    bare, every = _bare(words), "\n".join(map(_bare, texts))
    return any(
        (_pattern(one, is_as_written=True) if is_part else _traces(one)).search(every)
        for one in {bare, bare.replace("'", "")}
    )


def _bare(text: str) -> str:
    """Return a text without accents, invisible characters and other forms of the same letters."""
    plain = unicodedata.normalize("NFKD", text).translate(_STRAIGHT)
    return "".join(one for one in plain if unicodedata.category(one) not in ("Mn", "Cf"))


@cache
def _everyday() -> frozenset[str]:
    return frozenset(load_protocol("safety")["english"]["words"].split())


def _rewritten(item: Item, texts: Mapping[str, str]) -> Item:
    turns = (texts[f"context[{n}]"] for n in range(len(item.context)))
    context = tuple(
        Turn(role=turn.role, text=text) for turn, text in zip(item.context, turns, strict=True)
    )
    reference = None if item.reference is None else texts["reference"]
    return replace(item, situation=texts["situation"], context=context, reference=reference, id="")

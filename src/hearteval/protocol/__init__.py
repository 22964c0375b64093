"""Versioned text as data: what raters, writers and models are told, and what baselines say.

Each TOML file here has a ``version`` at its top; a change of wording is a new version. A folder
named as a language, such as ``de``, holds the same files in that language
(docs/how-to/another-language.md). Nothing is read on import.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any, Literal, get_args

PROTOCOL_VERSION = "1"
"""Version of the protocol texts as a whole; part of every study record."""

Ending = Literal["whole", "cut_off", "refused", "not_finished"]

CUE_NOTICE = (
    "The cue judge is an offline baseline: it counts hand-set cues and measures nothing about "
    "empathy."
)
"""What every output says where the cue judge gave a judgment."""


ENGLISH = "en"
"""The language in which every text is there."""
_NO_WORDS = frozenset({"version", "checked", "rules", "rules_of"})
"""Of any text; the rules of a brief are for reports, which are English."""
_NO_WORDS_OF_LISTED = frozenset(
    {"value", "answer", "strength", "sign", "id", "role", "call", "sms", "web", "choose"}
)
"""Of the members of a list: what a form sends, who speaks, what a link dials."""


class Untranslated(str):
    """English words where another language has none yet; a page marks them as English."""

    __slots__ = ()

    def __html__(self) -> str:
        """Return the words as a page shows them among others: marked, and spoken as English."""
        return f'<span lang="{ENGLISH}" class="untranslated">{escape(self)}</span>'

    def format(self, *args: Any, **values: Any) -> "Untranslated":
        """Return the words with values put in, still marked."""
        return Untranslated(super().format(*args, **values))


@cache
def load_protocol(name: str, language: str = ENGLISH) -> dict[str, Any]:
    """Read ``protocol/<name>.toml`` in a language; the result is shared and must not be mutated.

    What the language lacks is English and `Untranslated`. Its ``version`` names both texts.

    Raises:
        FileNotFoundError: No protocol of that name ships with hearteval.
    """
    english = _read(f"{name}.toml")
    if language == ENGLISH:
        return english
    own = read_translation(name, language)
    version = f"{english['version']}-{language}-{own.get('version', '0')}"
    return {**_overlay(english, own), "version": version}


@cache
def read_translation(name: str, language: str) -> dict[str, Any]:
    """Read what a language has of a text, with what its file says of itself; empty without one."""
    found = files(__name__) / language / f"{name}.toml"
    return tomllib.loads(found.read_text(encoding="utf-8")) if found.is_file() else {}


@cache
def languages() -> tuple[str, ...]:
    """Return the languages of which there are texts, English first: the folders here."""
    found = [one for one in files(__name__).iterdir() if (one / "people_consent.toml").is_file()]
    return (ENGLISH, *sorted(one.name for one in found))


def language_of(tag: str) -> str:
    """Return the language of a tag such as ``de-AT``, without its country."""
    return tag.partition("-")[0].lower()


@cache
def is_checked(language: str) -> bool:
    """Say whether a person has checked every text of a language that there is."""
    read = [read_translation(name, language) for name in text_names()]
    return language == ENGLISH or all(text["translation"]["checked_by"] for text in read if text)


@cache
def text_names() -> tuple[str, ...]:
    """Return the names of all texts."""
    names = (path.name for path in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def is_words(key: str, *, is_listed: bool) -> bool:
    """Say whether what stands under a key is words, other ones in each language."""
    return key not in _NO_WORDS and not (is_listed and key in _NO_WORDS_OF_LISTED)


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__name__) / name).read_text(encoding="utf-8"))


def _overlay(english: Any, own: Any, *, is_listed: bool = False) -> Any:
    """Return a text in another language, and what that lacks in English; lists go by place."""
    if isinstance(english, Mapping):
        has = own if isinstance(own, Mapping) else {}
        return {
            key: _overlay(value, has.get(key)) if is_words(key, is_listed=is_listed) else value
            for key, value in english.items()
        }
    if isinstance(english, list):
        has_all = isinstance(own, list) and len(own) == len(english)
        return [
            _overlay(one, other, is_listed=True)
            for one, other in zip(english, own if has_all else [None] * len(english), strict=True)
        ]
    if isinstance(english, str):
        return own if isinstance(own, str) else Untranslated(english)
    return english


@cache
def read_ending(finish_reason: str | None) -> Ending:
    """Return what an endpoint's word for the end of a reply means.

    No word is no complaint: some servers send none. A word that nobody knows is no whole reply,
    because endpoints keep inventing names for failures and hardly ever one for a plain end.
    """
    word = (finish_reason or "").strip().lower()
    if not word:
        return "whole"
    known = load_protocol("replies")["finish"]
    return next((end for end in get_args(Ending)[:-1] if word in known[end]), "not_finished")

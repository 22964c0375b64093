"""What a language lacks of the texts that people and judges read, and what it translates no more.

A translation is a file of the same name in the folder of its language: see
docs/how-to/another-language.md.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hearteval.protocol import ENGLISH, is_words, languages, load_protocol, read_translation

OF_PEOPLE = (
    *("people_consent", "people_writing", "people_judging", "people_labelling", "people_review"),
    *("people_background", "people_checks", "people_enrolment", "help"),
)
"""Texts of the pages of those who take part."""
OF_MODELS = ("rubric", "rubric_paper", "judge_prompt", "rating_prompt", "support_prompt")
"""Texts that models are asked with; of a language without any they are English."""
_PLACEHOLDER = re.compile(r"\{\w*\}")


def find_gaps(language: str) -> Mapping[str, list[str]]:
    """Return what a language lacks or has otherwise, by text: the places of its entries.

    An entry is there where it holds words, with the same values to be put in as the English one.
    Where the translation is of another version of the English, that stands there too.
    """
    found = {}
    for name in (*OF_PEOPLE, *OF_MODELS):
        own = read_translation(name, language)
        gaps = list(_gaps(load_protocol(name), own, ""))
        version, of = load_protocol(name)["version"], own.get("translation", {}).get("of")
        if own and of != version:
            gaps.append(f"translates version {of}, and the English is {version}")
        if gaps:
            found[name] = gaps
    return found


def unknown_entries(language: str) -> list[str]:
    """Return the entries of a language that the English texts do not have, or that must be theirs.

    Nobody reads the former; the latter are what a form sends, or who speaks.
    """
    return [
        f"{name}.{place}"
        for name in (*OF_PEOPLE, *OF_MODELS)
        for place in _unknown(load_protocol(name), read_translation(name, language), "")
        if place != "translation"
    ]


def describe_languages() -> Mapping[str, str]:
    """Say of each language but English what is missing, by its tag; empty where nothing is."""
    said = {}
    for language in languages():
        if language != ENGLISH:
            gaps = find_gaps(language)
            n, first = sum(map(len, gaps.values())), next(iter(gaps.items()), None)
            said[language] = f"{n} missing, first {first[0]}: {first[1][0]}" if first else ""
    return said


def _gaps(english: Any, own: Any, place: str, *, is_listed: bool = False) -> Iterator[str]:
    if isinstance(english, Mapping):
        for key, value in english.items():
            if is_words(key, is_listed=is_listed):
                has = own.get(key) if isinstance(own, Mapping) else None
                yield from _gaps(value, has, f"{place}.{key}".lstrip("."))
    elif isinstance(english, list):
        if not isinstance(own, list) or len(own) != len(english):
            yield place
        else:
            for number, (one, other) in enumerate(zip(english, own, strict=True), start=1):
                yield from _gaps(one, other, f"{place}.{number}", is_listed=True)
    elif isinstance(english, str):
        has = own if isinstance(own, str) else ""
        if not has.strip() or {*_PLACEHOLDER.findall(has)} != {*_PLACEHOLDER.findall(english)}:
            yield place


def _unknown(english: Any, own: Any, place: str, *, is_listed: bool = False) -> Iterator[str]:
    if isinstance(own, Mapping):
        for key, value in own.items():
            here = f"{place}.{key}".lstrip(".")
            is_theirs = is_listed and not is_words(key, is_listed=True)
            if (
                not isinstance(english, Mapping)
                or key not in english
                or (is_theirs and value != english[key])
            ):
                yield here
            else:
                yield from _unknown(english[key], value, here)
    elif isinstance(own, list) and isinstance(english, list):
        for number, (one, other) in enumerate(zip(english, own, strict=False), start=1):
            yield from _unknown(one, other, f"{place}.{number}", is_listed=True)

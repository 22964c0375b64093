"""No length, mark or first word tells which of our own texts is the good one.

What judges, labelers and people learn from, or are checked by, must not be told apart by its looks:
who picks the longer text, or the one with a question, would pass. Levels of a score are no such
texts, since who reads them sees the number beside them; nor are the padded, formatted and
keyword-stuffed texts of the stress set, which are tests of just such looks, nor attention checks,
which say openly what to answer.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

from hearteval.domain import AXES, AXIS_NAMES
from hearteval.items import load_starter_items
from hearteval.protocol import ENGLISH, load_protocol

LEAST, MOST = 0.40, 0.60
"""Between which the area under the curve of each surface feature must lie; .50 tells nothing."""
SHARE_OF_FIRST_WORD = 0.25
SURFACE: Mapping[str, Callable[[str], int]] = {
    "words": lambda text: len(text.split()),
    "characters": len,
    "sentences": lambda text: len(re.findall(r"[.!?]+(?=\s|$)", text)),
    "exclamation marks": lambda text: text.count("!"),
    "question marks": lambda text: text.count("?"),
    "commas": lambda text: text.count(","),
    "full stops": lambda text: text.count("."),
    "colons, semicolons and dashes": lambda text: len(re.findall(r"[:;\u2013\u2014]| - ", text)),
    "short forms": lambda text: len(re.findall(r"\w['\u2019]\w", text)),
}


class Classes(NamedTuple):
    """Texts that are good, or hold what is asked about, and texts that are not or do not."""

    good: Sequence[str]
    other: Sequence[str]


def of_rubric(language: str, name: str) -> Classes:
    rubric = load_protocol(name, language)
    axes = [rubric[axis] for axis in AXIS_NAMES if axis in rubric]
    return Classes([one["high"] for one in axes], [one["low"] for one in axes])


def of_taxonomy(name: str) -> Classes:
    found = load_protocol(name)["category"]
    return Classes([one["present"] for one in found], [one["absent"] for one in found])


def of_gold(language: str) -> Classes:
    gold = load_protocol("people_checks", language)["gold"]
    return Classes([one["good"] for one in gold], [one["bad"] for one in gold])


def keyed_replies() -> list[dict[str, Any]]:
    return [reply for one in load_protocol("calibration")["example"] for reply in one["reply"]]


def of_keys(axis: str) -> Classes:
    keyed = keyed_replies()
    return Classes(
        [one["text"] for one in keyed if one["key"][axis] > 3],
        [one["text"] for one in keyed if one["key"][axis] < 3],
    )


def of_stress(kind: str) -> Classes:
    references = [item.reference for item in load_starter_items() if item.reference]
    return Classes(references, load_protocol("stress")[kind]["templates"])


SETS: Mapping[str, Classes] = {
    **{
        f"{name}, {one}": of_rubric(one, name)
        for name in ("rubric", "rubric_paper")
        for one in (ENGLISH, "de")
    },
    **{name: of_taxonomy(name) for name in ("strategies", "rationales", "micro_skills")},
    "safety_labels": of_taxonomy("safety_labels"),
    **{f"calibration, {axis}": of_keys(axis) for axis in AXES},
    **{f"gold pairs, {one}": of_gold(one) for one in (ENGLISH, "de")},
    **{f"stress, {kind}": of_stress(kind) for kind in ("hostile", "generic-warmth")},
}


def area_under_curve(above: Sequence[int], below: Sequence[int]) -> float:
    """Return how often one of the first is greater than one of the second; half where equal."""
    differences = np.subtract.outer(above, below)
    return float(np.mean((np.sign(differences) + 1) / 2))


def first_words(texts: Sequence[str]) -> Mapping[str, float]:
    found = Counter(re.findall(r"[\w'\u2019]+", text)[0].lower() for text in texts)
    return {word: n / len(texts) for word, n in found.items()}


def test_areas_are_counted_right() -> None:
    assert area_under_curve([2, 3], [1, 1]) == 1
    assert area_under_curve([1, 2], [1, 2]) == 0.5
    assert area_under_curve([0, 0, 0, 1], [1, 1, 1, 1]) == 0.125


@pytest.mark.parametrize("name", SETS)
def test_there_are_enough_texts_and_both_classes_are_of_some_size(name: str) -> None:
    good, other = SETS[name]
    assert len(good) + len(other) >= 10
    assert min(len(good), len(other)) >= 4


@pytest.mark.parametrize("name", SETS)
def test_no_length_and_no_mark_tells_which_is_which(name: str) -> None:
    good, other = SETS[name]
    areas = {
        feature: area_under_curve([*map(count, good)], [*map(count, other)])
        for feature, count in SURFACE.items()
    }
    told = {feature: round(area, 2) for feature, area in areas.items() if not LEAST <= area <= MOST}
    assert told == {}


@pytest.mark.parametrize("name", SETS)
def test_no_first_word_opens_one_class_only(name: str) -> None:
    good, other = map(first_words, SETS[name])
    for one, beside in ((good, other), (other, good)):
        often = {word for word, share in one.items() if share > SHARE_OF_FIRST_WORD}
        assert {word for word in often if beside.get(word, 0) <= SHARE_OF_FIRST_WORD} == set()

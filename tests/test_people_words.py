"""What people read on the pages: plain, kind, complete, and silent where it must be."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from hearteval.domain import AXIS_NAMES
from hearteval.domain.items import EDGES
from hearteval.items import load_starter_items
from hearteval.judgments.prompt import MARKS
from hearteval.protocol import load_protocol
from hearteval.study.people.served import describe_served

PLACEHOLDERS = {
    "people_consent": {
        *("contact", "retention_days", "results", "n", "name", "time", "done", "total"),
        "minutes",
        *("served", "kinds", "day", "month"),
    },
    "people_writing": {"words", "sentences", "characters", "hours", "time"},
    "people_judging": {"n", "all"},
    "people_review": set(),
    "people_labelling": {"n", "all", "absent"},
    "people_background": set(),
    "people_enrolment": {"contact", "version", "day", "time"},
    "help": {"helpline", "emergency", "number"},
}
"""By file, what the pages fill in."""

CONSENT_PLACEHOLDERS = {
    "warning": {"served"},
    "served": {"kinds"},
    "consent": {"contact", "retention_days", "served", "n", "minutes"},
    "debrief": {"contact", "results"},
    "rest": {"n"},
    "ending": {"n", "name", "time"},
    "withdraw": {"name"},
    "over": {"contact"},
    "closed_to_new": {"contact"},
    "same_person": {"name"},
    "page": {"done", "total", "n", "time", "day", "month"},
}
"""By part of the consent file; the other parts hold none."""

VERSIONS = {"people_consent": "6", "people_writing": "2"}

UNREAD = {"version", "role", "id", "value", "answer", "call", "sms", "web", "checked"}
"""Keys whose values stand on no page."""

NOT_SAID = re.compile(
    r"\b(?:completions?|pairs?|raters?|annotat\w+|judge?ments?|judges|assignments?"
    r"|rubrics?|axis|axes|seekers?|items?|metrics?|stimul\w+|participants?|subjects?)\b",
    re.IGNORECASE,
)
WORD = re.compile(r"[A-Za-z]+(?:['-][A-Za-z]+)*")
SENTENCE_END = re.compile(r"[.!?:](?:\s|$)|\n")
VOWELS = re.compile(r"[aeiouy]+")
STEM_LENGTH = 5
MAX_MEAN_WORDS = 10
MAX_WORDS = 22
MAX_GRADE = 5.0
PRACTICE_TURNS = 4

# Words without content, and the one plain word for what two of the axes are about.
PASSED_OVER = {"reply", "which", "where", "there", "their", "these", "those", "other", "about"}
SUBJECTS = {"feelings"}


def read_texts(data: Any, key: str = "") -> Iterator[str]:
    """Yield every text that stands on a page."""
    if isinstance(data, str):
        if key not in UNREAD:
            yield data
    elif isinstance(data, dict):
        for name, value in data.items():
            yield from read_texts(value, name)
    elif isinstance(data, list):
        for value in data:
            yield from read_texts(value, key)


def placeholders(data: Any) -> set[str]:
    return {name for text in read_texts(data) for name in re.findall(r"\{(.*?)\}", text)}


def sentences(texts: list[str]) -> list[list[str]]:
    parts = [part for text in texts for part in SENTENCE_END.split(text)]
    return [words for part in parts if (words := WORD.findall(part))]


def syllables(word: str) -> int:
    lowered = word.lower()
    silent = lowered.endswith("e") and not lowered.endswith("le")
    return max(1, len(VOWELS.findall(lowered)) - silent)


def grade(texts: list[str]) -> float:
    """Flesch and Kincaid's grade level, with syllables counted by groups of vowels."""
    said = sentences(texts)
    words = [word for sentence in said for word in sentence]
    per_word = sum(map(syllables, words)) / len(words)
    return 0.39 * len(words) / len(said) + 11.8 * per_word - 15.59


def stems(text: str) -> set[str]:
    words = {word.lower() for word in WORD.findall(text)} - PASSED_OVER - SUBJECTS
    return {word[:STEM_LENGTH] for word in words if len(word) >= STEM_LENGTH}


def dialogues() -> list[list[dict[str, str]]]:
    return [one["turns"] for one in load_protocol("people_writing")["practice"]["dialogues"]]


@pytest.mark.parametrize("name", PLACEHOLDERS)
def test_a_file_has_a_version_and_no_empty_text(name: str) -> None:
    data = load_protocol(name)
    assert data["version"] == VERSIONS.get(name, "1")
    assert all(text.strip() for text in read_texts(data))


@pytest.mark.parametrize("name", PLACEHOLDERS)
def test_placeholders_are_those_the_pages_fill(name: str) -> None:
    assert placeholders(load_protocol(name)) == PLACEHOLDERS[name]


def test_each_part_of_the_consent_file_holds_its_own_placeholders() -> None:
    parts = {key: part for key, part in load_protocol("people_consent").items() if key != "version"}
    held = {key: found for key, part in parts.items() if (found := placeholders(part))}
    assert held == CONSENT_PLACEHOLDERS


@pytest.mark.parametrize("name", PLACEHOLDERS)
def test_no_word_of_the_trade_is_read(name: str) -> None:
    assert not [text for text in read_texts(load_protocol(name)) if NOT_SAID.search(text)]


@pytest.mark.parametrize("name", PLACEHOLDERS)
def test_texts_are_easy_to_read(name: str) -> None:
    texts = list(read_texts(load_protocol(name)))
    lengths = [len(words) for words in sentences(texts)]
    assert sum(lengths) / len(lengths) <= MAX_MEAN_WORDS
    assert max(lengths) <= MAX_WORDS
    assert grade(texts) <= MAX_GRADE


@pytest.mark.parametrize("n", range(len(EDGES) + 1))
def test_what_is_said_of_the_conversations_is_easy_to_read(n: int) -> None:
    for edges in combinations(EDGES, n):
        item = replace(load_starter_items()[-1], edge=edges)
        for items in ([item], [item, replace(item, edge=None)]):
            said = sentences([describe_served(items)])
            assert max(map(len, said)) <= MAX_WORDS


def test_the_consent_says_all_it_must() -> None:
    points = " ".join(load_protocol("people_consent")["consent"]["points"]).lower()
    for said in ("pasted", "leave the page", "published", "name or address", "stop at any time"):
        assert said in points
    for said in ("withdraw", "cannot be called back", "not be told which"):
        assert said in points


def test_the_rule_against_ai_stands_apart_from_the_consent() -> None:
    data = load_protocol("people_consent")
    elsewhere = {key: part for key, part in data.items() if key not in ("no_ai", "debrief")}
    assert re.search(r"\bAI\b", data["no_ai"]["statement"])
    assert re.search(r"\bAI\b", data["no_ai"]["agree"])
    assert not [text for text in read_texts(elsewhere) if re.search(r"\bAI\b", text)]


def test_a_task_stands_alone() -> None:
    task = load_protocol("people_writing")["task"]
    told = re.compile(
        r"\b(?:AI|artificial|models?|programs?|machines?|chatbots?|consent|agree|study|studies|paste"
        r"|page|box|click|button|publish\w*|withdraw|paid|compared?)\b",
        re.IGNORECASE,
    )
    assert not told.search(task)
    assert "one to three sentences" in task
    assert "about 40 words" in task


def test_practice_dialogues_alternate_and_end_with_the_person() -> None:
    roles = [[turn["role"] for turn in turns] for turns in dialogues()]
    assert roles == [["supporter", "seeker"] * (PRACTICE_TURNS // 2)] * 3


def test_practice_dialogues_name_nobody() -> None:
    screening = load_protocol("screening")
    first_names = set(screening["first_names"]["words"].split())
    not_names = set(screening["not_names"]["words"].split())
    for text in read_texts(dialogues()):
        assert first_names.isdisjoint(WORD.findall(text))
        for pattern in screening["identifying"].values():
            hits = [hit[hit.re.groups].lower() for hit in re.finditer(pattern, text)]
            assert set(hits) <= not_names
        inside = re.findall(r"(?<=[a-z,] )[A-Z]\w+", text)
        assert not [word for word in inside if not word.startswith("I")]


@pytest.mark.parametrize("rule", ["crisis", "abuse", "nsfw", "hate", "substance"])
def test_practice_dialogues_are_harmless(rule: str) -> None:
    lines = load_protocol("screening")["anywhere"][rule].strip().replace("\n", "|")
    harmful = re.compile(rf"\b(?:{lines})\b")
    assert not [text for text in read_texts(dialogues()) if harmful.search(text.lower())]


def test_every_axis_has_one_line() -> None:
    judging = load_protocol("people_judging")
    assert list(judging["axis_marks"]["lines"]) == list(AXIS_NAMES)
    assert list(judging["rating"]["lines"]) == list(AXIS_NAMES)
    assert all(text.count(".") == 1 for text in judging["axis_marks"]["lines"].values())


@pytest.mark.parametrize("axis", AXIS_NAMES)
def test_a_neutral_line_takes_no_word_from_the_rubric(axis: str) -> None:
    rubric = load_protocol("rubric")
    taught = " ".join(text for one in AXIS_NAMES for text in read_texts(rubric[one]["criteria"]))
    anchors = " ".join(rubric[one]["anchor"] for one in AXIS_NAMES)
    line = load_protocol("people_judging")["axis_marks"]["lines"][axis]
    assert not stems(line) & stems(f"{taught} {anchors}")


def test_pages_for_comparing_show_no_rubric_and_no_source() -> None:
    judging = load_protocol("people_judging")
    shown = [
        text
        for part in ("instructions", "checklist", "five-point", "forced-strength", "reason")
        for text in read_texts(judging[part])
    ]
    anchors = {
        rubric["anchor"] for axis, rubric in load_protocol("rubric").items() if axis != "version"
    }
    assert anchors.isdisjoint(shown)
    named = re.compile(
        r"\b(?:people|human|AI|models?|programs?|machines?|who wrote)\b", re.IGNORECASE
    )
    assert not [text for text in shown if named.search(text)]


def test_answers_are_those_of_the_protocols() -> None:
    judging = load_protocol("people_judging")
    five: Any = MARKS["five-point"]["answer"]
    forced: Any = MARKS["forced-strength"]
    assert [one["answer"] for one in judging["five-point"]["options"]] == five["enum"]
    choices = [one["answer"] for one in judging["forced-strength"]["choices"]]
    strengths = [one["strength"] for one in judging["forced-strength"]["strengths"]]
    signs = [len(one["sign"]) for one in judging["forced-strength"]["strengths"]]
    assert choices == forced["winner"]["enum"]
    assert strengths == signs == forced["strength"]["enum"]
    assert list(judging["rating"]["scale"]) == ["1", "2", "3", "4", "5"]


def test_every_question_about_people_can_be_left_unanswered() -> None:
    for question in load_protocol("people_background")["questions"].values():
        values = [option["value"] for option in question["options"]]
        assert values[-1] == "not-said"
        assert len(set(values)) == len(values)


def test_no_scale_text_is_shipped() -> None:
    assert set(load_protocol("people_background")["scale"]) == {"title", "intro", "skip"}


def test_help_has_a_default_and_every_locale_the_same_keys() -> None:
    locales = load_protocol("help")["locales"]
    keys = {"country", "helpline", "emergency", "checked", "called", "lines"}
    assert "default" in locales
    assert all(set(locale) == keys for locale in locales.values())


def test_a_helpline_is_dialled_as_it_reads() -> None:
    locales = load_protocol("help")["locales"].values()
    for line in (line for locale in locales for line in locale["lines"]):
        digits = re.sub(r"\D", "", line["reach"])
        assert all(line[key] in digits for key in ("call", "sms") if key in line)
        assert line.get("web", "") in line["reach"]

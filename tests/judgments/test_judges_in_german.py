"""A judge asked in German: the same question, keys and schema, in German words."""

import re

import pytest

from hearteval.domain import Turn
from hearteval.judgments.form import RATED, USUAL, JudgeForm
from hearteval.judgments.prompt import (
    judge_messages,
    judge_prompt_hash,
    judge_schema,
    repair_messages,
)
from hearteval.protocol.markers import Message

NONCE = "00aa11bb22cc33dd"
CONTEXT = (
    Turn(role="supporter", text="Was ist passiert?"),
    Turn(role="seeker", text="Die Band geht ohne mich auf Tour."),
)
FIRST, SECOND = "Autsch, nach all den Proben.", "Es gibt andere Bands."
FORMS = (
    JudgeForm(language="de"),
    JudgeForm(protocol="five-point", language="de"),
    JudgeForm(marks="optional", language="de"),
    JudgeForm(axes=("E",), is_alone=True, language="de"),
    JudgeForm(protocol="rating", language="de"),
)
ENGLISH = re.compile(r"\b(?:the|you|your|and|of|is|what|with|which)\b", re.IGNORECASE)


def messages(form: JudgeForm) -> tuple[Message, ...]:
    texts = [FIRST] if form.protocol == "rating" else [FIRST, SECOND]
    return judge_messages(CONTEXT, *texts, nonce=NONCE, form=form)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.protocol + form.marks)
def test_all_that_a_judge_is_told_is_german(form: JudgeForm) -> None:
    (_, system), (_, user) = messages(form)
    for text in (*(turn.text for turn in CONTEXT), FIRST, SECOND):
        user = user.replace(text, "")
    assert ENGLISH.findall(system.replace("about the same", "")) == []
    assert ENGLISH.findall(user) == []


def test_keys_and_values_of_a_reply_are_the_same_in_every_language() -> None:
    assert judge_schema(FORMS[1]) == judge_schema(JudgeForm(protocol="five-point"))
    system = messages(FORMS[1])[0][1]
    assert all(key in system for key in FORMS[1].reply_keys)
    assert '"A slightly better"' in system


def test_another_language_is_another_prompt_and_so_another_rater() -> None:
    assert judge_prompt_hash(FORMS[0]) != judge_prompt_hash(USUAL)
    assert judge_prompt_hash(FORMS[4]) != judge_prompt_hash(RATED)
    assert FORMS[0].settings == {**USUAL.settings, "language": "de"}
    assert JudgeForm.of(FORMS[0].settings) == FORMS[0]


def test_a_request_to_repair_is_german_too() -> None:
    text = repair_messages(messages(FORMS[0]), "not-json", FORMS[0])[-1][1]
    assert "Sie war kein JSON" in text

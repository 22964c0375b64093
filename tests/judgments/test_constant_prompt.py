"""What thousands of judge calls have in common is written, hashed and counted once."""

from collections.abc import Sequence

import pytest

from hearteval.domain import AXES, Axis, Turn, content_hash, record_id
from hearteval.judgments import prompt
from hearteval.judgments.form import USUAL, JudgeForm
from hearteval.judgments.prompt import judge_messages, judge_schema
from hearteval.models.base import Message, Sampling, Schema
from hearteval.models.wrappers import cached
from hearteval.models.wrappers.cached import ReplyKeys
from hearteval.study.asking import models

CONTEXT = (Turn(role="seeker", text="It is late."),)


def test_the_part_that_is_the_same_for_all_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Axis] = []
    write = prompt._axis_text

    def count(axis: Axis, form: JudgeForm) -> str:
        written.append(axis)
        return write(axis, form)

    monkeypatch.setattr(prompt, "_axis_text", count)
    prompt._system_text.cache_clear()
    for nonce in ("a" * 16, "b" * 16, "c" * 16):
        messages = judge_messages(CONTEXT, "One.", "Two.", nonce=nonce)
        assert messages[0][0] == "system"
        assert nonce in messages[1][1]
    assert written == list(AXES)


@pytest.mark.parametrize("text", ["plain", "cafe\u0301 ☕", 'a "quote"\n', "\ud800"])
def test_a_reply_is_named_by_all_that_was_asked_and_its_beginning_hashed_once(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[Message] = []
    write = cached._as_json

    def count(message: Message) -> str:
        hashed.append(message)
        return write(message)

    monkeypatch.setattr(cached, "_as_json", count)
    sampling = Sampling(max_tokens=5, refuses=frozenset({"seed"}))
    keys, system = ReplyKeys({"model": "m"}), Message(role="system", content=f"Judge. {text}")
    asked = [Message(role="user", content=f"{text} {n}") for n in range(3)]
    made = [keys.key((system, one), sampling, repeat=2) for one in asked]
    assert made == [_key((system, one), repeat=2) for one in asked]
    assert hashed == [system, *asked]
    assert keys.key((asked[0],), sampling, repeat=0) == _key((asked[0],), repeat=0)


def _key(messages: Sequence[Message], *, repeat: int) -> str:
    """The name of a reply as DESIGN section 2 says it, made in one piece."""
    settings = {"temperature": 0.0, "top_p": 1.0, "max_tokens": 5, "schema": None}
    asked = {
        "endpoint": content_hash({"model": "m"}),
        "messages": [[one.role, one.content] for one in messages],
        "settings": content_hash(settings),
        "repeat": repeat,
    }
    return record_id("reply", asked)


def test_a_schema_is_written_once() -> None:
    schema = Schema(name="s", schema=judge_schema(USUAL))
    first = models.schema_text(Sampling(schema=schema))
    assert models.schema_text(Sampling(schema=schema, max_tokens=9)) is first
    assert '"overall"' in first

"""What only the canned model does; what all models do is in ``contract``."""

import asyncio

import pytest
from canned_model import CannedCall, CannedModel

from hearteval.models.base import Message, Reply, Sampling

MESSAGES = [Message(role="user", content="Hello.")]


def ask(model: CannedModel, sampling: Sampling | None = None, repeat: int = 0) -> Reply:
    return asyncio.run(model.complete(MESSAGES, sampling or Sampling(), repeat=repeat))


def test_answers_are_given_in_turn() -> None:
    model = CannedModel(["one", "two"])
    assert [ask(model).text, ask(model).text] == ["one", "two"]


def test_more_calls_than_answers_are_a_mistake() -> None:
    with pytest.raises(IndexError):
        ask(CannedModel([]))


def test_function_sees_everything_it_is_asked() -> None:
    model = CannedModel(lambda messages, sampling, repeat: f"{len(messages)} {repeat}")
    assert ask(model, repeat=3).text == "1 3"


def test_whole_reply_keeps_its_own_values() -> None:
    reply = ask(CannedModel([Reply(text="", finish_reason="length", model="other", raw="{}")]))
    assert (reply.finish_reason, reply.model, reply.raw) == ("length", "other", "{}")


def test_calls_are_kept() -> None:
    model, sampling = CannedModel(["one"]), Sampling(seed=3)
    ask(model, sampling, repeat=1)
    assert model.calls == [CannedCall(messages=tuple(MESSAGES), sampling=sampling, repeat=1)]

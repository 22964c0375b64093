"""One class that every model and every wrapper around models passes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeVar

import numpy as np
import pytest
from canned_model import Answer, CannedModel
from inspect_answers import echo_responses
from scripted_server import echo, running_server

from hearteval.errors import ModelCallError
from hearteval.models.base import ChatModel, Message, Reply, Sampling, Schema
from hearteval.models.http import Endpoint
from hearteval.models.http.client import OpenAICompatibleModel, open_client
from hearteval.models.inspect.model import open_inspect_model
from hearteval.models.wrappers.gate import Gate, Gated
from hearteval.models.wrappers.pace import CallLimits

T = TypeVar("T")
Opening = AbstractAsyncContextManager[ChatModel]
HELLO = [Message(role="system", content="Listen."), Message(role="user", content="Hello. 💙")]


@asynccontextmanager
async def open_canned() -> AsyncIterator[ChatModel]:
    def answer(messages: Sequence[Message], sampling: Sampling, repeat: int) -> Answer:
        said = messages[-1].content
        return ModelCallError("no", reason="bad-key") if said == "fail" else f"You said: {said}"

    yield CannedModel(answer, name="tiny")


@asynccontextmanager
async def open_endpoint() -> AsyncIterator[ChatModel]:
    async with running_server(echo()) as server, open_client() as client:
        endpoint = Endpoint(name="tiny", model="tiny", base_url=server.url)
        yield OpenAICompatibleModel(endpoint, client)


@asynccontextmanager
async def open_wrapped() -> AsyncIterator[ChatModel]:
    async with open_endpoint() as model:
        gate = Gate("host", say=print)
        line = gate.open_line("tiny", CallLimits(), highest=4)
        rng = np.random.default_rng(1)
        yield Gated(model, gate, line, rng=rng, count_tokens=lambda _messages, _sampling: 1.0)


@asynccontextmanager
async def open_inspect() -> AsyncIterator[ChatModel]:
    async with running_server(echo_responses()) as server:
        endpoint = Endpoint(name="tiny", model="tiny", base_url=server.url, api_key="canary-012345")
        model = open_inspect_model("openai", endpoint)
        try:
            yield model
        finally:
            await model.close()


KINDS: dict[str, Callable[[], Opening]] = {
    "canned": open_canned,
    "endpoint": open_endpoint,
    "wrapped": open_wrapped,
    "inspect": open_inspect,
}


@pytest.fixture(params=list(KINDS))
def opening(request: pytest.FixtureRequest) -> Callable[[], Opening]:
    return KINDS[request.param]


def run(opening: Callable[[], Opening], use: Callable[[ChatModel], Awaitable[T]]) -> T:
    async def main() -> T:
        async with opening() as model:
            return await use(model)

    return asyncio.run(main())


def ask(opening: Callable[[], Opening], sampling: Sampling, text: str = "") -> Reply:
    messages = [Message(role="user", content=text)] if text else HELLO
    return run(opening, lambda model: model.complete(messages, sampling))


class TestChatModel:
    def test_answers_the_messages(self, opening: Callable[[], Opening]) -> None:
        reply = ask(opening, Sampling())
        assert reply.text == "You said: Hello. 💙"
        assert (reply.finish_reason, reply.n_attempts, reply.cached) == ("stop", 1, False)

    def test_names_the_model_that_answered(self, opening: Callable[[], Opening]) -> None:
        assert run(opening, _name_of) == "tiny"
        assert ask(opening, Sampling()).model.startswith("tiny")

    def test_keeps_what_came(self, opening: Callable[[], Opening]) -> None:
        assert "You said: " in ask(opening, Sampling()).raw

    def test_says_what_was_requested_and_what_was_sent(
        self, opening: Callable[[], Opening]
    ) -> None:
        schema = Schema(name="mark", schema={"type": "object"})
        sampling = Sampling(max_tokens=90, schema=schema, refuses=frozenset({"temperature"}))
        reply = ask(opening, sampling)
        sent = {"top_p": 1.0, "max_tokens": 90, "schema": "mark"}
        assert reply.requested == {"temperature": 0.0, **sent}
        assert reply.effective == sent

    def test_a_reply_that_comes_whole_says_the_same(self, opening: Callable[[], Opening]) -> None:
        reply, whole = (ask(opening, Sampling(is_streamed=one)) for one in (True, False))
        assert (whole.text, whole.effective) == (reply.text, reply.effective)
        assert (whole.first_text_ms, whole.first_reasoning_ms) == (None, None)

    def test_repeats_are_answered(self, opening: Callable[[], Opening]) -> None:
        async def use(model: ChatModel) -> list[str]:
            return [
                (await model.complete(HELLO, Sampling(), repeat=repeat)).text for repeat in (0, 1)
            ]

        assert run(opening, use) == ["You said: Hello. 💙"] * 2

    def test_calls_at_once_get_their_own_answers(self, opening: Callable[[], Opening]) -> None:
        async def use(model: ChatModel) -> list[str]:
            calls = [
                model.complete([Message(role="user", content=str(number))], Sampling())
                for number in range(20)
            ]
            return [reply.text for reply in await asyncio.gather(*calls)]

        assert run(opening, use) == [f"You said: {number}" for number in range(20)]

    def test_no_reply_is_an_error_with_a_reason(self, opening: Callable[[], Opening]) -> None:
        with pytest.raises(ModelCallError) as caught:
            ask(opening, Sampling(), "fail")
        assert (caught.value.reason, caught.value.n_attempts) == ("bad-key", 1)

    def test_no_messages_is_a_mistake(self, opening: Callable[[], Opening]) -> None:
        with pytest.raises(ValueError, match="at least one message"):
            run(opening, lambda model: model.complete([], Sampling()))

    def test_cancelled_call_ends_and_the_next_is_answered(
        self, opening: Callable[[], Opening]
    ) -> None:
        async def use(model: ChatModel) -> str:
            task = asyncio.create_task(model.complete(HELLO, Sampling()))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return (await model.complete(HELLO, Sampling())).text

        assert run(opening, use) == "You said: Hello. 💙"


async def _name_of(model: ChatModel) -> str:
    return model.name

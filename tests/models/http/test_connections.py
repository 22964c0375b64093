"""The shared connections: when a request went out, and what else they can be used for."""

import asyncio
from typing import Any

import aiohttp
import pytest
from scripted_server import Ticking, chunk, running_server, say, sse, stream

from hearteval.models.base import Message, Reply, Sampling
from hearteval.models.failures import CallFailureError
from hearteval.models.http import Endpoint
from hearteval.models.http.client import OpenAICompatibleModel, Timeouts, open_client


def test_time_to_connect_is_no_part_of_a_calls_time(
    monkeypatch: pytest.MonkeyPatch, ticking: Ticking
) -> None:
    connect = aiohttp.TCPConnector.connect

    async def connect_slowly(self: Any, *arguments: Any) -> Any:
        ticking.seconds += 100
        return await connect(self, *arguments)

    monkeypatch.setattr(aiohttp.TCPConnector, "connect", connect_slowly)

    async def call() -> Reply:
        async with running_server(say("Yes.")) as server, open_client() as client:
            endpoint = Endpoint(name="tiny", model="tiny-1", base_url=server.url)
            messages = [Message(role="user", content="Hello.")]
            return await OpenAICompatibleModel(endpoint, client).complete(messages, Sampling())

    reply = asyncio.run(call())
    assert reply.total_ms is not None
    assert reply.total_ms < 100_000


def test_session_serves_requests_that_nobody_times() -> None:
    async def call() -> int:
        async with running_server(say("Yes.")) as server, open_client() as client:
            body = {"messages": [{"content": "Hello."}]}
            async with client.session.post(server.url, json=body) as response:
                return response.status

    assert asyncio.run(call()) == 200


def test_body_that_trickles_ends_with_the_time_of_the_call() -> None:
    pieces: list[bytes | float] = [sse(chunk({"content": "so "})), 0.05]

    async def call() -> None:
        trickle = stream(*pieces * 400)
        async with running_server(trickle) as server, open_client() as client:
            endpoint = Endpoint(name="tiny", model="tiny-1", base_url=server.url)
            timeouts = Timeouts().within(2.0)
            model = OpenAICompatibleModel(endpoint, client, timeouts=timeouts)
            await model.complete([Message(role="user", content="Hello.")], Sampling())

    with pytest.raises(CallFailureError, match=r"timeout: not done within 2 s") as caught:
        asyncio.run(call())
    assert caught.value.reply.text.startswith("so ")

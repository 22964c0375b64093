"""llama.cpp's own server with the project's tiny model: what a healthy endpoint really does.

The raw answers are looked at first, then the same through our client.
"""

import asyncio
import http.client
import json
import os
import re
import signal
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from tiny_model import ONE_THREAD, TINY_MODEL

from hearteval.errors import ModelCallError
from hearteval.models.base import ChatModel, Message, Reply, Sampling, Schema
from hearteval.models.failures import CallFailureError
from hearteval.models.http import Endpoint
from hearteval.models.http.client import OpenAICompatibleModel, open_client
from hearteval.models.local import (
    ONE_REQUEST,
    LocalModel,
    LocalServer,
    LocalSettings,
    run_local_model,
)

pytestmark = pytest.mark.server

QUESTION = "My sister moved abroad last month and the flat is so quiet now."
MESSAGES = [{"role": "user", "content": QUESTION}]
VERDICT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "reason": {"type": "string"},
        "winner": {"enum": ["left", "right"]},
        "strength": {"enum": [1, 2, 3, 4, 5]},
    },
    "required": ["reason", "winner", "strength"],
    "additionalProperties": False,
}
NESTED = {
    "type": "json_schema",
    "json_schema": {"name": "verdict", "strict": True, "schema": VERDICT},
}
FLAT = {"type": "json_schema", "schema": VERDICT}


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    settings = LocalSettings(n_threads=1, context=2048, reuse_prompts=False)
    with run_local_model(TINY_MODEL, settings) as running:
        yield running


def post(server: LocalServer, **body: Any) -> tuple[int, str]:
    connection = http.client.HTTPConnection(server.base_url.split("/")[2], timeout=60)
    try:
        connection.request("POST", "/v1/chat/completions", json.dumps(body))
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def ask(server: LocalServer, **body: Any) -> dict[str, Any]:
    status, text = post(server, **{"messages": MESSAGES, "temperature": 0} | body)
    assert status == 200, text
    answer: dict[str, Any] = json.loads(text)
    return answer


def reply_of(answer: dict[str, Any]) -> str:
    text: str = answer["choices"][0]["message"]["content"]
    return text


def is_verdict(text: str) -> bool:
    try:
        verdict = json.loads(text)
    except json.JSONDecodeError:
        return False
    return (
        isinstance(verdict, dict)
        and set(verdict) == set(VERDICT["required"])
        and isinstance(verdict["reason"], str)
        and verdict["winner"] in {"left", "right"}
        and verdict["strength"] in {1, 2, 3, 4, 5}
    )


def test_a_stream_brings_text_in_pieces_then_usage_and_timings(server: LocalServer) -> None:
    status, text = post(
        server,
        messages=MESSAGES,
        temperature=0,
        max_tokens=60,
        stream=True,
        stream_options={"include_usage": True},
    )
    assert status == 200
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line]
    assert lines[-1] == "[DONE]"
    events = [json.loads(line) for line in lines[:-1]]
    choices = [event["choices"][0] for event in events if event["choices"]]
    pieces = [c["delta"]["content"] for c in choices if c["delta"].get("content")]
    assert len(pieces) > 2
    assert choices[-1]["finish_reason"] == "stop"
    assert events[-1]["choices"] == []
    usage, timings = events[-1]["usage"], events[-1]["timings"]
    assert usage["completion_tokens"] == timings["predicted_n"] >= len(pieces)
    assert timings["prompt_ms"] > 0
    assert timings["predicted_ms"] > 0


def test_the_same_request_gets_the_same_answer_at_temperature_0(server: LocalServer) -> None:
    first, second = ask(server), ask(server)
    assert reply_of(first) == reply_of(second) != ""
    assert first["usage"]["prompt_tokens_details"] == {"cached_tokens": 0}


def test_a_nested_schema_is_obeyed_by_every_reply_that_ends(server: LocalServer) -> None:
    answers = [
        ask(server, temperature=1, seed=seed, max_tokens=300, response_format=NESTED)
        for seed in range(60)
    ]
    ended = [a for a in answers if a["choices"][0]["finish_reason"] == "stop"]
    assert len(ended) > 30
    assert all(is_verdict(reply_of(answer)) for answer in ended)
    assert {json.loads(reply_of(answer))["winner"] for answer in ended} == {"left", "right"}


def test_a_flat_schema_asks_for_json_and_not_for_the_schema(server: LocalServer) -> None:
    def ask_for(form: dict[str, Any], seed: int) -> str:
        settings = {"temperature": 1, "seed": seed, "max_tokens": 80}
        return reply_of(ask(server, **settings, response_format=form))

    flat = [ask_for(FLAT, seed) for seed in range(6)]
    assert flat == [ask_for({"type": "json_object"}, seed) for seed in range(6)]
    assert not any(is_verdict(text) for text in flat)


def test_a_cut_off_reply_ends_for_length_and_breaks_its_schema(server: LocalServer) -> None:
    answer = ask(server, max_tokens=4, response_format=NESTED)
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["usage"]["completion_tokens"] == 4
    assert not is_verdict(reply_of(answer))


def test_any_model_name_is_accepted_and_the_true_one_is_told(server: LocalServer) -> None:
    assert ask(server, model="gpt-5")["model"] == server.model == "tiny"


def test_a_prompt_longer_than_the_context_is_refused(server: LocalServer) -> None:
    status, text = post(server, messages=[{"role": "user", "content": "so quiet " * 2000}])
    error = json.loads(text)["error"]
    assert status == 400
    assert error["type"] == "exceed_context_size_error"
    assert error["n_ctx"] == 2048


def test_each_parallel_request_has_the_whole_context() -> None:
    settings = LocalSettings(n_threads=1, context=1024, n_parallel=3)
    with run_local_model(TINY_MODEL, settings) as server:
        connection = http.client.HTTPConnection(server.base_url.split("/")[2], timeout=60)
        connection.request("GET", "/props")
        props = json.loads(connection.getresponse().read())
        connection.close()
    assert props["total_slots"] == 3
    assert props["default_generation_settings"]["n_ctx"] == 1024


def test_settings_nobody_asked_for_do_not_shape_replies(server: LocalServer) -> None:
    connection = http.client.HTTPConnection(server.base_url.split("/")[2], timeout=60)
    connection.request("GET", "/props")
    sampling = json.loads(connection.getresponse().read())["default_generation_settings"]["params"]
    connection.close()
    neutral = {"top_k": 0, "top_p": 1.0, "min_p": 0.0, "repeat_penalty": 1.0, "temperature": 1.0}
    assert {name: sampling[name] for name in neutral} == neutral


def complete(
    server: LocalServer, *samplings: Sampling, said: str = QUESTION, kill_before: Sequence[int] = ()
) -> tuple[list[Reply], list[str]]:
    """Ask in turn, killing the server before some calls; return replies and what was told."""

    async def call() -> tuple[list[Reply], list[str]]:
        told: list[str] = []
        async with open_client() as client:

            def connect(server: LocalServer) -> ChatModel:
                endpoint = Endpoint(
                    name="tiny", model=server.model, base_url=server.base_url, headers=ONE_REQUEST
                )
                return OpenAICompatibleModel(endpoint, client)

            model, replies = LocalModel(connect, server, say=told.append), []
            for n, sampling in enumerate(samplings):
                if n in kill_before:
                    os.kill(server.pid, signal.SIGKILL)
                asked = [Message(role="user", content=said)]
                replies.append(await model.complete(asked, sampling))
            return replies, told

    return asyncio.run(call())


def reply_to(server: LocalServer, sampling: Sampling, *, said: str = QUESTION) -> Reply:
    ((reply,), _) = complete(server, sampling, said=said)
    return reply


def test_our_client_reads_text_usage_and_times(server: LocalServer) -> None:
    reply = reply_to(server, Sampling(max_tokens=60))
    assert reply.text == reply_of(ask(server))
    assert reply.finish_reason == "stop"
    assert reply.model == "tiny"
    assert reply.usage.input_tokens is not None
    assert reply.usage.input_tokens > 10
    assert reply.usage.output_tokens is not None
    assert reply.first_text_ms is not None
    assert reply.total_ms is not None
    assert 0 < reply.first_text_ms <= reply.total_ms


def test_our_client_sends_schemas_so_that_they_bind(server: LocalServer) -> None:
    marks = {"winner": {"enum": ["left", "right"]}, "strength": {"enum": [1, 2, 3, 4, 5]}}
    schema: dict[str, Any] = {"type": "object", "required": [*marks], "additionalProperties": False}
    schema["properties"] = marks
    for seed in range(5):
        sampling = Sampling(
            temperature=1.0, seed=seed, max_tokens=60, schema=Schema(name="v", schema=schema)
        )
        verdict = json.loads(reply_to(server, sampling).text)
        assert verdict["winner"] in {"left", "right"}
        assert verdict["strength"] in {1, 2, 3, 4, 5}


def test_our_client_reports_a_cut_off_reply(server: LocalServer) -> None:
    assert reply_to(server, Sampling(max_tokens=3)).finish_reason == "length"


def test_what_a_living_server_refuses_keeps_its_own_reason(server: LocalServer) -> None:
    with pytest.raises(ModelCallError, match="context") as caught:
        reply_to(server, Sampling(), said="so quiet " * 2000)
    assert caught.value.reason == "context-too-long"
    assert isinstance(caught.value, CallFailureError)
    assert re.search(r"\d+ tokens\) exceeds the available context size \(2048", caught.value.said)
    assert "so quiet" not in caught.value.said


def test_a_server_that_died_is_started_once_more_and_then_named() -> None:
    short = Sampling(max_tokens=3)
    with run_local_model(TINY_MODEL, ONE_THREAD) as server:
        replies, told = complete(server, short, short, short, kill_before=[1])
        assert [reply.finish_reason for reply in replies] == ["length"] * 3
        assert len(told) == 1
        assert "its server ended while it served (signal 9). It is started once more." in told[0]
        with pytest.raises(ModelCallError, match="its server ended while it served") as caught:
            complete(server, short, short, short, kill_before=[1, 2])
    assert caught.value.reason == "local-server-died"
    assert "sister" not in str(caught.value)

"""Inspect's real provider clients, against a loopback server that notes what it is sent."""

import asyncio
import json
import logging
import traceback
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import inspect_answers as answers
import pytest
from aiohttp import web
from inspect_ai.log import transcript
from inspect_answers import ANTHROPIC, BEDROCK, GOOGLE, OPENAI, Kind, refuse
from scripted_server import Answer, ScriptedServer, cut, hang, running_server, sse, stream

from hearteval.errors import SettingsError
from hearteval.judgments.form import RATED, USUAL
from hearteval.judgments.prompt import judge_schema
from hearteval.models.base import Message, Reply, Sampling, Schema, Usage
from hearteval.models.failures import CallFailureError
from hearteval.models.http import Endpoint
from hearteval.models.http.client import Timeouts
from hearteval.models.inspect.model import InspectModel, open_inspect_model

KEY = "canary-5f2d9a7c41"
HELLO = [
    Message(role="system", content="Listen to what they say."),
    Message(role="user", content="My cat died yesterday."),
    Message(role="assistant", content="I am so sorry."),
    Message(role="user", content="Nobody understands."),
]
MARK = Schema(
    name="mark",
    schema={
        "type": "object",
        "properties": {"choice": {"type": "string", "enum": ["first", "second"]}},
        "required": ["choice"],
        "additionalProperties": False,
    },
)
LIMIT = 123
KINDS = [pytest.param(kind, id=kind.provider) for kind in (OPENAI, ANTHROPIC, GOOGLE, BEDROCK)]


@pytest.fixture(autouse=True)
def unpainted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Inspect keep a traceback as text: to paint it in colours takes up to 1.5 s."""

    def plain(*error: Any) -> tuple[str, str]:
        return ("".join(traceback.format_exception(*error)),) * 2

    monkeypatch.setattr("inspect_ai.model._model.format_traceback", plain)


@asynccontextmanager
async def opened(
    kind: Kind,
    *script: Answer,
    key: str = KEY,
    model: str = "",
    extra: Mapping[str, Any] | None = None,
    timeouts: Timeouts | None = None,
    **more: Any,
) -> AsyncIterator[tuple[InspectModel, ScriptedServer]]:
    async with running_server(*(script or (kind.answer("I am here."),))) as server:
        endpoint = Endpoint(
            name="tiny",
            model=model or kind.model,
            base_url=server.url.removesuffix("/v1") + kind.path,
            api_key=key,
            extra_body=extra or {},
            **more,
        )
        asked = open_inspect_model(kind.provider, endpoint, timeouts=timeouts)
        try:
            yield asked, server
        finally:
            await asked.close()


def ask(
    kind: Kind, *script: Answer, sampling: Sampling | None = None, **options: Any
) -> tuple[Reply, ScriptedServer]:
    async def main() -> tuple[Reply, ScriptedServer]:
        async with opened(kind, *script, **options) as (model, server):
            assert KEY not in repr(model) + model.name
            return await model.complete(HELLO, sampling or Sampling(max_tokens=300)), server

    return asyncio.run(main())


@cache
def asked(kind: Kind) -> tuple[Reply, ScriptedServer]:
    """What one question brings, asked once for all who look at it."""
    return ask(kind, sampling=Sampling(max_tokens=LIMIT, schema=MARK))


def fail(kind: Kind, *script: Answer, **options: Any) -> CallFailureError:
    with pytest.raises(CallFailureError) as caught:
        ask(kind, *script, **options)
    return caught.value


@pytest.mark.parametrize("kind", KINDS)
def test_reply_is_what_the_provider_said(kind: Kind) -> None:
    reply, _ = asked(kind)
    assert (reply.text, reply.finish_reason, reply.refusal) == ("I am here.", "stop", None)
    assert reply.reasoning == answers.THOUGHT
    assert (reply.n_attempts, reply.cached) == (1, False)
    assert "I am here." in json.loads(reply.raw).__str__()


@pytest.mark.parametrize("kind", KINDS)
def test_usage_counts_cached_tokens_as_input_and_reasoning_as_output(kind: Kind) -> None:
    reply, _ = asked(kind)
    apart = None if kind is BEDROCK else 5
    usage = Usage(input_tokens=40, output_tokens=12, reasoning_tokens=apart, cached_tokens=30)
    assert reply.usage == usage


def test_of_anthropic_the_beginning_is_kept_and_nothing_else() -> None:
    _, server = ask(ANTHROPIC, cache_mark="cache_control", cache_from=2)
    (body,) = server.bodies
    assert [part.get("cache_control") for part in body["system"]] == [{"type": "ephemeral"}]
    assert json.dumps(body).count("cache_control") == 1
    _, without = asked(ANTHROPIC)
    assert "cache_control" not in json.dumps(without.bodies)


@pytest.mark.parametrize("kind", KINDS)
def test_one_request_has_the_turns_in_order_and_the_system_prompt_where_it_belongs(
    kind: Kind,
) -> None:
    _, server = asked(kind)
    (body,) = server.bodies
    sent = json.dumps(body)
    assert "Listen to what they say." in kind.system(body)
    assert sent.count("Listen to what they say.") == 1
    turns = [sent.index(message.content) for message in HELLO[1:]]
    assert turns == sorted(turns)


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_model_refuses_is_in_no_request(kind: Kind) -> None:
    refuses = frozenset({"temperature", "top_p", "seed", "schema"})
    sampling = Sampling(max_tokens=300, seed=7, schema=MARK, refuses=refuses)
    reply, server = ask(kind, sampling=sampling)
    sent = json.dumps(server.bodies[0])
    assert not [word for word in ("temperature", "top_p", "topP", "seed") if f'"{word}"' in sent]
    assert "enum" not in sent
    assert reply.effective.items() >= {"max_tokens": 300}.items()
    assert not refuses & reply.effective.keys()
    assert set(reply.requested) == {"temperature", "top_p", "max_tokens", "seed", "schema"}


@pytest.mark.parametrize("kind", KINDS)
def test_limit_and_schema_are_sent_in_the_form_of_the_provider(kind: Kind) -> None:
    reply, server = asked(kind)
    assert kind.limit(server.bodies[0]) == reply.effective["max_tokens"] == LIMIT
    sent = kind.schema(server.bodies[0])
    assert sent["properties"]["choice"]["enum"] == ["first", "second"]
    assert (sent["required"], sent["additionalProperties"]) == (["choice"], False)
    assert reply.effective["schema"] == "mark"


@pytest.mark.parametrize("kind", [GOOGLE, BEDROCK], ids=lambda kind: kind.provider)
def test_temperature_and_top_p_are_sent_where_inspect_sends_them(kind: Kind) -> None:
    reply, server = asked(kind)
    settings = kind.settings(server.bodies[0])
    assert (settings["temperature"], settings["topP"]) == (0.0, 1.0)
    assert (reply.effective["temperature"], reply.effective["top_p"]) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("kind", "model"),
    [(ANTHROPIC, "claude-haiku-4-5"), (OPENAI, "gpt-5")],
    ids=["anthropic", "openai"],
)
def test_setting_that_inspect_leaves_out_without_an_error_is_not_effective(
    kind: Kind, model: str
) -> None:
    reply, server = ask(kind, model=model)
    assert not {"temperature", "top_p"} & server.bodies[0].keys()
    assert not {"temperature", "top_p"} & reply.effective.keys()
    assert reply.requested["temperature"] == 0.0


def test_setting_that_the_response_repeats_is_what_was_used() -> None:
    reply, server = ask(OPENAI, answers.responses("Hi.", temperature=1.0, top_p=0.98))
    assert server.bodies[0]["temperature"] == 0.0
    assert (reply.effective["temperature"], reply.effective["top_p"]) == (1.0, 0.98)


@pytest.mark.parametrize(
    ("kind", "model", "extra", "effective"),
    [
        (OPENAI, "gpt-5", {"reasoning_effort": "minimal"}, {"reasoning": {"effort": "minimal"}}),
        (
            GOOGLE,
            "gemini-2.5-pro",
            {"reasoning_tokens": 128},
            {"thinkingConfig": {"includeThoughts": True, "thinkingBudget": 128}},
        ),
    ],
    ids=["openai", "google"],
)
def test_how_much_a_model_reasons_is_sent_and_said(
    kind: Kind, model: str, extra: Mapping[str, Any], effective: Mapping[str, Any]
) -> None:
    reply, _ = ask(kind, model=model, extra=extra)
    assert reply.effective.items() >= effective.items()


@pytest.mark.parametrize("kind", KINDS)
def test_key_is_in_one_header_and_nowhere_else(kind: Kind) -> None:
    reply, server = asked(kind)
    assert [name for name, value in server.headers[0].items() if KEY in value] == [kind.key_header]
    assert KEY not in json.dumps(server.bodies) + "".join(server.targets) + repr(reply)


@pytest.mark.parametrize("kind", KINDS)
def test_failed_call_is_not_tried_again_here_and_says_how_long_to_wait_and_what_was_sent(
    kind: Kind,
) -> None:
    async def main() -> tuple[CallFailureError, int]:
        async with opened(kind, refuse(429, Retry_After="7")) as (model, server):
            with pytest.raises(CallFailureError) as caught:
                await model.complete(HELLO, Sampling(max_tokens=300))
            return caught.value, len(server.bodies)

    error, n_requests = asyncio.run(main())
    assert (error.reason, error.retry_after_seconds, n_requests) == ("rate-limited", 7.0, 1)
    assert error.reply.requested["max_tokens"] == error.reply.effective["max_tokens"] == 300
    assert error.reply.text == ""


@pytest.mark.parametrize("kind", KINDS)
def test_first_reasoning_and_first_text_are_timed_apart(kind: Kind) -> None:
    reply, _ = ask(kind)
    assert reply.first_reasoning_ms is not None
    assert reply.first_text_ms is not None
    assert reply.total_ms is not None
    assert 0 < reply.first_reasoning_ms <= reply.first_text_ms <= reply.total_ms


def test_second_start_of_an_answer_begins_the_times_anew() -> None:
    broken = {"index": 0, "finishReason": "MALFORMED_FUNCTION_CALL"}
    content = {"role": "model", "parts": [{"text": "Thinking", "thought": True}]}
    first = stream(sse({"candidates": [broken | {"content": content}]}))
    second = {"role": "model", "parts": [{"text": "Hi."}]}
    last = stream(sse({"candidates": [{"index": 0, "content": second, "finishReason": "STOP"}]}))
    reply, _ = ask(GOOGLE, first, last)
    assert reply.text == "Hi."
    assert reply.first_reasoning_ms is None


@pytest.mark.parametrize(
    ("kind", "answer", "finish"),
    [
        (ANTHROPIC, answers.anthropic("I am", stop="max_tokens"), "length"),
        (ANTHROPIC, answers.anthropic("No.", stop="refusal"), "content_filter"),
        (GOOGLE, answers.google("I am", finish="MAX_TOKENS"), "length"),
        (GOOGLE, answers.google("I am", finish="SAFETY"), "content_filter"),
        (BEDROCK, answers.bedrock("I am", stop="max_tokens"), "length"),
        (BEDROCK, answers.bedrock("I am", stop="content_filtered"), "content_filter"),
        (
            OPENAI,
            answers.responses(
                "I am", status="incomplete", incomplete_details={"reason": "max_output_tokens"}
            ),
            "length",
        ),
    ],
)
def test_end_of_a_reply_is_said_in_the_core_clients_words(
    kind: Kind, answer: Answer, finish: str
) -> None:
    reply, _ = ask(kind, answer)
    assert reply.finish_reason == finish


def test_refusal_is_apart_from_the_text() -> None:
    content = [{"type": "refusal", "refusal": "I cannot."}]
    message = {"type": "message", "id": "m1", "role": "assistant", "status": "completed"}
    reply, _ = ask(OPENAI, answers.responses("", output=[message | {"content": content}]))
    assert (reply.text, reply.refusal) == ("", "I cannot.")


def test_words_that_inspect_puts_in_the_place_of_no_candidate_are_no_text() -> None:
    blocked = stream(sse({"promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": "tiny-1"}))
    reply, _ = ask(GOOGLE, blocked)
    assert reply.text == ""


@pytest.mark.parametrize(
    ("kind", "message", "reason"),
    [
        (ANTHROPIC, "Output blocked by content filtering policy", "content-filter"),
        (ANTHROPIC, "prompt is too long: 9 tokens > 8", "context-too-long"),
        (GOOGLE, "input exceeds the maximum number of tokens", "context-too-long"),
        (OPENAI, "This model's maximum context length is 8 tokens", "context-too-long"),
    ],
)
def test_error_that_inspect_turns_into_a_reply_is_an_error(
    kind: Kind, message: str, reason: str
) -> None:
    assert fail(kind, refuse(400, message)).reason == reason


@pytest.mark.parametrize(
    ("kind", "status", "reason"),
    [
        (OPENAI, 403, "bad-key"),
        (OPENAI, 404, "unknown-model"),
        (OPENAI, 500, "server-error"),
        (ANTHROPIC, 529, "overloaded"),
        (BEDROCK, 404, "unknown-model"),
        (BEDROCK, 503, "overloaded"),
    ],
    ids=lambda value: getattr(value, "provider", value),
)
def test_statuses_are_reasons_that_are_counted(kind: Kind, status: int, reason: str) -> None:
    error = fail(kind, refuse(status))
    assert error.reason == reason
    assert f"({status})" in str(error)


@pytest.mark.parametrize("kind", KINDS)
def test_refused_setting_is_named(kind: Kind) -> None:
    error = fail(kind, refuse(400, "'max_tokens' is too large: 300"))
    assert (error.reason, "max_tokens" in str(error)) == ("refused-settings", True)


@pytest.mark.parametrize("kind", KINDS)
def test_connection_that_ends_without_a_word_is_worth_another_try(kind: Kind) -> None:
    # Google's SDK waits 1 to 10 seconds and connects again by itself.
    assert fail(kind, cut()).reason in {"connection", "cut-off-stream"}


@pytest.mark.parametrize("kind", KINDS)
def test_endpoint_that_never_answers_ends_in_time(kind: Kind) -> None:
    error = fail(kind, hang(), timeouts=Timeouts(total_seconds=0.3))
    assert error.reason == "timeout"


@pytest.mark.parametrize("kind", KINDS)
def test_neither_key_nor_dialogue_is_in_errors_tracebacks_and_logs(
    kind: Kind, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    repeated = f"wrong key {KEY} for {HELLO[1].content}"
    error = fail(kind, refuse(401, repeated))
    assert error.reason == "bad-key"
    said = "".join(traceback.format_exception(error)) + error.reply.raw + caplog.text
    assert "wrong key" in str(error)
    assert KEY not in said
    assert HELLO[1].content not in str(error) + caplog.text


@pytest.mark.parametrize("kind", KINDS)
def test_cancelled_call_ends_at_once(kind: Kind) -> None:
    async def main() -> None:
        arrived = asyncio.Event()

        async def note(request: web.Request, body: Mapping[str, Any]) -> web.StreamResponse:
            arrived.set()
            return await hang()(request, body)

        async with opened(kind, note) as (model, _):
            task = asyncio.create_task(model.complete(HELLO, Sampling()))
            async with asyncio.timeout(60):
                await arrived.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())


def test_nothing_of_a_call_stays_in_inspects_record() -> None:
    async def main() -> int:
        async with opened(OPENAI) as (model, _):
            await model.complete(HELLO, Sampling())
            return len(transcript().events)

    assert asyncio.run(main()) == 0


def test_token_in_the_environment_does_not_replace_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "other-token-1234")
    with pytest.raises(SettingsError, match="unset it") as caught:
        ask(ANTHROPIC)
    assert "other-token-1234" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (OPENAI, "OPENAI_ORG_ID"),
        (OPENAI, "OPENAI_PROJECT_ID"),
        (OPENAI, "OPENAI_SAFETY_IDENTIFIER"),
        (OPENAI, "OPENAI_CUSTOM_HEADERS"),
        (ANTHROPIC, "ANTHROPIC_CUSTOM_HEADERS"),
    ],
)
def test_environment_adds_nothing_to_what_is_sent(
    kind: Kind, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "X-Other: other-account-1234")
    with pytest.raises(SettingsError, match=f"{name}.*unset it") as caught:
        ask(kind)
    assert "other-account-1234" not in str(caught.value)


def test_environment_does_not_send_calls_to_another_service(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_CLOUD_PROJECT", "other")
    monkeypatch.setenv("GOOGLE_CLOUD_LOCATION", "elsewhere")
    with pytest.raises(SettingsError, match="vertex"):
        ask(GOOGLE)


@pytest.mark.parametrize("kind", KINDS)
def test_address_and_key_in_the_environment_are_not_used(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_BASE_URL", "BEDROCK_BASE_URL")
    for name in names:
        monkeypatch.setenv(name, "http://127.0.0.1:9/v1")
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, "other-key-123456")
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "other-key-123456")
    _, server = ask(kind)
    assert KEY in server.headers[0][kind.key_header]
    assert "other-key-123456" not in str(server.headers)


def test_access_key_of_aws_signs_and_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "other-key-123456")
    _, server = ask(BEDROCK, key="AKIDEXAMPLE:canary-secret-77:canary-session-8")
    headers = server.headers[0]
    assert headers["Authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert headers["X-Amz-Security-Token"] == "canary-session-8"
    assert "canary-secret-77" not in str(server.headers) + str(server.bodies)


def test_secret_part_of_an_access_key_is_in_no_error() -> None:
    error = fail(BEDROCK, refuse(403, "canary-secret-77"), key="AKIDEXAMPLE:canary-secret-77")
    assert "canary-secret-77" not in str(error) + error.reply.raw


def test_no_key_is_said_before_any_call() -> None:
    endpoint = Endpoint(name="tiny", model="gpt-4o", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(SettingsError, match="tiny: openai through Inspect needs a key"):
        open_inspect_model("openai", endpoint)


def test_setting_that_inspect_does_not_know_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"Unknown GenerateConfig field.*depth"):
        ask(OPENAI, extra={"depth": 3})


@pytest.mark.parametrize("schema", [judge_schema(USUAL), judge_schema(RATED)], ids=["", "rating"])
def test_what_judges_are_held_to_goes_through_whole(schema: Mapping[str, Any]) -> None:
    sampling = Sampling(max_tokens=300, schema=Schema(name="heart", schema=schema))
    _, server = ask(OPENAI, sampling=sampling)
    assert OPENAI.schema(server.bodies[0]) == schema


def test_schema_that_inspect_would_cut_is_refused() -> None:
    schema = Schema(name="mark", schema={"type": "object", "minProperties": 1})
    with pytest.raises(ValueError, match="cannot send every keyword"):
        ask(OPENAI, sampling=Sampling(schema=schema))

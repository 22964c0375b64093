"""The client against a scripted loopback endpoint."""

import asyncio
import json
import logging
import traceback
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import Mock

import pytest
from aiohttp import web
from scripted_server import (
    Answer,
    ScriptedServer,
    Ticking,
    chunk,
    completion,
    cut,
    cut_body,
    fail,
    flood,
    give,
    hang,
    running_server,
    say,
    sse,
    stream,
    text_events,
)

from hearteval.models.base import Message, Reply, Sampling, Usage
from hearteval.models.failures import CallFailureError
from hearteval.models.http import Endpoint, build_body
from hearteval.models.http.client import OpenAICompatibleModel, Timeouts, open_client

KEY = "canary-4f1d-key-9b7e"
SPOKEN = "I lost my job in March and have told nobody at home about it yet."
MESSAGES = [Message(role="user", content=SPOKEN)]
SHORT = Timeouts(connect_seconds=2.0, idle_seconds=0.4, total_seconds=0.8)
START = chunk({"content": "It is"})
END = chunk({}, "stop")


@asynccontextmanager
async def opened(
    *answers: Answer, timeouts: Timeouts | None = None, **settings: Any
) -> AsyncIterator[tuple[OpenAICompatibleModel, ScriptedServer]]:
    """A model whose endpoint follows a script."""
    async with running_server(*answers) as server, open_client(timeouts=timeouts) as client:
        known = {"name": "tiny", "model": "tiny-1", "base_url": server.url, "api_key": KEY}
        yield OpenAICompatibleModel(Endpoint(**{**known, **settings}), client), server


def ask(*answers: Answer, is_streamed: bool = True, **settings: Any) -> Reply:
    async def call() -> Reply:
        async with opened(*answers, **settings) as (model, _):
            return await model.complete(MESSAGES, Sampling(is_streamed=is_streamed))

    return asyncio.run(call())


def failure_of(*answers: Answer, **settings: Any) -> CallFailureError:
    with pytest.raises(CallFailureError) as caught:
        ask(*answers, **settings)
    return caught.value


def request_of(sampling: Sampling, **settings: Any) -> tuple[dict[str, Any], dict[str, str], Reply]:
    async def call() -> tuple[dict[str, Any], dict[str, str], Reply]:
        async with opened(say("Yes."), **settings) as (model, server):
            reply = await model.complete(MESSAGES, sampling)
            return server.bodies[0], server.headers[0], reply

    return asyncio.run(call())


class TestReplies:
    def test_byte_order_mark_before_the_body_is_no_part_of_it(self) -> None:
        body = b"\xef\xbb\xbf" + b'{"choices": [{"message": {"content": "Yes."}}]}'
        assert ask(give(body), is_streamed=False).text == "Yes."

    @pytest.mark.parametrize("is_streamed", [True, False])
    def test_holds_text_usage_model_and_finish_reason(self, is_streamed: bool) -> None:
        reply = ask(say("That sounds hard. 💙"), is_streamed=is_streamed)
        assert reply.text == "That sounds hard. 💙"
        assert (reply.finish_reason, reply.model) == ("stop", "tiny-1")
        assert reply.usage == Usage(
            input_tokens=40, output_tokens=12, reasoning_tokens=5, cached_tokens=30
        )

    def test_whole_body_has_no_time_of_first_text(self) -> None:
        reply = ask(say("Yes."), is_streamed=False)
        assert reply.first_text_ms is None
        assert reply.total_ms is not None

    def test_endpoint_that_ignores_stream_is_read_whole(self) -> None:
        reply = ask(give(completion("Yes.")))
        assert (reply.text, reply.first_text_ms) == ("Yes.", None)

    def test_first_reasoning_and_first_text_are_timed_apart(self, ticking: Ticking) -> None:
        thinking, speaking = chunk({"reasoning": "Hm."}), chunk({"content": "Yes."})
        role = chunk({"role": "assistant", "content": ""})
        spoken = sse(speaking, END, "[DONE]")
        reply = ask(stream(sse(role, thinking), ticking.tick, spoken))
        assert (reply.reasoning, reply.text) == ("Hm.", "Yes.")
        assert (reply.first_reasoning_ms, reply.first_text_ms) == (1000, 2000)
        assert reply.total_ms is not None
        assert reply.total_ms >= 2000

    def test_absent_usage_is_unknown_not_zero(self) -> None:
        reply = ask(stream(sse(START, END, "[DONE]")))
        assert reply.usage == Usage()

    def test_connection_lost_after_the_finish_reason_loses_nothing(self) -> None:
        reply = ask(stream(sse(START, END), ending="cut"))
        assert (reply.text, reply.finish_reason) == ("It is", "stop")

    def test_stream_left_open_after_done_ends_soon(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("hearteval.models.http.client.DRAIN_SECONDS", 0.05)
        assert ask(stream(text_events("Yes."), ending="hang")).text == "Yes."

    def test_connections_are_used_again(self) -> None:
        async def call() -> set[str]:
            async with opened(say("Yes.")) as (model, server):
                for _ in range(3):
                    await model.complete(MESSAGES, Sampling())
                return set(server.peers)

        assert len(asyncio.run(call())) == 1

    def test_cancelled_call_closes_its_connection_and_leaves_the_model_usable(self) -> None:
        async def call() -> tuple[int, str]:
            async with opened(hang(), say("Yes.")) as (model, server):
                lost = asyncio.create_task(model.complete(MESSAGES, Sampling()))
                while not server.bodies:
                    await asyncio.sleep(0)
                lost.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await lost
                reply = await model.complete(MESSAGES, Sampling())
                return server.n_cancelled, reply.text

        assert asyncio.run(call()) == (1, "Yes.")


class TestRequests:
    def test_what_calls_share_is_written_once_and_each_gets_its_own(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        written = Mock(wraps=json.dumps)
        monkeypatch.setattr("hearteval.models.http.client.json.dumps", written)
        rules = [Message(role="system", content=f'{"Be kind. " * 9}"{k}"') for k in range(2)]
        cool = Sampling(temperature=0.5)
        calls = [([rules[0], *MESSAGES], Sampling()), ([rules[0]], Sampling())]
        calls += [([rules[0], *MESSAGES, *MESSAGES], cool), ([rules[1], *MESSAGES], cool)]

        async def call() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
            async with opened(say("Yes.")) as (model, server):
                for messages, sampling in calls:
                    await model.complete(messages, sampling)
                endpoint = Endpoint(name="tiny", model="tiny-1", base_url=server.url)
                return server.bodies, [build_body(*one, endpoint) for one in calls]

        sent, expected = asyncio.run(call())
        assert sent == expected
        assert sum("messages" in one.args[0] for one in written.call_args_list) == 3

    def test_asks_for_a_stream_with_usage_under_the_key(self) -> None:
        body, headers, _ = request_of(Sampling())
        assert body["stream"] is True
        assert body["stream_options"] == {"include_usage": True}
        assert headers["Authorization"] == f"Bearer {KEY}"

    def test_no_key_means_no_authorization(self) -> None:
        _, headers, _ = request_of(Sampling(), api_key=None)
        assert "Authorization" not in headers

    def test_headers_and_body_of_the_endpoint_are_sent(self) -> None:
        body, headers, reply = request_of(
            Sampling(),
            headers={"X-Title": "hearteval", "authorization": "Token abc"},
            extra_body={"provider": {"require_parameters": True}},
        )
        assert body["provider"] == {"require_parameters": True}
        assert reply.effective["provider"] == {"require_parameters": True}
        assert (headers["X-Title"], headers["Authorization"]) == ("hearteval", "Token abc")

    def test_refused_settings_are_not_sent_and_the_reply_says_so(self) -> None:
        sampling = Sampling(refuses=frozenset({"temperature", "top_p"}), max_tokens=50)
        body, _, reply = request_of(sampling, max_tokens_key="max_completion_tokens")
        assert not {"temperature", "top_p", "max_tokens"} & body.keys()
        assert body["max_completion_tokens"] == 50
        assert reply.requested == {"temperature": 0.0, "top_p": 1.0, "max_tokens": 50}
        assert reply.effective == {"max_tokens": 50}

    def test_query_and_user_of_the_base_url_are_used(self) -> None:
        async def call() -> tuple[str, str]:
            async with running_server(say("Yes.")) as server, open_client() as client:
                host = server.url.removeprefix("http://")
                url = f"http://anna:s%3Acret@{host}/?api-version=2026-01-01"
                endpoint = Endpoint(name="tiny", model="tiny-1", base_url=url)
                await OpenAICompatibleModel(endpoint, client).complete(MESSAGES, Sampling())
                return server.targets[0], server.headers[0]["Authorization"]

        target, authorization = asyncio.run(call())
        assert target.endswith("/v1/chat/completions?api-version=2026-01-01")
        assert authorization == "Basic YW5uYTpzOmNyZXQ="  # anna:s:cret


class TestProxies:
    def test_explicit_proxy_carries_the_call(self) -> None:
        target, headers = asyncio.run(self._through_proxy(with_user=True))
        assert target == "http://models.invalid/v1/chat/completions"
        assert headers["Proxy-Authorization"] == "Basic cDpxdWlldA=="  # p:quiet

    def test_environment_chooses_the_proxy_when_trusted(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        target, _ = asyncio.run(self._through_proxy(monkeypatch=monkeypatch))
        assert target == "http://models.invalid/v1/chat/completions"

    def test_environment_is_not_read_unless_trusted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        monkeypatch.delenv("no_proxy", raising=False)
        assert ask(say("Yes.")).text == "Yes."

    def test_other_kinds_of_proxies_are_refused_without_their_address(self) -> None:
        async def call() -> None:
            async with open_client(proxy="socks5://p:quiet@host:1") as client:
                endpoint = Endpoint(name="t", model="t", base_url="http://models.invalid")
                OpenAICompatibleModel(endpoint, client)

        with pytest.raises(ValueError, match="expected http://HOST:PORT") as caught:
            asyncio.run(call())
        assert "quiet" not in str(caught.value)

    @staticmethod
    async def _through_proxy(
        *, with_user: bool = False, monkeypatch: pytest.MonkeyPatch | None = None
    ) -> tuple[str, dict[str, str]]:
        async with running_server(say("Yes.")) as server:
            proxy: str | None = server.url.removesuffix("/v1")
            if with_user and proxy is not None:
                proxy = proxy.replace("http://", "http://p:quiet@")
            if monkeypatch is not None and proxy is not None:
                monkeypatch.setenv("http_proxy", proxy.removeprefix("http://"))
                monkeypatch.delenv("no_proxy", raising=False)
                monkeypatch.delenv("NO_PROXY", raising=False)
                proxy = None
            async with open_client(proxy=proxy, trust_env=True) as client:
                endpoint = Endpoint(name="t", model="t", base_url="http://models.invalid/v1")
                await OpenAICompatibleModel(endpoint, client).complete(MESSAGES, Sampling())
            return server.targets[0], server.headers[0]


class TestFailures:
    @pytest.mark.parametrize(
        ("status", "reason"),
        [
            (400, "bad-request"),
            (401, "bad-key"),
            (402, "no-credit"),
            (403, "bad-key"),
            (404, "unknown-model"),
            (408, "timeout"),
            (418, "bad-request"),
            (429, "rate-limited"),
            (500, "server-error"),
            (502, "server-error"),
            (503, "overloaded"),
            (504, "timeout"),
            (529, "overloaded"),
        ],
    )
    def test_status_is_named(self, status: int, reason: str) -> None:
        error = failure_of(fail(status, "Sorry about that."))
        assert error.reason == reason
        assert "tiny at 127.0.0.1" in str(error)
        assert f"({status}): Sorry about that." in str(error)

    def test_kind_is_that_of_the_documented_error(self) -> None:
        assert failure_of(fail(401)).kind == "model_call"

    def test_redirect_is_not_followed(self) -> None:
        error = failure_of(give("", status=302, Location="http://127.0.0.1:9/"))
        assert error.reason == "bad-request"

    def test_html_with_a_status_keeps_its_title_only(self) -> None:
        page = "<html><title>502 Bad Gateway</title><body>long story</body>"
        error = failure_of(give(page, status=502, kind="text/html"))
        assert error.reason == "server-error"
        assert "502 Bad Gateway" in str(error)
        assert "long story" not in str(error)

    @pytest.mark.parametrize("is_streamed", [True, False])
    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            (give("<!doctype html><title>Welcome</title>", kind="text/html"), "html"),
            (give("It is hard."), "broken-body"),
            (give(""), "broken-body"),
            (give('{"choices": [{"message": {"content": "Ye'), "broken-body"),
            (give('{"choices": NaN}'), "broken-body"),
            (give(b'{"choices": "\xff"}'), "broken-body"),
            (give("[" * 100_000), "broken-body"),
            (give([]), "not-a-completion"),
            (give({}), "not-a-completion"),
            (give({"choices": []}), "not-a-completion"),
            (give({"choices": {}}), "not-a-completion"),
            (give({"choices": ["Yes."]}), "not-a-completion"),
            (give({"choices": [{"message": "Yes."}]}), "not-a-completion"),
            (give({"choices": [{"message": {"content": ["Yes."]}}]}), "not-a-completion"),
            (give({"error": {"message": "busy", "code": 503}}), "overloaded"),
            (give({"error": "no"}), "server-error"),
        ],
    )
    def test_wrong_body_is_named(self, answer: Answer, reason: str, is_streamed: bool) -> None:
        assert failure_of(answer, is_streamed=is_streamed).reason == reason

    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            (stream(sse(START)), "cut-off-stream"),
            (stream(sse(START), ending="cut"), "cut-off-stream"),
            (stream(b'data: {"choices": [{"del'), "cut-off-stream"),
            (stream(b""), "cut-off-stream"),
            (stream(sse("[DONE]")), "cut-off-stream"),
            (stream(sse(START, "Yes.")), "broken-body"),
            (stream(sse(START) + b"data: \xff\n\n"), "broken-body"),
            (stream(sse(START, "<html>")), "html"),
            (stream(sse(chunk({"content": 5}))), "not-a-completion"),
            (stream(sse(START, '{"error": {"code": 429, "message": "slow"}}')), "rate-limited"),
            (stream(sse(START, '{"error": {"type": "overloaded_error"}}')), "overloaded"),
            (stream(sse(START, '{"error": {"message": "boom"}}')), "server-error"),
            (stream(sse(START, chunk({}, "error"))), "server-error"),
        ],
    )
    def test_broken_stream_is_named(self, answer: Answer, reason: str) -> None:
        assert failure_of(answer).reason == reason

    @pytest.mark.parametrize("is_streamed", [True, False])
    def test_reply_that_breaks_off_after_good_headers_is_cut_off(self, is_streamed: bool) -> None:
        answer = cut_body(b'{"choices": [', length=500)
        assert failure_of(answer, is_streamed=is_streamed).reason == "cut-off-stream"

    def test_half_a_stream_keeps_what_had_come(self) -> None:
        reply = failure_of(stream(sse(START), ending="cut")).reply
        assert reply.text == "It is"
        assert '"content": "It is"' in reply.raw
        assert reply.effective == {"temperature": 0.0, "top_p": 1.0}

    def test_error_inside_a_stream_is_kept_with_what_had_come(self) -> None:
        reply = failure_of(stream(sse(START, '{"error": {"message": "boom"}}'))).reply
        assert '"content": "It is"' in reply.raw
        assert '{"error": {"message": "boom"}}' in reply.raw

    @pytest.mark.parametrize(
        ("answer", "may_be_charged"),
        [
            (give({**completion("Half of"), "error": {"code": 502}}), True),
            (stream(sse(chunk({"content": "Half"}), {"error": {"code": 429}})), True),
            (give({"choices": []}), True),
            (give("<html>", kind="text/html"), True),
            (give({"error": {"code": 429}}), False),
            (give("<html>", kind="text/html", status=502), False),
            (fail(500), False),
        ],
        ids=["beside", "after", "no-choice", "page", "alone", "page-of-502", "status"],
    )
    def test_answer_with_a_good_status_may_be_charged_unless_it_is_an_error_alone(
        self, answer: Answer, *, may_be_charged: bool
    ) -> None:
        assert failure_of(answer).may_be_charged is may_be_charged

    def test_connection_cut_before_an_answer_may_be_charged(self) -> None:
        error = failure_of(cut())
        assert (error.reason, error.may_be_charged) == ("connection", True)

    def test_nobody_listens(self) -> None:
        error = failure_of(say("Yes."), base_url="http://127.0.0.1:9/v1")
        assert (error.reason, error.may_be_charged) == ("connection", False)
        assert "127.0.0.1:9/v1" in str(error)

    def test_something_that_is_not_http_answers(self) -> None:
        async def call() -> None:
            server = await asyncio.start_server(_speak_nonsense, "127.0.0.1", 0)
            port = server.sockets[0].getsockname()[1]
            async with server, open_client() as client:
                url = f"http://127.0.0.1:{port}/v1?key={KEY}"
                endpoint = Endpoint(name="tiny", model="t", base_url=url)
                await OpenAICompatibleModel(endpoint, client).complete(MESSAGES, Sampling())

        with pytest.raises(CallFailureError) as caught:
            asyncio.run(call())
        assert caught.value.reason == "connection"
        assert KEY not in str(caught.value)

    @pytest.mark.parametrize(
        ("answer", "settings", "said"),
        [
            (hang(), {"idle_seconds": 0.4}, "nothing came for 0.4 s"),
            (stream(sse(START), ending="hang"), {"idle_seconds": 0.4}, "nothing came for 0.4 s"),
            (stream(*(sse(START), 0.1) * 20), {"total_seconds": 0.8}, "not done within 0.8 s"),
        ],
    )
    def test_silence_and_slowness_time_out(
        self, answer: Answer, settings: dict[str, float], said: str
    ) -> None:
        error = failure_of(answer, timeouts=Timeouts(**settings))
        assert error.reason == "timeout"
        assert said in str(error)

    def test_a_reply_that_comes_whole_may_be_silent_to_its_end(self) -> None:
        async def late(request: web.Request, body: Mapping[str, Any]) -> web.StreamResponse:
            await asyncio.sleep(0.5)
            return await say("Yes.")(request, body)

        silence = Timeouts(idle_seconds=0.1)
        assert ask(late, timeouts=silence, is_streamed=False).text == "Yes."
        bound = Timeouts(idle_seconds=0.1, total_seconds=0.3)
        error = failure_of(late, timeouts=bound, is_streamed=False)
        assert error.reason == "timeout"
        assert "not done within 0.3 s" in str(error)

    @pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
    def test_endless_reply_is_given_up(self, kind: str) -> None:
        error = failure_of(flood(b": ten million bytes\n" * 6_000, 100, kind=kind))
        assert error.reason == "too-large"

    def test_endless_error_is_cut(self) -> None:
        error = failure_of(give("x" * 3_000_000, status=500, kind="text/plain"))
        assert error.reason == "server-error"
        assert len(str(error)) < 600
        assert len(error.reply.raw) == 20_000

    def test_refused_setting_is_an_error_that_names_it_and_is_not_tried_without_it(self) -> None:
        async def call() -> tuple[CallFailureError, int]:
            said = "Unsupported value: 'temperature' does not support 0.0 with this model."
            async with opened(fail(400, said), say("Yes.")) as (model, server):
                with pytest.raises(CallFailureError) as caught:
                    await model.complete(MESSAGES, Sampling())
                return caught.value, len(server.bodies)

        error, n_requests = asyncio.run(call())
        assert error.reason == "refused-settings"
        assert "refused-settings temperature (400)" in str(error)
        assert n_requests == 1

    @pytest.mark.parametrize(
        ("headers", "seconds"),
        [
            ({"Retry_After": "7"}, 7.0),
            ({"Retry_After": "0.5"}, 0.5),
            (
                {
                    "Retry_After": "Sun, 22 Nov 2026 10:00:30 GMT",
                    "Date": "Sun, 22 Nov 2026 10:00:00 GMT",
                },
                30.0,
            ),
            ({"Retry_After": "Sun, 22 Nov 2020 10:00:30 GMT"}, 0.0),
            ({"Retry_After": "soon"}, None),
            ({"Retry_After": "Sun, 22 Nov 2026 10:00:30 +9999"}, None),
            (
                {
                    "Retry_After": "Sun, 22 Nov 2026 10:00:30 -0000",
                    "Date": "Sun, 22 Nov 2026 10:00:00 -0000",
                },
                30.0,
            ),
            ({"Retry_After": "30", "Date": "Sun, 22 Nov 2026 10:00:00 +9999"}, 30.0),
            ({}, None),
        ],
    )
    def test_retry_after_is_read(self, headers: dict[str, str], seconds: float | None) -> None:
        assert failure_of(fail(429, **headers)).retry_after_seconds == seconds


ECHOING_FAULTS = [
    fail(401, f"Incorrect API key provided: {KEY}. Check {KEY[:12]}... and canary-4********b7e"),
    fail(400, f"Bad header 'Bearer {KEY}' and 'proxy-secret-77' in ?token=query-secret-88"),
    fail(500, f"https://anna:user-secret-99@host/v1 failed for {KEY}"),
    give(f'not JSON {{"Authorization": "Bearer {KEY}"}}'),
    stream(sse(START, f'{{"error": {{"message": "{KEY} {KEY}"}}}}')),
    fail(422, f"[{{'input': '{SPOKEN}', 'key': '{KEY}'}}]"),
    cut(),
    hang(),
]


@pytest.mark.parametrize("answer", ECHOING_FAULTS)
def test_no_secret_and_no_dialogue_is_ever_said(
    answer: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    hidden = [KEY, KEY[:12], "7********b7e", "proxy-secret-77", "query-secret-88"]

    async def call() -> tuple[CallFailureError, str]:
        async with running_server(answer) as server, open_client(timeouts=SHORT) as client:
            url = server.url.replace("//", "//anna:user-secret-99@") + "?token=query-secret-88"
            endpoint = Endpoint(
                name="tiny",
                model="tiny-1",
                base_url=url,
                api_key=KEY,
                headers={"X-Secret": "proxy-secret-77"},
            )
            model = OpenAICompatibleModel(endpoint, client)
            with pytest.raises(CallFailureError) as caught:
                await model.complete(MESSAGES, Sampling())
            return caught.value, repr([endpoint, model, client])

    error, reprs = asyncio.run(call())
    deep = traceback.TracebackException.from_exception(error, capture_locals=True)
    deep.stack[:] = [frame for frame in deep.stack if frame.filename != __file__]
    assert deep.stack
    told = "\n".join([str(error), repr(error), repr(error.reply), reprs, *deep.format()])
    for secret in [*hidden, "user-secret-99"]:
        assert secret not in told
        assert secret not in caplog.text
    assert SPOKEN[:25] not in f"{error} {caplog.text}"
    assert error.__context__ is None
    assert error.__cause__ is None


async def _speak_nonsense(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"220 mail.example ESMTP ready\r\n\r\n")
    await writer.drain()
    writer.close()

"""A loopback endpoint that does what a healthy server will not, one answer after the other.

`running_server` runs in the test's own event loop; it serves chat completions at any path, and
notes what it was sent. Answers are made by the functions below.
"""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from aiohttp import web
from anyio.from_thread import start_blocking_portal

T = TypeVar("T")
Answer = Callable[[web.Request, Mapping[str, Any]], Awaitable[web.StreamResponse]]
USAGE = {
    "prompt_tokens": 40,
    "completion_tokens": 12,
    "total_tokens": 52,
    "prompt_tokens_details": {"cached_tokens": 30},
    "completion_tokens_details": {"reasoning_tokens": 5},
}


@dataclass
class ScriptedServer:
    """A server with a script; when the script ends, the last answer is given again."""

    answers: deque[Answer]
    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    peers: list[str] = field(default_factory=list)
    n_cancelled: int = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.bodies.append(body)
        self.headers.append(dict(request.headers))
        self.targets.append(str(request.url))
        if request.transport is not None:
            self.peers.append(str(request.transport.get_extra_info("peername")))
        answer = self.answers.popleft() if len(self.answers) > 1 else self.answers[0]
        try:
            return await answer(request, body)
        except asyncio.CancelledError:
            self.n_cancelled += 1
            raise


@asynccontextmanager
async def answering(
    application: web.Application, host: str = "127.0.0.1", **settings: Any
) -> AsyncIterator[str]:
    """Let an application answer until the block ends; give its address."""
    runner = web.AppRunner(application, access_log=None, **settings)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, 0).start()
        yield f"http://{host}:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


@contextmanager
def in_a_thread(block: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """Enter and leave a block on a loop in a thread of its own."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(block) as given:
        yield given


@asynccontextmanager
async def running_server(
    *answers: Answer, host: str = "127.0.0.1"
) -> AsyncIterator[ScriptedServer]:
    server = ScriptedServer(deque(answers))
    settings = {"shutdown_timeout": 0.05, "handler_cancellation": True}
    async with answering(_application(server), host, **settings) as server.url:
        yield server


def _application(server: ScriptedServer) -> web.Application:
    application = web.Application()
    application.router.add_route("POST", "/{path:.*}", server.handle)
    return application


def chunk(delta: Mapping[str, Any], finish: str | None = None, **top: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "model": "tiny-1", "choices": [choice], **top}


def completion(text: str, finish: str = "stop", **message: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, **message}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": "c1", "model": "tiny-1", "choices": [choice], "usage": USAGE}


def sse(*events: Mapping[str, Any] | str) -> bytes:
    texts = [event if isinstance(event, str) else json.dumps(event) for event in events]
    return "".join(f"data: {text}\n\n" for text in texts).encode()


def text_events(text: str, *, model: str = "tiny-1") -> bytes:
    """The stream of a healthy reply."""
    usage = {"choices": [], "model": model, "usage": USAGE}
    pieces = [text[start : start + 4] for start in range(0, len(text), 4)]
    chunks = [chunk({"role": "assistant", "content": ""}, model=model)]
    chunks += [chunk({"content": piece}, model=model) for piece in pieces]
    return sse(*chunks, chunk({}, "stop", model=model), usage, "[DONE]")


def say(text: str, *, model: str = "tiny-1") -> Answer:
    """Answer in a healthy way, streamed if asked."""

    async def answer(request: web.Request, body: Mapping[str, Any]) -> web.StreamResponse:
        if body.get("stream"):
            return await stream(text_events(text, model=model))(request, body)
        return web.json_response({**completion(text), "model": model})

    return answer


def echo(*, prefix: str = "You said: ") -> Answer:
    """Repeat the last message; refuse the key if it is the word ``fail``."""

    async def answer(request: web.Request, body: Mapping[str, Any]) -> web.StreamResponse:
        said = body["messages"][-1]["content"]
        if said == "fail":
            return await fail(401)(request, body)
        if said == "hang":
            return await hang()(request, body)
        return await say(prefix + said)(request, body)

    return answer


class Ticking:
    """A clock that shows a second more whenever it is looked at."""

    seconds = 0.0

    def __call__(self) -> float:
        self.seconds += 1.0
        return self.seconds

    async def tick(self) -> None:
        """Wait until it is looked at."""
        now = self.seconds
        while self.seconds == now:
            await asyncio.sleep(0)


Piece = bytes | float | Callable[[], Awaitable[None]]


def stream(*pieces: Piece, ending: str = "end") -> Answer:
    """Stream bytes; what is between them is waited for, or so many seconds.

    The ending is ``end``, ``cut`` or ``hang``.
    """

    async def answer(request: web.Request, body: Mapping[str, Any]) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for piece in pieces:
            if isinstance(piece, bytes):
                await response.write(piece)
            else:
                await (piece() if callable(piece) else asyncio.sleep(piece))
        if ending == "cut":
            _cut(request)
        elif ending == "hang":
            await asyncio.Event().wait()
        return response

    return answer


def give(
    body: object, *, status: int = 200, kind: str = "application/json", **headers: str
) -> Answer:
    """Answer with bytes, text or JSON."""
    payload = body if isinstance(body, bytes) else _encode(body)

    async def answer(request: web.Request, sent: Mapping[str, Any]) -> web.StreamResponse:
        dashed = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(body=payload, status=status, content_type=kind, headers=dashed)

    return answer


def fail(status: int, message: str = "no", *, code: object = None, **headers: str) -> Answer:
    """Answer with an error object."""
    error = {"message": message, "type": "error", "code": code}
    return give({"error": error}, status=status, **headers)


def hang() -> Answer:
    """Never answer."""

    async def answer(request: web.Request, body: Mapping[str, Any]) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError

    return answer


def cut() -> Answer:
    """Close the connection without a word."""

    async def answer(request: web.Request, body: Mapping[str, Any]) -> web.StreamResponse:
        _cut(request)
        return web.Response()

    return answer


def cut_body(body: bytes, *, length: int) -> Answer:
    """Promise so many bytes, and close the connection before they have come."""

    async def answer(request: web.Request, sent: Mapping[str, Any]) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        response.content_length = length
        await response.prepare(request)
        await response.write(body)
        _cut(request)
        return response

    return answer


def flood(piece: bytes, times: int, *, kind: str) -> Answer:
    """Answer with very much."""

    async def answer(request: web.Request, body: Mapping[str, Any]) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": kind})
        await response.prepare(request)
        for _ in range(times):
            await response.write(piece)
        return response

    return answer


def _encode(body: object) -> bytes:
    return (body if isinstance(body, str) else json.dumps(body)).encode()


def _cut(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.close()

"""Measure judge calls: a study's whole way, our client, the bare aiohttp loop and the openai SDK.

    python benchmarks/model_calls.py [--seconds 3] [--only NAME...]

A loopback endpoint in a process of its own answers after a fixed time with a judgment of about
1,500 characters, whole or in 40 chunks. So many workers call it one call after the other; after two
seconds to warm up, the calls that end within a few seconds are counted. CPU is this process's
alone: client and server share two cores. The same cell is run in the same order for every peer;
read the rows of one cell as ratios. "stored" is the client with all that a study does with a reply:
the reply cache, the price, reading the judgment, and both in a SQLite file, in grouped commits; a
call counts when it is durable. As in a study there are four times as many workers then, and the
limit on calls holds them to the same number in flight.
"""

import argparse
import asyncio
import gc
import json
import multiprocessing
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import aiohttp
import numpy as np

from hearteval.domain import (
    AXES,
    OVERALL,
    Assignment,
    Completion,
    Judgment,
    Pair,
    Rater,
    System,
    axis_key,
)
from hearteval.items import load_starter_items
from hearteval.judgments.form import USUAL
from hearteval.judgments.prompt import judge_schema
from hearteval.judgments.reply import JudgeVerdict, read_reply
from hearteval.models.asking import WORKERS_PER_CALL, used
from hearteval.models.base import ChatModel, Message, Reply, Sampling, Schema
from hearteval.models.http import Endpoint, build_body
from hearteval.models.http.client import OpenAICompatibleModel, open_client
from hearteval.models.wrappers.budget import Budgeted, SpendingLimit
from hearteval.models.wrappers.cached import Cached
from hearteval.models.wrappers.gate import Gate, Gated
from hearteval.models.wrappers.pace import CallLimits
from hearteval.store.sharing.grouped import GroupedWriter
from hearteval.store.sql import SqlStore
from hearteval.study.asking.models import StoredReplies, keep_lost_cost
from hearteval.study.session import utc_now

CELLS = ((500, 256), (50, 64), (50, 256))
"""Milliseconds of the server, and calls in flight."""
WARMING_SECONDS = 2.0
N_CHUNKS = 40
NOW = datetime(2026, 1, 1, tzinfo=UTC)
N_ASSIGNMENTS = 60_000
SCHEMA = Schema(name="heart_judgment", schema=judge_schema(USUAL))
MESSAGES = [
    Message(role="system", content="You compare two replies on five axes. " * 60),
    Message(role="user", content="A dialogue of about eight turns and two replies to it. " * 50),
]
MARK = {
    "reason": "names what is heavy in the seeker's own words, " * 4,
    "winner": "A",
    "strength": 3,
}
REPLY = json.dumps(dict.fromkeys([*map(axis_key, AXES), OVERALL], MARK))
Call = Callable[[], Awaitable[object]]
Opening = Callable[[str, int], AbstractAsyncContextManager[tuple[Call, int]]]
"""Takes an address and the calls in flight; gives a call and how many workers make it."""


@dataclass(frozen=True)
class Measured:
    """One row of the table."""

    n_calls: int
    wall: float
    cpu: float


def main() -> None:
    arguments = _parse_arguments()
    print("| server | in flight | client | calls/s | of the possible | CPU ms a call |")
    print("| --- | --- | --- | --- | --- | --- |")
    for latency_ms, n_workers in CELLS:
        with Server(latency_ms) as server:
            for name, opening in PEERS.items():
                if arguments.only and name not in arguments.only:
                    continue
                row = asyncio.run(measure(opening, server.url, n_workers, arguments.seconds))
                gc.collect()
                rate = row.n_calls / row.wall
                share = rate / (n_workers / latency_ms * 1000)
                print(
                    f"| {latency_ms} ms | {n_workers} | {name} | {rate:,.0f} | {share:.1%} | "
                    f"{1000 * row.cpu / row.n_calls:.2f} |",
                    flush=True,
                )


async def measure(opening: Opening, url: str, n_workers: int, seconds: float) -> Measured:
    async with opening(url, n_workers) as (call, n_callers):
        n_calls, is_over = 0, False

        async def work() -> None:
            nonlocal n_calls
            while not is_over:
                await call()
                n_calls += 1

        working = asyncio.gather(*[work() for _ in range(n_callers)])
        await asyncio.sleep(WARMING_SECONDS)  # connections, imports, and workers out of step
        cpu, began, before = time.process_time(), time.perf_counter(), n_calls
        await asyncio.sleep(seconds)
        wall, n_measured = time.perf_counter() - began, n_calls - before
        cpu, is_over = time.process_time() - cpu, True
        await working
        return Measured(n_calls=n_measured, wall=wall, cpu=cpu)


def _endpoint(url: str) -> Endpoint:
    return Endpoint(name="bench", model="bench", base_url=url, api_key="none")


def _sampling(*, is_streamed: bool) -> Sampling:
    return Sampling(schema=SCHEMA, max_tokens=800, is_streamed=is_streamed)


@asynccontextmanager
async def _open_ours(
    url: str, n_workers: int, *, is_streamed: bool
) -> AsyncIterator[tuple[Call, int]]:
    """Open an endpoint's gate around the client."""
    sampling = _sampling(is_streamed=is_streamed)
    async with _open_chain(url, n_workers) as model:

        async def call() -> None:
            reply = await model.complete(MESSAGES, sampling)
            assert reply.text == REPLY

        yield call, n_workers


@asynccontextmanager
async def _open_stored(
    url: str, n_workers: int, *, is_streamed: bool
) -> AsyncIterator[tuple[Call, int]]:
    """Open the whole chain of a study, and what a study does with a reply."""
    sampling = _sampling(is_streamed=is_streamed)
    with TemporaryDirectory() as folder:
        store = SqlStore.open(str(Path(folder) / "bench.db"))
        assignments = iter(_plan(store))
        async with (
            GroupedWriter(store) as writer,
            _open_chain(url, n_workers) as model,
        ):
            ledger = SpendingLimit(limit_usd=None, spent_usd=0.0)
            budgeted = Budgeted(
                model,
                ledger,
                ceiling=lambda _m, _s: 0.01,
                price=lambda _usage: 0.001,
                book_lost=partial(keep_lost_cost, writer, utc_now),
            )
            cached = Cached(budgeted, StoredReplies(writer, utc_now), identity={"model": "bench"})

            async def call() -> None:
                assignment = next(assignments)
                messages = [*MESSAGES, Message(role="user", content=assignment.id)]
                reply = await cached.complete(messages, sampling)
                verdict = read_reply(reply.text, finish_reason=reply.finish_reason)
                await writer.add([_judgment(assignment, verdict, reply)])

            yield call, WORKERS_PER_CALL * n_workers
        store.close()


@asynccontextmanager
async def _open_chain(url: str, n_workers: int) -> AsyncIterator[ChatModel]:
    async with open_client() as client:
        model = OpenAICompatibleModel(_endpoint(url), client)
        gate = Gate("bench", say=print)
        line = gate.open_line("bench", CallLimits(), highest=n_workers)
        rng = np.random.default_rng(1)
        yield Gated(model, gate, line, rng=rng, count_tokens=lambda _messages, _sampling: 1.0)


def _plan(store: SqlStore) -> list[Assignment]:
    """Store a pair of texts and very many assignments of it."""
    item = load_starter_items()[0]
    systems = [System(name=name, kind="model", family="bench") for name in ("one", "two")]
    rater = Rater(name="bench", kind="llm", family="judge")
    completions = [
        Completion(item_id=item.id, system_id=s.id, text=s.name, created_at=NOW) for s in systems
    ]
    pair = Pair(item_id=item.id, completion_ids=(completions[0].id, completions[1].id))
    assignments = [
        Assignment(
            study_id="0" * 32,
            pair_id=pair.id,
            rater_id=rater.id,
            first_completion_id=completions[0].id,
            repeat=repeat,
        )
        for repeat in range(N_ASSIGNMENTS)
    ]
    store.add([item, *systems, rater, *completions, pair, *assignments])
    return assignments


def _judgment(assignment: Assignment, verdict: JudgeVerdict, reply: Reply) -> Judgment:
    assert reply.total_ms is not None
    return Judgment(
        assignment_id=assignment.id,
        choice=verdict.choice,
        strength=verdict.strength,
        axes=verdict.axes,
        reasons=verdict.reasons,
        rationale=verdict.rationale,
        seconds=reply.total_ms / 1000,
        raw=reply.text,
        prompt_hash="0" * 64,
        created_at=NOW,
        call=used(reply),
    )


@asynccontextmanager
async def _open_bare(
    url: str, n_workers: int, *, is_streamed: bool
) -> AsyncIterator[tuple[Call, int]]:
    """Open the least one can do with aiohttp: post, read, parse the JSON."""
    body = build_body(MESSAGES, _sampling(is_streamed=is_streamed), _endpoint(url))
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def call() -> None:
            async with session.post(f"{url}/chat/completions", json=body) as response:
                if not is_streamed:
                    text = (await response.json())["choices"][0]["message"]["content"]
                else:
                    text = ""
                    async for line in response.content:
                        if line.startswith(b"data: {"):
                            choices = json.loads(line[6:])["choices"]
                            text += choices[0]["delta"].get("content", "") if choices else ""
            assert text == REPLY

        yield call, n_workers


@asynccontextmanager
async def _open_sdk(
    url: str, n_workers: int, *, is_streamed: bool
) -> AsyncIterator[tuple[Call, int]]:
    """Open the openai SDK with as many connections as it needs."""
    from openai import AsyncOpenAI

    body = build_body(MESSAGES, _sampling(is_streamed=is_streamed), _endpoint(url))
    async with AsyncOpenAI(base_url=url, api_key="none") as client:

        async def call() -> None:
            answer = await client.chat.completions.create(**body)
            if is_streamed:
                chunks = [chunk.choices[0].delta.content async for chunk in answer if chunk.choices]
                text = "".join(chunk or "" for chunk in chunks)
            else:
                text = answer.choices[0].message.content
            assert text == REPLY

        yield call, n_workers


PEERS: dict[str, Opening] = {
    "bare aiohttp, whole": lambda url, n: _open_bare(url, n, is_streamed=False),
    "hearteval, whole": lambda url, n: _open_ours(url, n, is_streamed=False),
    "hearteval, whole, stored": lambda url, n: _open_stored(url, n, is_streamed=False),
    "openai SDK, whole": lambda url, n: _open_sdk(url, n, is_streamed=False),
    "bare aiohttp, streamed": lambda url, n: _open_bare(url, n, is_streamed=True),
    "hearteval, streamed": lambda url, n: _open_ours(url, n, is_streamed=True),
    "hearteval, streamed, stored": lambda url, n: _open_stored(url, n, is_streamed=True),
    "openai SDK, streamed": lambda url, n: _open_sdk(url, n, is_streamed=True),
}


class Server:
    """The endpoint, in a process of its own."""

    def __init__(self, latency_ms: int) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"
        context = multiprocessing.get_context("fork")
        self._process = context.Process(
            target=_serve, args=(self._socket, latency_ms / 1000), daemon=True
        )

    def __enter__(self) -> "Server":
        self._process.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.join()
        self._socket.close()


def _serve(listening: socket.socket, latency: float) -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Answering(latency), sock=listening)
        await server.serve_forever()

    asyncio.run(run())


class _Answering(asyncio.Protocol):
    """As little of HTTP as the three clients need, so that the server is not what is measured."""

    def __init__(self, latency: float) -> None:
        self._latency = latency
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, gap, body = self._received.partition(b"\r\n\r\n")
        length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        if not gap or len(body) < int(length):
            return
        self._received = b""
        loop = asyncio.get_running_loop()
        if b'"stream": true' in body or b'"stream":true' in body:
            loop.call_later(self._latency / 2, self._write, FIRST_HALF)
            loop.call_later(self._latency, self._write, SECOND_HALF)
        else:
            loop.call_later(self._latency, self._write, WHOLE)

    def _write(self, data: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(data)


def _http_chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def _make_answers() -> tuple[bytes, bytes, bytes]:
    usage = {"prompt_tokens": 900, "completion_tokens": 300, "total_tokens": 1200}
    top = {"id": "c1", "created": 1, "model": "bench", "usage": usage}
    message = {"index": 0, "message": {"role": "assistant", "content": REPLY}}
    body = json.dumps(
        {**top, "object": "chat.completion", "choices": [{**message, "finish_reason": "stop"}]}
    ).encode()
    whole = (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
        + f"{len(body)}\r\n\r\n".encode()
        + body
    )
    top = {"id": "c1", "created": 1, "model": "bench", "object": "chat.completion.chunk"}
    step = -(-len(REPLY) // N_CHUNKS)
    pieces = [REPLY[start : start + step] for start in range(0, len(REPLY), step)]
    deltas = [
        {"index": 0, "delta": {"content": piece}, "finish_reason": None} for piece in pieces
    ] + [{"index": 0, "delta": {}, "finish_reason": "stop"}]
    events = [json.dumps({**top, "choices": [delta]}) for delta in deltas]
    events += [json.dumps({**top, "choices": [], "usage": usage}), "[DONE]"]
    chunks = [_http_chunk(f"data: {event}\n\n".encode()) for event in events]
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    half = len(chunks) // 2
    return whole, head + b"".join(chunks[:half]), b"".join(chunks[half:]) + b"0\r\n\r\n"


WHOLE, FIRST_HALF, SECOND_HALF = _make_answers()


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--only", nargs="*", choices=list(PEERS))
    return parser.parse_args()


if __name__ == "__main__":
    main()

"""Count the calls made for the votes kept, at a real server with each of three rate limits.

    python benchmarks/rate_limits.py [--votes 593]

A loopback server allows 90 calls in each window of 3 s, 90 in any 3 s, or has a bucket of 90 that
fills at 30 a second: ten times the speed of a limit of 180 a minute. It refuses with 429, with or
without an exact Retry-After, and announces what is left or not. Everything beyond one call a vote
was refused; "of the possible" is the least time at 30 a second over the time taken.
"""

import argparse
import asyncio
import json
import time
from collections import deque
from collections.abc import Callable

import numpy as np
from aiohttp import web

from hearteval.models.base import Message, Sampling
from hearteval.models.http import Endpoint
from hearteval.models.http.client import OpenAICompatibleModel, open_client
from hearteval.models.wrappers.gate import Gate, Gated
from hearteval.models.wrappers.pace import CallLimits

MOST, SECONDS, LATENCY = 90, 3.0, 0.3
RATE = MOST / SECONDS
N_WORKERS, HIGHEST = 128, 32
REPLY = {"choices": [{"index": 0, "message": {"content": "Yes."}, "finish_reason": "stop"}]}
Take = Callable[[float], tuple[float | None, int, float]]
"""Takes a call at a time; gives the wait if it is refused, what is left, and until when."""


def fixed_window() -> Take:
    began, n = 0.0, 0

    def take(now: float) -> tuple[float | None, int, float]:
        nonlocal began, n
        if now >= began + SECONDS:
            began, n = now, 0
        reset = began + SECONDS - now
        if n >= MOST:
            return reset, 0, reset
        n += 1
        return None, MOST - n, reset

    return take


def sliding_window() -> Take:
    taken: deque[float] = deque()

    def take(now: float) -> tuple[float | None, int, float]:
        while taken and now >= taken[0] + SECONDS:
            taken.popleft()
        if len(taken) >= MOST:
            return taken[0] + SECONDS - now, 0, taken[0] + SECONDS - now
        taken.append(now)
        return None, MOST - len(taken), taken[0] + SECONDS - now

    return take


def bucket() -> Take:
    level, at = float(MOST), 0.0

    def take(now: float) -> tuple[float | None, int, float]:
        nonlocal level, at
        level, at = min(MOST, level + (now - at) * RATE), now
        if level < 1:
            return (1 - level) / RATE, 0, (MOST - level) / RATE
        level -= 1
        return None, int(level), (MOST - level) / RATE

    return take


RULES = {
    "90 in each 3 s": fixed_window,
    "90 in any 3 s": sliding_window,
    "bucket of 90, 30/s": bucket,
}
MODES = ("rpm set", "announced", "Retry-After only", "429 only")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--votes", type=int, default=593)
    n_votes = parser.parse_args().votes
    print("| limit | what is known | calls | kept | calls a vote | of the possible |")
    print("| --- | --- | --- | --- | --- | --- |")
    for rule, make in RULES.items():
        for mode in MODES:
            n_calls, n_kept, wall = asyncio.run(_measure(make(), mode, n_votes))
            possible = max(0.0, n_votes - (0 if mode == "rpm set" else MOST)) / RATE / wall
            print(
                f"| {rule} | {mode} | {n_calls} | {n_kept} | {n_calls / n_kept:.3f} | "
                f"{possible:.0%} |",
                flush=True,
            )


async def _measure(take: Take, mode: str, n_votes: int) -> tuple[int, int, float]:
    n_calls = 0

    async def answer(_request: web.Request) -> web.Response:
        nonlocal n_calls
        n_calls += 1
        wait, left, reset = take(time.monotonic())
        headers = {}
        if mode == "announced":
            headers["x-ratelimit-remaining-requests"] = str(left)
            headers["x-ratelimit-reset-requests"] = f"{1000 * reset:.0f}ms"
        if wait is not None:
            if mode != "429 only":
                headers["Retry-After"] = f"{wait:.3f}"
            body = {"error": {"message": "slow down"}}
            return web.json_response(body, status=429, headers=headers)
        await asyncio.sleep(LATENCY)
        return web.json_response(REPLY, headers=headers)

    application = web.Application()
    application.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        n_kept, wall = await _ask(url, mode, n_votes)
    finally:
        await runner.cleanup()
    return n_calls, n_kept, wall


async def _ask(url: str, mode: str, n_votes: int) -> tuple[int, float]:
    limits = CallLimits(rpm=60 * RATE if mode == "rpm set" else None)
    messages, n_kept = [Message(role="user", content=json.dumps(limits.tries))], 0
    async with open_client() as client:
        gate = Gate("bench", say=print)
        line = gate.open_line("bench", limits, highest=HIGHEST)
        model = Gated(
            OpenAICompatibleModel(Endpoint(name="bench", model="bench", base_url=url), client),
            gate,
            line,
            rng=np.random.default_rng(1),
            count_tokens=lambda _messages, _sampling: 1.0,
        )
        left, began = iter(range(n_votes)), time.monotonic()

        async def work() -> None:
            nonlocal n_kept
            for _ in left:
                reply = await model.complete(messages, Sampling())
                n_kept += reply.text == "Yes."

        await asyncio.gather(*[work() for _ in range(N_WORKERS)])
        return n_kept, time.monotonic() - began


if __name__ == "__main__":
    main()

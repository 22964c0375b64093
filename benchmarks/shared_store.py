"""Count what several `heart run` on one store ask for, and ask for twice.

    python benchmarks/shared_store.py [--store postgresql://USER@HOST/DATABASE ...]

So many processes start together on one study (24 starter items, two baselines and one model, judged
by one model in both orders), on a SQLite file, or on an empty PostgreSQL database for each row. A
loopback endpoint answers each call after 50 ms and counts it by what it was asked. In the last row
one of two processes is killed when a third of the calls has been made: what it had in flight, or
had not committed, is asked again.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from aiohttp import web

from hearteval.domain import AXES, OVERALL, axis_key

CASES = ((1, False), (2, False), (4, False), (2, True))
"""Processes, and whether one of them is killed."""
STUDY = """
[study]
name = "shared"
seed = 3
[items]
source = "starter"
regular = 24
adversarial = 0
[[system]]
preset = "generic"
[[system]]
preset = "advice"
[[system]]
name = "ours"
model = "openai-compatible/ours"
base_url = "{url}"
family = "ours"
concurrency = 4
price = {{ input = 1.0, output = 2.0 }}
[[judge]]
name = "theirs"
model = "openai-compatible/theirs"
base_url = "{url}"
family = "theirs"
concurrency = 4
price = {{ input = 1.0, output = 2.0 }}
[judging]
judges = ["theirs"]
stress_items = 0
repeat_pairs = 0
"""
MARK = {"reason": "warmer", "winner": "A", "strength": 3}
VERDICT = dict.fromkeys((*map(axis_key, AXES), OVERALL), MARK)


class Endpoint:
    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.url = ""
        self._ready, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    def __enter__(self) -> "Endpoint":
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        self._thread.join()

    async def _serve(self) -> None:
        application = web.Application()
        application.router.add_post("/v1/chat/completions", self._answer)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        self.url = f"http://{host}:{port}/v1"
        self._ready.set()
        while not self._over.is_set():
            await asyncio.sleep(0.02)
        await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        body = await request.json()
        said = json.dumps(body["messages"])
        self.asked[f"{body['model']} {said}"] += 1
        await asyncio.sleep(0.05)
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
        text = f"I hear you. {hash(said) % 97}"
        if "colour" in schema.get("properties", {}):
            text = json.dumps({"colour": schema["properties"]["colour"]["enum"][0]})
        elif schema:
            text = json.dumps(VERDICT)
        message = {"role": "assistant", "content": text}
        usage = {"prompt_tokens": 100, "completion_tokens": 20}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return web.json_response({"model": body["model"], "choices": [choice], "usage": usage})


def start(study: Path, store: str | None) -> subprocess.Popen[str]:
    environment = {k: v for k, v in os.environ.items() if k != "HEART_STORE"}
    return subprocess.Popen(
        [sys.executable, "-m", "hearteval", "run", str(study), "--yes", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment | ({} if store is None else {"HEART_STORE": store}),
    )


def measure(n: int, *, is_killed: bool, store: str | None) -> str:
    with TemporaryDirectory() as folder, Endpoint() as endpoint:
        study = Path(folder) / "shared.toml"
        study.write_text(STUDY.format(url=endpoint.url), encoding="utf-8")
        runs = [start(study, store) for _ in range(n)]
        if is_killed:
            while endpoint.asked.total() < 60 and runs[0].poll() is None:
                threading.Event().wait(0.02)
            runs[0].kill()
        ended = [run.communicate()[0] for run in runs]
    said = [json.loads(out) for out in ended if out]
    spent = {one["spent_usd"] for one in said if "spent_usd" in one}
    paid = endpoint.asked.total() * (100 * 1.0 + 20 * 2.0) / 1e6
    codes = ", ".join(str(run.returncode) for run in runs)
    twice = endpoint.asked.total() - len(endpoint.asked)
    booked = ", ".join(f"{usd:.5f}" for usd in sorted(spent))
    place = "SQLite" if store is None else "PostgreSQL"
    name = f"{n}, one killed" if is_killed else str(n)
    return (
        f"| {place} | {name} | {endpoint.asked.total()} | {twice} | {codes} | {paid:.5f} |"
        f" {booked} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", action="append", help="an empty database, once for each row")
    stores = parser.parse_args().store or [None] * len(CASES)
    print("| database | processes | calls | made twice | exit | dollars billed | booked |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for (n, is_killed), store in zip(CASES, stores, strict=True):
        print(measure(n, is_killed=is_killed, store=store), flush=True)


if __name__ == "__main__":
    main()

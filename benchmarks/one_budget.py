"""Have several `heart run` on one store pass their budget, and kill one: what is billed, booked?

    python benchmarks/one_budget.py [--store postgresql://USER@HOST/DATABASE ...]

A loopback endpoint with a known price bills each call when it begins, and answers after .5 to
1.5 s. The study needs about 1,320 calls, up to 200 in flight in each process. First so many
processes start together with a budget of 800 calls. Then one process with an ample budget is killed
(-9) after 500 answers, and run again to its end: what is billed but neither booked nor told as in
flight, how many calls were in flight at the endpoint, how many are made again, and how long before
the kill the first of these was answered. Each row takes a SQLite file of its own, or an empty
PostgreSQL database. `--kill-only` leaves out the budget.

    python benchmarks/one_budget.py --faults 8 [--store postgresql://USER@HOST/DATABASE ...]

Tries so often to make four processes overspend a budget of about 300 calls: a third of the calls
goes wrong in one of eleven ways, of which nine are billed, and every 3 to 8 s for half a minute one
process is killed (-9), stopped for 5 s, or interrupted once or twice; another takes its place.
"over" is the most by which the bill was ever above the budget.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import zlib
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from aiohttp import web

from hearteval.domain import AXES, OVERALL, axis_key

PROCESSES = (1, 2, 4)
N_IN, N_OUT, USD = 2_400, 100, 1e-5
CALL_USD = (N_IN + N_OUT) * USD
BUDGET = 800 * CALL_USD
KILLED_AFTER = 500
FAULTS = {
    "none": 66,
    "no-usage": 5,
    "no-tokens": 3,
    "too-many-tokens": 3,
    "too-long": 3,
    "useless": 3,
    "half": 3,
    "no-answer": 5,
    "gateway": 3,
    "busy": 3,
    "failed": 3,
}
"""What comes of calls, in parts of a hundred."""
UNBILLED = {"busy", "failed"}
FAULTS_BUDGET, FAULTS_SECONDS, DEADLINE_SECONDS = 2.9, 30.0, 300.0
MODEL = """
model = "openai-compatible/{name}"
base_url = "{url}"
family = "{name}"
concurrency = 200
max_tokens = 200
price = {{ input = 10.0, output = 10.0 }}
"""
STUDY = """
[study]
name = "budget"
seed = 3
[items]
source = "starter"
regular = 60
adversarial = 0
[[system]]
preset = "generic"
[[system]]
preset = "advice"
[[system]]
preset = "reflective"
[[system]]
name = "ours"{ours}
[[system]]
name = "yours"{yours}
[[judge]]
name = "theirs"{theirs}
[judging]
judges = ["theirs"]
stress_items = 0
repeat_pairs = 0
[budget]
max_usd = {budget}
"""
MARK = {"reason": "warmer", "winner": "A", "strength": 3}
VERDICT = dict.fromkeys((*map(axis_key, AXES), OVERALL), MARK)


class Endpoint:
    """Counts calls by what they ask, when they begin."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.n_answered = self.most_in_flight = 0
        self.answered_at: dict[str, float] = {}
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

    @property
    def n_in_flight(self) -> int:
        return self.asked.total() - self.n_answered

    @property
    def billed(self) -> float:
        return self.asked.total() * CALL_USD

    async def _serve(self) -> None:
        application = web.Application()
        application.router.add_post("/v1/chat/completions", self._answer)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=2_000).start()
        host, port = runner.addresses[0][:2]
        self.url = f"http://{host}:{port}/v1"
        self._ready.set()
        while not self._over.is_set():
            await asyncio.sleep(0.02)
        await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        body = await request.json()
        said = json.dumps(body["messages"])
        name = f"{body['model']} {said}"
        self.asked[name] += 1
        self.most_in_flight = max(self.most_in_flight, self.n_in_flight)
        await asyncio.sleep(0.5 + zlib.crc32(said.encode()) / 2**32)
        self.n_answered += 1
        self.answered_at.setdefault(name, time.monotonic())
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
        text = f"I hear you, says {body['model']}. {hash(said) % 97}"
        if "colour" in schema.get("properties", {}):
            text = json.dumps({"colour": schema["properties"]["colour"]["enum"][0]})
        elif schema:
            text = json.dumps(VERDICT)
        message = {"role": "assistant", "content": text}
        usage = {"prompt_tokens": N_IN, "completion_tokens": N_OUT}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return web.json_response({"model": body["model"], "choices": [choice], "usage": usage})


class Faulty(Endpoint):
    """Bills tokens that fit the prompt, and lets calls go wrong."""

    def __init__(self, draw: random.Random) -> None:
        super().__init__()
        self._draw = draw
        self._billed = 0.0

    @property
    def billed(self) -> float:
        return self._billed

    async def _answer(self, request: web.Request) -> web.Response:
        body = await request.json()
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema", {})
        is_probe = "colour" in schema.get("properties", {})
        fault = "none" if is_probe else self._draw.choices([*FAULTS], [*FAULTS.values()])[0]
        self.asked[f"{body['model']} {json.dumps(body['messages'])}"] += 1
        n_in = sum(len(message["content"]) for message in body["messages"]) * 3 // 10
        n_out = self._draw.randrange(20, 200)
        text = f"I hear you, says {body['model']}. {self._draw.randrange(10**9)}"
        if is_probe:
            text = json.dumps({"colour": schema["properties"]["colour"]["enum"][0]})
        elif schema and fault != "useless":
            text = json.dumps(VERDICT)
        if fault == "too-long":
            text, n_out = text + " word" * 1_000, 1_000
        self._billed += 0.0 if fault in UNBILLED else (n_in + n_out) * USD
        await asyncio.sleep(self._draw.uniform(0.3, 1.5))
        self.n_answered += 1
        usage = {"prompt_tokens": n_in, "completion_tokens": n_out}
        if fault in {"no-tokens", "too-many-tokens"}:
            usage = dict.fromkeys(usage, 0 if fault == "no-tokens" else 10**11)
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        said = {"model": body["model"], "choices": [choice], "usage": usage}
        return self._go_wrong(request, fault, said)

    def _go_wrong(self, request: web.Request, fault: str, said: dict[str, object]) -> web.Response:
        if fault == "no-answer" and request.transport is not None:
            request.transport.abort()
        statuses = {"gateway": 504, "busy": 429, "failed": 500}
        if fault in statuses:
            again = {"Retry-After": "1"} if fault == "busy" else {}
            return web.json_response({"error": "no"}, status=statuses[fault], headers=again)
        if fault == "half":
            return web.Response(text=json.dumps(said)[:40], content_type="application/json")
        if fault == "no-usage":
            del said["usage"]
        return web.json_response(said)


class Case:
    """A study in a folder of its own, with its store."""

    def __init__(self, folder: str, url: str, store: str | None, budget: float) -> None:
        self.study = Path(folder) / "budget.toml"
        models = {n: MODEL.format(name=n, url=url) for n in ("ours", "yours", "theirs")}
        self.study.write_text(STUDY.format(**models, budget=budget), encoding="utf-8")
        self.environment = {k: v for k, v in os.environ.items() if k != "HEART_STORE"}
        if store is not None:
            self.environment["HEART_STORE"] = store

    def start(self, *options: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "hearteval", "run", str(self.study), *options, "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
        )


def spend(n: int, store: str | None) -> str:
    """Let so many processes spend one budget."""
    with TemporaryDirectory() as folder, Endpoint() as endpoint:
        case, began = Case(folder, endpoint.url, store, BUDGET), time.monotonic()
        runs = [case.start("--yes") for _ in range(n)]
        ended = [json.loads(run.communicate()[0]) for run in runs]
        seconds = time.monotonic() - began
    booked = max(one["spent_usd"] for one in ended)
    twice = endpoint.asked.total() - len(endpoint.asked)
    return (
        f"| {_name(store)} | {n} | {endpoint.most_in_flight} | {BUDGET:.2f} | {endpoint.billed:.3f}"
        f" | {endpoint.billed / BUDGET:.2f} | {booked:.3f} | {twice} | {seconds:.1f} |"
    )


def kill(store: str | None) -> str:
    """Kill a process, and let another end the study."""
    with TemporaryDirectory() as folder, Endpoint() as endpoint:
        case = Case(folder, endpoint.url, store, 1_000.0)
        run = case.start("--yes")
        while endpoint.n_answered < KILLED_AFTER and run.poll() is None:
            time.sleep(0.005)
        run.kill()
        killed_at = time.monotonic()
        run.communicate()
        billed, in_flight = endpoint.billed, endpoint.n_in_flight
        said = json.loads(case.start("--dry-run").communicate()[0])
        told = (said.get("in_flight") or {"usd": 0.0})["usd"]
        booked = said["spent_usd"] if "spent_usd" in said else _stored(case, store)
        case.start("--yes").communicate()
    missing = max(0.0, billed - booked - told) / billed
    again = [name for name, n in endpoint.asked.items() if n > 1]
    first = min(endpoint.answered_at[name] for name in again)
    return (
        f"| {_name(store)} | {billed:.3f} | {booked:.3f} | {told:.3f} | {missing:.1%} |"
        f" {in_flight} | {len(again)} | {max(0.0, killed_at - first):.2f} |"
    )


def attack(seed: int, store: str | None) -> str:
    """Let four processes spend a budget while calls go wrong and processes end."""
    draw = random.Random(seed)
    with TemporaryDirectory() as folder, Faulty(random.Random(seed)) as endpoint:
        case = Case(folder, endpoint.url, store, FAULTS_BUDGET)
        runs = [_read_to_nowhere(case.start("--yes")) for _ in range(4)]
        began = time.monotonic()
        next_at, over, acts = began + 8.0, 0.0, Counter[str]()
        while any(run.poll() is None for run in runs):
            time.sleep(0.05)
            over, now = max(over, endpoint.billed - FAULTS_BUDGET), time.monotonic()
            if now > began + DEADLINE_SECONDS:
                raise SystemExit(f"seed {seed}: still at work after {DEADLINE_SECONDS:g} s")
            alive = [run for run in runs if run.poll() is None]
            if alive and next_at < now < began + FAULTS_SECONDS:
                next_at = now + draw.uniform(3.0, 8.0)
                act = draw.choice(["killed", "killed", "stopped", "interrupted", "cut off"])
                acts[act] += 1
                if _disturb(draw.choice(alive), act):
                    runs.append(_read_to_nowhere(case.start("--yes")))
        said = json.loads(case.start("--dry-run").communicate()[0])
    told = (said.get("in_flight") or {"usd": 0.0})["usd"]
    missing = max(0.0, endpoint.billed - said["spent_usd"] - told) / endpoint.billed
    done = ", ".join(f"{n} {act}" for act, n in sorted(acts.items()))
    return (
        f"| {_name(store)} | {done} | {FAULTS_BUDGET:.2f} | {endpoint.billed:.3f} | {over:.3f} |"
        f" {said['spent_usd']:.3f} | {told:.3f} | {missing:.1%} |"
    )


def _disturb(run: subprocess.Popen[str], act: str) -> bool:
    """Do something to a process; return whether it ends of it."""
    if act == "stopped":
        run.send_signal(signal.SIGSTOP)
        threading.Timer(5.0, run.send_signal, [signal.SIGCONT]).start()
        return False
    run.send_signal(signal.SIGKILL if act == "killed" else signal.SIGINT)
    if act == "cut off":
        time.sleep(0.2)
        run.send_signal(signal.SIGINT)
    return True


def _read_to_nowhere(run: subprocess.Popen[str]) -> subprocess.Popen[str]:
    """Read what a process says, so that it never waits for a reader."""
    for stream in (run.stdout, run.stderr):
        threading.Thread(target=lambda stream=stream: [*stream], daemon=True).start()
    return run


def _stored(case: Case, store: str | None) -> float:
    """Return what is booked, of a version that does not say it before a run."""
    from sqlalchemy import text

    from hearteval.store.engines import open_engine

    engine, _ = open_engine(store or str(case.study.with_suffix(".db")))
    with engine.connect() as connection:
        usd = connection.execute(text("SELECT sum(cost) FROM replies")).scalar() or 0.0
    engine.dispose()
    return float(usd)


def _name(store: str | None) -> str:
    return "SQLite" if store is None else "PostgreSQL"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", action="append", help="an empty database, once for each row")
    parser.add_argument("--kill-only", action="store_true")
    parser.add_argument("--faults", type=int, default=0, metavar="N")
    options = parser.parse_args()
    if options.faults:
        print("| database | processes | budget | billed | over | booked | told | missing |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        stores = options.store or [None] * options.faults
        for seed, store in enumerate(stores[: options.faults]):
            print(attack(seed, store), flush=True)
        return
    stores = options.store or [None] * (len(PROCESSES) + 1)
    print("| database | processes | at once | budget | billed | of it | booked | twice | s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for n, store in () if options.kill_only else zip(PROCESSES, stores, strict=False):
        print(spend(n, store), flush=True)
    print("\n| database | billed | booked | told | missing | in flight | again | answered, s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    print(kill(stores[-1]), flush=True)


if __name__ == "__main__":
    main()

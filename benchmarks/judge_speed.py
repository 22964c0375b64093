"""Measure `heart judge`, alone and with workers, and `heart work`: three judges at one endpoint.

    python benchmarks/judge_speed.py [--items 20] [--latency 50] [--in-flight 256] [--profile FILE]
    python benchmarks/judge_speed.py --processes 1 2 4 --items 4 --latency 2000 --in-flight 96
        [--verb work] [--store postgresql://USER@HOST/DATABASE ...] [--priced]

A full design, whose completions are there: 20 items are 19,230 judgments to ask for, 40 are 38,310.
The endpoint, in a process of its own, answers every call after a fixed time (`model_calls`). A call
counts when its judgment is stored; the whole command is measured, its start, its plan and its end
included, and the CPU of all its processes, which are looked at twice a second. Beside it, in the
same run, the bare aiohttp loop, and fixed work in plain Python, whose CPU seconds say how slow the
machine is just now (0.55 where it is quiet).

With `--processes` so many `heart judge`, or `heart work`, start together on one store instead, each
with so many calls in flight: what each of them answered, the seconds until the last has ended,
those from the first answer to the last and of one call more (without starts and ends, for which all
processes share two cores), how much faster both are than in the first row, answers a second in the
best ten seconds, and the CPU of these processes, starts and ends included. A store is an empty
database, one for each row; without, each row takes a SQLite file of its own. `--priced` gives calls
a price, so that money is set aside for them.
"""

import argparse
import asyncio
import json
import os
import resource
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from model_calls import PEERS, Measured, Server, measure
from study_size import PEER, make, run_process

from hearteval.domain import Judgment
from hearteval.store.sql import SqlStore

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from own_processes import children_of

N_JUDGES = 3
RUNS = {
    "judge": [],
    "judge --workers 2": ["--workers", "2"],
    "judge --engine ray --workers 1": ["--engine", "ray", "--workers", "1"],
    "work": [],
}
BEST_SECONDS = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=20)
    parser.add_argument("--latency", type=int, default=50, help="milliseconds")
    parser.add_argument("--in-flight", type=int, default=256)
    parser.add_argument("--profile", type=Path)
    parser.add_argument("--processes", type=int, nargs="+", default=[])
    parser.add_argument("--verb", choices=("judge", "work"), default="judge")
    parser.add_argument("--store", nargs="*", default=[])
    parser.add_argument("--priced", action="store_true")
    asked = parser.parse_args()
    if asked.processes:
        share(asked)
        return
    with TemporaryDirectory() as folder, Server(asked.latency) as server:
        made = Path(folder) / "study"
        settings = f"concurrency = {-(-asked.in_flight // N_JUDGES)}"
        make(made, n_items=asked.items, base_url=server.url, settings=settings, is_judged=False)
        profiled = ["-m", "cProfile", "-o", str(asked.profile)] if asked.profile else []
        peer = run_process([sys.executable, "-c", PEER])[1]
        ours, peaks = {}, {}
        for verb, words in RUNS.items():
            where = shutil.copytree(made, Path(folder) / verb)
            heart = ["-m", "hearteval", verb.split()[0], str(where / "large.toml"), "--yes", *words]
            with watched() as seen:
                wall, cpu, peaks[verb] = run_process([sys.executable, *profiled, *heart])
            cpu = max(cpu, sum(seen.values()))  # of Ray's processes nobody says it at their end
            with closing(SqlStore.open(str(where / "large.db"))) as store:
                n_calls = sum(1 for _ in store.iter(Judgment))
            ours[verb] = Measured(n_calls=n_calls, wall=wall, cpu=cpu)
        bare = asyncio.run(measure(PEERS["bare aiohttp, whole"], server.url, asked.in_flight, 8.0))
        peer = (peer + run_process([sys.executable, "-c", PEER])[1]) / 2
    print(f"peer {peer:.2f} CPU s")
    print("| client | calls | calls/s | CPU ms a call | of 1,000 calls to the peer | peak MiB |")
    print("| --- | --- | --- | --- | --- | --- |")
    named = {f"`heart {verb}`": row for verb, row in ours.items()}
    for name, row in {**named, "bare aiohttp, whole": bare}.items():
        peak = f"{peaks[name[7:-1]]:.0f}" if name in named else ""
        each = 1000 * row.cpu / row.n_calls
        rate = row.n_calls / row.wall
        print(
            f"| {name} | {row.n_calls:,} | {rate:,.0f} | {each:.2f} | {each / peer:.2f} | {peak} |"
        )


@contextmanager
def watched() -> Iterator[dict[int, float]]:
    """Look at the CPU seconds of all processes that come of this one and begin in the block."""
    seen: dict[int, float] = {}
    before, is_over = {*children_of(os.getpid())}, threading.Event()

    def look() -> None:
        while not is_over.wait(0.5):
            for pid in children_of(os.getpid()).keys() - before:
                with suppress(OSError):
                    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                    seen[pid] = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    watching = threading.Thread(target=look)
    watching.start()
    try:
        yield seen
    finally:
        is_over.set()
        watching.join()


def share(asked: argparse.Namespace) -> None:
    """Let several processes judge together, and tell what each has answered."""
    with TemporaryDirectory() as folder, Server(asked.latency) as server:
        made = Path(folder) / "study"
        settings = f"concurrency = {-(-asked.in_flight // N_JUDGES)}"
        make(made, n_items=asked.items, base_url=server.url, settings=settings, is_judged=False)
        if asked.priced:
            file, price = made / "large.toml", "price = { input = 1.0, output = 2.0 }"
            file.write_text(file.read_text("utf-8").replace("price = 0", price), "utf-8")
        print(
            "| database | processes | answered by each | of an equal share | s | asking | times |"
            " best/s | CPU ms an answer | load |"
        )
        print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
        first: tuple[float, float] | None = None
        for n, store in zip_longest(asked.processes, asked.store[: len(asked.processes)]):
            where = Path(folder) / f"row-{n}"
            shutil.copytree(made, where)
            answered, whole, asking, best, cpu = judge_together(where, n, store, verb=asked.verb)
            asking += asked.latency / 1000
            first = first or (whole, asking)
            equal = sum(answered) / n
            shares = f"{min(answered) / equal:.2f}-{max(answered) / equal:.2f}"
            print(
                f"| {'SQLite' if store is None else 'PostgreSQL'} | {n} |"
                f" {', '.join(f'{each:,}' for each in answered)} | {shares} | {whole:.1f} |"
                f" {asking:.1f} | {first[0] / whole:.2f}, {first[1] / asking:.2f} | {best:.1f} |"
                f" {1000 * cpu / sum(answered):.2f} | {os.getloadavg()[0]:.0f} |",
                flush=True,
            )


def judge_together(
    where: Path, n: int, store: str | None, *, verb: str
) -> tuple[list[int], float, float, float, float]:
    """Return what each has answered, seconds in all and of answers, the best rate, CPU seconds."""
    environment = {name: value for name, value in os.environ.items() if name != "HEART_STORE"}
    heart = [sys.executable, "-m", "hearteval"]
    if store is not None:
        copy = [*heart, "store", "copy", str(where / "large.db"), store]
        subprocess.run(copy, check=True, capture_output=True, env=environment)
        environment["HEART_STORE"] = store
    began, cpu_before = time.perf_counter(), cpu_of_ended()
    judging = [
        subprocess.Popen(
            [*heart, verb, str(where / "large.toml"), "--yes", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        for _ in range(n)
    ]
    said = [json.loads(one.communicate()[0]) for one in judging]
    seconds, cpu = time.perf_counter() - began, cpu_of_ended() - cpu_before
    with closing(SqlStore.open(store or str(where / "large.db"))) as opened:
        moments = np.sort([one.created_at.timestamp() for one in opened.iter(Judgment)])
    n_within = np.searchsorted(moments, moments + BEST_SECONDS) - np.arange(len(moments))
    told = float(moments[-1] - moments[0]), n_within.max() / BEST_SECONDS, cpu
    answers = [one if verb == "judge" else one["answers"] for one in said]
    return [one.get("judgments", {"n_added": 0})["n_added"] for one in answers], seconds, *told


def cpu_of_ended() -> float:
    """Return the CPU seconds of all processes that this one began and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()

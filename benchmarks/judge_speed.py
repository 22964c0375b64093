"""Measure `heart judge` itself: a study of a full design, three judges at one loopback endpoint.

    python benchmarks/judge_speed.py [--items 20] [--latency 50] [--in-flight 256] [--profile FILE]

The completions are there; 20 items are 19,230 judgments to ask for, 40 are 38,310. The endpoint, in
a process of its own, answers every call after a fixed time (`model_calls`). A call counts when its
judgment is stored; the whole command is measured, its start, its plan and its end included, and its
CPU alone. Beside it, in the same run, the bare aiohttp loop, and fixed work in plain Python, whose
CPU seconds say how slow the machine is just now (0.55 where it is quiet).
"""

import argparse
import asyncio
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from model_calls import PEERS, Measured, Server, measure
from study_size import PEER, make, run_process

from hearteval.domain import Judgment
from hearteval.store.sql import SqlStore

N_JUDGES = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=20)
    parser.add_argument("--latency", type=int, default=50, help="milliseconds")
    parser.add_argument("--in-flight", type=int, default=256)
    parser.add_argument("--profile", type=Path)
    asked = parser.parse_args()
    with TemporaryDirectory() as folder, Server(asked.latency) as server:
        where = Path(folder) / "study"
        settings = f"concurrency = {-(-asked.in_flight // N_JUDGES)}"
        make(where, n_items=asked.items, base_url=server.url, settings=settings, is_judged=False)
        profiled = ["-m", "cProfile", "-o", str(asked.profile)] if asked.profile else []
        judge = ["-m", "hearteval", "judge", str(where / "large.toml"), "--yes"]
        peer = run_process([sys.executable, "-c", PEER])[1]
        wall, cpu, _ = run_process([sys.executable, *profiled, *judge])
        with closing(SqlStore.open(str(where / "large.db"))) as store:
            ours = Measured(n_calls=sum(1 for _ in store.iter(Judgment)), wall=wall, cpu=cpu)
        bare = asyncio.run(measure(PEERS["bare aiohttp, whole"], server.url, asked.in_flight, 8.0))
        peer = (peer + run_process([sys.executable, "-c", PEER])[1]) / 2
    print(f"peer {peer:.2f} CPU s")
    print("| client | calls | calls/s | CPU ms a call | CPU of 1,000 calls to the peer |")
    print("| --- | --- | --- | --- | --- |")
    for name, row in (("`heart judge`", ours), ("bare aiohttp, whole", bare)):
        each = 1000 * row.cpu / row.n_calls
        rate = row.n_calls / row.wall
        print(f"| {name} | {row.n_calls:,} | {rate:,.0f} | {each:.2f} | {each / peer:.2f} |")


if __name__ == "__main__":
    main()

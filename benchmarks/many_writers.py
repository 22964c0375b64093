"""Count the rows that several processes store in one study on PostgreSQL, and what a row costs.

    python benchmarks/many_writers.py [--seconds 8] [--writers 1 2 4 8] [--group 100]

Each process stores judgments with their replies in groups, as a run does, with money set aside in
each: the replies of one group with the judgments made of those before. A row is a judgment with
its reply. This script starts a PostgreSQL of its own that syncs what it commits. Meanwhile it asks
the server ten times a second who waits for a lock, and now and then does a piece of fixed work, the
peer: its CPU time says how busy the machine is with others.
CPU seconds are those of the writers and of the server's processes for them.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
from store_speed import NOW, REPLY, _judgments, _plan

from hearteval.domain import Assignment, Judgment, record_id
from hearteval.store.records import SetAside, StoredReply
from hearteval.store.sql import SqlStore

sys.path.append(str(Path(__file__).parents[1] / "tests"))
import postgres_server

PLANNED = 120_000
WAITING = (
    "SELECT count(*) FILTER (WHERE wait_event_type = 'Lock'),"
    " count(*) FILTER (WHERE wait_event = 'WALSync' OR wait_event = 'WALWrite')"
    " FROM pg_stat_activity WHERE application_name = 'heart'"
)


def write(place: str, which: int, n_writers: int, seconds: float, n_group: int) -> None:
    """Store groups for so long; print rows, CPU seconds and wall seconds."""
    store = SqlStore.open(place)
    study = store.iter(Assignment)
    mine = list(islice(study, which * PLANNED // n_writers, (which + 1) * PLANNED // n_writers))
    judgments = _judgments(mine)
    print("ready", flush=True)
    sys.stdin.readline()
    began, cpu, n = time.monotonic(), time.process_time(), 0
    asked: list[Judgment] = []
    while time.monotonic() < began + seconds:
        kept, asked = asked, list(islice(judgments, n_group))
        until = datetime.now(UTC) + timedelta(seconds=120)
        wish = SetAside(f"m {which} 1", until, 1e6, 0.1, 0.001, 0.1, 0.0, 100)
        store.keep_group(kept, [*map(_reply, asked)], wish, is_gone=lambda _owner, _until: False)
        n += len(kept)
    print(n, time.process_time() - cpu, time.monotonic() - began, flush=True)
    store.close()


def _reply(judgment: Judgment) -> StoredReply:
    """Return the reply that a judgment is made of."""
    said = {"text": judgment.raw, "finish_reason": "stop", "usage": {"output_tokens": 200}}
    return StoredReply(
        id=record_id("reply", {"of": judgment.id}), reply=said, cost=0.001, created_at=NOW
    )


def peer() -> float:
    """Do a piece of fixed work; return its CPU seconds."""
    began, data = time.thread_time(), REPLY.encode()
    for _ in range(10_000):
        data = hashlib.sha256(data).digest()
    return time.thread_time() - began


def server_seconds(postmaster: int) -> float:
    """Return the CPU seconds of a server's processes that have ended."""
    fields = Path(f"/proc/{postmaster}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def measure(url: str, postmaster: int, n_writers: int, seconds: float, n_group: int) -> str:
    """Run so many writers on a store of their own; return a row of the table."""
    store = SqlStore.open(url)
    _plan(store, PLANNED)
    store.close()
    words = [str(n_writers), str(seconds), str(n_group)]
    writers = [
        subprocess.Popen(
            [sys.executable, __file__, "--write", url, str(which), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for which in range(n_writers)
    ]
    for one in writers:
        assert one.stdout is not None
        one.stdout.readline()
    server = server_seconds(postmaster)
    for one in writers:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    samples, peers, end = [], [], time.monotonic() + seconds
    with psycopg.connect(url, autocommit=True) as connection:
        while time.monotonic() < end - 0.2:
            samples += connection.execute(WAITING).fetchall()
            if len(samples) % 5 == 0:
                peers.append(peer())
            time.sleep(0.1)
    told = [tuple(map(float, one.communicate()[0].split())) for one in writers]
    time.sleep(0.5)
    server = server_seconds(postmaster) - server
    n, cpu = sum(one[0] for one in told), sum(one[1] for one in told)
    rate = sum(one[0] / one[2] for one in told)
    waited = sum(waiting > 0 for waiting, _ in samples) / len(samples)
    return (
        f"| {n_writers} | {rate:,.0f} | {n / (cpu + server):,.0f} | {cpu / n * 1e3:.2f} |"
        f" {server / n * 1e3:.2f} | {waited:.0%} |"
        f" {sum(w for w, _ in samples) / len(samples):.1f} | {sum(peers) / len(peers) * 1e3:.1f} |"
    )


def main() -> None:
    """Measure each number of writers, on a server of our own."""
    if sys.argv[1:2] == ["--write"]:
        place, which, n_writers, seconds, n_group = sys.argv[2:]
        write(place, int(which), int(n_writers), float(seconds), int(n_group))
        return
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--writers", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--group", type=int, default=100)
    arguments = parser.parse_args()
    postgres_server.SETTINGS = postgres_server.SETTINGS.replace("fsync=off", "fsync=on")
    with TemporaryDirectory() as folder, postgres_server.running_server(Path(folder)) as server:
        postmaster = int((Path(folder) / "data" / "postmaster.pid").read_text("ascii").split()[0])
        print(
            "| writers | rows/s | rows per CPU second | client ms a row | server ms a row |"
            " samples with a wait for a lock | waiting, mean | peer, CPU ms |\n"
            "| --- | --- | --- | --- | --- | --- | --- | --- |",
            flush=True,
        )
        for n_writers in arguments.writers:
            url = server.create_database(f"w{n_writers}_{time.monotonic_ns()}")
            words = (n_writers, arguments.seconds, arguments.group)
            print(measure(url, postmaster, *words), flush=True)


if __name__ == "__main__":
    main()

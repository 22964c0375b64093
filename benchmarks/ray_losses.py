"""What becomes of a study on two Ray nodes when a worker, a node, the head or the database is lost.

    PYTHONPATH=tests:tests/end_to_end python benchmarks/ray_losses.py --items 40 [LOSS]...

A loss is nobody, worker, node, head or database; without one, all of them.

Two nodes on this machine, four workers, PostgreSQL, and a scripted server that answers after .2 s.
Each loss comes once a third of the judge's questions were asked. A run that ends with an error is
started again, on a new cluster, as a person would. Tables are compared with those of a run alone,
without times. Called twice: questions of which the server saw more than one call.
"""

import argparse
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from own_processes import children_of
from postgres_server import PostgresServer, running_server
from served_study import serving, write_study
from test_ray_workers import asked, slow, tables

from hearteval.config.engine import set_ray_environment

LOSSES = ("nobody", "worker", "node", "head", "database")
DOWN_SECONDS = 30
AT_ONCE = "concurrency = 4\nprice = { input = 0, output = 0 }"
MOST_RUNS = 4


@contextmanager
def cluster() -> Iterator[Any]:
    """Start a head and a second node on 127.0.0.1, and end both."""
    from ray.cluster_utils import Cluster

    node: dict[str, Any] = {
        "num_cpus": 1,
        "object_store_memory": 100 * 1024**2,
        "node_ip_address": "127.0.0.1",
    }
    found = Cluster(
        initialize_head=True,
        head_node_args={**node, "include_dashboard": False},
        shutdown_at_exit=True,
    )
    try:
        found.add_node(**node)
        yield found
    finally:
        found.shutdown()  # type: ignore[no-untyped-call]


def start(study: Path, store: str, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "hearteval", "run", str(study), "--yes", "--json", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HEART_STORE": store},
    )


def lose(what: str, nodes: Any, database: PostgresServer) -> None:
    """Take away a worker, a node, the head, or the database for a while."""
    if what == "worker":
        workers = [
            pid for pid, words in children_of(os.getpid()).items() if "ray::_Worker" in words
        ]
        os.kill(workers[0], signal.SIGKILL)
    elif what in {"node", "head"}:
        node = nodes.head_node if what == "head" else next(iter(nodes.worker_nodes))
        node.kill_all_processes(check_alive=False, allow_graceful=False)
    elif what == "database":
        database.stop()
        time.sleep(DOWN_SECONDS)
        database.start()


def tried(what: str, folder: Path, items: int, database: PostgresServer) -> tuple[Any, ...]:
    """Return runs, whether tables are those of a run alone, questions, calls too many, seconds."""
    folder.mkdir()
    store, alone = database.create_database(f"loss_{what}"), str(folder / "alone.db")
    os.environ["HEART_STORE"] = store  # of the nodes too
    n_judged, n_runs, is_lost, code = 6 * items, 0, what == "nobody", 1
    with serving(slow()) as server:
        study = write_study(folder, server.url, regular=items, extra=AT_ONCE)
        began = time.monotonic()
        while n_runs < MOST_RUNS:
            n_runs += 1
            with cluster() as nodes:
                words = ("--engine", "ray", "--address", nodes.address, "--workers", "4")
                run = start(study, store, *words)
                said = threading.Thread(target=lambda run=run: print(run.stderr.read()[-400:]))
                said.start()
                while not is_lost and run.poll() is None:
                    if sum(body["model"] == "their-judge" for body in server.bodies) > n_judged / 3:
                        lose(what, nodes, database)
                        is_lost = True
                    time.sleep(0.05)
                code = run.wait()
                said.join()
            if code == 0:
                break
        seconds, calls = time.monotonic() - began, asked(server)
        assert start(study, alone).wait() == 0
    is_same = code == 0 and tables(store) == tables(alone)
    return n_runs, is_same, len(calls), calls.total() - len(calls), round(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("losses", nargs="*", default=LOSSES)
    parser.add_argument("--items", type=int, default=40)
    given = parser.parse_args()
    os.environ |= {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_gcs_rpc_server_reconnect_timeout_s": "15",  # until a lost head ends a run
    }
    set_ray_environment("127.0.0.1:0")
    with tempfile.TemporaryDirectory() as name, running_server(made(Path(name) / "db")) as database:
        print("| lost | runs | same tables | questions | calls too many | seconds |")
        print("| --- | --- | --- | --- | --- | --- |", flush=True)
        for what in given.losses:
            row = (what, *tried(what, Path(name) / what, given.items, database))
            print("| " + " | ".join(map(str, row)) + " |", flush=True)


def made(folder: Path) -> Path:
    folder.mkdir()
    return folder


if __name__ == "__main__":
    main()

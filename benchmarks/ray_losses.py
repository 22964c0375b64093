"""What becomes of a study on two Ray nodes when one of their parts is lost.

    PYTHONPATH=tests:tests/end_to_end python benchmarks/ray_losses.py --items 12 [LOSS]...

A loss is nobody, worker, node, head, database or cut; without one, all of them, each in a run of
its own. As root on Linux: two hosts with a Ray node each are network namespaces, behind one bridge
with the host of the database, in a namespace of this script's own; nothing of the machine's network
is touched. Each has one processor. `cut` takes the second host's link down for good. Four workers
ask a scripted server, which answers after .2 s beside the database; or, with `--model llama`, two
ask llama.cpp's servers of their own with the tests' tiny model, and judges give no marks of axes,
so that it takes minutes, not hours. There are 21 calls an item.

Each loss comes once a third of the judgments is stored. A run that ends with an error is started
again on a new cluster, as a person would. Unequal rows: those that only this store has, or only
that of a run alone, without times; another answer makes two. Called twice: calls of the scripted
server beyond one a question. In flight: calls that the run's own report says were under way where a
process was killed, "about" and "at most". After: seconds from the loss to the end.
"""

import argparse
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from own_processes import children_of
from postgres_server import PostgresServer, running_server
from served_study import serving, slowly, write_study
from test_ray_workers import asked, tables
from tiny_model import TINY_MODEL

LOSSES = ("nobody", "worker", "node", "head", "database", "cut")
DOWN_SECONDS = 30
MOST_RUNS = 4
HERE = "10.77.0.1"
"""Of the database and the scripted server."""
PORT = 6379
APART = "HEART_LOSSES_APART"
RAY = str(Path(sys.executable).with_name("ray"))
MORE_SYSTEMS = "".join(f'[[system]]\npreset = "{name}"\n' for name in ("retrieval", "reflective"))


@dataclass(frozen=True)
class Host:
    """A network namespace with a link to the bridge; its name is that of the host in it."""

    name: str
    address: str
    processor: int

    def start(self, *words: str, **how: Any) -> subprocess.Popen[str]:
        own = ["taskset", "-c", str(self.processor)]  # else llama.cpp's servers hold each other up
        own += ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', self.name]
        return subprocess.Popen(["ip", "netns", "exec", self.name, *own, *words], text=True, **how)

    def cut_off(self) -> None:
        ip("link", "set", self.name, "down")

    def processes(self) -> list[int]:
        return [int(pid) for pid in ip("netns", "pids", self.name).split()]

    def kill_all(self, *, but: Sequence[int] = ()) -> None:
        for pid in set(self.processes()) - {*but}:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@contextmanager
def hosts(n: int) -> Iterator[list[Host]]:
    """Make so many hosts that reach each other and this namespace, and end them."""
    found: list[Host] = []
    try:
        for i in range(n):
            host = Host(f"heart{os.getpid()}-{i}", f"10.77.0.{2 + i}", i % (os.cpu_count() or 1))
            ip("netns", "add", host.name)
            found.append(host)
            ip(*f"link add {host.name} type veth peer name net0 netns {host.name}".split())
            ip("link", "set", host.name, "master", "bridge", "up")
            ip("-n", host.name, "addr", "add", f"{host.address}/24", "dev", "net0")
            for device in ("net0", "lo"):
                ip("-n", host.name, "link", "set", device, "up")
        yield found
    finally:
        for host in found:
            host.kill_all()
            with suppress(subprocess.CalledProcessError):  # its namespace may outlive its name
                ip("link", "del", host.name)
            ip("netns", "del", host.name)


def ip(*words: str) -> str:
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout


@contextmanager
def cluster(folder: Path) -> Iterator[list[Host]]:
    """Start a head on the first of two hosts and a node on the second."""
    with hosts(2) as found:
        head, node = found
        own = ["--num-cpus", "1", "--object-store-memory", str(100 * 1024**2)]
        place = ["--head", "--port", str(PORT), "--include-dashboard", "false"]
        place += ["--temp-dir", str(folder)]
        for host, where in (head, place), (node, ["--address", f"{head.address}:{PORT}"]):
            words = [RAY, "start", "--node-ip-address", host.address, *own, *where]
            assert host.start(*words, stdout=subprocess.DEVNULL).wait() == 0
        yield found


def lose(
    what: str, found: Sequence[Host], run: subprocess.Popen[str], database: PostgresServer
) -> None:
    """Take away a worker, a node, the head, the database for a while, or a host's network."""
    head, node = found
    words = children_of(1)
    worker = next(pid for pid in node.processes() if "ray::_Worker" in words[pid])
    if what == "worker":
        os.kill(worker, signal.SIGKILL)
    elif what == "node":
        node.kill_all()
    elif what == "head":
        head.kill_all(but=[*children_of(run.pid)])
    elif what == "cut":
        node.cut_off()
    elif what == "database":
        database.stop()
        time.sleep(DOWN_SECONDS)
        database.start()


def n_judged(store: str) -> int:
    with psycopg.connect(store) as connection, suppress(psycopg.errors.UndefinedTable):
        found = connection.execute("SELECT count(*) FROM judgments").fetchone()
        return int(found[0]) if found else 0
    return 0


def unequal(found: Sequence[Any], alone: Sequence[Any]) -> int:
    """Count the rows that only one of two stores has."""
    return sum(len({*one} ^ {*other}) for one, other in zip(found, alone, strict=True))


def write(folder: Path, url: str, given: argparse.Namespace) -> Path:
    """Write a study of four baselines and a model, judged by a model."""
    at_once = 2 if given.model == "llama" else 16  # for each server; for all four workers
    extra = f"concurrency = {at_once}\nprice = {{ input = 0.001, output = 0.001 }}"
    study = write_study(folder, url, regular=given.items, extra=extra)
    text = study.read_text().replace("[[system]]\n", MORE_SYSTEMS + "[[system]]\n", 1)
    if given.model == "llama":
        own = f'model = "local:{TINY_MODEL}"\nreuse_prompts = false'  # for the same words again
        text = re.sub(r'model = ".*\nbase_url = .*', lambda _: own, text)
        text = text.replace("[judging]", '[judging]\naxes = ["H"]\naxis_marks = "off"')
    study.write_text(text)
    return study


def tried(what: str, study: Path, store: str, given: argparse.Namespace, database: Any) -> Any:
    """Return how many runs it took, the last one's JSON object, and seconds until and after."""
    os.environ["HEART_STORE"] = store  # of the nodes too
    is_lost, began, lost_at = what == "nobody", time.monotonic(), 0.0
    n_third = 20 * given.items / 3
    for n_runs in range(1, MOST_RUNS + 1):
        with (
            cluster(study.parent / "ray") as found,
            (study.parent / f"{what}.json").open("w+") as to,
        ):
            words = ["--engine", "ray", "--address", f"{found[0].address}:{PORT}", "--workers"]
            words.append("2" if given.model == "llama" else "4")
            command = [sys.executable, "-m", "hearteval", "run", str(study), "--yes", "--json"]
            run = found[0].start(*command, *words, stdout=to)
            while not is_lost and run.poll() is None:
                if n_judged(store) > n_third:
                    lose(what, found, run, database)
                    is_lost, lost_at = True, time.monotonic()
                time.sleep(0.2)
            if run.wait() == 0:
                to.seek(0)
                now = time.monotonic()
                return n_runs, json.load(to), now - began, now - lost_at if lost_at else 0.0
    raise SystemExit(f"{what}: {MOST_RUNS} runs ended with an error")


def measure(given: argparse.Namespace, folder: Path, database: PostgresServer) -> None:
    with serving(slowly(0.2), host=HERE) as server:
        study, alone = write(folder, server.url, given), str(folder / "alone.db")
        os.environ["HEART_STORE"] = alone
        began = time.monotonic()
        command = [sys.executable, "-m", "hearteval", "run", str(study), "--yes", "--json"]
        subprocess.run(["taskset", "-c", "0", *command], check=True, stdout=subprocess.DEVNULL)
        print(f"alone: {len(tables(alone)[4])} judgments, {time.monotonic() - began:.0f} s\n")
        print("| lost | runs | unequal | questions | called twice | in flight | seconds | after |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
        for what in given.losses:
            server.bodies.clear()
            store = database.create_database(f"loss_{what}")
            n_runs, body, seconds, after = tried(what, study, store, given, database)
            calls, lost = asked(server), body["in_flight"]
            row = (
                what,
                n_runs,
                unequal(tables(store), tables(alone)),
                sum(body[kind]["n_wanted"] for kind in ("completions", "judgments")),
                calls.total() - len(calls) if calls else "",
                lost["n_calls"] if lost else 0,
                round(seconds),
                round(after),
            )
            print("| " + " | ".join(map(str, row)) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("losses", nargs="*", default=LOSSES)
    parser.add_argument("--items", type=int, default=12)
    parser.add_argument("--model", choices=["scripted", "llama"], default="scripted")
    given = parser.parse_args()
    if APART not in os.environ:
        os.environ[APART] = "1"
        own = ["unshare", "--net", "--mount", sys.executable, *sys.argv]
        os.execvp(own[0], own)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # hosts are to be ended then too
    ip("link", "set", "lo", "up")
    ip("link", "add", "bridge", "type", "bridge")
    ip("addr", "add", f"{HERE}/24", "dev", "bridge")
    ip("link", "set", "bridge", "up")
    os.environ |= {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_gcs_rpc_server_reconnect_timeout_s": "15",  # until a lost head ends a run
    }
    with tempfile.TemporaryDirectory() as name:
        for part in ("db", "study"):
            (Path(name) / part).mkdir()
        with running_server(Path(name) / "db", host=HERE) as database:
            measure(given, Path(name) / "study", database)


if __name__ == "__main__":
    main()

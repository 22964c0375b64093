"""Workers of an engine answer for a run, and one that is killed costs what it had under way."""

import asyncio
import json
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from forked_heart import DEADLINE_SECONDS
from heart_command import end, start
from killable_study import TABLES, read
from own_processes import children_of
from scripted_server import Answer, ScriptedServer
from served_study import healthy, is_probe, serving, slowly, write_study

from hearteval.engine.local import LocalMap
from hearteval.models.asking import WORKERS_PER_CALL

pytestmark = pytest.mark.server
N_AT_ONCE = 2
AT_ONCE = f"concurrency = {N_AT_ONCE}\nprice = {{ input = 0, output = 0 }}"


def tables(store: str) -> list[list[tuple[Any, ...]]]:
    """Return every record without its time."""
    return read(store, *(f"SELECT {of} FROM {name} ORDER BY id" for name, of in TABLES.items()))


def noting_calls(n_under_way: list[int]) -> Answer:
    """Answer well, after a while, and note how many calls of the judge are then under way."""
    n = 0

    async def answer(request: web.Request, body: Mapping[str, object]) -> web.StreamResponse:
        nonlocal n
        is_judge = body["model"] == "their-judge" and not is_probe(body)
        n += is_judge
        n_under_way.append(n)
        await asyncio.sleep(0.05)
        n -= is_judge
        return await healthy()(request, body)

    return answer


def asked(server: ScriptedServer) -> Counter[str]:
    """Return how often each question was asked; probes of schemas are none of the study's."""
    bodies = [body for body in server.bodies if not is_probe(body)]
    return Counter(json.dumps([body["model"], body["messages"]]) for body in bodies)


def killed_worker(server: ScriptedServer, run: subprocess.Popen[str], title: str) -> int:
    """Kill one worker of a run once it has asked some of the judge's questions."""
    began = time.monotonic()
    while sum(body["model"] == "their-judge" for body in server.bodies) < 12:
        assert run.poll() is None, run.communicate()
        assert time.monotonic() < began + DEADLINE_SECONDS
        time.sleep(0.05)
    workers = [pid for pid, words in children_of(run.pid).items() if title in words]
    os.kill(workers[0], signal.SIGKILL)
    return len(workers)


@pytest.mark.engine
@pytest.mark.postgres
def test_a_run_whose_ray_worker_is_killed_ends_as_one_alone_does(
    tmp_path: Path, postgres_url: str
) -> None:
    if find_spec("ray") is None:
        pytest.skip("needs the extra ray")
    with serving(slowly(0.2)) as server:
        study = write_study(tmp_path, server.url, regular=12, extra=AT_ONCE)
        run = start("run", study, postgres_url, "--engine", "ray", "--workers", "2")
        n_workers = killed_worker(server, run, "ray::_Worker")
        body = end(run)
        n_twice = asked(server).total() - len(asked(server))
        end(start("run", study, str(tmp_path / "alone.db")))

    assert n_workers == 2
    assert n_twice <= WORKERS_PER_CALL * N_AT_ONCE
    assert body["judgments"]["n_added"] == body["judgments"]["n_wanted"] == 72
    assert tables(postgres_url) == tables(str(tmp_path / "alone.db"))


def test_processes_of_this_machine_answer_for_a_run_as_one_alone_does(tmp_path: Path) -> None:
    n_under_way: list[int] = []
    with serving(noting_calls(n_under_way)) as server:
        study = write_study(tmp_path, server.url, regular=6, extra=AT_ONCE)
        body = end(start("run", study, str(tmp_path / "two.db"), "--workers", "2"))
        assert max(n_under_way) <= N_AT_ONCE
        assert set(asked(server).values()) == {1}
        end(start("run", study, str(tmp_path / "alone.db")))

    assert body["judgments"]["n_added"] == body["judgments"]["n_wanted"] == 36
    assert tables(str(tmp_path / "two.db")) == tables(str(tmp_path / "alone.db"))


def test_a_run_waits_for_no_lost_worker_once_everything_is_answered(
    tmp_path: Path, heart: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = []

    def hold(_self: LocalMap, work: Callable[..., None], *arguments: Any) -> Iterator[None]:
        try:
            work(*arguments)
            while True:  # a host without a network: nobody knows yet that it is lost
                yield
        finally:
            ended.append(arguments[1])

    monkeypatch.setattr(LocalMap, "hold", hold)
    with serving(healthy()) as server:
        study = write_study(tmp_path, server.url, extra=AT_ONCE)
        done = heart("run", study, "--workers", "2", "--yes", "--json")

    assert done.json["judgments"]["n_missing"] == 0
    assert ended == ["system", "judge"]


@pytest.mark.parametrize("address", ["auto", "10.0.0.5:6379"])
def test_several_machines_need_a_store_that_they_share(
    tmp_path: Path, heart: Any, address: str
) -> None:
    study = write_study(tmp_path, "http://127.0.0.1:9")

    done = heart("run", study, "--engine", "ray", "--address", address)

    assert done.code == 2
    assert "need a store in PostgreSQL" in " ".join(done.err.split())

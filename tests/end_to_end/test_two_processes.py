"""Two ``heart run`` on one store: everything is asked for, and paid for, once."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from aiohttp import web
from scripted_server import Answer, say
from served_study import always, healthy, is_probe, serving, write_study

from hearteval.models.base import FIRST_QUESTIONS

pytestmark = pytest.mark.server
DEADLINE_SECONDS = 300
N_AT_ONCE = 2
PRICED = f"concurrency = {N_AT_ONCE}\nprice = {{ input = 1.0, output = 2.0 }}"
DATABASES = pytest.mark.parametrize(
    "database", ["sqlite", pytest.param("postgres", marks=[pytest.mark.postgres])]
)


def slowly() -> Answer:
    """Answer well, so that calls of both processes are under way together."""

    async def answer(request: web.Request, body: Mapping[str, object]) -> web.StreamResponse:
        await asyncio.sleep(0.05)
        return await healthy()(request, body)

    return answer


def once_two_ask() -> Answer:
    """Answer well, but nothing before more calls are under way than one process makes."""
    n_asked, are_two = 0, asyncio.Event()

    async def answer(request: web.Request, body: Mapping[str, object]) -> web.StreamResponse:
        nonlocal n_asked
        n_asked += 1
        if n_asked > N_AT_ONCE:
            are_two.set()
        await asyncio.wait_for(are_two.wait(), DEADLINE_SECONDS)
        return await slowly()(request, body)

    return answer


def start(study: Path, store: str | None) -> subprocess.Popen[str]:
    environment = {k: v for k, v in os.environ.items() if k != "HEART_STORE"}
    if store is not None:
        environment["HEART_STORE"] = store
    return subprocess.Popen(
        [sys.executable, "-m", "hearteval", "run", str(study), "--yes", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


@DATABASES
def test_two_runs_on_one_store_pay_once_and_both_end_well(
    tmp_path: Path, database: str, request: pytest.FixtureRequest
) -> None:
    store = None if database == "sqlite" else request.getfixturevalue("postgres_url")
    with serving(once_two_ask()) as server:
        study = write_study(tmp_path, server.url, regular=20, extra=PRICED)
        runs = [start(study, store) for _ in range(2)]
        ended = [run.communicate(timeout=DEADLINE_SECONDS) for run in runs]

    assert [run.returncode for run in runs] == [0, 0], ended
    said = [json.loads(out) for out, _ in ended]
    asked = Counter(json.dumps([body["model"], body["messages"]]) for body in server.bodies)
    assert set(asked.values()) == {1}
    for step in ("completions", "judgments"):
        counts = [one[step] for one in said]
        assert {one["n_before"] + one["n_added"] for one in counts} == {counts[0]["n_wanted"]}
        assert [one["n_missing"] for one in counts] == [0, 0]
    assert said[0]["leaderboard"] == said[1]["leaderboard"]
    for _, told in ended:
        assert "on this store too: each question is asked once, the budget is one" in told


@DATABASES
def test_run_that_comes_later_gets_work_while_the_first_waits_for_its_calls(
    tmp_path: Path, database: str, request: pytest.FixtureRequest
) -> None:
    store = None if database == "sqlite" else request.getfixturevalue("postgres_url")
    with serving(once_two_ask()) as server:
        study = write_study(tmp_path, server.url, regular=40, extra=PRICED)
        runs = [start(study, store)]
        while len(server.bodies) < N_AT_ONCE and runs[0].poll() is None:
            threading.Event().wait(0.01)
        runs.append(start(study, store))
        ended = [run.communicate(timeout=DEADLINE_SECONDS) for run in runs]

    assert [run.returncode for run in runs] == [0, 0], ended
    said = [json.loads(out) for out, _ in ended]
    assert said[1]["completions"]["n_added"] > 0
    assert sum(one["completions"]["n_added"] for one in said) == said[0]["completions"]["n_wanted"]


def test_each_of_two_runs_stops_a_judge_that_says_nothing_usable(tmp_path: Path) -> None:
    at_once = PRICED.replace("concurrency = 2", "concurrency = 50")
    with serving(always(their_judge=say("I prefer reply A."))) as server:
        study = write_study(tmp_path, server.url, regular=8, extra=at_once)
        runs = [start(study, None) for _ in range(2)]
        ended = [run.communicate(timeout=DEADLINE_SECONDS) for run in runs]

    n_asked = sum(body["model"] == "their-judge" and not is_probe(body) for body in server.bodies)
    assert n_asked == 2 * 2 * FIRST_QUESTIONS
    assert [run.returncode for run in runs] == [1, 1], ended
    assert all("none of its first 8 questions" in told for _, told in ended)

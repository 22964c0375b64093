"""Two ``heart run`` on one store: everything is asked for, and paid for, once."""

import json
import threading
from pathlib import Path

import pytest
from forked_heart import start
from scripted_server import say
from served_study import always, asked_once, is_probe, once_two_ask, serving, write_study

from hearteval.models.base import FIRST_QUESTIONS

pytestmark = pytest.mark.server
N_AT_ONCE = 2
PRICED = f"concurrency = {N_AT_ONCE}\nprice = {{ input = 1.0, output = 2.0 }}"


def test_two_runs_on_one_store_pay_once_and_both_end_well(tmp_path: Path, place: str) -> None:
    with serving(once_two_ask(N_AT_ONCE)) as server:
        study = write_study(tmp_path, server.url, regular=20, extra=PRICED)
        runs = [start("run", study, place, "--yes") for _ in range(2)]
        ended = [run.wait() for run in runs]

    assert [run.code for run in runs] == [0, 0], ended
    said = [json.loads(out) for out, _ in ended]
    assert asked_once(server)
    for step in ("completions", "judgments"):
        counts = [one[step] for one in said]
        assert {one["n_before"] + one["n_added"] for one in counts} == {counts[0]["n_wanted"]}
        assert [one["n_missing"] for one in counts] == [0, 0]
    assert said[0]["leaderboard"] == said[1]["leaderboard"]
    for _, told in ended:
        assert "on this store too: each question is asked once, the budget is one" in told


def test_run_that_comes_later_gets_work_while_the_first_waits_for_its_calls(
    tmp_path: Path, place: str
) -> None:
    with serving(once_two_ask(N_AT_ONCE)) as server:
        study = write_study(tmp_path, server.url, regular=40, extra=PRICED)
        runs = [start("run", study, place, "--yes")]
        while len(server.bodies) < N_AT_ONCE and runs[0].code is None:
            threading.Event().wait(0.01)
        runs.append(start("run", study, place, "--yes"))
        ended = [run.wait() for run in runs]

    assert [run.code for run in runs] == [0, 0], ended
    said = [json.loads(out) for out, _ in ended]
    assert said[1]["completions"]["n_added"] > 0
    assert sum(one["completions"]["n_added"] for one in said) == said[0]["completions"]["n_wanted"]


def test_each_of_two_runs_stops_a_judge_that_says_nothing_usable(tmp_path: Path) -> None:
    at_once = PRICED.replace("concurrency = 2", "concurrency = 50")
    with serving(always(their_judge=say("I prefer reply A."))) as server:
        study = write_study(tmp_path, server.url, regular=8, extra=at_once)
        runs = [start("run", study, None, "--yes") for _ in range(2)]
        ended = [run.wait() for run in runs]

    n_asked = sum(body["model"] == "their-judge" and not is_probe(body) for body in server.bodies)
    assert n_asked == 2 * 2 * FIRST_QUESTIONS
    assert [run.code for run in runs] == [1, 1], ended
    assert all("none of its first 8 questions" in told for _, told in ended)

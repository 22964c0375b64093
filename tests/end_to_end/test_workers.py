"""``heart work``: workers beside each other answer everything once, as one run alone does."""

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from forked_heart import start
from killable_study import TABLES, read
from served_study import asked_once, healthy, once_two_ask, serving, slowly, write_study

from hearteval.config import load_study
from hearteval.judgments.plan.run import plan_judgments
from hearteval.models.asking import WORKERS_PER_CALL
from hearteval.study import Quiet
from hearteval.study.grow import open_grown

pytestmark = pytest.mark.server
DEADLINE_SECONDS = 300
N_AT_ONCE = 2
AT_ONCE = f"concurrency = {N_AT_ONCE}\nprice = {{ input = 0, output = 0 }}"
CALLS = "requested, effective, finish_reason, usage, cost"
ALL = {**TABLES, "judgments": f"{TABLES['judgments']}, {CALLS}", "labels": "id, verdict, evidence"}


def plan(study: Path, store: str) -> None:
    """Have the systems answer, and plan what is to be judged, as a coordinator does."""
    start("complete", study, store, "--yes").end()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEART_STORE", store)
        with open_grown(load_study(study), Quiet()) as (session, stored):
            policy = session.settings.judging.plan
            plan_judgments(session.store, stored, policy, now=session.now)


def tables(store: str) -> list[list[tuple[Any, ...]]]:
    """Return every record without its time."""
    return read(store, *(f"SELECT {of} FROM {table} ORDER BY id" for table, of in ALL.items()))


def test_two_workers_answer_everything_once_as_a_run_alone_does(tmp_path: Path, place: str) -> None:
    with serving(once_two_ask(N_AT_ONCE, model="their-judge")) as server:
        study = write_study(tmp_path, server.url, regular=20, extra=AT_ONCE)
        plan(study, place)
        workers = [start("work", study, place, "--yes") for _ in range(2)]
        counts = [one.end()["answers"].get("judgments", {"n_added": 0}) for one in workers]

        assert asked_once(server)
        assert all(one["n_added"] for one in counts)
        run = start("run", study, place, "--yes").end()
        assert run["judgments"]["n_before"] == sum(one["n_added"] for one in counts) == 120
        assert run["judgments"]["n_added"] == 0
        start("run", study, str(tmp_path / "alone.db"), "--yes").end()

    assert tables(place) == tables(str(tmp_path / "alone.db"))


SRUN = """#!/bin/sh
# Runs a command once a node, as many as are asked for or the job has; hands TERM on.
n=$SLURM_JOB_NUM_NODES
while case $1 in --nodes=*) n=${1#--nodes=} ;; --*) ;; *) false ;; esac do shift; done
trap 'kill -TERM $all 2>/dev/null' TERM
for _ in $(seq "$n"); do "$@" & all="$all $!"; done
status=0
for one in $all; do wait "$one" || status=$?; done
exit $status
"""


@pytest.mark.postgres
def test_the_script_for_slurm_has_workers_beside_the_run_that_reports(
    tmp_path: Path, postgres_url: str
) -> None:
    script = Path(__file__).resolve().parents[2] / "deploy" / "slurm.sbatch"
    srun = tmp_path / "bin" / "srun"
    srun.parent.mkdir()
    srun.write_text(SRUN)
    srun.chmod(0o700)
    heart = srun.with_name("heart")
    heart.write_text(
        f'#!/bin/sh\necho $1 >>{tmp_path}/verbs\nexec {sys.executable} -m hearteval "$@"'
    )
    heart.chmod(0o700)
    env = {**os.environ, "PATH": f"{srun.parent}{os.pathsep}{os.environ['PATH']}"}
    env |= {"SLURM_JOB_NUM_NODES": "2", "HEART_STORE": postgres_url}
    with serving(healthy()) as server:
        study = write_study(tmp_path, server.url, regular=4, extra=AT_ONCE)
        words = ["bash", str(script), str(study)]
        done = subprocess.run(
            words, env=env, capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False
        )
        assert done.returncode == 0, done.stderr
        assert asked_once(server)
    assert sorted((tmp_path / "verbs").read_text().split()) == ["run", "work", "work"]
    assert "report" in done.stdout
    env["HEART_STORE"] = "shared.db"
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, "address of PostgreSQL" in done.stderr) == (2, True)


def test_questions_of_a_killed_worker_are_asked_by_the_next_one(tmp_path: Path) -> None:
    store = str(tmp_path / "killed.db")
    with serving(slowly()) as server:
        study = write_study(tmp_path, server.url, regular=8, extra=AT_ONCE)
        plan(study, store)
        killed = start("work", study, store, "--yes")
        n_before = len(server.bodies)
        while len(server.bodies) < n_before + 10:
            assert killed.code is None, killed.wait()
            threading.Event().wait(0.01)
        killed.kill()
        start("work", study, store, "--yes").end()
        run = start("run", study, store, "--yes").end()

    assert run["judgments"]["n_before"] == run["judgments"]["n_wanted"] == 48
    n_answered = 8 + 1 + 48  # replies of the model, a probe, judgments
    assert n_answered <= len(server.bodies) <= n_answered + WORKERS_PER_CALL * N_AT_ONCE


def test_worker_that_waits_answers_what_is_planned_meanwhile(tmp_path: Path) -> None:
    store = str(tmp_path / "waited.db")
    with serving(healthy()) as server:
        study = write_study(tmp_path, server.url, regular=4, extra=AT_ONCE)
        start("complete", study, store, "--yes").end()
        waiting = start("work", study, store, "--yes", "--wait", "300", "--max-questions", "24")
        plan(study, store)
        done = waiting.end()

    assert done["answers"]["judgments"]["n_added"] == 24


def test_a_run_without_workers_asks_nothing_itself_and_reports(tmp_path: Path) -> None:
    store = str(tmp_path / "shared.db")
    with serving(healthy()) as server:
        study = write_study(tmp_path, server.url, extra=AT_ONCE)
        run = start("run", study, store, "--yes", "--workers", "0")
        n_wanted = {"replies": 3, "judgments": 18}
        most = str(sum(n_wanted.values()))
        worked = start(
            "work", study, store, "--yes", "--wait", "300", "--max-questions", most
        ).end()
        body = run.end()
        assert asked_once(server)

    assert any("`heart work" in log.read_text() for log in tmp_path.rglob("*.log"))
    assert {name: worked["answers"][name]["n_added"] for name in n_wanted} == n_wanted
    assert body["judgments"]["n_missing"] == 0
    assert len(body["leaderboard"]) == 3

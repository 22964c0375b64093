"""``kill -9`` in the middle of a run, then the same command again: nothing lost, nothing twice."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from forked_heart import Running, heart, start
from killable_study import content, count, finish_here, write_study
from sqlalchemy import Connection, Engine, event

from hearteval.domain import Item, Turn
from hearteval.items.files import format_items

pytestmark = pytest.mark.server

N_ITEMS = 30
N_RANDOM_KILLS = int(os.environ.get("HEART_TEST_KILLS", "2"))
"""The whole measurement is 50: ``make soak``."""
PLACES = ("at the bakery", "in my choir", "on the night bus", "at evening school", "in our flat")
WORRIES = ("the rent", "my exam", "a quarrel with my sister", "my new boss", "moving away")


def invented_items() -> list[Item]:
    return [
        Item(
            source="test",
            dialogue_id=f"dialogue-{number}",
            turn_index=2,
            situation="",
            context=(
                Turn(role="seeker", text=f"hi, it is about {WORRIES[number % 5]}"),
                Turn(role="supporter", text="Hello. What happened?"),
                Turn(
                    role="seeker",
                    text=f"I keep thinking about {WORRIES[number % 5]} {PLACES[number // 5 % 5]}, "
                    f"{number} times a day, and I feel worn out. What should I do?",
                ),
            ),
            subset="regular",
            emotion="anxiety",
            problem="job crisis",
            licence="Apache-2.0",
            consent_basis="invented",
            reference=f"Thinking about {WORRIES[number % 5]} {number} times a day is a lot. "
            "What is the worst moment?",
        )
        for number in range(N_ITEMS)
    ]


def prepare(folder: Path) -> Path:
    study = write_study(folder, source="long.jsonl")
    study.write_text(study.read_text(encoding="utf-8").replace("regular = 16\n", ""))
    (folder / "long.jsonl").write_text(format_items(invented_items()), encoding="utf-8")
    return study


def run_killed(table: str, at_least: str, study: str) -> None:
    """Be killed in the transaction after that by which a table has so many rows."""
    are_there = False

    def before_commit(connection: Connection) -> None:
        nonlocal are_there
        if are_there:
            os.kill(os.getpid(), signal.SIGKILL)
        if connection.dialect.has_table(connection, table):
            count = f"SELECT count(*) FROM {table}"
            are_there = connection.exec_driver_sql(count).scalar_one() >= int(at_least)

    event.listen(Engine, "commit", before_commit)
    heart("run", study, "--json")


def kill_when(study: Path, *, table: str, at_least: int) -> None:
    ended = Running(run_killed, table, str(at_least), str(study))
    _, err = ended.wait()
    assert ended.code == -signal.SIGKILL, err


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    study = prepare(tmp_path_factory.mktemp("undisturbed") / "study")
    finish_here(study)
    return study


def test_killed_at_several_moments_ends_like_an_undisturbed_run(
    undisturbed: Path, tmp_path: Path
) -> None:
    study = prepare(tmp_path / "study")
    database = study.parent / "long.db"
    kill_when(study, table="completions", at_least=1)
    kill_when(study, table="judgments", at_least=1)
    n_once = count(database, "judgments")
    kill_when(study, table="judgments", at_least=n_once + 200)
    n_twice = count(database, "judgments")
    assert n_twice >= n_once + 200
    done = start("run", study).end()
    assert done["judgments"]["n_before"] == n_twice
    assert done["judgments"]["n_added"] == done["judgments"]["n_wanted"] - n_twice > 0
    assert content(study) == content(undisturbed)


def kill_after(study: Path, seconds: float) -> bool:
    """Start a run and kill it after a while; tell whether it was still running."""
    process = start("run", study)
    try:
        _, err = process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        return True
    assert process.code == 0, err
    return False


def test_kills_at_random_moments_lose_nothing_and_do_nothing_twice(tmp_path: Path) -> None:
    reference = write_study(tmp_path / "undisturbed", regular=6, adversarial=3)
    started = time.monotonic()
    start("run", reference).end()
    longest = 1.2 * (time.monotonic() - started)
    expected = content(reference)
    chance = random.Random(2026)
    n_kills = n_studies = 0
    while n_kills < N_RANDOM_KILLS:
        study = write_study(tmp_path / f"study-{n_studies}", regular=6, adversarial=3)
        is_killed = True
        while is_killed and n_kills < N_RANDOM_KILLS:
            is_killed = kill_after(study, chance.uniform(0.1, longest))
            n_kills += is_killed
        if is_killed:
            start("run", study).end()
        n_studies += 1
        assert content(study) == expected

"""``kill -9`` in the middle of a run, then the same command again: nothing lost, nothing twice."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from heartbench.domain import Item, Turn
from heartbench.items.files import format_items

pytestmark = pytest.mark.server

N_ITEMS = 60
DEADLINE_SECONDS = 120
STUDY = """
[study]
name = "long"
seed = 11
[items]
source = "long.jsonl"
[[system]]
preset = "original"
[[system]]
preset = "shuffled"
[[system]]
preset = "retrieval"
[[system]]
preset = "reflective"
[[system]]
preset = "generic"
[[system]]
preset = "advice"
[judging]
judges = ["cue"]
"""
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
    folder.mkdir()
    (folder / "long.jsonl").write_text(format_items(invented_items()), encoding="utf-8")
    (folder / "long.toml").write_text(STUDY, encoding="utf-8")
    return folder / "long.toml"


def start(study: Path) -> subprocess.Popen[str]:
    environment = {k: v for k, v in os.environ.items() if k != "HEART_STORE"}
    return subprocess.Popen(
        [sys.executable, "-m", "heartbench", "run", str(study), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def finish(study: Path) -> Any:
    process = start(study)
    out, err = process.communicate(timeout=DEADLINE_SECONDS)
    assert process.returncode == 0, err
    return json.loads(out)


def count(database: Path, table: str) -> int:
    try:
        connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=10)
    except sqlite3.OperationalError:
        return 0
    try:
        (n,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()
    return int(n)


def kill_when(study: Path, *, table: str, at_least: int) -> None:
    process = start(study)
    database = study.parent / "long.db"
    deadline = time.monotonic() + DEADLINE_SECONDS
    while process.poll() is None and count(database, table) < at_least:
        assert time.monotonic() < deadline, f"{table} never reached {at_least}"
    assert process.poll() is None, "the run ended before it could be killed"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL


def content(study: Path) -> tuple[dict[str, list[Any]], Any]:
    """What a run leaves: every row that is no time, and the results without theirs."""
    connection = sqlite3.connect(study.parent / "long.db")
    tables = {
        "completions": "id, item_id, system_id, text",
        "attempts": "id, reason",
        "pairs": "id",
        "assignments": "id, first_completion_id",
        "judgments": "id, assignment_id, choice, strength, axes, raw",
        "studies": "id, version, items_hash, settings_hash",
    }
    rows = {
        table: connection.execute(f"SELECT {columns} FROM {table} ORDER BY id").fetchall()
        for table, columns in tables.items()
    }
    connection.close()
    results = json.loads((study.parent / "long.results.json").read_text(encoding="utf-8"))
    del results["provenance"]["created_at"]
    return rows, results


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    study = prepare(tmp_path_factory.mktemp("undisturbed") / "study")
    finish(study)
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
    done = finish(study)
    assert done["judgments"]["n_before"] == n_twice
    assert done["judgments"]["n_added"] == done["judgments"]["n_wanted"] - n_twice > 0
    assert content(study) == content(undisturbed)

"""``kill -9`` of a server while people work: what was acknowledged is stored, and once."""

import os
import random
import time
from collections import Counter
from pathlib import Path

import pytest
from heart_command import Heart
from killable_study import read
from served_pages import ANSWER_SECONDS, Load, Person, Served, prepare, serving

from hearteval.domain import Completion, Judgment
from hearteval.store.sql import SqlStore

pytestmark = pytest.mark.server

N_KILLS = 2 * int(os.environ.get("HEART_TEST_KILLS", "1"))
"""The whole measurement is 100, and 20 on PostgreSQL: ``make soak``."""
N_JUDGES = 5
TASKS = (
    "SELECT t.n_places, t.n_taken, count(d.place),"
    " sum(CASE WHEN d.state = 'done' THEN 1 ELSE 0 END)"
    " FROM tasks t LEFT JOIN dealings d ON d.task_id = t.id GROUP BY t.id, t.n_places, t.n_taken"
)
DONE = "SELECT record_id FROM dealings WHERE state = 'done'"


def require_all_there(store: str, acknowledged: list[str]) -> None:
    opened = SqlStore.open(store)
    found = Counter(one.rationale for one in opened.iter(Judgment) if one.prompt_hash is None)
    found += Counter(one.text for one in opened.iter(Completion) if one.writer_id)
    ids = {one.id for kind in (Judgment, Completion) for one in opened.iter(kind)}
    check = opened.check(progress=lambda _kind, _n: None)
    opened.close()
    assert [words for words in acknowledged if found[words] != 1] == []
    assert [words for words, n in found.items() if words and n > 1] == []
    assert check.faults == ()
    rows, done = read(store, TASKS, DONE)
    assert all(
        n_done <= n_placed == n_taken <= n_places for n_places, n_taken, n_placed, n_done in rows
    )
    assert {bytes(row[0]).hex() for row in done} <= ids


def kill_many_times(folder: Path, *, store: str, n_kills: int) -> list[str]:
    prepared = prepare(folder, store=store)
    chance = random.Random(2026)
    acknowledged: list[str] = []
    for number in range(n_kills):
        served, load = Served(prepared), Load()
        for judge in range(N_JUDGES):
            person = Person(served.address).join(prepared.links["judge"])
            load.begin(person, "judge", f"J{number}-{judge}")
        writer = Person(served.address).join(prepared.links["write"])
        load.begin(writer, "write", f"W{number}")
        assert load.has_begun.wait(ANSWER_SECONDS)
        time.sleep(chance.uniform(0.0, 1.3))
        served.kill()
        load.wait()
        acknowledged += load.acknowledged
        assert set(load.codes) <= {200, 303}
    # And it serves as before.
    with serving(prepared) as served:
        person = Person(served.address).join(prepared.links["judge"])
        assert person.take("judge").code == 200
        assert person.send("judge", "The last one.").code == 303
        person.hang_up()
    require_all_there(prepared.store, [*acknowledged, "The last one."])
    return acknowledged


def test_what_was_acknowledged_is_stored_in_a_file(tmp_path: Path, heart: Heart) -> None:
    acknowledged = kill_many_times(tmp_path / "study", store="", n_kills=N_KILLS)
    assert len(acknowledged) >= N_KILLS
    verified = heart("store", "verify", tmp_path / "study" / "people.toml")
    assert verified.code == 0, verified.out


@pytest.mark.postgres
def test_what_was_acknowledged_is_stored_in_postgresql(tmp_path: Path, postgres_url: str) -> None:
    n_kills = max(1, N_KILLS // 5)
    acknowledged = kill_many_times(tmp_path / "study", store=postgres_url, n_kills=n_kills)
    assert len(acknowledged) >= n_kills

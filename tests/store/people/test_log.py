"""`SqlStore.check` finds what was done to the log, and a text that is gone without a word in it."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from people_site import Visitor, World, people_world
from sqlalchemy import update

from hearteval.domain import WITHDRAWN, Completion
from hearteval.store.integrity.seal import content_of, rebook
from hearteval.store.rows import TABLES, to_row

EDITS = {
    "changed": "UPDATE events SET about = replace(about, 'P-', 'Q-') WHERE number = 5",
    "changed in time": "UPDATE events SET at = at + 1 WHERE number = 5",
    "renamed": "UPDATE events SET what = 'skipped' WHERE what = 'answered'",
    "removed": "DELETE FROM events WHERE number = 5",
    "removed, and the rest numbered anew": (
        "DELETE FROM events WHERE number = 5; UPDATE events SET number = number - 1"
        " WHERE number > 5"
    ),
    "the first removed": "DELETE FROM events WHERE number = 1",
    "inserted at the end": (
        "INSERT INTO events SELECT number + 1, at, 'answered', about, hash FROM events"
        " ORDER BY number DESC LIMIT 1"
    ),
    "inserted in between": (
        "UPDATE events SET number = -number WHERE number > 5;"
        "UPDATE events SET number = 1 - number WHERE number < 0;"
        "INSERT INTO events SELECT 6, at, what, about, hash FROM events WHERE number = 5"
    ),
    "two swapped": (
        "UPDATE events SET number = 1000 WHERE number = 5;"
        "UPDATE events SET number = 5 WHERE number = 6;"
        "UPDATE events SET number = 6 WHERE number = 1000"
    ),
    "its tail cut": "DELETE FROM events WHERE number > 5",
    "its tail cut, and its end forgotten": (
        "DELETE FROM events WHERE number > 5; DELETE FROM totals WHERE kind = 'event'"
    ),
    "all removed": "DELETE FROM events",
    "all removed, and its end forgotten": (
        "DELETE FROM events; DELETE FROM totals WHERE kind = 'event'"
    ),
}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with people_world(tmp_path) as made:
        writer, judge = made.come("write"), made.come("judge")
        writer.write("A sentence of mine.")
        for _ in range(3):
            judge.judge()
        yield made


def faults(world: World) -> Sequence[str]:
    return [one.words for one in world.store.check(progress=lambda _kind, _n: None).faults]


def test_a_log_as_it_was_written_is_found_so(world: World) -> None:
    assert faults(world) == []


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_a_log_that_was_changed_is_found_so(world: World, edit: str) -> None:
    with closing(sqlite3.connect(world.desk.session.settings.store)) as connection:
        connection.executescript(edit)
    assert faults(world)


def test_a_log_whose_tail_was_cut_with_all_that_tells_its_length_is_found_so(
    world: World,
) -> None:
    with closing(sqlite3.connect(world.desk.session.settings.store)) as connection, connection:
        connection.execute("DELETE FROM events WHERE number > 5")
        ((last,),) = connection.execute("SELECT hash FROM events WHERE number = 5")
        end = (5, bytes.fromhex(last[:32]))
        connection.execute("UPDATE totals SET n = ?, digest = ? WHERE kind = 'event'", end)
    assert faults(world) == ["the log and the answers differ in 4 of them"]


def written(world: World) -> Completion:
    (found,) = (c for c in world.store.iter(Completion, world.desk.study) if c.writer_id)
    assert isinstance(found, Completion)
    return found


def test_a_text_made_a_tombstone_without_an_event_is_found(world: World) -> None:
    # With its hash and the sums made to fit: only the log can tell.
    before = written(world)
    after = replace(before, text=WITHDRAWN)
    table = TABLES[Completion]
    row = {**to_row(after), "content": content_of(after)}
    with world.store._engine.begin() as connection:
        connection.execute(update(table).where(table.c.id == before.id).values(**row))
        rebook(connection, [before], [after])
    assert faults(world) == ["its text is gone, and nobody has withdrawn it"]


def test_a_withdrawal_leaves_a_store_as_written(world: World) -> None:
    writer = Visitor(world, world.client(), world.invite("write", "judge")).join(
        pid="worker-4711-q"
    )
    writer.write("Another sentence of mine.")
    writer.judge(reason="A reason of mine.")
    writer.client.post("/withdraw", data={"confirm": "yes"})
    assert faults(world) == []
    folder = world.desk.session.settings.file.parent
    kept = b"".join(path.read_bytes() for path in folder.iterdir())
    assert b"sentence of mine." in kept
    for words in (b"Another sentence", b"A reason of mine", b"worker-4711-q"):
        assert words not in kept

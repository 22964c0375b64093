"""Claims: two processes on one store never have the same question, and none is lost."""

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hearteval.store.panel import LEASE, Panel, is_dead, name_process
from hearteval.store.sql import SqlStore

KEYS = [f"{n:032x}" for n in range(1, 9)]
ELSEWHERE = "another-machine 77 1"
"""An owner of whom nobody here knows whether it is alive."""


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param("postgres", marks=[pytest.mark.postgres]),
    ]
)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlStore]:
    is_file = request.param == "sqlite"
    place = str(tmp_path / "s.db") if is_file else request.getfixturevalue("postgres_url")
    opened = SqlStore.open(place)
    yield opened
    opened.close()


def present(store: SqlStore, clock: Clock, *, owner: str = "") -> Panel:
    """A process that has looked at the store."""
    made = Panel(store, now=clock)
    made.owner = owner or made.owner
    made.look()
    return made


def test_question_is_claimed_by_one_process_only(store: SqlStore) -> None:
    clock = Clock()
    one, other = present(store, clock), present(store, clock)

    assert one.claim(KEYS[:5]) == set(KEYS[:5])
    assert other.claim(KEYS) == set(KEYS[5:])
    assert one.claim(KEYS) == set(KEYS[:5])


def test_what_was_dealt_with_is_not_claimed_before_the_store_is_read_again(
    store: SqlStore,
) -> None:
    clock = Clock()
    one, other = present(store, clock), present(store, clock)
    one.claim(KEYS)
    one.finish(KEYS[0])
    one.release()

    assert other.claim(KEYS) == frozenset()
    other.look()
    assert other.claim(KEYS) == {KEYS[0]}


def test_that_holds_after_the_process_that_dealt_with_it_has_left(store: SqlStore) -> None:
    clock = Clock()
    one, other = present(store, clock), present(store, clock)
    one.claim(KEYS)
    one.finish(KEYS[0])
    one.leave()

    assert other.claim(KEYS) == frozenset()
    other.look()
    assert other.claim(KEYS) == set(KEYS)


def test_claims_that_are_not_renewed_end(store: SqlStore) -> None:
    clock = Clock()
    gone, kept = present(store, clock, owner=ELSEWHERE), present(store, clock)
    gone.claim(KEYS[:4])
    kept.claim(KEYS[4:])
    clock.time += LEASE / 2
    kept.renew()
    clock.time += LEASE / 2 + timedelta(seconds=1)

    late = present(store, clock)

    assert late.claim(KEYS) == set(KEYS[:4])


def test_run_alone_on_its_store_waits_for_no_killed_one(store: SqlStore) -> None:
    ended = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = name_process(ended.pid)
    present(store, Clock(), owner=f"{owner} x").claim(KEYS)
    assert present(store, Clock()).claim(KEYS) == frozenset()
    ended.communicate()

    assert present(store, Clock()).claim(KEYS) == set(KEYS)


def test_process_of_another_machine_is_not_taken_for_dead() -> None:
    assert not is_dead(ELSEWHERE)
    assert not is_dead(f"{name_process(os.getpid())} x")


def test_run_that_ends_alone_leaves_no_claims(store: SqlStore) -> None:
    one = present(store, Clock())
    one.claim(KEYS)
    one.leave()

    assert present(store, Clock()).claim(KEYS) == set(KEYS)


def test_money_of_others_is_noted_where_they_are_there(store: SqlStore) -> None:
    clock, noted = Clock(), list[str]()
    one = present(store, clock)
    one.when_shared = lambda: noted.append("shared")
    one.claim(KEYS[:1])
    assert noted == []
    present(store, clock)

    one.claim(KEYS[1:2])

    assert noted == ["shared"]

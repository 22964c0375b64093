"""Claims: two processes on one store never have the same question, and none is lost."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from hearteval.store.sharing import panel
from hearteval.store.sharing.panel import LEASE, Panel, is_dead, name_process
from hearteval.store.sql import SqlStore

DEADLINE_SECONDS = 60
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


def claim(panel: Panel, keys: Sequence[str]) -> frozenset[str]:
    return asyncio.run(panel.claim(keys))


@asynccontextmanager
async def another_writing(store: SqlStore) -> AsyncIterator[None]:
    """Hold the lock of all writers until the end of the block, if that is reached in time."""
    begun, ended = threading.Event(), threading.Event()

    def write(_connection: Connection) -> None:
        begun.set()
        assert ended.wait(DEADLINE_SECONDS), "the event loop waited for the lock"

    writing = asyncio.create_task(asyncio.to_thread(store._write, write))
    await asyncio.to_thread(begun.wait)
    yield
    ended.set()
    await writing


def test_claim_that_waits_for_another_writer_holds_up_nothing(store: SqlStore) -> None:
    async def main() -> frozenset[str]:
        one = present(store, Clock())
        async with another_writing(store):
            claiming = asyncio.create_task(one.claim(KEYS))
            await asyncio.sleep(0)
            assert not claiming.done()
        return await claiming

    assert asyncio.run(main()) == set(KEYS)


def test_renewal_that_waits_for_another_writer_holds_up_nothing(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panel, "LEASE", timedelta(0))
    renewed = threading.Event()

    class Renewing(Panel):
        def renew(self) -> None:
            super().renew()
            renewed.set()

    async def main() -> None:
        one = Renewing(store, now=Clock())
        async with another_writing(store):
            renewing = asyncio.create_task(one.keep_renewing())
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert not renewed.is_set()
        assert await asyncio.to_thread(renewed.wait, DEADLINE_SECONDS)
        renewing.cancel()

    asyncio.run(main())


def test_question_is_claimed_by_one_process_only(store: SqlStore) -> None:
    clock = Clock()
    one, other = present(store, clock), present(store, clock)

    assert claim(one, KEYS[:5]) == set(KEYS[:5])
    assert claim(other, KEYS) == set(KEYS[5:])
    assert claim(one, KEYS) == set(KEYS[:5])


def test_what_was_dealt_with_is_not_claimed_before_the_store_is_read_again(
    store: SqlStore,
) -> None:
    clock = Clock()
    one, other = present(store, clock), present(store, clock)
    claim(one, KEYS)
    one.finish(KEYS[0])
    one.release()

    assert claim(other, KEYS) == frozenset()
    other.look()
    assert claim(other, KEYS) == {KEYS[0]}


def test_that_holds_after_the_process_that_dealt_with_it_has_left(store: SqlStore) -> None:
    clock = Clock()
    one, other = present(store, clock), present(store, clock)
    claim(one, KEYS)
    one.finish(KEYS[0])
    one.leave()

    assert claim(other, KEYS) == frozenset()
    other.look()
    assert claim(other, KEYS) == set(KEYS)


def test_who_waits_for_many_questions_asks_about_one_at_a_time(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(panel, "POLL_SECONDS", 0.0)
    clock, asked = Clock(), list[int]()
    one, other = present(store, clock), present(store, clock)
    claim(one, KEYS)
    claimed = store.claimed

    def noting(keys: Sequence[str], **of: Any) -> str | None:
        asked.append(len(keys))
        if len(asked) % 4 == 0:
            one.finish(KEYS[len(asked) // 4 - 1])
            one.release()
        return claimed(keys, **of)

    monkeypatch.setattr(store, "claimed", noting)
    asyncio.run(asyncio.wait_for(other.wait_until_free(KEYS), DEADLINE_SECONDS))

    assert claimed(KEYS, owner=other.owner, is_gone=other.is_gone) is None
    assert asked[0] == asked[-1] == len(KEYS)
    assert asked.count(len(KEYS)) <= len(KEYS) + 1 < asked.count(1)


def test_claims_that_are_not_renewed_end(store: SqlStore) -> None:
    clock = Clock()
    gone, kept = present(store, clock, owner=ELSEWHERE), present(store, clock)
    claim(gone, KEYS[:4])
    claim(kept, KEYS[4:])
    clock.time += LEASE / 2
    kept.renew()
    clock.time += LEASE / 2 + timedelta(seconds=1)

    late = present(store, clock)

    assert claim(late, KEYS) == set(KEYS[:4])


def test_run_alone_on_its_store_waits_for_no_killed_one(store: SqlStore) -> None:
    ended = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = name_process(ended.pid)
    claim(present(store, Clock(), owner=f"{owner} x"), KEYS)
    assert claim(present(store, Clock()), KEYS) == frozenset()
    ended.communicate()

    assert claim(present(store, Clock()), KEYS) == set(KEYS)


def test_process_of_another_machine_is_not_taken_for_dead() -> None:
    assert not is_dead(ELSEWHERE)
    assert not is_dead(f"{name_process(os.getpid())} x")


def test_run_that_ends_alone_leaves_no_claims(store: SqlStore) -> None:
    one = present(store, Clock())
    claim(one, KEYS)
    one.leave()

    assert claim(present(store, Clock()), KEYS) == set(KEYS)


def test_money_of_others_is_noted_where_they_are_there(store: SqlStore) -> None:
    clock, noted = Clock(), list[str]()
    one = present(store, clock)
    one.when_shared = lambda: noted.append("shared")
    claim(one, KEYS[:1])
    assert noted == []
    present(store, clock)

    claim(one, KEYS[1:2])

    assert noted == ["shared"]


class Calls:
    """Calls of a model that want to go out: a line of the gate's, by structure."""

    is_idle = False

    def __init__(self) -> None:
        self.shares: list[float] = []

    def allow(self, share: float) -> None:
        self.shares.append(share)


def divide(store: SqlStore, clock: Clock, owner: str) -> float:
    now = present(store, clock, owner=owner)
    lines = KEYS[:1]
    return store.divide(lines, owner=owner, until=now.until(), is_gone=now.is_gone)[KEYS[0]]


def test_what_an_endpoint_allows_is_never_given_twice(store: SqlStore) -> None:
    clock = Clock()
    shares = [divide(store, clock, f"m {k} 1") for k in (1, 2, 1, 2, 3, 1, 3)]
    assert shares == pytest.approx([1, 0, 1 / 2, 1 / 2, 0, 1 / 3, 1 / 6])


def test_who_wants_nothing_more_or_is_gone_leaves_all_to_the_others(store: SqlStore) -> None:
    clock = Clock()
    one, other = present(store, clock, owner="m 1 1"), "m 2 1"
    divide(store, clock, one.owner)
    one.leave()
    assert divide(store, clock, other) == 1.0
    clock.time += LEASE + timedelta(seconds=1)
    assert divide(store, clock, "m 3 1") == 1.0


def test_call_that_waits_for_a_share_gets_it_at_once(store: SqlStore) -> None:
    async def main() -> list[float]:
        one, calls = Panel(store), Calls()
        one.share({KEYS[0]: calls})
        renewing = asyncio.create_task(one.keep_renewing())
        one.hurry()
        while calls.shares != [0.0, 1.0]:
            await asyncio.sleep(0.01)
        renewing.cancel()
        return calls.shares

    assert asyncio.run(asyncio.wait_for(main(), DEADLINE_SECONDS)) == [0.0, 1.0]


def test_leases_go_by_the_clock_of_the_database(store: SqlStore) -> None:
    one = Panel(store)
    before = store.now()

    until = one.until()

    assert before <= until - LEASE <= store.now()


def test_process_that_is_seen_alive_is_waited_for_longer_than_a_machine_away(
    store: SqlStore,
) -> None:
    clock = Clock()
    here, away = present(store, clock), present(store, clock, owner=ELSEWHERE)
    until = here.until()
    clock.time += LEASE + timedelta(seconds=1)

    assert not here.is_gone(here.owner, until)
    assert here.is_gone(away.owner, until)

"""Commits are grouped, and nothing counts as stored before its commit."""

import asyncio
import gc
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

import pytest
from small_world import make_world
from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from hearteval.domain import Completion, System
from hearteval.errors import StoreError
from hearteval.store.records import Record, SetAside, StoredReply
from hearteval.store.sharing import grouped
from hearteval.store.sharing.grouped import GroupedWriter
from hearteval.store.sql import SqlStore
from hearteval.study.asking.models import keep_lost_cost

T = TypeVar("T")
NOW = datetime(2026, 1, 1, tzinfo=UTC)


class CountingStore(SqlStore):
    """A store in memory that counts its transactions."""

    n_added = 0

    def _write(self, work: Callable[[Connection], T]) -> T:
        self.n_added += 1
        return super()._write(work)


def counting_store() -> CountingStore:
    store = CountingStore.in_memory()
    assert isinstance(store, CountingStore)
    store.n_added = 0
    return store


def system(name: str) -> System:
    return System(name=name, kind="model", family="gpt")


def reply(number: int) -> StoredReply:
    return StoredReply(id=f"{number:032x}", reply={"text": "hi"}, cost=0.25, created_at=NOW)


def test_what_arrives_together_is_committed_together() -> None:
    store = counting_store()
    writer = GroupedWriter(store, wait_seconds=0.01)

    async def add_many() -> None:
        await asyncio.gather(*(writer.add([system(f"s{i}")]) for i in range(40)))

    asyncio.run(add_many())

    assert store.n_added == 1
    assert len(list(store.iter(System))) == 40


def test_replies_and_records_of_a_group_are_one_transaction() -> None:
    store = counting_store()
    writer = GroupedWriter(store, wait_seconds=0.01)

    async def keep_both() -> None:
        await asyncio.gather(writer.keep([reply(1)]), writer.add([system("one")]))

    asyncio.run(keep_both())

    assert store.n_added == 1
    assert (store.spent_usd(), len(list(store.iter(System)))) == (0.25, 1)


def test_lost_calls_of_one_moment_are_all_booked() -> None:
    store = counting_store()
    writer = GroupedWriter(store, wait_seconds=0.01)

    async def keep_both() -> None:
        await asyncio.gather(*(keep_lost_cost(writer, lambda: NOW, 0.5) for _ in range(3)))

    asyncio.run(keep_both())

    assert store.spent_usd() == 1.5


def test_what_arrives_while_a_group_is_written_is_the_next_group() -> None:
    store = counting_store()
    writer = GroupedWriter(store, wait_seconds=0)
    may_end = threading.Event()
    keep_group = store.keep_group

    def keep_slowly(*group: Any, **settings: Any) -> Any:
        may_end.wait()
        return keep_group(*group, **settings)

    async def add_one_after_the_other() -> None:
        added = [asyncio.create_task(writer.add([system("first")]))]
        for number in range(5):
            await asyncio.sleep(0.001)
            added.append(asyncio.create_task(writer.add([system(f"s{number}")])))
        may_end.set()
        await asyncio.gather(*added)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "keep_group", keep_slowly)
        asyncio.run(add_one_after_the_other())

    assert store.n_added == 2


def test_full_group_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouped, "MAX_GROUP", 10)
    store = counting_store()
    writer = GroupedWriter(store, wait_seconds=3600)

    async def add_many() -> None:
        await asyncio.gather(*(writer.add([system(f"s{i}")]) for i in range(20)))

    asyncio.run(add_many())

    assert store.n_added == 2


def test_what_was_added_is_stored_when_add_returns() -> None:
    store = counting_store()

    async def add() -> int:
        await GroupedWriter(store, wait_seconds=0.001).add([system("one")])
        return len(list(store.iter(System)))

    assert asyncio.run(add()) == 1


def test_replies_are_kept_and_counted() -> None:
    store = counting_store()
    writer = GroupedWriter(store, wait_seconds=0.001)

    async def keep() -> None:
        await asyncio.gather(*(writer.keep([reply(i)]) for i in range(4)))

    asyncio.run(keep())

    assert store.spent_usd() == 1.0
    assert store.find_reply(f"{3:032x}") == reply(3)


def test_record_at_fault_does_not_take_the_others_with_it() -> None:
    store = counting_store()
    writer = GroupedWriter(store, wait_seconds=0.001)
    other = Completion(item_id="0" * 32, system_id="0" * 32, text="Of no item.", created_at=NOW)

    async def add() -> list[BaseException | None]:
        wanted = [writer.add([other]), writer.add([system("fine")])]
        return await asyncio.gather(*wanted, return_exceptions=True)

    wrong, right = asyncio.run(add())

    assert isinstance(wrong, StoreError)
    assert right is None
    assert {found.name for found in store.iter(System)} == {"fine"}


def test_of_two_answers_to_one_question_the_first_stays_and_nobody_complains() -> None:
    world = make_world()
    store = counting_store()
    store.add(world.records)
    first = world.completions[0]
    second = replace(first, text="Another text.", id="")

    asyncio.run(GroupedWriter(store, wait_seconds=0.001).add([second]))

    assert {c.text for c in store.iter(Completion)} == {c.text for c in world.completions}


def test_task_that_is_cancelled_while_it_waits_is_still_stored() -> None:
    store = counting_store()
    writer = GroupedWriter(store, wait_seconds=0.02)

    async def add() -> None:
        task = asyncio.create_task(writer.add([system("paid for")]))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await writer.add([system("later")])

    asyncio.run(add())

    assert {found.name for found in store.iter(System)} == {"paid for", "later"}


def add_two(writer: GroupedWriter) -> list[BaseException | None]:
    """Add two records that arrive together; what the loop has to complain of is a failure."""

    async def add() -> list[BaseException | None]:
        complaints: list[object] = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: complaints.append(context))
        wanted = [writer.add([system("a")]), writer.add([system("b")])]
        outcomes = await asyncio.gather(*wanted, return_exceptions=True)
        assert complaints == []
        return outcomes

    return asyncio.run(add())


def failing_store(monkeypatch: pytest.MonkeyPatch, error: Exception) -> tuple[SqlStore, list[int]]:
    """A store that refuses whatever is added, and the number of records it was given each time."""
    store, given = counting_store(), list[int]()

    def keep_group(records: Sequence[Record], *_rest: object, **_settings: object) -> None:
        given.append(len(records))
        raise error

    monkeypatch.setattr(store, "keep_group", keep_group)
    return store, given


def away() -> StoreError:
    error = StoreError("store x cannot be used: the server is gone")
    error.__cause__ = OperationalError("INSERT", None, Exception("gone"))
    return error


@pytest.mark.parametrize("error", [OSError("disk"), away()])
def test_fault_of_the_store_reaches_everyone_who_waits_and_is_met_once(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    store, given = failing_store(monkeypatch, error)

    outcomes = add_two(GroupedWriter(store, wait_seconds=0.001))

    assert outcomes == [error, error]
    assert given == [2]


def test_fault_nobody_foresaw_takes_no_other_record_with_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, given = failing_store(monkeypatch, UnicodeError("half a character"))

    outcomes = add_two(GroupedWriter(store, wait_seconds=0.001))

    assert [type(outcome) for outcome in outcomes] == [UnicodeError, UnicodeError]
    assert given == [2, 1, 1]


def test_fault_after_everyone_has_gone_is_no_complaint(monkeypatch: pytest.MonkeyPatch) -> None:
    store, _ = failing_store(monkeypatch, OSError("disk"))
    complaints: list[object] = []

    async def add() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: complaints.append(context))
        async with GroupedWriter(store, wait_seconds=3600) as writer:
            task = asyncio.create_task(writer.add([system("paid for")]))
            await asyncio.sleep(0)
            task.cancel()
        del writer, task
        gc.collect()

    asyncio.run(add())

    assert complaints == []


def test_what_still_waits_at_the_end_is_committed() -> None:
    store = counting_store()

    async def add() -> None:
        async with GroupedWriter(store, wait_seconds=3600) as writer:
            task = asyncio.create_task(writer.add([system("late")]))
            await asyncio.sleep(0)
        await task

    asyncio.run(add())

    assert [found.name for found in store.iter(System)] == ["late"]


def test_money_of_a_reply_that_could_not_be_kept_stays_set_aside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = counting_store()

    def refuse(*_wanted: object, **_settings: object) -> None:
        raise away()

    async def fail() -> None:
        async with GroupedWriter(store, wait_seconds=0.001) as writer:
            panel = writer.panel
            aside = SetAside(panel.owner, panel.until(), None, 0.5, 0.5, 0.5, 0.0, n_calls=1)
            store.keep_group((), (), aside, is_gone=panel.is_gone)
            monkeypatch.setattr(store, "keep_group", refuse)
            with pytest.raises(StoreError):
                await writer.keep([reply(1)])

    asyncio.run(fail())

    in_flight = store.look_around("another", is_gone=lambda _owner, _until: True).in_flight
    assert in_flight is not None
    assert in_flight.usd == 0.5

"""Processes that append to one PostgreSQL beside each other: nobody waits, nothing counts twice."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from functools import partial

import pytest
from sqlalchemy import Connection

from hearteval.domain import System
from hearteval.store.adding import add
from hearteval.store.records import SetAside, StoredReply
from hearteval.store.sql import SqlStore

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
N_WRITERS, N_GROUPS = 4, 12
pytestmark = pytest.mark.postgres


@pytest.fixture
def stores(postgres_url: str) -> Iterator[list[SqlStore]]:
    """One database, as several processes have it open."""
    opened = [SqlStore.open(postgres_url, patience_seconds=5) for _ in range(N_WRITERS)]
    yield opened
    for store in opened:
        store.close()


def system(number: int) -> System:
    return System(name=f"s{number}", kind="model", family="f")


def reply(number: int) -> StoredReply:
    said = {"text": f"words {number}"}
    return StoredReply(id=f"{number:032x}", reply=said, cost=0.25, created_at=NOW)


def test_a_writer_in_the_middle_of_its_transaction_holds_up_nobody(stores: list[SqlStore]) -> None:
    one, other, *_ = stores

    def append_meanwhile(connection: Connection) -> None:
        add(connection, [system(1)], first_stays=False)
        other.add([system(2)])
        other.keep_replies([reply(2)])
        assert other.claim(["0" * 32], owner="m 2 1", until=NOW, seen=0, is_gone=_never).keys

    one._write(append_meanwhile)

    assert [found.id for found in one.iter(System)] == sorted(system(k).id for k in (1, 2))
    assert one.check(progress=_ignore).faults == ()


def test_of_the_same_records_and_replies_by_many_each_is_there_once(stores: list[SqlStore]) -> None:
    def append(store: SqlStore) -> int:
        wish = SetAside(f"m {id(store)} 1", NOW, 1e6, 0.0, 0.0, 1.0, 0.0, 1)
        n_new = 0
        for group in range(N_GROUPS):
            ids = range(10 * group, 10 * group + 15)
            n_new += store.add([system(k) for k in ids], first_stays=True)
            store.keep_group((), [reply(k) for k in ids], wish, is_gone=_never)
        return n_new

    with ThreadPoolExecutor(N_WRITERS) as pool:
        n_new = sum(pool.map(append, stores))

    n = 10 * N_GROUPS + 5
    assert n_new == n == len(list(stores[0].iter(System)))
    assert stores[0].spent_usd() == pytest.approx(0.25 * len(stores[0].reply_ids()))
    assert stores[0].check(progress=_ignore).faults == ()


def test_as_much_is_counted_of_many_as_of_one(stores: list[SqlStore], postgres_url: str) -> None:
    parts = [range(k, 80, N_WRITERS) for k in range(N_WRITERS)]
    with ThreadPoolExecutor(N_WRITERS) as pool:
        work = [
            partial(store.add, [system(k) for k in part])
            for store, part in zip(stores, parts, strict=True)
        ]
        list(pool.map(lambda add_all: add_all(), work))

    with closing(SqlStore.in_memory()) as alone:
        alone.add([system(k) for k in range(80)])
        assert stores[0].data_hash() == alone.data_hash()


def test_what_changes_the_store_waits_for_who_appends(stores: list[SqlStore]) -> None:
    one, other, *_ = stores
    cost = StoredReply(id="f" * 32, reply={}, cost=1.0, created_at=NOW)
    with ThreadPoolExecutor(1) as pool:

        def append(connection: Connection) -> object:
            settling = pool.submit(other.settle, cost, is_gone=_never)
            with pytest.raises(TimeoutError):
                settling.result(timeout=0.2)
            return settling

        assert one._write(append).result() is None  # type: ignore[attr-defined]


def _never(_owner: str, _until: datetime) -> bool:
    return False


def _ignore(_kind: str, _n: int) -> None:
    pass

"""Money of several processes: set aside before calls, booked with replies, kept of killed ones."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hearteval.domain import Completion, InFlight
from hearteval.errors import StoreError
from hearteval.store.copy import copy_store
from hearteval.store.records import Balance, SetAside, StoredReply
from hearteval.store.sharing.panel import LEASE
from hearteval.store.sql import SqlStore

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LIMIT = 1.0


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=[pytest.mark.postgres])])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlStore]:
    is_file = request.param == "sqlite"
    place = str(tmp_path / "s.db") if is_file else request.getfixturevalue("postgres_url")
    opened = SqlStore.open(place)
    yield opened
    opened.close()


def reply(number: int, usd: float | None) -> StoredReply:
    return StoredReply(id=f"{number:032x}", reply={"text": "hi"}, cost=usd, created_at=NOW)


def ended(owner: str, until: datetime) -> bool:
    """Take for gone whose lease ends before now."""
    return until < NOW


def wish(owner: str, wanted: float, *, held: float = 0.0, later: float = 0.0) -> SetAside:
    return SetAside(owner, NOW + LEASE, LIMIT, held, 0.0, wanted, later, n_calls=3)


def keep(store: SqlStore, asked: SetAside, *replies: StoredReply) -> Balance:
    balance = store.keep_group((), replies, asked, is_gone=ended)
    assert balance is not None
    return balance


def kill(store: SqlStore, asked: SetAside, *replies: StoredReply) -> None:
    """Let a process end in the middle of its work."""
    keep(store, asked._replace(until=NOW - timedelta(seconds=1)), *replies)


def test_what_one_has_set_aside_no_other_is_granted(store: SqlStore) -> None:
    assert keep(store, wish("one", 0.75)).granted_usd == 0.75

    other = keep(store, wish("other", 0.75))

    assert (other.granted_usd, other.n_others) == (0.25, 1)


def test_no_part_of_a_call_is_set_aside_for_which_others_would_wait(store: SqlStore) -> None:
    keep(store, wish("one", 0.75))
    asked = wish("other", 1.0)._replace(least_usd=0.5)
    assert keep(store, asked).granted_usd == 0.0

    keep(store, wish("one", 0.25))

    assert keep(store, asked).granted_usd == 0.75


def test_what_is_booked_leaves_less_in_the_same_transaction(store: SqlStore) -> None:
    found = keep(store, wish("one", 1.0), reply(1, 0.25), reply(2, None), reply(3, 0.125))

    assert (found.booked_usd, found.granted_usd) == (0.375, 0.625)
    assert store.spent_usd() == 0.375


def test_reply_replaces_what_was_set_aside_for_it(store: SqlStore) -> None:
    keep(store, wish("one", 1.0))
    assert keep(store, wish("other", 0.5)).granted_usd == 0.0

    keep(store, wish("one", 0.0), reply(1, 0.125))

    assert keep(store, wish("other", 0.5)).granted_usd == 0.5


def test_what_is_held_is_never_taken_away(store: SqlStore) -> None:
    keep(store, wish("one", 0.75))
    store.keep_replies([reply(1, 0.5)])

    assert keep(store, wish("one", 0.75, held=0.5)).granted_usd == 0.5


def test_without_a_limit_everything_is_granted(store: SqlStore) -> None:
    asked = wish("one", 1e6)._replace(limit_usd=None)

    assert keep(store, asked).granted_usd == 1e6


def test_what_a_killed_process_had_in_flight_counts_until_it_is_settled(store: SqlStore) -> None:
    kill(store, wish("killed", 0.5), reply(1, 0.25))
    assert keep(store, wish("one", 1.0))[:3] == (0.25, 0.25, 0.5)

    replaced = store.settle(reply(2, 0.125), is_gone=ended)

    assert replaced == InFlight(usd=0.5, n_calls=3, n_processes=1)
    assert store.spent_usd() == 0.375
    assert keep(store, wish("one", 1.0))[:3] == (0.625, 0.375, 0.0)
    assert store.settle(reply(3, 0.125), is_gone=ended) is None
    assert store.spent_usd() == 0.375


def test_process_that_leaves_gives_back_what_it_has_set_aside(store: SqlStore) -> None:
    keep(store, wish("one", 1.0))

    store.leave_panel("one", is_gone=ended)

    assert keep(store, wish("other", 1.0)).granted_usd == 1.0


def test_lease_on_money_is_renewed_with_that_on_questions(store: SqlStore) -> None:
    kill(store, wish("slow", 0.5))
    assert store.look_around("me", is_gone=ended).in_flight is not None

    store.enter_panel("slow", until=NOW + LEASE, is_gone=ended)

    assert store.look_around("me", is_gone=ended).in_flight is None


def test_calls_of_batch_jobs_are_fetched_later_and_never_in_flight(store: SqlStore) -> None:
    kill(store, wish("killed", 0.75, later=0.5))
    kill(store, wish("another", 0.25, later=0.25)._replace(n_calls=0))

    assert store.look_around("me", is_gone=ended).in_flight == InFlight(
        usd=0.25, n_calls=3, n_processes=1
    )


def test_calls_that_cost_nothing_are_in_flight_too(store: SqlStore) -> None:
    kill(store, wish("killed", 0.0)._replace(n_calls=2))

    assert store.look_around("me", is_gone=ended).in_flight == InFlight(
        usd=0.0, n_calls=2, n_processes=1
    )
    assert keep(store, wish("one", 1.0)).granted_usd == 1.0


def test_record_at_fault_keeps_and_books_nothing_of_its_group(store: SqlStore) -> None:
    other = Completion(item_id="0" * 32, system_id="0" * 32, text="Of no item.", created_at=NOW)

    with pytest.raises(StoreError):
        store.keep_group([other], [reply(1, 0.5)], wish("one", 1.0), is_gone=ended)

    assert (store.spent_usd(), store.reply_ids()) == (0.0, frozenset())
    assert keep(store, wish("other", 1.0)).granted_usd == 1.0


def test_copy_of_a_store_counts_what_was_in_flight_too(store: SqlStore) -> None:
    kill(store, wish("killed", 0.5), reply(1, 0.25))
    target = SqlStore.in_memory()

    for _ in range(2):
        copy_store(store, target, progress=lambda _kind, _n: None)

    assert target.spent_usd() == 0.25
    assert target.look_around("me", is_gone=ended).in_flight == InFlight(
        usd=0.5, n_calls=3, n_processes=1
    )

"""Who is left out of a study's numbers: appended, taken back, never changed behind our back."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import pytest
from people_world import NOW, STUDY, invite_to, join
from sqlalchemy import update

from hearteval.domain.quality import Exclusion, excluded_now
from hearteval.errors import StoreError
from hearteval.store.copy import copy_store, store_hashes
from hearteval.store.people.tables import exclusions
from hearteval.store.sql import SqlStore

OUT = Exclusion(
    person="P-1", is_excluded=True, rules=("checks",), why="3 of 4 checks", by="ann", at=NOW
)
BY_HAND = replace(OUT, rules=(), why="told us that she guessed")


@pytest.fixture
def store() -> Iterator[SqlStore]:
    with closing(SqlStore.in_memory()) as made:
        yield made


def later(record: Exclusion, days: int, *, is_excluded: bool) -> Exclusion:
    return replace(record, at=NOW + timedelta(days=days), is_excluded=is_excluded)


def test_a_record_is_taken_back_by_a_later_one_and_both_stay(store: SqlStore) -> None:
    back = later(BY_HAND, 1, is_excluded=False)
    assert store.people.exclude(STUDY, OUT)
    assert store.people.exclude(STUDY, back)
    assert store.people.exclusions(STUDY) == [OUT, back]
    assert excluded_now([OUT]) == {"P-1": OUT}
    assert excluded_now([OUT, back]) == {}


def test_what_holds_already_is_no_new_record(store: SqlStore) -> None:
    assert not store.people.exclude(STUDY, replace(OUT, is_excluded=False))
    assert store.people.exclude(STUDY, OUT)
    assert not store.people.exclude(STUDY, later(OUT, 1, is_excluded=True))
    assert store.people.exclude(STUDY, OUT), "the same again: its commit's answer was lost"
    assert len(store.people.exclusions(STUDY)) == 1


def test_the_log_tells_of_it_without_the_words(store: SqlStore) -> None:
    store.people.exclude(STUDY, BY_HAND)
    store.people.exclude(STUDY, later(BY_HAND, 1, is_excluded=False))
    told = [(event.what, dict(event.about)) for event in store.people.events()]
    about = {"person": "P-1", "rules": [], "by": "ann"}
    assert told == [("excluded", about), ("restored", about)]


def test_who_withdraws_stays_left_out_without_words_about_them(store: SqlStore) -> None:
    person = join(store, invite_to(store, "judge"), "P-1")
    store.people.exclude(STUDY, OUT)
    store.people.exclude(STUDY, later(BY_HAND, 1, is_excluded=False))
    store.people.exclude(STUDY, later(BY_HAND, 2, is_excluded=True))
    store.people.withdraw(person, rater_id="0" * 32, now=NOW)
    found = store.people.exclusions(STUDY)
    assert [one.why for one in found] == ["3 of 4 checks", "", ""]
    assert set(excluded_now(found)) == {"P-1"}
    assert not store.check(progress=lambda _kind, _n: None).faults


def test_an_edit_by_hand_is_found(store: SqlStore) -> None:
    store.people.exclude(STUDY, OUT)
    store._write(lambda it: it.execute(update(exclusions).values(is_excluded=False)))
    with pytest.raises(StoreError, match="who is left out"):
        store.people.exclusions(STUDY)
    faults = store.check(progress=lambda _kind, _n: None).faults
    assert [one.kind for one in faults] == ["exclusion"]


def test_a_copy_holds_them(store: SqlStore) -> None:
    store.people.exclude(STUDY, BY_HAND)
    with closing(SqlStore.in_memory()) as other:
        copy_store(store, other, progress=lambda _kind, _n: None)
        assert other.people.exclusions(STUDY) == [BY_HAND]
        assert store_hashes(other) == store_hashes(store)

"""One task that somebody takes on, full or closed, and wider links; on both databases."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from people_world import LEASE, NOW, STUDY, invite_to, join, new_id, task

from hearteval.domain import Rater, record_id
from hearteval.store.people.base import Answered
from hearteval.store.people.persons import Halted, Person
from hearteval.store.people.tasks import Lease
from hearteval.store.sql import SqlStore


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlStore]:
    """A store with one task of one place."""
    where = str(tmp_path / "people.db")
    if request.param == "postgres":
        where = str(request.getfixturevalue("postgres_url"))
    opened = SqlStore.open(where)
    opened.people.plan([task(0, n_places=1)])
    yield opened
    opened.close()


def take_on(store: SqlStore, person: Person, number: int = 0) -> Lease | None:
    return store.people.take_on(
        person, task(number, n_places=1).id, ticket=new_id(), now=NOW, lease=LEASE
    )


def answer(store: SqlStore, person: Person, lease: Lease) -> str:
    rater = Rater(name=person.name, kind="human", family="human")
    answered = Answered([rater], record_id("test", {"of": person.name}), "a", {})
    return store.people.answer(person, lease, answered, now=NOW)


def test_a_full_task_gets_a_place_more_and_both_answers_count(store: SqlStore) -> None:
    invite = invite_to(store, "judge")
    first, other = (join(store, invite, name) for name in ("P-1", "P-2"))
    held = store.people.claim(first, "judge", ticket=new_id(), now=NOW, lease=LEASE)
    assert held is not None
    taken = take_on(store, other)
    assert taken is not None
    assert [answer(store, first, held), answer(store, other, taken)] == ["stored", "stored"]
    (count,) = store.people.progress(STUDY).counts
    assert (count.n_places, count.n_done, count.n_held) == (2, 2, 0)
    (mine, theirs) = store.people.done(STUDY)
    assert {mine.person_id, theirs.person_id} == {first.id, other.id}
    assert mine.is_open


def test_a_free_place_is_taken_before_one_is_added(store: SqlStore) -> None:
    person = join(store, invite_to(store, "judge"), "P-1")
    assert take_on(store, person) is not None
    (count,) = store.people.progress(STUDY).counts
    assert (count.n_places, count.n_held) == (1, 1)


def test_what_is_in_hand_is_the_same_and_what_was_skipped_comes_back(store: SqlStore) -> None:
    person = join(store, invite_to(store, "judge"), "P-1")
    first = take_on(store, person)
    assert first is not None
    assert take_on(store, person) == first
    store.people.skip(person, first, now=NOW)
    again = take_on(store, person)
    assert again is not None
    assert (again.ticket, again.state) == (first.ticket, "held")


def test_a_closed_task_can_be_taken_on_and_stays_closed(store: SqlStore) -> None:
    person = join(store, invite_to(store, "judge"), "P-1")
    store.people.open_only(STUDY, set(), now=NOW)
    taken = take_on(store, person)
    assert taken is not None
    assert answer(store, person, taken) == "stored"
    assert not store.people.progress(STUDY).counts
    assert [one.is_open for one in store.people.done(STUDY)] == [False]


def test_nobody_takes_on_twice_nor_what_is_not_there_nor_after_they_withdrew(
    store: SqlStore,
) -> None:
    person = join(store, invite_to(store, "judge"), "P-1")
    taken = take_on(store, person)
    assert taken is not None
    answer(store, person, taken)
    assert take_on(store, person) is None
    assert take_on(store, person, number=7) is None
    other = join(store, invite_to(store, "judge"), "P-2")
    store.people.withdraw(other, rater_id=new_id(), now=NOW)
    assert take_on(store, other) is None


def test_a_wider_link_keeps_its_bound_on_both_databases(store: SqlStore) -> None:
    invite = invite_to(store, "judge", most=1)
    until = invite.expires_at + timedelta(days=2)
    store.people.extend_invite(invite, more_people=2, until=until, by="P-9", now=NOW)
    found = store.people.find_invite(invite.id)
    assert found is not None
    assert (found.most_people, found.expires_at) == (3, until)


def test_a_closed_link_is_not_made_wider(store: SqlStore) -> None:
    invite = invite_to(store, "judge", most=1)
    store.people.revoke_invite(invite.id, now=NOW)
    store.people.extend_invite(invite, more_people=2, until=NOW, by="P-9", now=NOW)
    found = store.people.find_invite(invite.id)
    assert found is not None
    assert found.most_people == 1


def test_a_study_is_paused_closed_and_opened(store: SqlStore) -> None:
    found = []
    states: tuple[Halted, ...] = ("paused", "closed", "")
    for wanted in states:
        store.people.halt(STUDY, wanted, now=NOW)
        found.append(store.people.halted(STUDY))
    assert tuple(found) == states

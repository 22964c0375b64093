"""A commit may succeed and its answer be lost: what is then done again has no second effect."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import pytest
from people_world import LEASE, NOW, STUDY, invite_to, join, new_id, task
from small_world import make_world
from sqlalchemy import Connection

from hearteval.domain import Rater, record_id
from hearteval.store.people.base import Answered, PeopleStore
from hearteval.store.people.persons import Person, Submission
from hearteval.store.people.tasks import Lease
from hearteval.store.sql import SqlStore

LATER = NOW + timedelta(days=1)
T = TypeVar("T")


class Office:
    """A store whose every commit is done twice, with a person who has a task in hand."""

    def __init__(self, store: SqlStore) -> None:
        self.store = store

        def write(work: Callable[[Connection], T], /) -> T:
            store._write(work)
            return store._write(work)

        self.twice = PeopleStore(
            name="memory",
            write=write,
            read=store._read,
            empty_log=lambda: None,
            rewrite=lambda: True,
        )
        store.people.plan([task(1, n_places=1), task(2, n_places=1)])
        self.invite = invite_to(store, "judge", most=2)
        self.person = join(store, self.invite, "P-1")

    def told(self) -> list[str]:
        return [event.what for event in self.store.people.events()]

    def take(self) -> Lease:
        found = self.twice.claim(self.person, "judge", ticket=new_id(), now=NOW, lease=LEASE)
        assert found is not None
        return found

    def answered(self) -> Answered:
        rater = Rater(name=self.person.name, kind="human", family="human")
        return Answered([rater], record_id("test", {"of": self.person.name}), "a", {})


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    store = SqlStore.open(str(tmp_path / "people.db"))
    yield Office(store)
    store.close()


def new_person(office: Office) -> Person:
    return replace(office.person, id=new_id(), name="P-2")


ACTS: dict[str, Callable[[Office], object]] = {
    "invited": lambda it: it.twice.add_invite(replace(it.invite, id=new_id()), now=NOW),
    "revoked": lambda it: it.twice.revoke_invite(it.invite.id, now=NOW),
    "joined": lambda it: it.twice.join(new_person(it), session_id=new_id(), until=LATER, now=NOW),
    "shown": lambda it: it.take(),
    "answered": lambda it: it.twice.answer(it.person, it.take(), it.answered(), now=NOW),
    "skipped": lambda it: it.twice.skip(it.person, it.take(), now=NOW),
    "vetted": lambda it: it.twice.change_person(
        it.person, "vetted", {"vetting": "passed"}, now=NOW
    ),
    "stopped": lambda it: it.twice.stop(it.person, now=NOW),
    "withdrawn": lambda it: it.twice.withdraw(it.person, rater_id=new_id(), now=NOW),
    "forgotten": lambda it: it.twice.forget_details(STUDY, before=LATER, now=NOW),
    "paused": lambda it: it.twice.halt(STUDY, "paused", now=NOW),
    "closed": lambda it: it.twice.halt(STUDY, "closed", now=NOW),
    "extended": lambda it: it.twice.extend_invite(
        it.invite, more_people=2, until=LATER, by="P-9", now=NOW
    ),
}


@pytest.mark.parametrize("what", ACTS)
def test_what_is_done_twice_is_told_once(office: Office, what: str) -> None:
    before = office.told().count(what)
    ACTS[what](office)
    assert office.told().count(what) == before + 1


def test_somebody_who_comes_back_has_one_browser_more(office: Office) -> None:
    back = replace(office.person, id=new_id(), name="P-2")
    session_id = new_id()
    came = Submission(came_at=LATER, platform="other", participant="platform-P-1", submission="2")
    found = office.twice.join(back, came=came, session_id=session_id, until=LATER, now=NOW)
    assert found is not None
    assert found.name == "P-1"
    assert office.store.people.find_browser(session_id, now=NOW) == found


def test_a_withdrawal_says_how_many_texts_it_deleted(office: Office) -> None:
    world = make_world()
    office.store.add(world.records)
    counts = office.twice.withdraw(office.person, rater_id=world.rater.id, now=NOW)
    assert counts["judgment"] == 1


def test_who_has_withdrawn_does_not_stop_any_more(office: Office) -> None:
    office.store.people.withdraw(office.person, rater_id=new_id(), now=NOW)
    office.store.people.stop(office.person, now=NOW)
    assert office.told()[-1] == "withdrawn"

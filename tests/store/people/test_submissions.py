"""Times that people came, in both databases: one id is one person, and it goes with them."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from people_world import NOW, STUDY, invite_to, join, new_id
from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError

from hearteval.errors import StoreError
from hearteval.store.people.persons import Submission
from hearteval.store.people.tables import submissions
from hearteval.store.sql import SqlStore

LATER = NOW + timedelta(hours=1)
AGAIN = Submission(came_at=LATER, platform="other", participant="platform-P-1", submission="two")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlStore]:
    is_file = request.param == "sqlite"
    place = str(tmp_path / "people.db") if is_file else request.getfixturevalue("postgres_url")
    with closing(SqlStore.open(place)) as opened:
        yield opened


def test_who_comes_again_is_one_person_with_two_times_and_each_is_paid_once(
    store: SqlStore,
) -> None:
    invite = invite_to(store, "judge")
    one = join(store, invite, "P-1")
    arrived = replace(one, id=new_id(), name="P-2")
    for _ in range(2):  # a commit whose answer was lost is tried again
        back = store.people.join(arrived, came=AGAIN, session_id=new_id(), until=LATER, now=LATER)
        assert back is not None
        assert back.id == one.id
    found = store.people.submissions(STUDY)
    assert [(id_, it.submission) for id_, it in found] == [(one.id, ""), (one.id, "two")]
    first = [(one, found[0][1])]
    assert [store.people.mark_paid(first, is_paid=True, now=LATER) for _ in range(2)] == [1, 0]
    assert [it.paid_at for _, it in store.people.submissions(STUDY)] == [LATER, None]
    assert store.people.mark_paid(first, is_paid=False, now=LATER) == 1


def test_no_id_of_a_site_is_two_people(store: SqlStore) -> None:
    invite = invite_to(store, "judge")
    join(store, invite, "P-1")
    two = join(store, invite, "P-2")
    row = {"person_id": two.id, "number": 9, "study_id": STUDY, "came_at": NOW, "platform": "other"}
    taken = {**row, "participant": "platform-P-1", "submission": ""}
    with pytest.raises((IntegrityError, StoreError)):
        store._write(lambda it: it.execute(insert(submissions), [taken]))


def test_ids_are_forgotten_and_the_times_stay(store: SqlStore) -> None:
    join(store, invite_to(store, "judge"), "P-1")
    assert store.people.forget_details(STUDY, before=LATER, now=LATER) == 1
    ((_, left),) = store.people.submissions(STUDY)
    assert (left.came_at, left.platform, left.participant) == (NOW, None, None)
    assert store.people.find_guest(invite_to(store, "judge"), "platform-P-1") is None

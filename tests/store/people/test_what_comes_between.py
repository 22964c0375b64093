"""What others do between a person's reading and writing: nothing is lost, counted twice or left."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from people_world import LEASE, NOW, invite_to, join, new_id, task
from sqlalchemy import func, select

from hearteval.domain import Rater, record_id
from hearteval.store.people.base import Answered
from hearteval.store.people.persons import Person
from hearteval.store.people.tables import dealings, people, tasks
from hearteval.store.people.tasks import Lease
from hearteval.store.sql import SqlStore

LATER = NOW + LEASE + timedelta(minutes=1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    opened = SqlStore.open(str(tmp_path / "people.db"))
    yield opened
    opened.close()


def comers(store: SqlStore, n: int) -> list[Person]:
    invite = invite_to(store, "judge")
    return [join(store, invite, f"P-{number}") for number in range(n)]


def take(store: SqlStore, person: Person, *, later: bool = False) -> Lease:
    now = LATER if later else NOW
    lease = store.people.claim(person, "judge", ticket=new_id(), now=now, lease=LEASE)
    assert lease is not None
    return lease


def answered(person: Person) -> Answered:
    rater = Rater(name=person.name, kind="human", family="human")
    return Answered([rater], record_id("test", {"of": person.name}), "a", {})


def require_true_counts(store: SqlStore) -> None:
    holding = (
        select(dealings.c.task_id, func.count().label("n"))
        .where(dealings.c.place.is_not(None))
        .group_by(dealings.c.task_id)
        .subquery()
    )
    query = select(tasks.c.n_taken, func.coalesce(holding.c.n, 0)).select_from(
        tasks.outerjoin(holding, holding.c.task_id == tasks.c.id)
    )
    rows = store._read(lambda connection: connection.execute(query).all())
    assert all(n_taken == n for n_taken, n in rows)


def test_a_skip_of_what_others_have_taken_meanwhile_frees_no_place_twice(store: SqlStore) -> None:
    store.people.plan([task(1, n_places=1)])
    slow, other, third = comers(store, 3)
    lease = take(store, slow)
    take(store, other, later=True)
    assert store.people.skip(slow, lease, now=LATER)
    require_true_counts(store)
    assert store.people.claim(third, "judge", ticket=new_id(), now=LATER, lease=LEASE) is None


def test_a_skip_from_another_tab_leaves_an_answer_as_it_is(store: SqlStore) -> None:
    store.people.plan([task(1, n_places=1)])
    (person,) = comers(store, 1)
    lease = take(store, person)
    assert store.people.answer(person, lease, answered(person), now=NOW) == "stored"
    assert not store.people.skip(person, lease, now=NOW)
    found = store.people.find_ticket(person, lease.ticket)
    assert found is not None
    assert found.state == "done"


def withdraw(store: SqlStore, person: Person) -> None:
    store.people.withdraw(person, rater_id=new_id(), now=NOW)


def test_no_word_comes_after_a_withdrawal(store: SqlStore) -> None:
    store.people.plan([task(1, n_places=1), task(2, n_places=1)])
    (person,) = comers(store, 1)
    lease = take(store, person)
    withdraw(store, person)
    assert store.people.answer(person, lease, answered(person), now=NOW) == "absent"
    assert not store.people.keep_draft(person, lease, "my words", until=LATER)
    store.people.change_person(person, "told", {"background": {"age": "30-39"}}, now=NOW)
    assert store.people.claim(person, "judge", ticket=new_id(), now=NOW, lease=LEASE) is None
    found = store.people.find_name(person.name)
    assert found is not None
    assert found.background is None
    assert list(store.iter(Rater)) == []
    drafts = select(dealings.c.draft).where(dealings.c.draft.is_not(None))
    assert store._read(lambda connection: connection.execute(drafts).all()) == []


def test_what_is_closed_leaves_the_hands_it_is_in_and_a_late_answer_still_counts(
    store: SqlStore,
) -> None:
    planned = task(1, n_places=1)
    store.people.plan([planned])
    (person,) = comers(store, 1)
    lease = take(store, person)
    store.people.open_only(planned.study_id, [], now=NOW)
    assert store.people.live(person, "judge", now=NOW) is None
    require_true_counts(store)
    assert store.people.answer(person, lease, answered(person), now=NOW) == "stored"


def test_what_opens_again_never_comes_to_whose_answer_it_shows_by_now(store: SqlStore) -> None:
    ann, ben = comers(store, 2)
    planned = task(1, n_places=1)
    store.people.plan([planned])
    store.people.open_only(planned.study_id, [], now=NOW)
    store.people.plan([replace(planned, writers=(ann.name,))])
    store.people.open_only(planned.study_id, [planned.id], now=NOW)
    given = [
        store.people.claim(one, "judge", ticket=new_id(), now=NOW, lease=LEASE)
        for one in (ann, ben)
    ]
    assert [lease is None for lease in given] == [True, False]


def test_somebody_who_is_let_in_twice_is_one_person(store: SqlStore) -> None:
    # A commit whose answer was lost is tried again.
    invite = invite_to(store, "judge", most=2)
    one = replace(join(store, invite, "P-1"), id=new_id(), name="P-2")
    assert store.people.join(one, session_id=new_id(), until=LATER, now=NOW) == one
    again = store.people.join(one, session_id=new_id(), until=LATER, now=NOW)
    assert again == one
    n_people = select(func.count()).select_from(people)
    assert store._read(lambda connection: connection.execute(n_people).scalar_one()) == 2


def test_what_is_in_hand_stays_there_while_a_study_is_paused(store: SqlStore) -> None:
    store.people.plan([task(1, n_places=1)])
    (person,) = comers(store, 1)
    lease = take(store, person)
    store.people.halt(person.study_id, "paused", now=NOW)
    soon_over = NOW + LEASE - timedelta(minutes=1)
    again = store.people.claim(person, "judge", ticket=new_id(), now=soon_over, lease=LEASE)
    assert again is not None
    assert again.ticket == lease.ticket


def test_a_page_of_the_other_order_answers_nothing_any_more(store: SqlStore) -> None:
    # Their place went to somebody else; what comes back has the replies the other way round.
    store.people.plan([task(1, n_places=2)])
    slow, other = comers(store, 2)
    old_page = take(store, slow)
    assert take(store, other, later=True).side == old_page.side
    back = take(store, slow, later=True)
    assert back.side != old_page.side
    assert store.people.find_ticket(slow, old_page.ticket) is None
    assert store.people.answer(slow, old_page, answered(slow), now=LATER) == "absent"
    assert store.people.answer(slow, back, answered(slow), now=LATER) == "stored"


def test_what_shows_a_text_that_was_withdrawn_meanwhile_is_not_planned(store: SqlStore) -> None:
    writer, other = comers(store, 2)
    own = task(1, n_places=1, writers=(writer.name, other.name))
    withdraw(store, writer)
    assert store.people.plan([own, task(2, n_places=1)]) == 1
    assert store.people.targets(own.study_id, "judge") == {task(2, n_places=1).target_id}

"""A task that comes later is given out among the others: it tells nobody that it is new."""

from datetime import timedelta

from people_world import NOW, invite_to, join, task

from hearteval.domain import record_id
from hearteval.store.people.base import Answered
from hearteval.store.people.persons import Person
from hearteval.store.sql import SqlStore

LEASE = timedelta(minutes=30)
LATE = (1, 4, 7, 10)
EARLY = tuple(number for number in range(12) if number not in LATE)
N_PLACES = 5


def answer_one(store: SqlStore, person: Person, number: int) -> str:
    """Have a person do what they are given; return what it is about."""
    lease = store.people.claim(person, "judge", ticket=f"{number:032x}", now=NOW, lease=LEASE)
    assert lease is not None
    record = record_id("test", {"who": person.name, "task": lease.task_id})
    assert store.people.answer(person, lease, Answered([], record, "a", {}), now=NOW) == "stored"
    return lease.target_id


def test_what_comes_late_takes_its_turn_with_what_is_filled_already() -> None:
    store = SqlStore.in_memory()
    invite = invite_to(store, "judge")
    people = [join(store, invite, f"P-{n}") for n in range(4)]
    store.people.plan([task(number, n_places=N_PLACES) for number in EARLY])
    given = 0
    for person in people[:3]:
        for _ in EARLY:
            answer_one(store, person, given)
            given += 1
    late = [task(number, n_places=N_PLACES) for number in LATE]
    store.people.plan(late)
    order = []
    for _ in (*EARLY, *LATE):
        order.append(answer_one(store, people[3], given))
        given += 1
    is_late = [target in {one.target_id for one in late} for target in order]
    assert sum(is_late) == len(LATE)
    # Neither first, as the emptiest of all, nor last.
    half = len(order) // 2
    assert 0 < sum(is_late[:half]) < len(LATE)

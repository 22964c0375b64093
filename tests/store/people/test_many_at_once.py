"""Fifty threads, and several processes, claim, answer, skip and come late: the rules hold."""

import json
import os
import random
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from forked_heart import at_once
from people_world import LEASE, NOW, STUDY, invite_to, join, new_id, own_task, task
from sqlalchemy import select

from hearteval.domain import Rater, record_id
from hearteval.store.people.base import Answered
from hearteval.store.people.persons import Person
from hearteval.store.people.tables import dealings, places, tasks
from hearteval.store.people.tasks import Wish
from hearteval.store.sql import SqlStore

N_THREADS = 50
N_PROCESSES = 4
N_TASKS = int(os.environ.get("HEART_TEST_STEPS", "300")) // 30
N_PLACES = 5


def answer_of(person: Person, task_id: str) -> Answered:
    rater = Rater(name=person.name, kind="human", family="human")
    return Answered([rater], record_id("test", {"of": person.name, "task": task_id}), "a", {})


def work(store: SqlStore, person: Person, *, minutes: int = 0) -> int:
    """Do everything there is for a person, with detours; return how much was answered."""
    chance = random.Random(person.name)
    people, now, n_done, n_idle = store.people, NOW + timedelta(minutes=minutes), 0, 0
    while n_idle < 3:
        # Time passes faster for some, so leases of others lapse while they are in hand.
        now += timedelta(minutes=chance.choice((0, 1, 1, 40)))
        # Now and then a check of theirs alone, and one task before others.
        number, of = chance.randrange(10), chance.random()
        own = own_task(person, number) if of < 0.1 else None
        wish = Wish(task(number, n_places=1).target_id if of > 0.8 else "", own)
        lease = people.claim(person, "judge", ticket=new_id(), now=now, lease=LEASE, wish=wish)
        if lease is None:
            n_idle += own is None
            people.bring_back(person, "judge")
            continue
        what = chance.random()
        if what < 0.15:
            people.skip(person, lease, now=now)
        elif what < 0.25:
            people.keep_draft(person, lease, "{}", until=now + LEASE)
        elif what < 0.9:
            outcome = people.answer(person, lease, answer_of(person, lease.task_id), now=now)
            n_done += outcome == "stored"
            if outcome == "stored" and what < 0.5:
                again = people.answer(person, lease, answer_of(person, lease.task_id), now=now)
                assert again == "same"
    return n_done


def plan(store: SqlStore, people: Sequence[Person], *, n_tasks: int = N_TASKS) -> None:
    """Open tasks; every third shows a text of one of the people."""
    store.people.plan(
        [
            task(
                number,
                n_places=N_PLACES,
                writers=(people[number % len(people)].name,) if number % 3 == 0 else (),
            )
            for number in range(n_tasks)
        ]
    )


def require_rules(store: SqlStore, *, all_done: bool = True) -> None:
    joined = dealings.outerjoin(
        places,
        (places.c.task_id == dealings.c.task_id) & (places.c.place == dealings.c.place),
    )
    query = select(dealings, places.c.side.label("place_side")).select_from(joined)
    rows: Sequence[Any] = store._read(lambda it: it.execute(query).all())
    planned: Sequence[Any] = store._read(lambda it: it.execute(select(tasks)).all())
    done = [row for row in rows if row.state == "done"]
    by_task = defaultdict(list)
    for row in done:
        by_task[row.task_id].append(row.side)
        assert row.side == row.place_side
    held = Counter(row.task_id for row in rows if row.place is not None)
    for one in planned:
        assert one.n_taken == held[one.id] <= one.n_places
        sides = by_task[one.id]
        if all_done and one.study_id == STUDY:
            assert len(sides) == one.n_places
            assert abs(sides.count(0) - sides.count(1)) <= 1
    assert len({(row.task_id, row.person_id) for row in done}) == len(done)
    alone = {one.id for one in planned if one.study_id != STUDY}
    given = Counter(row.task_id for row in rows if row.task_id in alone)
    assert set(given.values()) <= {1}
    own = {(row.task_id, row.person_id) for row in rows if row.state == "own"}
    assert not own & {(row.task_id, row.person_id) for row in done}
    told = Counter(event.what for event in store.people.events())
    assert told["answered"] == len(done)
    assert store.check(progress=lambda _kind, _n: None).faults == ()


def run_threads(store: SqlStore, people: Sequence[Person]) -> int:
    found: list[int] = []
    failed: list[BaseException] = []

    def one(person: Person) -> None:
        try:
            found.append(work(store, person))
        except BaseException as error:  # noqa: BLE001 - told below, in the test's own thread
            failed.append(error)

    threads = [threading.Thread(target=one, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    return sum(found)


def finish(store: SqlStore, people: Sequence[Person]) -> None:
    """Let everybody come back after every lease has ended: nobody is needed but they."""
    for _ in range(20):
        if not sum(work(store, person, minutes=600_000) for person in people):
            return
    raise AssertionError("they never end")


def test_fifty_threads_in_a_file(tmp_path: Path) -> None:
    store = SqlStore.open(str(tmp_path / "many.db"))
    invite = invite_to(store, "judge")
    people = [join(store, invite, f"P-{n}") for n in range(N_THREADS)]
    plan(store, people)
    run_threads(store, people)
    require_rules(store, all_done=False)
    finish(store, people)
    require_rules(store)
    store.close()


def some_work(when_told: Callable[[], object], place: str, names: str) -> int:
    store = SqlStore.open(place)
    comers = store.people.people(task(0, n_places=1).study_id)
    when_told()
    n_done = run_threads(store, [one for one in comers if one.name in json.loads(names)])
    store.close()
    return n_done


@pytest.mark.server
@pytest.mark.postgres
def test_fifty_threads_in_four_processes(postgres_url: str) -> None:
    store = SqlStore.open(postgres_url)
    invite = invite_to(store, "judge")
    people = [join(store, invite, f"P-{n}") for n in range(N_THREADS)]
    plan(store, people)
    names = [person.name for person in people]
    words = [[postgres_url, json.dumps(names[k::N_PROCESSES])] for k in range(N_PROCESSES)]
    n_done = at_once(some_work, words)
    assert all(n > 0 for n in n_done)
    require_rules(store, all_done=False)
    finish(store, people)
    require_rules(store)
    store.close()


@pytest.mark.parametrize("with_writers", [False, True])
def test_a_panel_of_exactly_as_many_as_a_pair_has_places_can_always_finish(
    with_writers: bool,
) -> None:
    store = SqlStore.in_memory()
    invite = invite_to(store, "judge")
    people = [join(store, invite, f"P-{n}") for n in range(N_PLACES)]
    # With writers the panel is one larger than what its smallest pair needs.
    extra = [join(store, invite, "P-more")] if with_writers else []
    store.people.plan(
        [
            task(
                number,
                n_places=N_PLACES,
                writers=(people[number % N_PLACES].name,) if with_writers else (),
            )
            for number in range(20)
        ]
    )
    for _ in range(3):
        for person in [*people, *extra]:
            work(store, person)
    finish(store, [*people, *extra])
    require_rules(store)

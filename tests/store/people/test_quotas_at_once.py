"""Many people come at once, from threads and processes: quotas fill exactly, and never over."""

import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from forked_heart import at_once
from people_world import NOW, STUDY, invite_to, join
from sqlalchemy import select

from hearteval.store.people.enrolment import GroupFullError, Quota
from hearteval.store.people.tables import people, quota_places
from hearteval.store.sql import SqlStore

AGES, GENDERS = ("18-24", "25-34"), ("woman", "man", "another")
MOST = 4
MOST_YOUNG = 9
"""Fewer than the three cells of the young have places together."""
N_COMERS = 10
"""Of each cell: more than twice as many as it has places."""
N_PROCESSES = 4
Comer = tuple[str, str, int]
COMERS: Sequence[Comer] = [
    (age, gender, n) for n in range(N_COMERS) for age in AGES for gender in GENDERS
]


def quotas_of(comer: Comer) -> list[Quota]:
    age, gender, _ = comer
    cell = Quota(study_id=STUDY, answers={"age": age, "gender": gender}, most=MOST)
    young = Quota(study_id=STUDY, answers={"age": ["18-24"]}, most=MOST_YOUNG)
    return [cell, young] if age == "18-24" else [cell]


def come(store: SqlStore, invite_id: str, comer: Comer) -> bool:
    """Try to join; say whether there was room."""
    invite = store.people.find_invite(invite_id)
    assert invite is not None
    try:
        join(store, invite, "/".join(map(str, comer)), *quotas_of(comer))
    except GroupFullError:
        return False
    return True


def all_come(store: SqlStore, invite_id: str, comers: Sequence[Comer]) -> list[Comer]:
    """Have everybody come at once; return who was let in."""
    let_in: list[Comer] = []
    failed: list[BaseException] = []

    def one(comer: Comer) -> None:
        try:
            if come(store, invite_id, comer):
                let_in.append(comer)
        except BaseException as error:  # noqa: BLE001 - told below, in the test's own thread
            failed.append(error)

    threads = [threading.Thread(target=one, args=(comer,)) for comer in comers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    return let_in


def require_exact(store: SqlStore, invite_id: str) -> None:
    """Every cell is as full as it can be, and holds whom it counts."""
    held = store._read(
        lambda it: it.execute(
            select(quota_places.c.quota_id).where(quota_places.c.given_back_at.is_(None))
        ).scalars().all()
    )  # fmt: skip
    n_of = {str(sorted(one.answers.items())): one for one in store.people.progress(STUDY).quotas}
    assert Counter(held) == {one.id: one.n_people for one in n_of.values() if one.n_people}
    young = [one.n_people for words, one in n_of.items() if "18-24" in words and "gender" in words]
    older = [one.n_people for words, one in n_of.items() if "25-34" in words]
    assert older == [MOST] * len(GENDERS)
    assert all(n <= MOST for n in young)
    assert sum(young) == MOST_YOUNG
    n_people = store._read(lambda it: len(it.execute(select(people.c.id)).all()))
    assert n_people == MOST_YOUNG + MOST * len(GENDERS)
    invite = store.people.find_invite(invite_id)
    assert invite is not None
    assert invite.n_people == n_people
    assert store.check(progress=lambda _kind, _n: None).faults == ()


def shuffled() -> list[Comer]:
    return random.Random(30).sample(COMERS, len(COMERS))


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "many.db")
    return str(request.getfixturevalue("postgres_url"))


def test_sixty_come_at_once_in_threads(place: str) -> None:
    store = SqlStore.open(place)
    invite = invite_to(store, "judge")
    let_in = all_come(store, invite.id, shuffled())
    assert len(let_in) == MOST_YOUNG + MOST * len(GENDERS)
    require_exact(store, invite.id)
    store.close()


def test_who_comes_while_others_leave_finds_every_place(place: str) -> None:
    store = SqlStore.open(place)
    invite = invite_to(store, "judge")
    half = [comer for comer in COMERS if comer[2] < MOST]
    all_come(store, invite.id, half)
    there = store.people.people(STUDY)
    gone = there[::2]
    leaving = [
        threading.Thread(target=partial(store.people.withdraw, one, rater_id=one.id, now=NOW))
        for one in gone
    ]
    for thread in leaving:
        thread.start()
    late = [comer for comer in COMERS if comer[2] >= MOST]
    all_come(store, invite.id, late[: len(late) // 2])
    for thread in leaving:
        thread.join()
    all_come(store, invite.id, late[len(late) // 2 :])
    found = {str(one.answers): one for one in store.people.progress(STUDY).quotas}
    assert all(one.n_people <= one.most for one in found.values())
    cells = [one.n_people for one in found.values() if "gender" in one.answers]
    assert sum(cells) == MOST_YOUNG + MOST * len(GENDERS)
    store.close()


def test_who_opens_many_browsers_at_once_takes_one_place(place: str) -> None:
    store = SqlStore.open(place)
    invite = invite_to(store, "judge")
    let_in = all_come(store, invite.id, [("18-24", "woman", 0)] * (2 * MOST))
    assert len(let_in) == 2 * MOST
    assert len(store.people.people(STUDY)) == 1
    assert {one.n_people for one in store.people.progress(STUDY).quotas} == {1}
    store.close()


def a_share_comes(when_told: Callable[[], object], place: str, invite_id: str, share: str) -> int:
    store = SqlStore.open(place)
    when_told()
    let_in = all_come(store, invite_id, shuffled()[int(share) :: N_PROCESSES])
    store.close()
    return len(let_in)


@pytest.mark.server
def test_sixty_come_at_once_in_four_processes(place: str) -> None:
    store = SqlStore.open(place)
    invite = invite_to(store, "judge")
    n_let_in = at_once(a_share_comes, [[place, invite.id, str(k)] for k in range(N_PROCESSES)])
    assert sum(n_let_in) == MOST_YOUNG + MOST * len(GENDERS)
    require_exact(store, invite.id)
    store.close()


def test_a_quota_with_more_places_lets_more_in_and_one_with_fewer_nobody() -> None:
    store = SqlStore.in_memory()
    invite = invite_to(store, "judge")

    def quota(most: int) -> Quota:
        return Quota(study_id=STUDY, answers={"age": ["18-24"]}, most=most)

    join(store, invite, "one", quota(1))
    with pytest.raises(GroupFullError):
        join(store, invite, "two", quota(1))
    join(store, invite, "two", quota(2))
    with pytest.raises(GroupFullError):
        join(store, invite, "three", quota(1))
    (found,) = store.people.progress(STUDY).quotas
    assert (found.n_people, found.most) == (2, 2)
    assert {one.name for one in store.people.people(STUDY)} == {"one", "two"}

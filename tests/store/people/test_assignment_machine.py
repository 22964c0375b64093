"""Assignment as a state machine: whatever people do, in any order, the rules of DESIGN 7 hold."""

import os
import tempfile
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from people_world import LEASE, NOW, STUDY, invite_to, join, new_id, own_task, task
from sqlalchemy import select

from hearteval.domain import record_id
from hearteval.store.people.base import Answered
from hearteval.store.people.persons import Person
from hearteval.store.people.tables import dealings, places, tasks
from hearteval.store.people.tasks import ANY, Lease, PlannedTask, Wish
from hearteval.store.sql import SqlStore

STEPS = int(os.environ.get("HEART_TEST_STEPS", "300"))
N_PEOPLE = 6
PERSON = st.integers(0, N_PEOPLE - 1)


class Assignment(RuleBasedStateMachine):
    """People claim, answer, skip, wait and come late; the database keeps the rules."""

    def __init__(self) -> None:
        super().__init__()
        self.store = self.open()
        self.now = NOW
        invite = invite_to(self.store, "judge")
        self.people = [join(self.store, invite, f"P-{n}") for n in range(N_PEOPLE)]
        self.planned: dict[str, PlannedTask] = {}
        self.done: dict[tuple[str, str], tuple[str, int]] = {}
        self.leases: dict[str, list[Lease]] = {person.id: [] for person in self.people}
        self.skipped: set[tuple[str, str]] = set()
        self.own: dict[str, str] = {}

    def open(self) -> SqlStore:
        return SqlStore.in_memory()

    def teardown(self) -> None:
        self.store.close()

    @rule(number=st.integers(0, 8), n_places=st.integers(1, 4), writer=st.none() | PERSON)
    def plan(self, number: int, n_places: int, writer: int | None) -> None:
        writers = () if writer is None else (self.people[writer].name,)
        new = task(number, n_places=n_places, writers=writers)
        known = self.planned.get(new.id)
        self.store.people.plan([new])
        if known is None:
            self.planned[new.id] = new
        elif n_places > known.n_places:
            grown = task(number, n_places=n_places, writers=known.writers)
            self.planned[new.id] = grown

    @rule(minutes=st.integers(1, 40))
    def wait(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @rule(who=PERSON, number=st.integers(0, 3))
    def claim_a_check(self, who: int, number: int) -> None:
        person, in_hand = self.people[who], self._in_hand(self.people[who])
        own = own_task(person, number)
        known = self.own.get(own.id)
        waiting = [id_ for id_, state in self.own.items() if state == f"open {who}"]
        lease = self._claim(person, Wish(own=own))
        if in_hand is not None:
            assert lease is not None
            assert lease.task_id == in_hand
        elif waiting:
            assert lease is not None
            assert lease.task_id in waiting
        elif known is not None:
            assert lease is None
        else:
            assert lease is not None
            assert lease.task_id == own.id
            self.own[own.id] = f"open {who}"

    @rule(who=PERSON, is_sent=st.booleans())
    def end_a_check(self, who: int, is_sent: bool) -> None:
        person = self.people[who]
        lease = self.store.people.live(person, "judge", now=self.now)
        if lease is None or lease.study_id == STUDY:
            return
        if is_sent:
            record = record_id("test", {"who": who, "task": lease.task_id})
            answered = Answered([], record, "a", {})
            assert self.store.people.answer(person, lease, answered, now=self.now) == "stored"
        else:
            assert self.store.people.skip(person, lease, now=self.now)
        self.own[lease.task_id] = "done" if is_sent else "skipped"

    @rule(who=PERSON, number=st.integers(0, 8))
    def claim_one(self, who: int, number: int) -> None:
        """Before others, as a pair of a triad is: it is given where it could be given at all."""
        person, in_hand = self.people[who], self._in_hand(self.people[who])
        wished = self.planned.get(task(number, n_places=1).id)
        seen = {held.task_id for held in self.leases[person.id]}
        lapsed = seen - {id_ for key, id_ in (*self.done, *self.skipped) if key == person.id}
        lease = self._claim(person, Wish("" if wished is None else wished.target_id))
        if wished is not None and not in_hand and not lapsed and wished.id not in seen:
            could = self._could_do(person, wished)
            assert lease is None or (lease.task_id == wished.id) == could or not could
        if lease is not None and lease.study_id == STUDY:
            others = [held for held in self.leases[person.id] if held.task_id != lease.task_id]
            self.leases[person.id] = [*others, lease]

    def _in_hand(self, person: Person) -> str | None:
        lease = self.store.people.live(person, "judge", now=self.now)
        return None if lease is None else lease.task_id

    def _claim(self, person: Person, wish: Wish = ANY, ticket: str = "") -> Lease | None:
        return self.store.people.claim(
            person, "judge", ticket=ticket or new_id(), now=self.now, lease=LEASE, wish=wish
        )

    @rule(who=PERSON)
    def claim(self, who: int) -> None:
        person = self.people[who]
        before = self._places()
        ticket = new_id()
        lease = self._claim(person, ticket=ticket)
        if lease is not None and lease.study_id != STUDY:
            assert self.own[lease.task_id] == f"open {who}"
            return
        if lease is None:
            # No dead end: nothing is left that they could do.
            assert not [t for t in self.planned.values() if self._could_do(person, t)]
            return
        planned = self.planned[lease.task_id]
        assert person.name not in planned.writers
        assert (person.id, lease.task_id) not in self.done
        assert (person.id, lease.task_id) not in self.skipped
        others = [held for held in self.leases[person.id] if held.task_id != lease.task_id]
        seen = [held for held in self.leases[person.id] if held.task_id == lease.task_id]
        self.leases[person.id] = [*others, lease]
        if not seen:
            assert lease.ticket == ticket
            self._require_best(person, lease, before)
        for held in seen:
            # A page in the other order is no page of it any more.
            assert (held.ticket == lease.ticket) == (held.side == lease.side)

    def _places(self) -> dict[str, list[tuple[int, str | None, str | None]]]:
        """Return of each task the side of every place, with who has it, in which state."""
        held = (dealings.c.task_id == places.c.task_id) & (dealings.c.place == places.c.place)
        query = (
            select(places, dealings.c.person_id, dealings.c.state, dealings.c.leased_until)
            .select_from(places.outerjoin(dealings, held))
            .order_by(places.c.task_id, places.c.place)
        )
        found: dict[str, list[tuple[int, str | None, str | None]]] = {}
        for row in self.store._read(lambda connection: connection.execute(query).all()):
            is_over = row.state == "held" and row.leased_until <= self.now
            person, state = (None, None) if is_over else (row.person_id, row.state)
            found.setdefault(row.task_id, []).append((row.side, person, state))
        return found

    def _require_best(self, person: Person, lease: Lease, before: dict[str, Any]) -> None:
        """Least filled since it came, then the side seen less often, then the next place."""
        mine = [side for each in before.values() for side, who, _ in each if who == person.id]
        lead = mine.count(0) - mine.count(1)
        seen = {held.task_id for held in self.leases[person.id][:-1]}
        open_ones = {
            id_: [side for side, who, _ in each if who is None]
            for id_, each in before.items()
            if id_ in self.planned
            and person.name not in self.planned[id_].writers
            and id_ not in seen
        }
        came_at = self._turns_when_they_came()
        taken = {
            id_: came_at[id_] + len(before[id_]) - len(free)
            for id_, free in open_ones.items()
            if free
        }
        least = [id_ for id_, n in taken.items() if n == min(taken.values())]
        assert lease.task_id in least
        wanted = int(lead > 0)
        if not lead:
            assert lease.side == open_ones[lease.task_id][0]
        elif any(open_ones[id_][0] == wanted for id_ in least):
            assert lease.side == open_ones[lease.task_id][0] == wanted
        else:
            assert lease.side == wanted or not any(wanted in open_ones[id_] for id_ in least)

    def _turns_when_they_came(self) -> dict[str, int]:
        query = select(tasks.c.id, tasks.c.turn - tasks.c.n_taken)
        rows = self.store._read(lambda connection: connection.execute(query).all())
        return {row[0]: row[1] for row in rows}

    def _could_do(self, person: Person, planned: PlannedTask) -> bool:
        key = (person.id, planned.id)
        if person.name in planned.writers or key in self.done or key in self.skipped:
            return False
        return self._n_taken(planned.id) < planned.n_places

    def _n_taken(self, task_id: str) -> int:
        n_done = sum(1 for _, done in self.done if done == task_id)
        return n_done + sum(1 for _, held in self._live() if held == task_id)

    def _live(self) -> set[tuple[str, str]]:
        found = set()
        for person in self.people:
            lease = self.store.people.live(person, "judge", now=self.now)
            if lease is not None:
                found.add((person.id, lease.task_id))
        return found

    @precondition(lambda self: any(self.leases.values()))
    @rule(who=PERSON, which=st.integers(0, 50), content=st.sampled_from("ab"))
    def answer(self, who: int, which: int, content: str) -> None:
        person = self.people[who]
        if not self.leases[person.id]:
            return
        lease = self.leases[person.id][which % len(self.leases[person.id])]
        key = (person.id, lease.task_id)
        found = self.store.people.find_ticket(person, lease.ticket)
        assert found is not None
        record = record_id("test", {"who": who, "task": lease.task_id})
        answered = Answered([], record, content, {})
        outcome = self.store.people.answer(person, found, answered, now=self.now)
        if key in self.done:
            assert outcome == ("same" if self.done[key][0] == content else "other")
        elif outcome == "stored":
            self.done[key] = (content, found.side)
        else:
            assert outcome == "late"

    @precondition(lambda self: any(self.leases.values()))
    @rule(who=PERSON, which=st.integers(0, 50))
    def skip(self, who: int, which: int) -> None:
        person = self.people[who]
        if not self.leases[person.id]:
            return
        lease = self.leases[person.id][which % len(self.leases[person.id])]
        found = self.store.people.find_ticket(person, lease.ticket)
        assert found is not None
        if self.store.people.skip(person, found, now=self.now):
            self.skipped.add((person.id, lease.task_id))

    @rule(who=PERSON)
    def bring_back(self, who: int) -> None:
        person = self.people[who]
        theirs = {key for key in self.skipped if key[0] == person.id}
        assert self.store.people.bring_back(person, "judge") == len(theirs)
        self.skipped -= theirs

    @invariant()
    def quotas_are_exact(self) -> None:
        counts = Counter(task_id for _, task_id in self.done)
        assert all(n <= self.planned[task_id].n_places for task_id, n in counts.items())
        for found in self.store.people.progress(self.people[0].study_id).counts:
            assert found.n_done == len(self.done)
            assert found.n_places == sum(one.n_places for one in self.planned.values())

    @invariant()
    def as_many_are_counted_as_have_a_place(self) -> None:
        n_placed = sum(who is not None for each in self._places().values() for _, who, _ in each)
        n_own = sum(state == "done" for state in self.own.values())
        assert n_placed == len(self.done) + len(self._live()) + n_own

    @invariant()
    def sides_of_a_task_are_balanced(self) -> None:
        for task_id, planned in self.planned.items():
            sides = [side for (_, done), (_, side) in self.done.items() if done == task_id]
            if len(sides) == planned.n_places:
                assert abs(sides.count(0) - sides.count(1)) <= 1


class AssignmentInAFile(Assignment):
    """The same in a SQLite file, which several connections read and write."""

    def open(self) -> SqlStore:
        self.folder = tempfile.TemporaryDirectory()
        return SqlStore.open(str(Path(self.folder.name) / "people.db"))

    def teardown(self) -> None:
        super().teardown()
        self.folder.cleanup()


TestAssignment = Assignment.TestCase
TestAssignmentInAFile = AssignmentInAFile.TestCase
TestAssignment.settings = TestAssignmentInAFile.settings = settings(
    max_examples=max(1, STEPS // 50), stateful_step_count=min(STEPS, 50), deadline=None
)

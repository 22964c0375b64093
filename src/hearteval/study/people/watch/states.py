"""How far somebody is in a study: one answer for the researcher's page, lists and exports."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from hearteval.domain.quality import excluded_now
from hearteval.store.people.base import Progress
from hearteval.store.people.persons import Person
from hearteval.study.people import Desk
from hearteval.study.people.kinds import RESEARCH

State = Literal[
    "consented", "screened", "working", "done", "paid", "stopped", "excluded", "withdrawn"
]
"""Of a person. Who is invited is a place of a link that nobody has come by yet, and who is screened
out or finds a group full is no person: both are counts of `Progress`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What the store knows of somebody that says how far they are.

    Attributes:
        asks_first: Whether the study asked them questions before it let them in.
        has_sent: Anything, practice too.
        is_done: Whether all that was asked of them is done, or nothing is left for them.
        is_paid: Whether they were paid for the last time they came.
        is_excluded: Whether they are left out of the study's numbers, which is no rejection.
    """

    person: Person
    asks_first: bool = False
    has_sent: bool = False
    is_done: bool = False
    is_paid: bool = False
    is_excluded: bool = False


def state_of(one: Standing) -> State:
    """Return how far somebody is.

    Withdrawn comes before all else, then excluded, so that nobody takes such a person's answers for
    answers that count; whether they were paid stands in the list for payment.
    """
    order: Sequence[tuple[State, bool]] = (
        ("withdrawn", one.person.withdrawn_at is not None),
        ("excluded", one.is_excluded),
        ("paid", one.is_paid),
        ("done", one.is_done),
        ("stopped", one.person.stopped_at is not None),
        ("working", one.has_sent),
        ("screened", one.asks_first),
    )
    return next((state for state, is_so in order if is_so), "consented")


def states_of(desk: Desk, progress: Progress, *, done: Collection[str]) -> Mapping[str, State]:
    """Return the state of everybody who takes part, by id, given the ids of who is done."""
    people, study_id = desk.session.store.people, desk.study.id
    excluded = excluded_now(people.exclusions(study_id))
    last = dict(people.submissions(study_id))
    sent = {person_id for (person_id, _, state) in progress.work if state == "done"}
    return {
        person.id: state_of(
            Standing(
                person=person,
                asks_first=bool(desk.settings.enrolment.questions),
                has_sent=person.id in sent or person.practice is not None,
                is_done=person.id in done,
                is_paid=person.id in last and last[person.id].paid_at is not None,
                is_excluded=person.name in excluded,
            )
        )
        for person in progress.people
        if RESEARCH not in person.kinds
    }

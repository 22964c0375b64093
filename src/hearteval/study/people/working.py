"""One person at work: the next task, an answer, a skip, a draft, a rest."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from hearteval.store.people.persons import Person
from hearteval.store.people.tasks import Lease, Outcome
from hearteval.study.people import Desk
from hearteval.study.people.checks import wish_of
from hearteval.study.people.joining import new_token, token_id
from hearteval.study.people.kinds import KINDS
from hearteval.study.people.practice import next_example
from hearteval.study.people.task import SIGNS, Answer, Form, Shown, TaskKind

BREAK = timedelta(minutes=30)
"""What ends a sitting."""
DAY = timedelta(days=1)
MOST_DRAFT = 20_000
MOST_WITHDRAWN = 20
"""Tasks in a row whose text was withdrawn while they were given out."""

Halt = Literal[
    "nothing_left",
    "load_done",
    "limit_session",
    "limit_day",
    "paused",
    "closed",
    "not_vetted",
    "place_gone",
]
"""Why there is no task, as `protocol/people_consent.toml` names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A task in hand, with what its page shows."""

    kind: TaskKind
    lease: Lease
    shown: Shown
    draft: Mapping[str, str]
    """What was written and not sent, by field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting:
    """How much somebody has done."""

    n_done: int
    """Ever."""
    n_sitting: int
    """Without a long break."""
    n_day: int
    """In the last 24 hours."""
    times: Sequence[datetime] = ()
    """Of all answers, the last first."""


def kinds_of(person: Person) -> list[TaskKind]:
    """Return the kinds of tasks that a person may take."""
    return [kind for kind in KINDS.values() if kind.name in person.kinds]


def count_sitting(times: Sequence[datetime], *, now: datetime) -> Sitting:
    """Count answers, given when they came, the last first."""
    n_sitting, last = 0, now
    for time in times:
        if last - time > BREAK:
            break
        n_sitting, last = n_sitting + 1, time
    n_day = sum(now - time < DAY for time in times)
    return Sitting(n_done=len(times), n_sitting=n_sitting, n_day=n_day, times=times)


def sitting_of(desk: Desk, person: Person, kind: TaskKind) -> Sitting:
    """Count what a person has done of a kind."""
    times = desk.session.store.people.answered(person, kind.name)
    return count_sitting(times, now=desk.session.now())


def count_done(desk: Desk, person: Person) -> int:
    """Count what a person has sent of every kind."""
    return sum(sitting_of(desk, person, kind).n_done for kind in kinds_of(person))


def load_of(desk: Desk, person: Person) -> list[datetime]:
    """Return when somebody answered tasks of any kind since they came last, the last first."""
    people = desk.session.store.people
    came = people.submissions(desk.study.id, person_id=person.id)
    since = came[-1][1].came_at if came else person.created_at
    return [at for at in people.answered(person) if at >= since]


def is_load_done(desk: Desk, person: Person, kind: TaskKind) -> bool:
    """Say whether somebody has done all that a study asks of each; reviewing has no end."""
    load = desk.settings.load
    return load is not None and kind.is_limited and len(load_of(desk, person)) >= load


def has_reached_limit(desk: Desk, kind: TaskKind, done: Sitting) -> bool:
    """Say whether somebody may not go on now, given what they have done of a kind."""
    return _limit(desk, kind, done) is not None


def opens_again(desk: Desk, kind: TaskKind, done: Sitting) -> datetime | None:
    """Return from when on somebody who has reached a limit may go on; None for who has not.

    A whole minute, and one that has begun: the next one shows no time at which it is too early.
    """
    ends = []
    if not has_reached_limit(desk, kind, done):
        return None
    if done.n_sitting >= desk.settings.most_per_session:
        ends.append(done.times[0] + BREAK)
    if done.n_day >= desk.settings.most_per_day:
        ends.append(done.times[desk.settings.most_per_day - 1] + DAY)
    return _next_minute(max(ends))


def practice_read_by(desk: Desk, person: Person) -> datetime | None:
    """Return when a new writer's practice will have been read; None where nobody promised it."""
    hours = desk.settings.practice_hours
    sent = None if hours is None else desk.session.store.people.practised_at(person)
    return None if hours is None or sent is None else _next_minute(sent + timedelta(hours=hours))


def _next_minute(at: datetime) -> datetime:
    return at.replace(second=0, microsecond=0) + timedelta(minutes=1)


def has_practised(desk: Desk, person: Person, kind: TaskKind) -> bool:
    """Return whether a person has done, and passed, what comes before tasks of a kind."""
    is_open = kind.has_examples and next_example(desk, person) is not None
    return kind.may_take(person) and not is_open


def next_work(desk: Desk, person: Person, kind: TaskKind, *, done: Sitting) -> Work | Halt:
    """Return a person's task of a kind, or why there is none, given what they have done."""
    if not has_practised(desk, person, kind):
        return "not_vetted"
    for _ in range(MOST_WITHDRAWN):
        lease = _next_lease(desk, person, kind, done=done)
        if not isinstance(lease, Lease):
            return lease
        work = open_work(desk, kind, lease)
        if work is not None:
            return work
        skip_task(desk, person, lease)  # somebody has withdrawn since it was given out
    return "nothing_left"


def _next_lease(desk: Desk, person: Person, kind: TaskKind, *, done: Sitting) -> Lease | Halt:
    people, now = desk.session.store.people, desk.session.now()
    length = timedelta(minutes=desk.settings.lease_minutes)
    # A page that is loaded again needs no writer's lock, while its lease is far from its end.
    lease = people.live(person, kind.name, now=now + length / 2)
    if lease is None:
        is_done = is_load_done(desk, person, kind)
        limit = "load_done" if is_done else _limit(desk, kind, done)
        if limit is not None and people.live(person, kind.name, now=now) is None:
            return limit
        if not people.take_places_again(person, now=now):
            return "place_gone"
        ticket = token_id(new_token())
        wish = wish_of(desk, person, kind.name, sitting=done.times[: done.n_sitting])
        lease = people.claim(person, kind.name, ticket=ticket, now=now, lease=length, wish=wish)
    if lease is None:
        return people.halted(desk.study.id) or "nothing_left"
    return lease


def _limit(desk: Desk, kind: TaskKind, done: Sitting) -> Halt | None:
    """Return the limit that somebody has reached."""
    if kind.is_limited and done.n_day >= desk.settings.most_per_day:
        return "limit_day"
    if kind.is_limited and done.n_sitting >= desk.settings.most_per_session:
        return "limit_session"
    return None


def open_work(desk: Desk, kind: TaskKind, lease: Lease) -> Work | None:
    """Return what the page of a task shows; None where a text of it was withdrawn."""
    draft = json.loads(lease.draft) if lease.draft else {}
    shown = kind.show(desk, lease)
    return None if shown is None else Work(kind=kind, lease=lease, shown=shown, draft=draft)


def find_lease(desk: Desk, person: Person, kind: TaskKind, ticket: str) -> Lease | None:
    """Return what a ticket stands for; None where it is another's, or of another kind."""
    if len(ticket) != 32 or not all(c in "0123456789abcdef" for c in ticket):
        return None
    found = desk.session.store.people.find_ticket(person, ticket)
    return found if found is not None and found.kind == kind.name else None


def send_answer(desk: Desk, person: Person, kind: TaskKind, lease: Lease, form: Form) -> Outcome:
    """Store an answer.

    Raises:
        AnswerError: It lacks something.
    """
    now = desk.session.now()
    answer = Answer(desk=desk, person=person, lease=lease, form=form, now=now)
    return desk.session.store.people.answer(person, lease, kind.read(answer), now=now)


def skip_task(desk: Desk, person: Person, lease: Lease) -> bool:
    """Pass a task on; say whether it was the person's to pass on."""
    return desk.session.store.people.skip(person, lease, now=desk.session.now())


def keep_draft(desk: Desk, person: Person, kind: TaskKind, lease: Lease, form: Form) -> bool:
    """Keep what is written so far; say whether the task is still the person's."""
    written = {name: form[name] for name in (*kind.keeps, *SIGNS) if form.get(name)}
    draft = json.dumps(written)
    if len(draft) > MOST_DRAFT:
        return False
    until = desk.session.now() + timedelta(minutes=desk.settings.lease_minutes)
    return desk.session.store.people.keep_draft(person, lease, draft, until=until)


def send_practice(desk: Desk, person: Person, text: str) -> Person:
    """Keep what a writer wrote to show how they write; a person of the study reads it."""
    return desk.session.store.people.change_person(
        person, "practised", {"practice": text}, now=desk.session.now()
    )

"""People: the links they come by, who they are, their browsers, and how they leave."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, or_, select, update

from hearteval.domain import record_id
from hearteval.protocol import ENGLISH
from hearteval.store.insertion import insertion
from hearteval.store.integrity.seal import Total, follow, is_sum, total_of
from hearteval.store.people.tables import (
    IDS,
    PRIVATE,
    dealings,
    invites,
    pauses,
    people,
    sessions,
    submissions,
    tasks,
)

Halted = Literal["", "paused", "closed"]
"""Whether a study goes on; gives out nothing new for a while; or is over, until it is opened."""
MOST_IMPORTED = 1_000_000_000
NOWHERE = "default"
"""The locale of who has not said where they are, or whose details are gone."""
_HERE = select(people.c.id).where(
    people.c.id == bindparam("person_id"), people.c.withdrawn_at.is_(None)
)
_OF_BROWSER = (
    select(people)
    .join(sessions, sessions.c.person_id == people.c.id)
    .where(sessions.c.id == bindparam("session_id"), sessions.c.expires_at > bindparam("now"))
    .where(people.c.withdrawn_at.is_(None))
)
_HALT = select(pauses.c.closed_at).where(pauses.c.study_id == bindparam("study_id"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Invite:
    """A link by which people come."""

    id: str
    """Half of the SHA-256 of its token."""
    study_id: str
    label: str
    kinds: tuple[str, ...]
    """Of tasks that those who come by it may take."""
    group: str | None
    vetting: str
    """What those who come by it have: ``none`` needed, ``pending``, or ``passed``."""
    most_people: int
    n_people: int = 0
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who takes part, under a pseudonym."""

    id: str
    study_id: str
    name: str
    """The pseudonym: the name of the rater, and the writer of a completion."""
    invite_id: str
    kinds: tuple[str, ...]
    group: str | None
    vetting: str
    locale: str
    language: str = ENGLISH
    """Of their pages, and so of their items."""
    created_at: datetime
    consent_version: str | None = None
    consented_at: datetime | None = None
    stopped_at: datetime | None = None
    withdrawn_at: datetime | None = None
    background: Mapping[str, Any] | None = field(default=None, repr=False)
    practice: str | None = field(default=None, repr=False)
    """What they wrote to show how they write; no completion."""
    salt: str | None = field(default=None, repr=False)
    """Of the hashes of their words in the log; None once they have withdrawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One time that somebody came, to be paid for what they do from then on.

    What a recruiting site calls them and this time is None where none sent them, and after it was
    deleted.
    """

    came_at: datetime
    platform: str | None = None
    participant: str | None = field(default=None, repr=False)
    submission: str | None = field(default=None, repr=False)
    """The site's name for this time; empty where it has none."""
    project: str | None = field(default=None, repr=False)
    paid_at: datetime | None = None


class WorkDone(NamedTuple):
    """One task that somebody has done."""

    person_id: str
    kind: str
    shown_at: datetime
    answered_at: datetime
    is_open: bool
    """Whether it is still among the tasks of the study."""


def add_invite(connection: Connection, invite: Invite) -> bool:
    """Keep a link; False where it is kept already."""
    new = insertion(connection, invites).on_conflict_do_nothing()
    return connection.execute(new.values(**_row_of(invite))).rowcount == 1


def list_invites(connection: Connection, study_id: str) -> list[Invite]:
    """Return the links of a study, the newest first."""
    query = select(invites).where(invites.c.study_id == study_id)
    rows = connection.execute(query.order_by(invites.c.created_at.desc(), invites.c.id))
    return [_invite(row) for row in rows]


def revoke_invite(connection: Connection, invite_id: str, *, now: datetime) -> bool:
    """Let nobody else come by a link; say whether it was one that worked."""
    one = update(invites).where(invites.c.id == invite_id, invites.c.revoked_at.is_(None))
    return connection.execute(one.values(revoked_at=now)).rowcount == 1


def extend_invite(
    connection: Connection, invite_id: str, *, more_people: int, until: datetime
) -> bool:
    """Let so many more come by a link, until a time; say whether nobody has closed it."""
    one = update(invites).where(invites.c.id == invite_id, invites.c.revoked_at.is_(None))
    wider = {"most_people": invites.c.most_people + more_people, "expires_at": until}
    return connection.execute(one.values(wider)).rowcount == 1


def find_invite(
    connection: Connection, invite_id: str, *, now: datetime | None = None
) -> Invite | None:
    """Return a link; with a time, only one that works then, though it may be full."""
    query = select(invites).where(invites.c.id == invite_id)
    if now is not None:
        query = query.where(invites.c.revoked_at.is_(None), invites.c.expires_at > now)
    row = connection.execute(query).first()
    return None if row is None else _invite(row)


def find_guest(connection: Connection, invite: Invite, participant: str | None) -> Person | None:
    """Return who has come before: with that id by any link, or by a link for one person."""
    query = select(people).where(people.c.withdrawn_at.is_(None))
    if participant is not None:
        known = select(submissions.c.person_id).where(
            submissions.c.study_id == invite.study_id, submissions.c.participant == participant
        )
        query = query.where(people.c.id.in_(known))
    elif invite.most_people == 1:
        query = query.where(people.c.invite_id == invite.id)
    else:
        return None
    row = connection.execute(query.order_by(people.c.created_at, people.c.id)).first()
    return None if row is None else _person(row)


def note_coming(connection: Connection, person: Person, came: Submission) -> None:
    """Keep that somebody came, unless that was kept; without a site's ids only the first time."""
    there = list_submissions(connection, person.study_id, person_id=person.id)
    known = {(one.participant, one.submission) for _, one in there}
    if (came.participant, came.submission) in known or (there and came.participant is None):
        return
    row = {name: getattr(came, name) for name in came.__slots__}
    of = {"person_id": person.id, "study_id": person.study_id, "number": len(there)}
    connection.execute(insert(submissions), [{**row, **of}])


def list_submissions(
    connection: Connection, study_id: str, *, person_id: str | None = None
) -> list[tuple[str, Submission]]:
    """Return when people came, with the id of each, a person's in order; or of one person."""
    s = submissions.c
    query = select(submissions).where(s.study_id == study_id)
    if person_id is not None:
        query = query.where(s.person_id == person_id)
    rows = connection.execute(query.order_by(s.person_id, s.number))
    names = Submission.__slots__
    return [
        (row.person_id, Submission(**{name: getattr(row, name) for name in names})) for row in rows
    ]


def set_paid(
    connection: Connection, person_id: str, came_at: datetime, *, at: datetime | None
) -> bool:
    """Keep that somebody was paid for a time they came, or was not; say whether that is new."""
    s = submissions.c
    one = update(submissions).where(s.person_id == person_id, s.came_at == came_at)
    changed = s.paid_at.is_not(None) if at is None else s.paid_at.is_(None)
    return connection.execute(one.where(changed).values(paid_at=at)).rowcount > 0


def lock_study(connection: Connection, invite: Invite) -> None:
    """Let one person join a study at a time, so that nobody joins twice by two links."""
    of_study = update(invites).where(invites.c.study_id == invite.study_id)
    connection.execute(of_study.values(n_people=invites.c.n_people))


def take_place(connection: Connection, invite_id: str) -> bool:
    """Count one more who has come by a link; False where it is full."""
    one = update(invites).where(
        invites.c.id == invite_id, invites.c.n_people < invites.c.most_people
    )
    return connection.execute(one.values(n_people=invites.c.n_people + 1)).rowcount == 1


def add_person(connection: Connection, person: Person) -> bool:
    """Let somebody in; False where the link is full."""
    if not take_place(connection, person.invite_id):
        return False
    connection.execute(insert(people), [_row_of(person)])
    one = people.c.id == person.id
    follow(connection, people.name, person.study_id, come=_sum(connection, one))
    return True


def let_in(
    connection: Connection, there: Person | None, invite: Invite, arrived: Person
) -> Person | None:
    """Let somebody in by a link, or who is there do what it allows too; None where it is full."""
    if there is None:
        return arrived if add_person(connection, arrived) else None
    return widen(connection, there, invite, arrived) if take_place(connection, invite.id) else None


def widen(connection: Connection, person: Person, invite: Invite, arrived: Person) -> Person:
    """Let somebody who came by another link do what this one allows too; return them changed."""
    kinds = (*person.kinds, *(kind for kind in invite.kinds if kind not in person.kinds))
    is_open = person.vetting == "none" or (person.vetting, invite.vetting) == ("pending", "passed")
    vetting = invite.vetting if is_open else person.vetting
    values: dict[str, Any] = {
        "vetting": vetting,
        "consent_version": arrived.consent_version or person.consent_version,
    }
    change_person(connection, person.id, {**values, "kinds": list(kinds)})
    return replace(person, kinds=kinds, **values)


def take_in(
    connection: Connection, study_id: str, name: str, *, group: str | None, now: datetime
) -> None:
    """Know somebody who took part elsewhere, under a link that nobody can come by."""
    invite = Invite(
        id=record_id("invite", {"study_id": study_id, "of": "imported"}),
        study_id=study_id,
        label="imported",
        kinds=(),
        group=None,
        vetting="none",
        most_people=MOST_IMPORTED,
        created_at=now,
        expires_at=now,
        revoked_at=now,
    )
    add_invite(connection, invite)
    person = Person(
        id=record_id("person", {"study_id": study_id, "name": name}),
        study_id=study_id,
        name=name,
        invite_id=invite.id,
        kinds=(),
        group=group,
        vetting="none",
        locale=NOWHERE,
        created_at=now,
    )
    add_person(connection, person)


def find_person(connection: Connection, person_id: str) -> Person | None:
    """Return a person."""
    row = connection.execute(select(people).where(people.c.id == person_id)).first()
    return None if row is None else _person(row)


def is_here(connection: Connection, person_id: str) -> bool:
    """Say whether a person takes part: they have not withdrawn."""
    return connection.execute(_HERE, {"person_id": person_id}).first() is not None


def list_people(connection: Connection, study_id: str) -> list[Person]:
    """Return the people of a study, in the order in which they came."""
    query = select(people).where(people.c.study_id == study_id)
    rows = connection.execute(query.order_by(people.c.created_at, people.c.id))
    return [_person(row) for row in rows]


def find_names(connection: Connection, names: Sequence[str]) -> list[Person]:
    """Return the people of these pseudonyms."""
    rows = connection.execute(select(people).where(people.c.name.in_(names)))
    return [_person(row) for row in rows]


def change_person(connection: Connection, person_id: str, values: Mapping[str, Any]) -> None:
    """Change what is known of a person."""
    one = people.c.id == person_id
    before = _sum(connection, one)
    connection.execute(update(people).where(one).values(**values))
    of = select(people.c.study_id).where(one)
    for study_id in connection.execute(of).scalars():
        follow(connection, people.name, study_id, gone=before, come=_sum(connection, one))


def are_written(connection: Connection, study_id: str) -> bool:
    """Say whether the people of a study, and what is known of them, are what was written."""
    found = _sum(connection, people.c.study_id == study_id)
    return is_sum(connection, people.name, study_id, found)


def _sum(connection: Connection, which: Any) -> Total:
    return total_of(map(tuple, connection.execute(select(people).where(which))))


def open_browser(
    connection: Connection, *, session_id: str, person_id: str, expires_at: datetime
) -> None:
    """Know a browser as a person's."""
    row = {"id": session_id, "person_id": person_id, "expires_at": expires_at}
    connection.execute(insertion(connection, sessions).values(**row).on_conflict_do_nothing())


def find_browser(connection: Connection, session_id: str, *, now: datetime) -> Person | None:
    """Return whose browser it is."""
    row = connection.execute(_OF_BROWSER, {"session_id": session_id, "now": now}).first()
    return None if row is None else _person(row)


def renew_browser(connection: Connection, session_id: str, *, until: datetime) -> None:
    """Know a browser for longer."""
    one = update(sessions).where(sessions.c.id == session_id, sessions.c.expires_at < until)
    connection.execute(one.values(expires_at=until))


def list_browsers(
    connection: Connection, study_id: str, *, now: datetime
) -> list[tuple[str, str, datetime]]:
    """Return the browsers that are known in a study: id, person's id, and until when."""
    query = (
        select(sessions.c.id, sessions.c.person_id, sessions.c.expires_at)
        .join(people, people.c.id == sessions.c.person_id)
        .where(people.c.study_id == study_id, sessions.c.expires_at > now)
        .order_by(sessions.c.expires_at.desc(), sessions.c.id)
    )
    return [(row[0], row[1], row[2]) for row in connection.execute(query)]


def close_browser(connection: Connection, session_id: str) -> None:
    """Know a browser no more."""
    connection.execute(delete(sessions).where(sessions.c.id == session_id))


def forget_person(connection: Connection, person_id: str, *, now: datetime) -> None:
    """Delete who somebody is: what is left is a pseudonym that has withdrawn."""
    connection.execute(delete(sessions).where(sessions.c.person_id == person_id))
    _forget_ids(connection, person_id)
    gone: dict[str, Any] = {**dict.fromkeys(PRIVATE), "locale": NOWHERE}
    change_person(connection, person_id, {**gone, "withdrawn_at": now})
    theirs = update(dealings).where(dealings.c.person_id == person_id)
    connection.execute(theirs.values(signs=None, answer_hash=None))


def forget_details(connection: Connection, study_id: str, *, before: datetime) -> list[str]:
    """Delete platform ids and answers about themselves of people who came before; return who."""
    has_ids = select(submissions.c.person_id).where(submissions.c.participant.is_not(None))
    old = (
        people.c.study_id == study_id,
        people.c.created_at < before,
        or_(
            people.c.id.in_(has_ids),
            people.c.background.is_not(None),
            people.c.practice.is_not(None),
            people.c.locale != NOWHERE,
        ),
    )
    found = list(connection.execute(select(people.c.id).where(*old)).scalars())
    gone = {"background": None, "practice": None, "locale": NOWHERE}
    for person_id in found:
        _forget_ids(connection, person_id)
        change_person(connection, person_id, gone)
    return found


def _forget_ids(connection: Connection, person_id: str) -> None:
    theirs = update(submissions).where(submissions.c.person_id == person_id)
    connection.execute(theirs.values(**dict.fromkeys(IDS)))


def halt(connection: Connection, study_id: str, wanted: Halted, *, at: datetime) -> None:
    """Give out nothing new in a study from now on, or again."""
    connection.execute(delete(pauses).where(pauses.c.study_id == study_id))
    if wanted:
        closed_at = at if wanted == "closed" else None
        row = {"study_id": study_id, "paused_at": at, "closed_at": closed_at}
        connection.execute(insert(pauses), [row])


def halted(connection: Connection, study_id: str) -> Halted:
    """Say whether a study goes on."""
    row = connection.execute(_HALT, {"study_id": study_id}).first()
    if row is None:
        return ""
    return "paused" if row.closed_at is None else "closed"


def count_work(connection: Connection, study_id: str) -> dict[tuple[str, str, str], int]:
    """Count each person's dealings, by person, kind of task and state."""
    query = (
        select(dealings.c.person_id, tasks.c.kind, dealings.c.state, func.count())
        .join(tasks, tasks.c.id == dealings.c.task_id)
        .where(tasks.c.study_id == study_id)
        .group_by(dealings.c.person_id, tasks.c.kind, dealings.c.state)
    )
    return {(row[0], row[1], row[2]): row[3] for row in connection.execute(query)}


def list_done(connection: Connection, study_id: str) -> list[WorkDone]:
    """Return what people have done, each task once, in the order in which it was answered."""
    d = dealings.c
    query = (
        select(d.person_id, tasks.c.kind, d.shown_at, d.answered_at, tasks.c.closed_at.is_(None))
        .join(tasks, tasks.c.id == d.task_id)
        .join(people, people.c.id == d.person_id)  # a check is a task of no study with results
        .where(people.c.study_id == study_id, d.state == "done")
        .order_by(d.answered_at, d.task_id)
    )
    return [WorkDone(*row) for row in connection.execute(query)]


def signs_by_person(connection: Connection, study_id: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return what was noticed while people answered, where anything was: pastes, times away."""
    query = (
        select(dealings.c.person_id, dealings.c.signs)
        .join(tasks, tasks.c.id == dealings.c.task_id)
        .where(tasks.c.study_id == study_id, dealings.c.signs != {})
    )
    return [(row.person_id, row.signs) for row in connection.execute(query)]


def _row_of(one: Invite | Person) -> dict[str, Any]:
    values = {name: getattr(one, name) for name in one.__slots__}
    return {**values, "kinds": list(one.kinds)}


def _invite(row: Row[Any]) -> Invite:
    values = dict(row._mapping)
    return Invite(**{**values, "kinds": tuple(values["kinds"])})


def _person(row: Row[Any]) -> Person:
    values = dict(row._mapping)
    return Person(**{**values, "kinds": tuple(values["kinds"])})

"""Who is let in: places of quotas, who was turned away, and who agreed to what.

A place of a quota is taken in the transaction in which somebody joins, and is free again when they
stop before having sent anything, when they have sent nothing for a day and somebody else wants it,
or when they withdraw. Who has sent something keeps it.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    case,
    delete,
    exists,
    func,
    insert,
    literal,
    select,
    update,
)

from hearteval.domain import content_hash, record_id
from hearteval.store.insertion import insertion
from hearteval.store.people.persons import Invite, take_place
from hearteval.store.people.tables import (
    consent_texts,
    consents,
    dealings,
    people,
    quota_places,
    quotas,
    turned_away,
)
from hearteval.store.schema import Id

IDLE = timedelta(days=1)
"""After which a place of who has sent nothing is somebody else's, if they want it."""
TurnedAway = Literal["screened_out", "group_full"]
"""Why somebody who agreed was not let in."""


class GroupFullError(Exception):
    """Somebody fits a quota that has no place left; raised, nothing of their joining stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """A group of people by what they answered.

    Attributes:
        answers: By question, one or more of which each of them gave.
    """

    study_id: str
    answers: Mapping[str, str | Sequence[str]]
    most: int
    n_people: int = 0

    @property
    def id(self) -> str:
        """How many it is for may change, and it stays the same."""
        return record_id("quota", {"study_id": self.study_id, "answers": self.answers})


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """What somebody agreed to.

    Attributes:
        version: Names it, whatever the language.
        text: As they read it.
    """

    version: str
    text: str
    at: datetime


class Entry(NamedTuple):
    """What somebody new comes in with: what they agreed to, and the quotas that they fit."""

    consent: Consent | None = None
    quotas: Sequence[Quota] = ()


def enter(
    connection: Connection, person_id: str, entry: Entry, *, is_first: bool, now: datetime
) -> None:
    """Keep what somebody who joins agreed to; who is new takes a place of each quota they fit.

    Raises:
        GroupFullError: One of them has none; the transaction must not be committed.
    """
    if entry.consent is not None:
        keep_consent(connection, person_id, entry.consent)
    for quota in sorted(entry.quotas, key=lambda one: one.id) if is_first else ():
        _follow_file(connection, quota)
        if not _take(connection, quota.id):
            _free_idle(connection, quota.id, now=now)
            if not _take(connection, quota.id):
                raise GroupFullError
        row = {"quota_id": quota.id, "person_id": person_id, "taken_at": now}
        connection.execute(insert(quota_places), [row])


def give_back_places(connection: Connection, person_id: str, *, now: datetime) -> None:
    """Free the places of somebody who leaves, unless they have sent anything."""
    if connection.execute(select(_has_sent(literal(person_id, Id)))).scalar_one():
        return
    for quota_id in _held_by(connection, person_id):
        _give_back(connection, quota_id, person_id, now=now)


def take_again(connection: Connection, person_id: str, *, now: datetime) -> None:
    """Give somebody who goes on the places that they gave back.

    Raises:
        GroupFullError: One is another's now; the transaction must not be committed.
    """
    p = quota_places.c
    theirs = select(p.quota_id).where(p.person_id == person_id, p.given_back_at.is_not(None))
    for quota_id in connection.execute(theirs.order_by(p.quota_id)).scalars().all():
        if not _take(connection, quota_id):
            _free_idle(connection, quota_id, now=now)
            if not _take(connection, quota_id):
                raise GroupFullError
        one = update(quota_places).where(p.quota_id == quota_id, p.person_id == person_id)
        connection.execute(one.values(taken_at=now, given_back_at=None))


def has_given_back(connection: Connection, person_id: str) -> bool:
    """Say whether somebody has to take their places again before they go on."""
    p = quota_places.c
    query = select(p.quota_id).where(p.person_id == person_id, p.given_back_at.is_not(None))
    return connection.execute(query.limit(1)).first() is not None


def leave_places(connection: Connection, person_id: str) -> None:
    """Free the places of somebody who withdraws, and forget that they had them."""
    for quota_id in _held_by(connection, person_id):
        _count(connection, quota_id, -1)
    forget_places(connection, [person_id])


def forget_places(connection: Connection, person_ids: Sequence[str]) -> None:
    """Forget who has which place; how many are taken stays known."""
    for person_id in person_ids:
        connection.execute(delete(quota_places).where(quota_places.c.person_id == person_id))


def list_quotas(connection: Connection, study_id: str) -> list[Quota]:
    """Return the quotas of a study that somebody has fitted, with how many have a place."""
    rows = connection.execute(select(quotas).where(quotas.c.study_id == study_id)).mappings()
    found = [Quota(**{name: row[name] for name in Quota.__slots__}) for row in rows]
    return sorted(found, key=lambda one: str(sorted(one.answers.items())))


def _follow_file(connection: Connection, quota: Quota) -> None:
    """Make a quota as the study's file has it; with fewer places than are taken it is full."""
    row = {name: getattr(quota, name) for name in Quota.__slots__} | {"id": quota.id}
    connection.execute(insertion(connection, quotas).values(**row).on_conflict_do_nothing())
    most = case((quotas.c.n_people > quota.most, quotas.c.n_people), else_=quota.most)
    one = update(quotas).where(quotas.c.id == quota.id, quotas.c.most != quota.most)
    connection.execute(one.values(most=most))


def _take(connection: Connection, quota_id: str) -> bool:
    is_free = quotas.c.n_people < quotas.c.most
    one = update(quotas).where(quotas.c.id == quota_id, is_free)
    return connection.execute(one.values(n_people=quotas.c.n_people + 1)).rowcount == 1


def _count(connection: Connection, quota_id: str, by: int) -> None:
    one = update(quotas).where(quotas.c.id == quota_id)
    connection.execute(one.values(n_people=quotas.c.n_people + by))


def _held_by(connection: Connection, person_id: str) -> list[str]:
    p = quota_places.c
    held = select(p.quota_id).where(p.person_id == person_id, p.given_back_at.is_(None))
    return list(connection.execute(held.order_by(p.quota_id)).scalars())


def _give_back(connection: Connection, quota_id: str, person_id: str, *, now: datetime) -> None:
    p = quota_places.c
    mine = (p.quota_id == quota_id, p.person_id == person_id, p.given_back_at.is_(None))
    if connection.execute(update(quota_places).where(*mine).values(given_back_at=now)).rowcount:
        _count(connection, quota_id, -1)


def _has_sent(person_id: ColumnElement[str]) -> ColumnElement[bool]:
    """Return the condition that somebody has sent anything: an answer, or a practice reply."""
    d, p = dealings.c, people.c
    answered = exists().where(d.person_id == person_id, d.state == "done")
    practised = exists().where(p.id == person_id, p.practice.is_not(None), p.vetting != "failed")
    return answered | practised


def _free_idle(connection: Connection, quota_id: str, *, now: datetime) -> None:
    """Free the places of a quota whose people have sent nothing for long."""
    p = quota_places.c
    held = (p.quota_id == quota_id, p.given_back_at.is_(None), p.taken_at <= now - IDLE)
    idle = select(p.person_id).where(*held, ~_has_sent(p.person_id))
    for person_id in connection.execute(idle).scalars().all():
        _give_back(connection, quota_id, person_id, now=now)


def turn_away(
    connection: Connection,
    invite: Invite,
    participant: str | None,
    what: TurnedAway,
    *,
    now: datetime,
) -> bool:
    """Count somebody who was not let in; False where they are counted already.

    A link for one person is used up by them, whatever id it is opened with later.
    """
    row = {"id": secrets.token_hex(16), "study_id": invite.study_id, "what": what, "at": now}
    mark = _mark_of(invite, participant)
    new = insertion(connection, turned_away).values(**row, mark=mark).on_conflict_do_nothing()
    is_new = connection.execute(new).rowcount == 1
    if is_new and invite.most_people == 1:
        take_place(connection, invite.id)
    return is_new


def was_turned_away(
    connection: Connection, invite: Invite, participant: str | None
) -> TurnedAway | None:
    """Return why who comes by a link was not let in before; None where that is not known."""
    mark = _mark_of(invite, participant)
    query = select(turned_away.c.what).where(
        turned_away.c.study_id == invite.study_id, turned_away.c.mark == mark
    )
    return None if mark is None else connection.execute(query).scalar()


def require_not_turned_away(
    connection: Connection, invite: Invite, participant: str | None
) -> None:
    """Raise `GroupFullError` where whoever joins was turned away while they were asked."""
    if was_turned_away(connection, invite, participant):
        raise GroupFullError


def count_turned_away(connection: Connection, study_id: str) -> dict[TurnedAway, int]:
    """Count who was not let in, by why."""
    what = turned_away.c.what
    query = select(what, func.count()).where(turned_away.c.study_id == study_id).group_by(what)
    return {row[0]: row[1] for row in connection.execute(query)}


def forget_marks(connection: Connection, study_id: str, *, before: datetime) -> None:
    """Forget by which ids those came who were turned away before a time; their number stays."""
    t = turned_away.c
    old = (t.study_id == study_id, t.at < before, t.mark.is_not(None))
    connection.execute(update(turned_away).where(*old).values(mark=None))


def _mark_of(invite: Invite, participant: str | None) -> str | None:
    """Return what tells whether somebody comes again: no id, but a hash of it and the study.

    A link for one person is theirs. Of who else has no id nothing can be known. The hash has no
    key, which would stand in the same store: whoever reads the one reads the other, and the plain
    ids of `submissions`. It hides an id from a glance, not from who tries known ones;
    `forget_marks` ends that.
    """
    if participant is None and invite.most_people > 1:
        return None
    by = {"link": invite.id} if participant is None else {"id": participant}
    return record_id("turned away", {"study_id": invite.study_id, **by})


def keep_consent(connection: Connection, person_id: str, consent: Consent) -> None:
    """Keep that somebody agreed, and to what."""
    text_id = content_hash(consent.text)[:32]
    text = insertion(connection, consent_texts).values(id=text_id, text=consent.text)
    connection.execute(text.on_conflict_do_nothing())
    row = {"person_id": person_id, "at": consent.at, "version": consent.version}
    new = insertion(connection, consents).values(**row, text_id=text_id)
    connection.execute(new.on_conflict_do_nothing())


def list_consents(connection: Connection, person_id: str) -> list[Consent]:
    """Return what somebody agreed to, the first time first."""
    joined = consents.join(consent_texts, consent_texts.c.id == consents.c.text_id)
    query = select(consents.c.version, consent_texts.c.text, consents.c.at).select_from(joined)
    rows: Sequence[Any] = connection.execute(
        query.where(consents.c.person_id == person_id).order_by(consents.c.at)
    ).all()
    return [Consent(version=row.version, text=row.text, at=row.at) for row in rows]

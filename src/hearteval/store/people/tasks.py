"""Who gets which task, and how it ends: claim, answer, skip, lapse; each in one transaction.

The states of a dealing, what one person has to do with one task:

- ``held``: the person has a place, until the lease ends; ``done``: they answered, for good;
- ``lapsed``: the lease ended and the place is free for others; an answer that comes late counts
  while a place of the same side is free;
- ``skipped``: the person passed it on; it comes back only when they ask for what they skipped;
- ``own``: the task shows the person's own text or answer, so it never comes; or they wrote for the
  item and have withdrawn.

A claim returns the person's live lease if there is one, else a free place: see `choosing`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, Integer, Row, bindparam, func, insert, select, update
from sqlalchemy.sql import ColumnElement

from hearteval.domain import record_id
from hearteval.store import schema
from hearteval.store.insertion import insertion
from hearteval.store.integrity.as_read import AS_TIMED
from hearteval.store.integrity.seal import follow, is_sum, total_of
from hearteval.store.people.choosing import (
    HOLDING,
    Claimant,
    Place,
    find_any_free,
    find_free,
    find_lapsed,
    find_new,
    find_wished,
)
from hearteval.store.people.tables import dealings, people, places, tasks
from hearteval.store.records import Record
from hearteval.store.rows import in_groups, timed_query

Outcome = Literal["stored", "same", "other", "late", "absent"]
_MINE = (dealings.c.task_id == bindparam("of_task")) & (
    dealings.c.person_id == bindparam("of_person")
)
_LEASES = select(dealings, tasks.c.study_id, tasks.c.kind, tasks.c.target_id).join(
    tasks, tasks.c.id == dealings.c.task_id
)
_LIVE = _LEASES.where(
    dealings.c.person_id == bindparam("person_id"),
    dealings.c.state == "held",
    dealings.c.leased_until > bindparam("until"),
    tasks.c.kind == bindparam("kind"),
).limit(1)
_OF_TICKET = _LEASES.where(
    dealings.c.person_id == bindparam("person_id"), dealings.c.ticket == bindparam("ticket")
)
_STATE = select(dealings.c.state, dealings.c.side, dealings.c.answer_hash).where(
    _MINE, dealings.c.ticket == bindparam("ticket")
)
_ENDED = select(dealings.c.task_id, dealings.c.person_id).where(
    dealings.c.state == "held", dealings.c.leased_until <= bindparam("now")
)
_ANSWERED = (
    select(dealings.c.answered_at)
    .join(tasks, tasks.c.id == dealings.c.task_id)
    .where(dealings.c.person_id == bindparam("person_id"), dealings.c.state == "done")
    .order_by(dealings.c.answered_at.desc())
)
_DEALT = (
    select(tasks.c.study_id, tasks.c.target_id, dealings.c.state, dealings.c.answered_at)
    .join(tasks, tasks.c.id == dealings.c.task_id)
    .where(dealings.c.person_id == bindparam("person_id"), tasks.c.kind == bindparam("kind"))
    .where(dealings.c.state != "own")
    .order_by(dealings.c.answered_at, tasks.c.target_id)
)
_NEW = insert(dealings)
_CHANGE = update(dealings).where(_MINE)
_RENEW = update(dealings).where(dealings.c.ticket == bindparam("of_ticket"))
_COUNT = (
    update(tasks)
    .where(tasks.c.id == bindparam("of_task"))
    .values(n_taken=tasks.c.n_taken + bindparam("by"), turn=tasks.c.turn + bindparam("by"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTask:
    """Something that so many people are to do."""

    study_id: str
    kind: str
    target_id: str
    """The item, pair or completion that it is about."""
    rank: int
    """Its place in the order of the study's seed; its parity is the side of the first place."""
    n_places: int
    writers: tuple[str, ...] = ()
    """Pseudonyms of those whose own text or answer it shows."""
    language: str | None = None
    """Whose readers alone may take it; None for anybody."""

    @property
    def id(self) -> str:
        """Id of the task."""
        fields = {"study": self.study_id, "kind": self.kind, "target": self.target_id}
        return record_id("task", fields)


class Wish(NamedTuple):
    """What a person is to get rather than the next of all tasks."""

    target_id: str = ""
    """An open task about this, where they may take it; "" for none."""
    own: PlannedTask | None = None
    """A task of theirs alone, with one place and in another study than theirs."""
    records: Sequence[Record] = ()
    """What it is about, stored with it."""


ANY = Wish()
"""The next of all tasks."""


class Dealt(NamedTuple):
    """What a person was given, or has passed on."""

    study_id: str
    target_id: str
    state: str
    answered_at: datetime | None


class Lease(NamedTuple):
    """A task in the hands of a person."""

    task_id: str
    study_id: str
    """Of the task: a check or a repeat is of another than the person's."""
    person_id: str
    kind: str
    target_id: str
    ticket: str
    """Random; what the page sends back, and all that it says of the task."""
    side: int
    """Of a pair: 0 if its first completion, by id, stands first."""
    state: str
    shown_at: datetime
    draft: str | None
    """What the person has written and not sent."""


class Closing(NamedTuple):
    """What closes a task."""

    record_id: str
    """Of the record that answers it."""
    answer_hash: str
    signs: Mapping[str, Any]
    """What was noticed meanwhile: pastes, times away."""


class OpenCount(NamedTuple):
    """How far the tasks of one kind are."""

    kind: str
    n_tasks: int
    n_places: int
    n_done: int
    n_held: int


def plan(connection: Connection, planned: Sequence[PlannedTask]) -> int:
    """Add tasks, or places to those that had fewer; return how many tasks were new.

    What shows a text of somebody who has withdrawn since it was read is left out.
    """
    who = _find_writers(connection, planned)
    gone = {row.name for row in who if row.withdrawn_at is not None}
    planned = [one for one in planned if gone.isdisjoint(one.writers)]
    known: dict[str, int] = {}
    closed: set[str] = set()
    for some in in_groups([one.id for one in planned]):
        query = select(tasks.c.id, tasks.c.n_places, tasks.c.closed_at).where(tasks.c.id.in_(some))
        rows = connection.execute(query).all()
        known |= {row.id: row.n_places for row in rows}
        closed |= {row.id for row in rows if row.closed_at is not None}
    new = [one for one in planned if one.id not in known]
    if new:
        turns = _turns(connection, new[0].study_id)
        connection.execute(
            insert(tasks), [_task_row(one, turn=turns.get(one.kind, 0)) for one in new]
        )
        told = [(one.id, one.study_id, one.kind, one.target_id) for one in new]
        follow(connection, tasks.name, new[0].study_id, come=total_of(told))
    more = [one for one in planned if one.n_places > known.get(one.id, 0)]
    spots = [
        {"task_id": one.id, "place": place, "side": (one.rank + place) % 2}
        for one in more
        for place in range(known.get(one.id, 0), one.n_places)
    ]
    if spots:
        connection.execute(insert(places), spots)
    for one in more:
        if one.id in known:
            wider = update(tasks).where(tasks.c.id == one.id).values(n_places=one.n_places)
            connection.execute(wider)
    # What comes back may show what somebody has written since.
    again = [one for one in planned if one.id in closed]
    _bar_writers(connection, [*new, *again], {row.name: row.id for row in who})
    return len(new)


def open_only(
    connection: Connection, study_id: str, wanted: Collection[str], *, now: datetime
) -> None:
    """Close the tasks of a study that are none of these, by id, and open again those that are.

    A text may lose its release, and get it back.
    """
    of_study = select(tasks.c.id, tasks.c.closed_at).where(tasks.c.study_id == study_id)
    rows = connection.execute(of_study).all()
    back = [row.id for row in rows if row.closed_at is not None and row.id in wanted]
    for some in in_groups(back):
        connection.execute(update(tasks).where(tasks.c.id.in_(some)).values(closed_at=None))
    unwanted = [row.id for row in rows if row.closed_at is None and row.id not in wanted]
    for some in in_groups(unwanted):
        _close(connection, tasks.c.id.in_(some), now=now)


def _turns(connection: Connection, study_id: str) -> dict[str, int]:
    """Return for each kind of task the highest turn of those that are open."""
    query = (
        select(tasks.c.kind, func.max(tasks.c.turn))
        .where(tasks.c.study_id == study_id, tasks.c.closed_at.is_(None))
        .where(tasks.c.n_taken < tasks.c.n_places)
        .group_by(tasks.c.kind)
    )
    return {row[0]: row[1] for row in connection.execute(query)}


def _task_row(one: PlannedTask, *, turn: int) -> dict[str, Any]:
    return {
        "id": one.id,
        "study_id": one.study_id,
        "kind": one.kind,
        "target_id": one.target_id,
        "rank": one.rank,
        "n_places": one.n_places,
        "n_taken": 0,
        "turn": turn,
        "language": one.language,
        "closed_at": None,
    }


def _find_writers(connection: Connection, planned: Sequence[PlannedTask]) -> list[Any]:
    """Return the people whose own text some tasks show."""
    names = sorted({name for one in planned for name in one.writers})
    query = select(people.c.id, people.c.name, people.c.withdrawn_at)
    return [
        row
        for some in in_groups(names)
        for row in connection.execute(query.where(people.c.name.in_(some)))
    ]


def _bar_writers(
    connection: Connection, planned: Sequence[PlannedTask], by_name: Mapping[str, str]
) -> None:
    """Keep writers, whose ids are given by name, from what shows their own text or answer."""
    own = [
        {"task_id": one.id, "person_id": by_name[name], "state": "own"}
        for one in planned
        for name in sorted(set(one.writers))
        if name in by_name
    ]
    if own:
        connection.execute(insertion(connection, dealings).on_conflict_do_nothing(), own)


def find_targets(
    connection: Connection, study_id: str, kind: str, *, only_begun: bool
) -> frozenset[str]:
    """Return what the tasks of a kind are about, closed ones too; or only what somebody took."""
    query = select(tasks.c.target_id).where(tasks.c.study_id == study_id, tasks.c.kind == kind)
    if only_begun:
        query = query.where(tasks.c.n_taken > 0)
    return frozenset(connection.execute(query).scalars())


def are_written(connection: Connection, study_id: str) -> bool:
    """Say whether a study's tasks are about what they were made for."""
    t = tasks.c
    query = select(t.id, t.study_id, t.kind, t.target_id).where(t.study_id == study_id)
    found = total_of(map(tuple, connection.execute(query)))
    return is_sum(connection, tasks.name, study_id, found)


def close_about(connection: Connection, completion_ids: Sequence[str], *, now: datetime) -> int:
    """Give out no more of what shows these completions, in any study; return how many tasks."""
    n = 0
    for some in in_groups(completion_ids):
        p = schema.pairs.c
        shown = select(p.id).where(p.low_completion_id.in_(some) | p.high_completion_id.in_(some))
        about = tasks.c.target_id.in_(some) | tasks.c.target_id.in_(shown)
        n += _close(connection, about, now=now)
    return n


def give_back(connection: Connection, completion_ids: Sequence[str]) -> None:
    """Free the places of those who wrote these completions, so that others can write instead."""
    for some in in_groups(completion_ids):
        written = select(dealings.c.task_id, dealings.c.person_id).where(
            dealings.c.record_id.in_(some)
        )
        for row in connection.execute(written).all():
            mine = (dealings.c.task_id == row.task_id) & (dealings.c.person_id == row.person_id)
            connection.execute(
                update(dealings).where(mine).values(record_id=None, state="own", place=None)
            )
            _count(connection, row.task_id, -1)


def _close(connection: Connection, which: ColumnElement[bool], *, now: datetime) -> int:
    """Close tasks, and take them out of the hands of those who have not answered yet."""
    of_them = select(tasks.c.id).where(which, tasks.c.closed_at.is_(None))
    held = select(dealings.c.task_id, dealings.c.person_id).where(
        dealings.c.state == "held", dealings.c.task_id.in_(of_them)
    )
    for row in connection.execute(held).all():
        _leave_place(connection, row.task_id, row.person_id, state="lapsed")
    closing = update(tasks).where(which, tasks.c.closed_at.is_(None))
    return connection.execute(closing.values(closed_at=now)).rowcount


def release_expired(connection: Connection, *, now: datetime) -> int:
    """Free the places of leases that have ended; return how many."""
    found = connection.execute(_ENDED, {"now": now}).all()
    for row in found:
        _leave_place(connection, row.task_id, row.person_id, state="lapsed")
    return len(found)


def renew(
    connection: Connection, who: Claimant, *, now: datetime, lease: timedelta
) -> Lease | None:
    """Return what a person has in hand, for longer; None where they have nothing."""
    live = find_live(connection, who, until=now)
    if live is not None:
        renewed = {"of_ticket": live.ticket, "leased_until": now + lease}
        connection.execute(_RENEW, renewed)
    return live


def give(
    connection: Connection,
    who: Claimant,
    *,
    ticket: str,
    now: datetime,
    lease: timedelta,
    wish: Wish = ANY,
) -> Lease | None:
    """Give a task to a person who has none of the kind in hand; None where there is none for them.

    `ticket` names the lease if it is a new one, or one whose replies stand the other way round.
    """
    release_expired(connection, now=now)
    target_id = wish.target_id
    if wish.own is not None:
        plan(connection, [wish.own])
        who, target_id = who._replace(study_id=wish.own.study_id), wish.own.target_id
    back = find_lapsed(connection, who)
    found = back or find_wished(connection, who, target_id)
    # In the study of a task of theirs alone are those of others, too.
    if found is None and wish.own is None:
        found = find_new(connection, who)
    if found is None:
        return None
    values = _held(found, ticket, now=now, lease=lease)
    _hand(connection, who.person_id, found, values, is_back=back is not None)
    return find_live(connection, who, until=now)


def take_on(
    connection: Connection,
    person_id: str,
    task_id: str,
    *,
    ticket: str,
    now: datetime,
    lease: timedelta,
) -> Lease | None:
    """Give a person one task, though it may be full or closed: then it gets one place more.

    None where they have done it, or it shows what is theirs, or there is no such task.
    """
    release_expired(connection, now=now)
    mine = {"of_task": task_id, "of_person": person_id}
    known = connection.execute(_LEASES.where(_MINE), mine).first()
    n_places = connection.execute(select(tasks.c.n_places).where(tasks.c.id == task_id)).scalar()
    if n_places is None or (known is not None and known.state in ("done", "own")):
        return None
    if known is None or known.state != "held":
        found = find_any_free(connection, task_id)
        if found is None:
            found = Place(task_id, n_places, 0)
            connection.execute(insert(places), [found._asdict()])
            wider = update(tasks).where(tasks.c.id == task_id)
            connection.execute(wider.values(n_places=n_places + 1))
        values = _held(found, ticket, now=now, lease=lease)
        _hand(connection, person_id, found, values, is_back=known is not None)
    return _lease(connection.execute(_LEASES.where(_MINE), mine).first())


def _held(found: Place, ticket: str, *, now: datetime, lease: timedelta) -> dict[str, Any]:
    """Return the values of a dealing that has a place."""
    return {
        "ticket": ticket,
        "state": "held",
        "place": found.place,
        "side": found.side,
        "shown_at": now,
        "leased_until": now + lease,
    }


def _hand(
    connection: Connection,
    person_id: str,
    found: Place,
    values: dict[str, Any],
    *,
    is_back: bool,
) -> None:
    """Give a person a place; `is_back` where they have had one of its task before."""
    if is_back:
        mine = {"of_task": found.task_id, "of_person": person_id}
        # A page that shows the other order must answer nothing any more.
        turned = update(dealings).where(_MINE, dealings.c.side != found.side)
        connection.execute(turned.values(ticket=values["ticket"]), mine)
        kept = {name: value for name, value in values.items() if name != "ticket"}
        connection.execute(_CHANGE, mine | kept)
    else:
        key = {"task_id": found.task_id, "person_id": person_id}
        connection.execute(_NEW, key | values)
    _count(connection, found.task_id, 1)


def find_live(connection: Connection, who: Claimant, *, until: datetime) -> Lease | None:
    """Return the task of a kind that a person has in hand, if its lease ends after a time."""
    return _lease(connection.execute(_LIVE, {**who._asdict(), "until": until}).first())


def find_ticket(connection: Connection, *, person_id: str, ticket: str) -> Lease | None:
    """Return what a person's ticket stands for, whatever has become of it; None for another's."""
    asked = {"person_id": person_id, "ticket": ticket}
    return _lease(connection.execute(_OF_TICKET, asked).first())


def finish(
    connection: Connection,
    lease: Lease,
    *,
    person_id: str,
    closing: Closing,
    now: datetime,
) -> Outcome:
    """Close a task with the id of the record that answers it; the record is added by the caller.

    ``same`` is the same answer once more; ``other`` a different one, which changes nothing;
    ``late`` one whose place somebody else has, or that was skipped; ``absent`` one of a ticket that
    is no longer the person's.
    """
    mine = {"of_task": lease.task_id, "of_person": person_id}
    row = connection.execute(_STATE, mine | {"ticket": lease.ticket}).first()
    if row is None:
        return "absent"
    if row.state == "done":
        return "same" if row.answer_hash == closing.answer_hash else "other"
    values: dict[str, Any] = {}
    if row.state == "lapsed":
        free = find_free(connection, lease.task_id, side=row.side)
        if free is None:
            return "late"
        values["place"] = free.place
        _count(connection, lease.task_id, 1)
    elif row.state != "held":
        return "late"
    values |= {
        "state": "done",
        "leased_until": None,
        "answered_at": now,
        "record_id": closing.record_id,
        "answer_hash": closing.answer_hash,
        "signs": dict(closing.signs),
        "draft": None,
    }
    connection.execute(_CHANGE, mine | values)
    return "stored"


def skip(connection: Connection, lease: Lease, *, person_id: str) -> bool:
    """Pass a task on; say whether it was the person's to pass on."""
    mine = (dealings.c.task_id == lease.task_id) & (dealings.c.person_id == person_id)
    # What the lease says may have changed since it was read: others take what has lapsed.
    state = connection.execute(select(dealings.c.state).where(mine)).scalar()
    if state == "held":
        _leave_place(connection, lease.task_id, person_id, state="skipped")
    elif state == "lapsed":
        connection.execute(update(dealings).where(mine).values(state="skipped", draft=None))
    return state in ("held", "lapsed")


def bring_back(connection: Connection, who: Claimant) -> int:
    """Offer a person again what they skipped; return how many tasks."""
    of_kind = select(tasks.c.id).where(tasks.c.study_id == who.study_id, tasks.c.kind == who.kind)
    theirs = (dealings.c.person_id == who.person_id, dealings.c.state == "skipped")
    back = update(dealings).where(*theirs, dealings.c.task_id.in_(of_kind))
    return connection.execute(back.values(state="lapsed")).rowcount


def keep_draft(
    connection: Connection,
    lease: Lease,
    *,
    person_id: str,
    draft: str,
    until: datetime,
) -> bool:
    """Keep what is written so far and renew the lease; say whether it is still the person's."""
    mine = (dealings.c.task_id == lease.task_id) & (dealings.c.person_id == person_id)
    open_ones = dealings.c.state.in_(("held", "lapsed"))
    kept = update(dealings).where(mine, open_ones).values(draft=draft)
    n = connection.execute(kept).rowcount
    renewed = update(dealings).where(mine, dealings.c.state == "held")
    connection.execute(renewed.values(leased_until=until))
    return n == 1


def let_go(connection: Connection, *, person_id: str) -> None:
    """Free every place that a person holds, and forget what they had not sent."""
    held = select(dealings.c.task_id).where(
        dealings.c.person_id == person_id, dealings.c.state == "held"
    )
    for task_id in connection.execute(held).scalars().all():
        _leave_place(connection, task_id, person_id, state="lapsed")
    theirs = update(dealings).where(dealings.c.person_id == person_id)
    connection.execute(theirs.values(draft=None))


def answered(connection: Connection, *, person_id: str, kind: str | None) -> list[datetime]:
    """Return when a person answered tasks of a kind, or of any, the last first."""
    query = _ANSWERED if kind is None else _ANSWERED.where(tasks.c.kind == bindparam("kind"))
    return list(connection.execute(query, {"person_id": person_id, "kind": kind}).scalars())


def has_waiting(connection: Connection, *, person_id: str, study_id: str) -> bool:
    """Say whether a person has a task in hand, or has skipped one that somebody could still do.

    That is one of the study: a check that was skipped never comes back.
    """
    query = select(dealings.c.task_id).join(tasks, tasks.c.id == dealings.c.task_id)
    mine = query.where(dealings.c.person_id == person_id, tasks.c.closed_at.is_(None))
    is_free = (tasks.c.study_id == study_id) & (tasks.c.n_taken < tasks.c.n_places)
    is_mine = (dealings.c.state == "held") | ((dealings.c.state == "skipped") & is_free)
    return connection.execute(mine.where(is_mine).limit(1)).first() is not None


def dealt(connection: Connection, *, person_id: str, kind: str) -> list[Dealt]:
    """Return what a person was given of a kind, the first answered first; not what is their own."""
    rows = connection.execute(_DEALT, {"person_id": person_id, "kind": kind})
    return [Dealt(*row) for row in rows]


def count_tasks(connection: Connection, *, study_id: str) -> list[OpenCount]:
    """Count the tasks of a study that are not closed, by kind."""
    done = func.sum((dealings.c.state == "done").cast(Integer))
    by_task = (
        select(dealings.c.task_id, done.label("n_done"))
        .where(dealings.c.state.in_(HOLDING))
        .group_by(dealings.c.task_id)
        .subquery()
    )
    n_done = func.coalesce(func.sum(by_task.c.n_done), 0)
    query = (
        select(
            tasks.c.kind,
            func.count(),
            func.sum(tasks.c.n_places),
            n_done,
            func.sum(tasks.c.n_taken) - n_done,
        )
        .select_from(tasks.outerjoin(by_task, by_task.c.task_id == tasks.c.id))
        .where(tasks.c.study_id == study_id, tasks.c.closed_at.is_(None))
        .group_by(tasks.c.kind)
        .order_by(tasks.c.kind)
    )
    return [OpenCount(row[0], *map(int, row[1:])) for row in connection.execute(query)]


def _lease(row: Row[Any] | None) -> Lease | None:
    if row is None:
        return None
    return Lease(
        row.task_id,
        row.study_id,
        row.person_id,
        row.kind,
        row.target_id,
        row.ticket,
        row.side,
        row.state,
        row.shown_at,
        row.draft,
    )


def _leave_place(connection: Connection, task_id: str, person_id: str, *, state: str) -> None:
    values: dict[str, Any] = {"state": state, "place": None, "leased_until": None}
    if state == "skipped":
        values["draft"] = None
    connection.execute(_CHANGE, {"of_task": task_id, "of_person": person_id, **values})
    _count(connection, task_id, -1)


def _count(connection: Connection, task_id: str, by: int) -> None:
    connection.execute(_COUNT, {"of_task": task_id, "by": by})


def seconds_of_people(
    connection: Connection, study_id: str
) -> tuple[dict[str, float | None], bool]:
    """Return the seconds of people's judgments, no attention checks, as they came in time.

    By the id of their assignment; None where nobody measured. And whether they are what was
    written.
    """
    j = schema.judgments.c
    query = timed_query().where(schema.assignments.c.study_id == study_id)
    rows = list(map(tuple, connection.execute(query.order_by(j.created_at, j.id))))
    return {row[0]: row[1] for row in rows}, is_sum(connection, AS_TIMED, study_id, total_of(rows))


def reasons_of_people(connection: Connection, study_id: str) -> dict[str, str]:
    """Return the words that people gave as a reason, by the id of their assignment."""
    a, j = schema.assignments.c, schema.judgments.c
    query = timed_query().with_only_columns(a.id, j.rationale).where(a.study_id == study_id)
    return {row[0]: row[1] for row in connection.execute(query) if row[1]}


def first_answer(connection: Connection, study_id: str) -> datetime | None:
    """Return when a person of a study first judged; None where nobody has."""
    j = schema.judgments.c
    query = timed_query().with_only_columns(j.created_at)
    query = query.where(schema.assignments.c.study_id == study_id)
    return connection.execute(query.order_by(j.created_at).limit(1)).scalar()

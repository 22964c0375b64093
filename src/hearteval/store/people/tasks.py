"""Who gets which task, and how it ends: claim, answer, skip, lapse; each in one transaction.

The states of a dealing, what one person has to do with one task:

- ``held``: the person has a place, until the lease ends; ``done``: they answered, for good;
- ``lapsed``: the lease ended and the place is free for others; an answer that comes late counts
  while a place of the same side is free;
- ``skipped``: the person passed it on; it comes back only when they ask for what they skipped;
- ``own``: the pair holds the person's own text, so it never comes; or they wrote for the item and
  have withdrawn.

A claim returns the person's live lease if there is one, else what lapsed and is still free, else a
free place of an open task: the least filled first, and among those one of the side that the person
has seen less often, in the order of the seed (DESIGN section 7). Of those the first are tasks whose
next place has that side: then also a task that is never filled has its sides balanced.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from sqlalchemy import Connection, Integer, Row, and_, exists, func, insert, select, update
from sqlalchemy.sql import ColumnElement, FromClause

from hearteval.domain import record_id
from hearteval.store import schema
from hearteval.store.people.tables import dealings, people, places, tasks
from hearteval.store.rows import in_groups

Outcome = Literal["stored", "same", "other", "late", "absent"]
HOLDING = ("held", "done")


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
    """Pseudonyms of those whose own text it shows."""

    @property
    def id(self) -> str:
        """Id of the task."""
        fields = {"study": self.study_id, "kind": self.kind, "target": self.target_id}
        return record_id("task", fields)


class Lease(NamedTuple):
    """A task in the hands of a person."""

    task_id: str
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


class Claimant(NamedTuple):
    """Who asks for tasks of which kind."""

    study_id: str
    person_id: str
    kind: str


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
    for some in in_groups([one.id for one in planned]):
        query = select(tasks.c.id, tasks.c.n_places).where(tasks.c.id.in_(some))
        known |= {row.id: row.n_places for row in connection.execute(query)}
    new = [one for one in planned if one.id not in known]
    if new:
        connection.execute(insert(tasks), [_task_row(one) for one in new])
    more = [one for one in planned if one.n_places > known.get(one.id, 0)]
    rows = [
        {"task_id": one.id, "place": place, "side": (one.rank + place) % 2}
        for one in more
        for place in range(known.get(one.id, 0), one.n_places)
    ]
    if rows:
        connection.execute(insert(places), rows)
    for one in more:
        if one.id in known:
            wider = update(tasks).where(tasks.c.id == one.id).values(n_places=one.n_places)
            connection.execute(wider)
    _bar_writers(connection, new, {row.name: row.id for row in who})
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


def _task_row(one: PlannedTask) -> dict[str, Any]:
    return {
        "id": one.id,
        "study_id": one.study_id,
        "kind": one.kind,
        "target_id": one.target_id,
        "rank": one.rank,
        "n_places": one.n_places,
        "n_taken": 0,
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
    """Keep writers, whose ids are given by name, from what shows their own text."""
    own = [
        {"task_id": one.id, "person_id": by_name[name], "state": "own"}
        for one in planned
        for name in sorted(set(one.writers))
        if name in by_name
    ]
    if own:
        connection.execute(insert(dealings), own)


def find_targets(connection: Connection, study_id: str, kind: str) -> frozenset[str]:
    """Return what the tasks of a kind are about, closed ones too."""
    query = select(tasks.c.target_id).where(tasks.c.study_id == study_id, tasks.c.kind == kind)
    return frozenset(connection.execute(query).scalars())


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
    ended = and_(dealings.c.state == "held", dealings.c.leased_until <= now)
    found = connection.execute(select(dealings.c.task_id, dealings.c.person_id).where(ended)).all()
    for row in found:
        _leave_place(connection, row.task_id, row.person_id, state="lapsed")
    return len(found)


def claim(
    connection: Connection, who: Claimant, *, ticket: str, now: datetime, lease: timedelta
) -> Lease | None:
    """Give a person a task of a kind; None where there is none for them.

    `ticket` names the lease if it is a new one, or one whose replies stand the other way round.
    """
    release_expired(connection, now=now)
    live = _held(connection, who)
    if live is not None:
        renewed = update(dealings).where(dealings.c.ticket == live.ticket)
        connection.execute(renewed.values(leased_until=now + lease))
        return live
    back = _free_lapsed(connection, who)
    found = back or _free_new(connection, who)
    if found is None:
        return None
    task_id, place, side = found
    values = {
        "state": "held",
        "place": place,
        "side": side,
        "shown_at": now,
        "leased_until": now + lease,
    }
    if back:
        mine = (dealings.c.task_id == task_id) & (dealings.c.person_id == who.person_id)
        # A page that shows the other order must answer nothing any more.
        turned = update(dealings).where(mine, dealings.c.side != side)
        connection.execute(turned.values(ticket=ticket))
        connection.execute(update(dealings).where(mine).values(values))
    else:
        row = {"task_id": task_id, "person_id": who.person_id, "ticket": ticket, **values}
        connection.execute(insert(dealings), [row])
    _count(connection, task_id, 1)
    return _held(connection, who)


def find_live(connection: Connection, who: Claimant, *, until: datetime) -> Lease | None:
    """Return the task of a kind that a person has in hand, if its lease ends after a time."""
    query = _held_query(who)
    return _lease(connection.execute(query.where(dealings.c.leased_until > until)).first())


def find_ticket(connection: Connection, *, person_id: str, ticket: str) -> Lease | None:
    """Return what a person's ticket stands for, whatever has become of it; None for another's."""
    query = _lease_query().where(dealings.c.person_id == person_id, dealings.c.ticket == ticket)
    return _lease(connection.execute(query).first())


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
    mine = (dealings.c.task_id == lease.task_id) & (dealings.c.person_id == person_id)
    of_page = dealings.c.ticket == lease.ticket
    row = connection.execute(select(dealings).where(mine, of_page)).first()
    if row is None:
        return "absent"
    if row.state == "done":
        return "same" if row.answer_hash == closing.answer_hash else "other"
    values: dict[str, Any] = {}
    if row.state == "lapsed":
        place = _free_place(connection, lease.task_id, side=row.side)
        if place is None:
            return "late"
        values["place"], _ = place
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
    connection.execute(update(dealings).where(mine).values(values))
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


def answered(connection: Connection, *, person_id: str, kind: str) -> list[datetime]:
    """Return when a person answered tasks of a kind, the last first."""
    query = (
        select(dealings.c.answered_at)
        .join(tasks, tasks.c.id == dealings.c.task_id)
        .where(dealings.c.person_id == person_id, tasks.c.kind == kind)
        .where(dealings.c.state == "done")
        .order_by(dealings.c.answered_at.desc())
    )
    return list(connection.execute(query).scalars())


def count_left(connection: Connection, who: Claimant, *, most: int) -> int:
    """Count the tasks that a person could take now, up to so many."""
    mine = exists().where(dealings.c.task_id == tasks.c.id, dealings.c.person_id == who.person_id)
    some = select(tasks.c.id).where(*_is_open(who), ~mine).limit(most).subquery()
    return connection.execute(select(func.count()).select_from(some)).scalar_one()


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


def _lease_query() -> Any:
    return select(dealings, tasks.c.kind, tasks.c.target_id).join(
        tasks, tasks.c.id == dealings.c.task_id
    )


def _lease(row: Row[Any] | None) -> Lease | None:
    if row is None:
        return None
    return Lease(
        row.task_id,
        row.kind,
        row.target_id,
        row.ticket,
        row.side,
        row.state,
        row.shown_at,
        row.draft,
    )


def _held(connection: Connection, who: Claimant) -> Lease | None:
    return _lease(connection.execute(_held_query(who)).first())


def _held_query(who: Claimant) -> Any:
    query = _lease_query().where(
        dealings.c.person_id == who.person_id,
        dealings.c.state == "held",
        tasks.c.study_id == who.study_id,
        tasks.c.kind == who.kind,
    )
    return query.limit(1)


def _free_lapsed(connection: Connection, who: Claimant) -> tuple[str, int, int] | None:
    """Return a task that lapsed and has a free place, best of the side that was seen before."""
    # In two steps, because SQLite would go through all open tasks: most people have none lapsed.
    theirs = (dealings.c.person_id == who.person_id, dealings.c.state == "lapsed")
    order = dealings.c.shown_at
    query = select(dealings.c.task_id, dealings.c.side).where(*theirs).order_by(order)
    lapsed = {row.task_id: row.side for row in connection.execute(query)}
    is_free: set[str] = set()
    for some in in_groups(list(lapsed)):
        query_of_some = select(tasks.c.id).where(*_is_open(who), tasks.c.id.in_(some))
        is_free.update(connection.execute(query_of_some).scalars())
    free = [(task_id, side) for task_id, side in lapsed.items() if task_id in is_free]
    for task_id, side in free:
        place = _free_place(connection, task_id, side=side)
        if place is not None:
            return task_id, *place
    if not free:
        return None
    task_id, _ = free[0]
    place = _free_place(connection, task_id)
    assert place is not None, "a task with room has no free place"
    return task_id, *place


def _free_new(connection: Connection, who: Claimant) -> tuple[str, int, int] | None:
    """Return a task that the person has not seen: the least filled, and of those the best side."""
    mine = exists().where(dealings.c.task_id == tasks.c.id, dealings.c.person_id == who.person_id)
    eligible = (*_is_open(who), ~mine)
    order = (tasks.c.n_taken, tasks.c.rank)
    least = connection.execute(
        select(tasks.c.id, tasks.c.n_taken).where(*eligible).order_by(*order).limit(1)
    ).first()
    if least is None:
        return None
    side = _wanted_side(connection, who)
    same = (*eligible, tasks.c.n_taken == least.n_taken)
    for has_side in () if side is None else (_is_next(side), _has_free(side)):
        query = select(tasks.c.id).where(*same, has_side).order_by(tasks.c.rank).limit(1)
        task_id = connection.execute(query).scalar()
        if task_id is not None:
            place = _free_place(connection, task_id, side=side)
            assert place is not None, "a free place has gone within its transaction"
            return task_id, *place
    place = _free_place(connection, least.id)
    assert place is not None, "a task with room has no free place"
    return least.id, *place


def _is_open(who: Claimant) -> tuple[ColumnElement[bool], ...]:
    return (
        tasks.c.study_id == who.study_id,
        tasks.c.kind == who.kind,
        tasks.c.n_taken < tasks.c.n_places,
        tasks.c.closed_at.is_(None),
    )


def _wanted_side(connection: Connection, who: Claimant) -> int | None:
    """Return the side that a person has seen less often; None where both are even."""
    query = (
        select(dealings.c.side, func.count())
        .join(tasks, tasks.c.id == dealings.c.task_id)
        .where(dealings.c.person_id == who.person_id, tasks.c.kind == who.kind)
        .where(dealings.c.state.in_(HOLDING))
        .group_by(dealings.c.side)
    )
    seen: dict[int | None, int] = {row[0]: row[1] for row in connection.execute(query)}
    lead = seen.get(0, 0) - seen.get(1, 0)
    return None if not lead else int(lead > 0)


def _is_free(place: FromClause) -> ColumnElement[bool]:
    taken = (dealings.c.task_id == place.c.task_id) & (dealings.c.place == place.c.place)
    return ~exists().where(taken)


def _has_free(side: int) -> ColumnElement[bool]:
    return exists().where(places.c.task_id == tasks.c.id, places.c.side == side, _is_free(places))


def _is_next(side: int) -> ColumnElement[bool]:
    """Say whether the first free place of a task has a side."""
    free = places.alias()
    first = select(func.min(free.c.place)).where(free.c.task_id == tasks.c.id, _is_free(free))
    return exists().where(
        places.c.task_id == tasks.c.id,
        places.c.side == side,
        places.c.place == first.correlate(tasks).scalar_subquery(),
    )


def _free_place(
    connection: Connection, task_id: str, *, side: int | None = None
) -> tuple[int, int] | None:
    """Return the first free place, of a side if one is wanted, with its side; else None."""
    query = select(places.c.place, places.c.side).where(
        places.c.task_id == task_id, _is_free(places)
    )
    if side is not None:
        query = query.where(places.c.side == side)
    found = connection.execute(query.order_by(places.c.place).limit(1)).first()
    return None if found is None else (found.place, found.side)


def _leave_place(connection: Connection, task_id: str, person_id: str, *, state: str) -> None:
    mine = (dealings.c.task_id == task_id) & (dealings.c.person_id == person_id)
    values: dict[str, Any] = {"state": state, "place": None, "leased_until": None}
    if state == "skipped":
        values["draft"] = None
    connection.execute(update(dealings).where(mine).values(values))
    _count(connection, task_id, -1)


def _count(connection: Connection, task_id: str, by: int) -> None:
    one = update(tasks).where(tasks.c.id == task_id)
    connection.execute(one.values(n_taken=tasks.c.n_taken + by))

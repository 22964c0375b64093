"""Which task somebody gets next, and which of its places (DESIGN section 7).

First what lapsed and is still free, else a free place of an open task that the person has not seen:
the least filled first (what came later counts as filled like the others: its `turn`), and among
those one of the side that the person has seen less often, in the order of the seed. Of those the
first are tasks whose next place has that side: then also a task that is never filled has its sides
balanced.

Statements are built once, here and in `tasks`: building one costs three times what SQLite takes to
run it, and every page of every person needs twenty.
"""

from typing import NamedTuple

from sqlalchemy import Connection, bindparam, exists, func, select
from sqlalchemy.sql import ColumnElement, FromClause

from hearteval.store.people.tables import dealings, places, tasks
from hearteval.store.rows import in_groups
from hearteval.store.schema import pairs

HOLDING = ("held", "done")
"""States in which somebody has a place."""


class Claimant(NamedTuple):
    """Who asks for tasks of which kind; its fields are the parameters of the statements below."""

    study_id: str
    person_id: str
    kind: str
    language: str


class Place(NamedTuple):
    """A free place of a task, with its side."""

    task_id: str
    place: int
    side: int


def _is_free(place: FromClause) -> ColumnElement[bool]:
    taken = (dealings.c.task_id == place.c.task_id) & (dealings.c.place == place.c.place)
    return ~exists().where(taken)


_HAS_SIDE = places.c.side == bindparam("side")
_IS_OPEN = (
    tasks.c.study_id == bindparam("study_id"),
    tasks.c.kind == bindparam("kind"),
    tasks.c.n_taken < tasks.c.n_places,
    tasks.c.closed_at.is_(None),
    tasks.c.language.is_(None) | (tasks.c.language == bindparam("language")),
)
_IS_NEW = ~exists().where(
    dealings.c.task_id == tasks.c.id, dealings.c.person_id == bindparam("person_id")
)
_LEFT = select(func.count()).select_from(
    select(tasks.c.id).where(*_IS_OPEN, _IS_NEW).limit(bindparam("most")).subquery()
)
# In two steps, because SQLite would go through all open tasks: most people have none lapsed.
_LAPSED = (
    select(dealings.c.task_id, dealings.c.side)
    .where(dealings.c.person_id == bindparam("person_id"), dealings.c.state == "lapsed")
    .order_by(dealings.c.shown_at)
)
_OPEN_AGAIN = select(tasks.c.id).where(
    *_IS_OPEN, tasks.c.id.in_(bindparam("lapsed", expanding=True))
)
_LEAST_FILLED = (
    select(tasks.c.id, tasks.c.turn)
    .where(*_IS_OPEN, _IS_NEW)
    .order_by(tasks.c.turn, tasks.c.rank)
    .limit(1)
)
_WISHED = select(tasks.c.id).where(*_IS_OPEN, _IS_NEW, tasks.c.target_id == bindparam("target_id"))
_OPEN_ABOUT = (
    select(pairs.c.id, pairs.c.low_completion_id, pairs.c.high_completion_id)
    .join(tasks, tasks.c.target_id == pairs.c.id)
    .where(pairs.c.item_id == bindparam("item_id"), *_IS_OPEN, _IS_NEW)
    .order_by(tasks.c.rank)
)
_SIDES_SEEN = (
    select(dealings.c.side, func.count())
    .join(tasks, tasks.c.id == dealings.c.task_id)
    .where(dealings.c.person_id == bindparam("person_id"), tasks.c.kind == bindparam("kind"))
    .where(dealings.c.state.in_(HOLDING))
    .group_by(dealings.c.side)
)
_FREE = (
    select(places.c.place, places.c.side)
    .where(places.c.task_id == bindparam("task_id"), _is_free(places))
    .order_by(places.c.place)
    .limit(1)
)
_FREE_OF_SIDE = _FREE.where(_HAS_SIDE)
_EQUALLY_FILLED = (
    select(tasks.c.id)
    .where(*_IS_OPEN, _IS_NEW, tasks.c.turn == bindparam("turn"))
    .order_by(tasks.c.rank)
    .limit(1)
)
_other = places.alias()
_first = select(func.min(_other.c.place)).where(_other.c.task_id == tasks.c.id, _is_free(_other))
_WHOSE_NEXT_IS = _EQUALLY_FILLED.where(
    exists().where(
        places.c.task_id == tasks.c.id,
        _HAS_SIDE,
        places.c.place == _first.correlate(tasks).scalar_subquery(),
    )
)
_WITH_A_FREE = _EQUALLY_FILLED.where(
    exists().where(places.c.task_id == tasks.c.id, _HAS_SIDE, _is_free(places))
)


def count_left(connection: Connection, who: Claimant, *, most: int) -> int:
    """Count the tasks that a person could take now, up to so many."""
    return connection.execute(_LEFT, {**who._asdict(), "most": most}).scalar_one()


def find_lapsed(connection: Connection, who: Claimant) -> Place | None:
    """Return a place of a task that lapsed, best of the side that was seen before."""
    rows = connection.execute(_LAPSED, {"person_id": who.person_id})
    lapsed = {row.task_id: row.side for row in rows}
    is_open: set[str] = set()
    for some in in_groups(list(lapsed)):
        asked = {**who._asdict(), "lapsed": some}
        is_open.update(connection.execute(_OPEN_AGAIN, asked).scalars())
    free = [(task_id, side) for task_id, side in lapsed.items() if task_id in is_open]
    for task_id, side in free:
        place = find_free(connection, task_id, side=side)
        if place is not None:
            return place
    return _any_free(connection, free[0][0]) if free else None


def find_wished(connection: Connection, who: Claimant, target_id: str) -> Place | None:
    """Return a place of the task about a target, best of the side the person has seen less often.

    None where it is full or closed, or not new to them.
    """
    asked = {**who._asdict(), "target_id": target_id}
    task_id = connection.execute(_WISHED, asked).scalar() if target_id else None
    if task_id is None:
        return None
    side = _wanted_side(connection, who)
    found = None if side is None else find_free(connection, task_id, side=side)
    return found or _any_free(connection, task_id)


def open_pairs(
    connection: Connection, who: Claimant, item_id: str
) -> list[tuple[str, tuple[str, str]]]:
    """Return the pairs of an item that a person could take, with their completions."""
    rows = connection.execute(_OPEN_ABOUT, {**who._asdict(), "item_id": item_id})
    return [(row[0], (row[1], row[2])) for row in rows]


def find_new(connection: Connection, who: Claimant) -> Place | None:
    """Return a place of a task that the person has not seen."""
    asked = who._asdict()
    least = connection.execute(_LEAST_FILLED, asked).first()
    if least is None:
        return None
    side = _wanted_side(connection, who)
    if side is None:
        return _any_free(connection, least.id)
    asked |= {"turn": least.turn, "side": side}
    for query in (_WHOSE_NEXT_IS, _WITH_A_FREE):
        task_id = connection.execute(query, asked).scalar()
        if task_id is not None:
            place = find_free(connection, task_id, side=side)
            assert place is not None, "a free place has gone within its transaction"
            return place
    return _any_free(connection, least.id)


def find_free(connection: Connection, task_id: str, *, side: int) -> Place | None:
    """Return the first free place of a task that has a side."""
    found = connection.execute(_FREE_OF_SIDE, {"task_id": task_id, "side": side}).first()
    return None if found is None else Place(task_id, found.place, found.side)


def find_any_free(connection: Connection, task_id: str) -> Place | None:
    """Return the first free place of a task."""
    found = connection.execute(_FREE, {"task_id": task_id}).first()
    return None if found is None else Place(task_id, found.place, found.side)


def _any_free(connection: Connection, task_id: str) -> Place:
    found = find_any_free(connection, task_id)
    assert found is not None, "a task with room has no free place"
    return found


def _wanted_side(connection: Connection, who: Claimant) -> int | None:
    """Return the side that a person has seen less often; None where both are even."""
    rows = connection.execute(_SIDES_SEEN, {"person_id": who.person_id, "kind": who.kind})
    seen: dict[int | None, int] = {row[0]: row[1] for row in rows}
    lead = seen.get(0, 0) - seen.get(1, 0)
    return None if not lead else int(lead > 0)

"""Claims in the table of that name: what `panel` needs, each in one transaction.

A row is a question, or the presence of a process. ``stamp`` is None while it is claimed; a released
one has a number that grows with every release, and an end in the past.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update

from hearteval.domain import record_id
from hearteval.store.records import Claimed
from hearteval.store.rows import in_groups
from hearteval.store.schema import claims

IsGone = Callable[[str, datetime], bool]
"""Says whether an owner, whose lease ends then, has no more say."""
PAST = datetime(1970, 1, 1, tzinfo=UTC)


def enter(connection: Connection, owner: str, *, until: datetime, is_gone: IsGone) -> int:
    """Be present, renew one's claims, release those of owners who are gone; return the last stamp.

    What becomes known now need not be marked: where nobody else is there, all marks go.
    """
    others = _living(connection, owner, is_gone)
    _release_the_gone(connection, {owner, *others})
    if not others:
        _drop_marks(connection)
    own = record_id("presence", {"owner": owner})
    is_there = connection.execute(select(claims.c.id).where(claims.c.id == own)).first()
    if is_there is None:
        row = {"id": own, "owner": owner, "expires_at": until, "stamp": None}
        connection.execute(insert(claims), [row])
    mine = (claims.c.owner == owner, claims.c.stamp.is_(None))
    connection.execute(update(claims).where(*mine).values(expires_at=until))
    return _last_stamp(connection)


def take(
    connection: Connection,
    keys: Sequence[str],
    owner: str,
    *,
    until: datetime,
    seen: int,
    is_gone: IsGone,
) -> Claimed:
    """Claim what is free: never claimed, or released before `seen`."""
    others = _living(connection, owner, is_gone)
    _release_the_gone(connection, {owner, *others})
    if not others:
        _drop_marks(connection, claims.c.owner == owner)
    known: dict[str, Any] = {}
    for some in in_groups(keys):
        rows = connection.execute(select(claims).where(claims.c.id.in_(some)))
        known |= {row.id: row for row in rows}
    old = [id_ for id_, row in known.items() if row.stamp is not None and row.stamp <= seen]
    new = [key for key in keys if key not in known]
    values = {"owner": owner, "expires_at": until, "stamp": None}
    for some in in_groups(old):
        connection.execute(update(claims).where(claims.c.id.in_(some)).values(values))
    if new:
        connection.execute(insert(claims), [{"id": key, **values} for key in new])
    mine = [id_ for id_, row in known.items() if row.stamp is None and row.owner == owner]
    return Claimed(keys=frozenset((*new, *old, *mine)), is_shared=bool(others))


def find_claimed(
    connection: Connection, keys: Sequence[str], owner: str, *, is_gone: IsGone
) -> str | None:
    """Return one of these questions that another process claims; None where none is."""
    for some in in_groups(keys):
        held = select(claims).where(
            claims.c.id.in_(some), claims.c.stamp.is_(None), claims.c.owner != owner
        )
        for row in connection.execute(held):
            if not is_gone(row.owner, row.expires_at):
                return str(row.id)
    return None


def release(connection: Connection, keys: Sequence[str], owner: str) -> None:
    """Release claims."""
    stamp = _last_stamp(connection) + 1
    for some in in_groups(keys):
        mine = (claims.c.id.in_(some), claims.c.owner == owner)
        connection.execute(update(claims).where(*mine).values(stamp=stamp, expires_at=PAST))


def leave(connection: Connection, owner: str, *, is_gone: IsGone) -> None:
    """Release every claim of an owner, who is no longer present."""
    others = _living(connection, owner, is_gone)
    if others:
        _release_the_gone(connection, others)
    else:
        connection.execute(delete(claims))


def look_around(connection: Connection, owner: str, *, is_gone: IsGone) -> tuple[set[str], int]:
    """Return the other owners who are there, and how many questions those claim who are not."""
    others = _living(connection, owner, is_gone)
    held = select(claims.c.owner, func.count().label("n")).where(claims.c.stamp.is_(None))
    rows = connection.execute(held.group_by(claims.c.owner)).all()
    present = {owner, *others}
    # One of an owner's rows is no question, but that it is there.
    return others, sum(max(row.n - 1, 0) for row in rows if row.owner not in present)


def _release_the_gone(connection: Connection, present: set[str]) -> None:
    """Release the claims of all but these owners: what became of the questions is not known."""
    gone = (claims.c.stamp.is_(None), claims.c.owner.not_in(present))
    stamp = _last_stamp(connection) + 1
    connection.execute(update(claims).where(*gone).values(stamp=stamp, expires_at=PAST))


def _drop_marks(connection: Connection, *where: ColumnElement[bool]) -> None:
    """Delete released claims, but for the last: stamps grow as long as anyone is present."""
    earlier = claims.c.stamp < _last_stamp(connection)
    connection.execute(delete(claims).where(earlier, *where))


def _living(connection: Connection, owner: str, is_gone: IsGone) -> set[str]:
    """Return the other owners who are there."""
    ends = select(claims.c.owner, func.max(claims.c.expires_at).label("until"))
    held = ends.where(claims.c.stamp.is_(None), claims.c.owner != owner).group_by(claims.c.owner)
    return {row.owner for row in connection.execute(held) if not is_gone(row.owner, row.until)}


def _last_stamp(connection: Connection) -> int:
    return connection.execute(select(func.max(claims.c.stamp))).scalar() or 0

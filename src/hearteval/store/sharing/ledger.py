"""The ledger: what is booked, and what each process has set aside for calls under way.

Rows of nobody, one for each slot of writers, add up to what every reply that was kept has cost;
they grow in the transaction that keeps them, so nobody adds up all replies. Beside them each
process that pays has a row: what its calls under way may cost, each at its ceiling. It is written
in the same transaction as the replies of the calls that have ended, under a lock of all who set
money aside: all processes together never set aside what the limit does not leave. The row of a
process that was killed stays, as its calls were perhaps billed, until somebody says what they cost.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from math import inf
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from hearteval.domain import InFlight, record_id
from hearteval.store.integrity.seal import NO_STUDY, follow, is_sum, slot_of, total_of
from hearteval.store.records import Balance, SetAside
from hearteval.store.schema import ledger

IsGone = Callable[[str, datetime], bool]
"""Says whether an owner, whose lease ends then, has no more say."""
NOBODY = ""
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def book(connection: Connection, usd: float) -> None:
    """Add to what is spent what replies have cost that are kept in this transaction."""
    if usd:
        own = f"{slot_of(connection):032x}"
        before = connection.execute(select(ledger.c.usd).where(ledger.c.id == own)).scalar()
        after = (before or 0.0) + usd
        row = {"owner": NOBODY, "expires_at": _LONG_AGO, "later_usd": 0.0, "n_calls": 0}
        _write(connection, own, {**row, "usd": after})
        gone, come = (total_of([(usd,)] * (usd is not None)) for usd in (before, after))
        follow(connection, ledger.name, NO_STUDY, gone=gone, come=come)


def read_booked(connection: Connection) -> float:
    """Return what all replies that were kept have cost."""
    query = select(ledger.c.usd).where(ledger.c.owner == NOBODY).order_by(ledger.c.id)
    return float(sum(connection.execute(query).scalars()))


def is_written(connection: Connection) -> bool:
    """Say whether what is booked is what was written."""
    rows = connection.execute(select(ledger.c.usd).where(ledger.c.owner == NOBODY))
    return is_sum(connection, ledger.name, NO_STUDY, total_of(map(tuple, rows)))


def set_aside(connection: Connection, wanted: SetAside, *, is_gone: IsGone) -> Balance:
    """Set aside for a process what it wants, or what the limit leaves of it.

    It keeps at least what it holds, and gets no part of a call: two processes that each held a part
    of what is left would wait for each other.
    """
    booked = others = lost = 0.0
    n_others = 0
    for row in connection.execute(select(ledger)):
        if row.owner == NOBODY:
            booked += row.usd
        elif row.owner != wanted.owner and is_gone(row.owner, row.expires_at):
            lost += row.usd - row.later_usd
        elif row.owner != wanted.owner:
            others += row.usd
            n_others += 1
    limit = inf if wanted.limit_usd is None else wanted.limit_usd
    room = limit - booked - others - lost
    granted = wanted.held_usd
    if room >= wanted.least_usd:
        granted = max(granted, min(wanted.wanted_usd, room))
    values = {
        "owner": wanted.owner,
        "expires_at": wanted.until,
        "usd": granted,
        "later_usd": wanted.later_usd,
        "n_calls": wanted.n_calls,
    }
    _write(connection, _id_of(wanted.owner), values)
    return Balance(granted, booked_usd=booked, in_flight_usd=lost, n_others=n_others)


def renew(connection: Connection, owner: str, *, until: datetime) -> None:
    """Renew the lease of a process."""
    own = ledger.c.id == _id_of(owner)
    connection.execute(update(ledger).where(own).values(expires_at=until))


def leave(connection: Connection, owner: str) -> None:
    """Give back what a process has set aside: its calls have ended, and are booked."""
    connection.execute(delete(ledger).where(ledger.c.id == _id_of(owner)))


def read_in_flight(connection: Connection, *, is_gone: IsGone) -> InFlight | None:
    """Return what processes had set aside that are gone; None where there is none of it.

    Calls that cost nothing are counted too. Those of batch jobs are none of it: they are fetched,
    and booked, by a later run.
    """
    rows = [
        row
        for row in connection.execute(select(ledger).where(ledger.c.owner != NOBODY))
        if (row.n_calls or row.usd > row.later_usd) and is_gone(row.owner, row.expires_at)
    ]
    if not rows:
        return None
    return InFlight(
        usd=sum(row.usd - row.later_usd for row in rows),
        n_calls=sum(row.n_calls for row in rows),
        n_processes=len(rows),
    )


def forget_in_flight(connection: Connection, *, is_gone: IsGone) -> InFlight | None:
    """Delete the rows of processes that are gone, and return what they had set aside."""
    found = read_in_flight(connection, is_gone=is_gone)
    for row in connection.execute(select(ledger).where(ledger.c.owner != NOBODY)).all():
        if is_gone(row.owner, row.expires_at):
            leave(connection, row.owner)
    return found


def _write(connection: Connection, id_: str, values: dict[str, Any]) -> None:
    done = connection.execute(update(ledger).where(ledger.c.id == id_).values(**values))
    if not done.rowcount:
        connection.execute(insert(ledger).values(id=id_, **values))


def _id_of(owner: str) -> str:
    return record_id("presence", {"owner": owner})

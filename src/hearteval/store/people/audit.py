"""The audit log: what happened, to which ids, in a chain that no row can leave or change in.

Each event's hash covers its own content and the hash before it; the number and hash of the last
stand beside, so that a chain cut short is seen too. Texts appear only as hashes salted with their
person's salt, which a withdrawal deletes: then nobody can tell any more whether a guess is right.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, insert, select, update

from hearteval.domain import content_hash
from hearteval.store import schema
from hearteval.store.people.tables import events

HEAD = "event"
"""The row of ``totals`` that names the end of the chain."""
FIRST = "0" * 64
PAGE = 2_000
_LAST = select(events.c.number, events.c.hash).order_by(events.c.number.desc()).limit(1)
_APPEND = insert(events)
_END = update(schema.totals).where(schema.totals.c.kind == HEAD)


class Event(NamedTuple):
    """One line of the log."""

    number: int
    """1, 2, … without a gap."""
    at: datetime
    what: str
    about: Mapping[str, Any]
    """Ids, counts and salted hashes."""
    hash: str


def log(connection: Connection, what: str, about: Mapping[str, Any], *, now: datetime) -> None:
    """Append an event, in the transaction of what it tells of."""
    last = connection.execute(_LAST).first()
    number, before = (last.number + 1, last.hash) if last else (1, FIRST)
    about = {name: value for name, value in about.items() if value is not None}
    found = _hash(before, number, now, what, about)
    row = {"number": number, "at": now, "what": what, "about": about, "hash": found}
    connection.execute(_APPEND, row)
    end = {"n": number, "digest": found[:32]}
    if not connection.execute(_END, end).rowcount:
        first = {"kind": HEAD, "study_id": "0" * 32, "slot": 0, **end}
        connection.execute(insert(schema.totals), [first])


def iter_events(connection: Connection) -> Iterator[Event]:
    """Yield the whole log, from its beginning."""
    number = 0
    while True:
        page = select(events).where(events.c.number > number).order_by(events.c.number)
        rows = connection.execute(page.limit(PAGE)).all()
        for row in rows:
            yield Event(row.number, row.at, row.what, row.about, row.hash)
        if len(rows) < PAGE:
            return
        number = rows[-1].number


def last_told(connection: Connection, what: str, name: str) -> datetime | None:
    """Return when an event of a kind was told of a person last."""
    told = select(events.c.at, events.c.about).where(events.c.what == what)
    rows = connection.execute(told.order_by(events.c.number.desc()))
    return next((row.at for row in rows if row.about.get("person") == name), None)


def check_chain(connection: Connection) -> tuple[int, list[str]]:
    """Read the whole log; return how many events there are, and what is wrong with it in words."""
    before, number = FIRST, 0
    faults = []
    for event in iter_events(connection):
        if event.number != number + 1:
            faults.append(f"events {number + 1} to {event.number - 1} are gone")
        number = event.number
        if _hash(before, number, event.at, event.what, event.about) != event.hash:
            faults.append(f"event {number} is not what was written, or the one before it")
        before = event.hash
    totals = schema.totals
    head = connection.execute(select(totals).where(totals.c.kind == HEAD)).first()
    n, digest = (head.n, head.digest) if head else (0, FIRST[:32])
    if (n, digest) != (number, before[:32]):
        faults.append(f"the log ends with event {number}, and {n} were written")
    return connection.execute(select(func.count()).select_from(events)).scalar_one(), faults


def salted(salt: str, value: object) -> str:
    """Return the hash by which the log names a person's words."""
    return content_hash({"salt": salt, "value": value})


def _hash(before: str, number: int, at: datetime, what: str, about: Mapping[str, Any]) -> str:
    return content_hash(
        {"before": before, "number": number, "at": at.isoformat(), "what": what, "about": about}
    )

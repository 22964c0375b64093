"""People, tasks and the audit log from one store to another, as they are."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from hearteval.store import schema
from hearteval.store.people.audit import HEAD
from hearteval.store.people.tables import (
    consent_texts,
    consents,
    dealings,
    events,
    exclusions,
    invites,
    pauses,
    people,
    places,
    quota_places,
    quotas,
    sessions,
    submissions,
    tasks,
    turned_away,
)

TABLES = (
    *(invites, people, submissions, sessions, tasks, places, dealings, pauses),
    *(quotas, quota_places, turned_away, consent_texts, consents, exclusions, events),
)
"""In the order in which they may refer to each other."""
SUMS = (HEAD, people.name, tasks.name, exclusions.name)
"""Kinds of ``totals`` that tell of these tables."""
ROWS = 1_000
Rows = Mapping[str, Sequence[Mapping[str, Any]]]
"""By name of a table."""


def read_all(connection: Connection) -> Rows:
    """Return every row, the end of the audit log and the sums."""
    totals = schema.totals
    found = {
        table.name: [dict(row) for row in connection.execute(select(table)).mappings()]
        for table in TABLES
    }
    sums = select(totals).where(totals.c.kind.in_(SUMS))
    return {**found, HEAD: [dict(row) for row in connection.execute(sums).mappings()]}


def write_all(connection: Connection, rows: Rows) -> None:
    """Put these rows in the place of those that are there."""
    for table in reversed(TABLES):
        connection.execute(delete(table))
    connection.execute(delete(schema.totals).where(schema.totals.c.kind.in_(SUMS)))
    for table in TABLES:
        found = rows[table.name]
        for start in range(0, len(found), ROWS):
            connection.execute(insert(table), found[start : start + ROWS])
    if rows[HEAD]:
        connection.execute(insert(schema.totals), list(rows[HEAD]))

"""Whether a store has changed: a hash of what it holds, read by the database's bare driver.

So a run that finds nothing to do need not load what a run needs. What a study is made of it takes
whole, of judgments what an analysis reads; of records that their ids say all of, how many there
are: nothing is ever deleted.
"""

import hashlib
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

CONNECT_TIMEOUT_SECONDS = 10
_TABLES = (
    # Without the statistics, which reading may refresh.
    "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite%' ORDER BY name"
)
_WHOLE = (
    "SELECT * FROM studies ORDER BY id, version",
    "SELECT * FROM items ORDER BY id",
    "SELECT * FROM systems ORDER BY id",
    "SELECT * FROM raters ORDER BY id",
    "SELECT id, text, finish_reason, created_at FROM completions ORDER BY id",
    "SELECT assignment_id, choice, strength, axes, finish_reason FROM judgments"
    " ORDER BY assignment_id",
    "SELECT id, reason, created_at FROM attempts ORDER BY id",
    "SELECT id, axes, created_at FROM ratings ORDER BY id",
    "SELECT id, verdict, score, created_at FROM labels ORDER BY id",
    'SELECT name, "group", background, withdrawn_at FROM people ORDER BY name',
    "SELECT id, remote_id, closed_at FROM batch_jobs ORDER BY id",
    "SELECT id, usd FROM ledger WHERE owner <> '' ORDER BY id",
    # Rounded: a server may add up in any order.
    "SELECT count(*), round(CAST(sum(cost) AS numeric), 9) FROM replies",
)
_COUNTED = (
    "screenings",
    "pairs",
    "study_members",
    "assignments",
    "judgments",
    "latency_probes",
    "tasks",
)


def fingerprint(connection: Any) -> str:
    """Return a hash of what a store holds, as 64 hexadecimal digits.

    The connection is one of sqlite3 or psycopg.
    """
    counts = (f"SELECT count(*) FROM {table}" for table in _COUNTED)  # noqa: S608 - names from above
    tables = (_TABLES,) if isinstance(connection, sqlite3.Connection) else ()
    digest = hashlib.sha256()
    for query in (*tables, *_WHOLE, *counts):
        for row in _rows(connection, query):
            digest.update(repr(row).encode())
        digest.update(b"\n")
    return digest.hexdigest()


def _rows(connection: Any, query: str) -> Iterable[Any]:
    if isinstance(connection, sqlite3.Connection):
        yield from connection.execute(query)
        return
    with connection.cursor(name="heart_fingerprint") as cursor:  # named: rows come as they are read
        yield from cursor.execute(query)


def fingerprint_of(place: str) -> str | None:
    """Return the fingerprint of the store at a path or address; None where it cannot be told."""
    if place.startswith("postgres"):
        return _fingerprint_of_server(place)
    if "://" in place or not Path(place).is_file():
        return None
    address = f"{Path(place).absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            return fingerprint(connection)
    except sqlite3.Error:
        return None


def _fingerprint_of_server(address: str) -> str | None:
    try:
        psycopg = import_module("psycopg")
    except ImportError:
        return None
    scheme, _, rest = address.partition("://")
    address = f"{scheme.partition('+')[0]}://{rest}"
    try:
        found = psycopg.connect(address, connect_timeout=CONNECT_TIMEOUT_SECONDS)
        with closing(found) as connection:
            return fingerprint(connection)
    except psycopg.Error:
        return None

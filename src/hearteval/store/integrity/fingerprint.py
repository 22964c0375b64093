"""Whether a store has changed: a hash of what it holds, read by the database's bare driver.

So a run that finds nothing to do need not load what a run needs. It takes the very values that an
analysis reads, never the hashes beside them, so that an edit by hand is a change too: the run that
follows compares them and says what was edited. What it leaves out are the replies as they came, the
reasons in them and what each judgment cost.
"""

import hashlib
import marshal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Any

CONNECT_TIMEOUT_SECONDS = 10
ROWS = 2_000
_TABLES = (
    # Without the statistics, which reading may refresh.
    "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite%' ORDER BY name"
)
_READ = (
    *(
        f"SELECT * FROM {table} ORDER BY id"  # noqa: S608 - names from below
        for table in (
            "studies",
            "items",
            "systems",
            "raters",
            "completions",
            "pairs",
            "labels",
            "screenings",
            "latency_probes",
        )
    ),
    "SELECT * FROM study_members ORDER BY study_id, version, kind, member_id",
    'SELECT id, study_id, pair_id, rater_id, first_completion_id, repeat, "check" FROM assignments'
    " ORDER BY id",
    "SELECT assignment_id, choice, strength, axes, finish_reason FROM judgments"
    " ORDER BY assignment_id",
    # In this order: SQLite would look up the assignment of every judgment, ten times slower.
    "SELECT j.id, j.seconds, j.created_at FROM assignments a CROSS JOIN judgments j"
    " WHERE j.assignment_id = a.id AND a.rater_id IN (SELECT id FROM raters WHERE kind = 'human')"
    " ORDER BY j.id",
    "SELECT id, study_id, completion_id, rater_id, repeat, axes, created_at FROM ratings"
    " ORDER BY id",
    "SELECT id, study_id, item_id, system_id, assignment_id, judgment_id, completion_id, rater_id,"
    " repeat, attempt, reason, cost, created_at FROM attempts ORDER BY id",
    'SELECT name, study_id, "group", background, withdrawn_at FROM people ORDER BY name',
    "SELECT * FROM exclusions ORDER BY study_id, number",
    "SELECT id, study_id, kind, target_id FROM tasks ORDER BY id",
    "SELECT id, remote_id, closed_at FROM batch_jobs ORDER BY id",
    "SELECT id, usd FROM ledger ORDER BY id",
    "SELECT * FROM totals ORDER BY kind, study_id",
    # Rounded: a server may add up in any order.
    "SELECT count(*), CAST(round(CAST(sum(cost) AS numeric), 9) AS text) FROM replies",
)


def fingerprint(connection: Any) -> str:
    """Return a hash of what a store holds, as 64 hexadecimal digits.

    The connection is one of sqlite3 or psycopg.
    """
    tables = (_TABLES,) if isinstance(connection, sqlite3.Connection) else ()
    digest = hashlib.sha256()
    for query in (*tables, *_READ):
        for rows in _pages(connection, query):
            # Four times as fast as `repr`; version 2 knows no references, so equal rows are equal.
            digest.update(marshal.dumps(rows, 2))
        digest.update(b"\n")
    return digest.hexdigest()


def _pages(connection: Any, query: str) -> Iterator[list[Any]]:
    is_file = isinstance(connection, sqlite3.Connection)
    # Named: rows come as they are read.
    with closing(connection.cursor() if is_file else connection.cursor("heart_read")) as cursor:
        cursor.execute(query)
        while rows := cursor.fetchmany(ROWS):
            yield rows


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

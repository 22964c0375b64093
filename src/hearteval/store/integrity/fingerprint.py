"""Whether a SQLite store has changed: a hash of what it holds, read by Python's own sqlite3.

So a run that finds nothing to do need not load what a run needs. Of judgments it takes what an
analysis reads; of records that their ids say all of, how many there are: nothing is ever deleted.
"""

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

_WHOLE = (
    # Without the statistics, which reading may refresh.
    "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite%' ORDER BY name",
    "SELECT id, version, settings_hash, created_at FROM studies ORDER BY id, version",
    "SELECT id, text, finish_reason, created_at FROM completions ORDER BY id",
    "SELECT assignment_id, choice, strength, axes, finish_reason FROM judgments"
    " ORDER BY assignment_id",
    "SELECT id, reason, created_at FROM attempts ORDER BY id",
    "SELECT id, axes, created_at FROM ratings ORDER BY id",
    "SELECT id, remote_id, closed_at FROM batch_jobs ORDER BY id",
    "SELECT count(*), sum(cost) FROM replies",
)
_COUNTED = (
    "items",
    "screenings",
    "systems",
    "raters",
    "pairs",
    "study_members",
    "assignments",
    "judgments",
    "latency_probes",
)


def fingerprint(connection: sqlite3.Connection) -> str:
    """Return a hash of what a store holds, as 64 hexadecimal digits."""
    counts = (f"SELECT count(*) FROM {table}" for table in _COUNTED)  # noqa: S608 - names from above
    digest = hashlib.sha256()
    for query in (*_WHOLE, *counts):
        for row in connection.execute(query):
            digest.update(repr(row).encode())
        digest.update(b"\n")
    return digest.hexdigest()


def fingerprint_of(place: str) -> str | None:
    """Return the fingerprint of the store at a path; None where that cannot be told."""
    if "://" in place or not Path(place).is_file():
        return None
    address = f"{Path(place).absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            return fingerprint(connection)
    except sqlite3.Error:
        return None

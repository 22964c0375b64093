"""Whether a store has changed: a hash of what it holds, read by the database's bare driver.

So a run that finds nothing to do need not load what a run needs. It takes the very values that an
analysis reads, never the hashes beside them, so that an edit by hand is a change too: the run that
follows compares them and says what was edited. What it leaves out are the replies as they came and
what each cost (the ledger says their sum), the reasons in them, and what judges were asked and said
in other studies of the store: that more of it came is seen in the totals.
"""

import hashlib
import marshal
import sqlite3
from collections.abc import Iterator, Sequence
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
_STUDIES = "SELECT DISTINCT id, name FROM studies ORDER BY id"
_READ = (
    *(
        f"SELECT * FROM {table} ORDER BY id"  # noqa: S608 - names from below
        for table in (
            "studies",
            "items",
            "systems",
            "raters",
            "completions",
            "labels",
            "screenings",
            "latency_probes",
        )
    ),
    "SELECT * FROM study_members ORDER BY study_id, version, kind, member_id",
    "SELECT id, study_id, item_id, system_id, assignment_id, judgment_id, completion_id, rater_id,"
    " repeat, attempt, reason, cost, created_at FROM attempts ORDER BY id",
    'SELECT name, study_id, "group", background, withdrawn_at FROM people ORDER BY name',
    "SELECT * FROM exclusions ORDER BY study_id, number",
    "SELECT id, study_id, kind, target_id FROM tasks ORDER BY id",
    "SELECT id, remote_id, closed_at FROM batch_jobs ORDER BY id",
    "SELECT id, usd FROM ledger ORDER BY id",
)
_TOTALS = "SELECT * FROM totals ORDER BY kind, study_id, slot"
_PAIRS = "SELECT * FROM pairs p"
_ASSIGNMENTS = (
    'SELECT a.id, study_id, pair_id, rater_id, first_completion_id, repeat, a."check"'
    " FROM assignments a"
)
_JUDGMENTS = "SELECT j.assignment_id, choice, strength, axes, finish_reason FROM"
# In this order: SQLite would look up the assignment of every judgment, ten times slower.
_JUDGED = "assignments a CROSS JOIN judgments j WHERE j.assignment_id = a.id"
_TIMES = "SELECT j.id, j.seconds, j.created_at FROM"
_BY_PEOPLE = "a.rater_id IN (SELECT id FROM raters WHERE kind = 'human')"
_RATINGS = "SELECT r.id, study_id, completion_id, rater_id, repeat, axes, created_at FROM ratings r"
_OF_ALL = (
    f"{_PAIRS} ORDER BY p.id",
    f"{_ASSIGNMENTS} ORDER BY a.id",
    f"{_JUDGMENTS} judgments j ORDER BY j.assignment_id",
    f"{_TIMES} {_JUDGED} AND {_BY_PEOPLE} ORDER BY j.id",
    f"{_RATINGS} ORDER BY r.id",
)
"""Where a store holds no other study: faster than `_OF_STUDY`, which looks up each judgment."""
_ASKED = "(SELECT pair_id FROM assignments WHERE study_id = {0})"
_OF_STUDY = (
    f"{_PAIRS} WHERE p.id IN {_ASKED} ORDER BY p.id",
    f"{_ASSIGNMENTS} WHERE a.study_id = {{0}} ORDER BY a.id",
    f"{_JUDGMENTS} {_JUDGED} AND a.study_id = {{0}} ORDER BY a.id",
    f"{_TIMES} {_JUDGED} AND {_BY_PEOPLE} AND a.study_id = {{0}} ORDER BY j.id",
    f"{_RATINGS} WHERE r.study_id = {{0}} ORDER BY r.id",
)


def fingerprint(connection: Any, name: str, *, like: str = "") -> str:
    """Return a hash of what a store holds of the study of a name, as hexadecimal digits.

    The studies beside it (its audit, its checks) are its own, and their names begin with its name.
    The connection is one of sqlite3 or psycopg. The first 64 digits are of the totals alone: where
    these are others than those of a fingerprint that it should be `like`, no more is read.
    """
    is_file = isinstance(connection, sqlite3.Connection)
    studies = [row for rows in _pages(connection, _STUDIES) for row in rows]
    own = [id_ for id_, of in studies if of == name or str(of).startswith(f"{name} (")]
    queries: list[tuple[str, tuple[Any, ...]]] = [
        (query, ()) for query in (_TOTALS, *((_TABLES,) if is_file else ()), *_READ)
    ]
    if 0 < len(own) < len(studies):
        mark = "?" if is_file else "%s"
        queries += [(query.format(mark), (id_,)) for id_ in own for query in _OF_STUDY]
    else:
        queries += [(query, ()) for query in _OF_ALL]
    digest, of_totals = hashlib.sha256(), ""
    for query, values in queries:
        for rows in _pages(connection, query, values):
            # Four times as fast as `repr`; version 2 knows no references, so equal rows are equal.
            digest.update(marshal.dumps(rows, 2))
        digest.update(b"\n")
        of_totals = of_totals or digest.hexdigest()
        if like and not like.startswith(of_totals):
            return of_totals
    return of_totals + digest.hexdigest()


def _pages(connection: Any, query: str, values: Sequence[Any] = ()) -> Iterator[list[Any]]:
    is_file = isinstance(connection, sqlite3.Connection)
    # Named: rows come as they are read.
    with closing(connection.cursor() if is_file else connection.cursor("heart_read")) as cursor:
        cursor.execute(query, values)
        while rows := cursor.fetchmany(ROWS):
            yield rows


def fingerprint_of(place: str, name: str, *, like: str = "") -> str | None:
    """Return the `fingerprint` of the store at a path or address; None where it cannot be told."""
    if place.startswith("postgres"):
        return _fingerprint_of_server(place, name, like)
    if "://" in place or not Path(place).is_file():
        return None
    address = f"{Path(place).absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            return fingerprint(connection, name, like=like)
    except sqlite3.Error:
        return None


def _fingerprint_of_server(address: str, name: str, like: str) -> str | None:
    try:
        psycopg = import_module("psycopg")
    except ImportError:
        return None
    scheme, _, rest = address.partition("://")
    address = f"{scheme.partition('+')[0]}://{rest}"
    try:
        found = psycopg.connect(address, connect_timeout=CONNECT_TIMEOUT_SECONDS)
        with closing(found) as connection:
            return fingerprint(connection, name, like=like)
    except psycopg.Error:
        return None

"""How a database is opened: SQLite and PostgreSQL engines that write one transaction at a time.

SQLite runs with WAL, ``synchronous=FULL`` and ``BEGIN IMMEDIATE``; PostgreSQL takes one advisory
lock a writing transaction. Both make writers queue instead of failing, so that `add` can look and
then insert, and an acknowledged `add` survives a kill at any moment. Parameters never stand in an
error: they hold dialogue text.
"""

import importlib.util
import sqlite3
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import NullPool, QueuePool, StaticPool

from heartbench.errors import SettingsError

BUSY_TIMEOUT_SECONDS = 30
CONNECT_TIMEOUT_SECONDS = 10
WRITER_LOCK = 0x4845_4152_5442
"""Key of the advisory lock that PostgreSQL writers queue for: the letters HEARTB."""
POSTGRES_NAMES = ("postgres", "postgresql", "postgresql+psycopg")


def open_engine(place: str, *, read_only: bool = False) -> tuple[Engine, str]:
    """Open a database by path or address; nothing is read or written yet.

    Args:
        place: Path of a SQLite file, or a PostgreSQL URL.
        read_only: Whether to refuse any change, of SQLite files even of their settings.

    Returns:
        The engine, and a name for messages that holds no password.

    Raises:
        SettingsError: The address is none we know, or its driver is not installed.
    """
    if "://" not in place:
        return _sqlite_engine(place, read_only=read_only), place
    try:
        url = make_url(place)
    except (ArgumentError, ValueError):
        raise _unreadable_address() from None
    if url.drivername == "sqlite":
        path = url.database or ""
        return _sqlite_engine(path, read_only=read_only), path
    if url.drivername not in POSTGRES_NAMES:
        raise SettingsError(
            f"a store cannot be a {url.drivername!r} database; expected a path (SQLite) or "
            "postgresql://USER@HOST/DATABASE"
        )
    if not url.host or "@" in url.host:
        raise _unreadable_address()
    shown = url.set(drivername="postgresql", query={}).render_as_string()
    return _postgres_engine(url), shown


def _unreadable_address() -> SettingsError:
    """Return an error that repeats nothing of an address, which may hold a password anywhere."""
    return SettingsError(
        "the store's address cannot be read; expected a path or postgresql://USER@HOST/DATABASE, "
        "with '@', '/' and ':' in a password written as %40, %2F and %3A",
        ids=("study.store",),
    )


def memory_engine() -> Engine:
    """Open a SQLite database that lives as long as the engine."""
    engine = create_engine(
        "sqlite://",
        poolclass=StaticPool,
        hide_parameters=True,
        connect_args={"check_same_thread": False},
    )
    _configure_sqlite(engine, journal="MEMORY")
    return engine


def _sqlite_engine(path: str, *, read_only: bool) -> Engine:
    # The path goes to the driver as it is: in a URL, "?", "#" and "%" would mean something else.
    if read_only:
        address = f"{Path(path).absolute().as_uri()}?mode=ro"
        return create_engine(
            "sqlite://",
            hide_parameters=True,
            poolclass=NullPool,
            creator=lambda: sqlite3.connect(address, uri=True),
        )
    engine = create_engine(
        "sqlite://",
        hide_parameters=True,
        poolclass=QueuePool,
        creator=lambda: sqlite3.connect(
            path, timeout=BUSY_TIMEOUT_SECONDS, check_same_thread=False
        ),
    )
    _configure_sqlite(engine, journal="WAL")
    return engine


def _configure_sqlite(engine: Engine, *, journal: str) -> None:
    @event.listens_for(engine, "connect")
    def _set_pragmas(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN" if _is_reading(connection) else "BEGIN IMMEDIATE")


def _postgres_engine(url: URL) -> Engine:
    if importlib.util.find_spec("psycopg") is None:
        raise SettingsError(
            "a PostgreSQL store needs the extra 'postgres': pip install 'heartbench[postgres]'"
        )
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_pre_ping=True,
        hide_parameters=True,
        connect_args={"connect_timeout": CONNECT_TIMEOUT_SECONDS, "application_name": "heart"},
    )

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        if not _is_reading(connection):
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({WRITER_LOCK})")

    return engine


def refresh_statistics(connection: Connection) -> None:
    """Tell PostgreSQL's planner how large the tables are, before a large read.

    Just after a run its statistics are those of empty tables, and every page of a read sorts all
    that follow: 42,000 judgments take 3.5 s instead of 0.6.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("ANALYZE assignments, pairs, judgments")


def _is_reading(connection: Connection) -> bool:
    return bool(connection.get_execution_options().get("heart_reading", False))

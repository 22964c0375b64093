"""How a database is opened, looked at, and waited for where it goes away: SQLite and PostgreSQL.

SQLite runs with WAL, ``synchronous=FULL`` and ``BEGIN IMMEDIATE``: writers queue instead of
failing, so that `add` can look and then insert. On PostgreSQL those who append write beside each
other, each with a slot of its own for its sums; where two append the same, the second fails and is
run again alone (docs/decisions/0073). An acknowledged `add` survives a kill at any moment. Every
transaction of a store can be repeated, because records are idempotent by id: a commit whose answer
was lost is found again on the next try. Parameters never stand in an error: they hold dialogue
text.
"""

import importlib.util
import logging
import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, inspect
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    ProgrammingError,
    StatementError,
)
from sqlalchemy.exc import TimeoutError as NoConnectionError
from sqlalchemy.pool import NullPool, QueuePool, StaticPool

from hearteval.errors import InvalidRecordError, SettingsError, StoreError
from hearteval.store.integrity.seal import NO_TEXT, SLOT, damaged, words_of_driver
from hearteval.store.version import VERSION, read_version

T = TypeVar("T")

BUSY_TIMEOUT_SECONDS = 30
"""SQLite's own wait for another process, before we try again ourselves."""
CONNECT_TIMEOUT_SECONDS = 10
WRITER_LOCK = 0x4845_4152_5442
"""Key of the advisory lock of PostgreSQL's writers, the letters HEARTB: those who append share it,
who changes what is there has it alone. The keys of the others follow it."""
PEOPLE_LOCK, CLAIMS_LOCK, MONEY_LOCK = (WRITER_LOCK + k for k in (1, 2, 3))
FIRST_SLOT, SLOTS = WRITER_LOCK + 16, 64
"""Keys of the locks of slots, from number 1, and how many write at the same time at most."""
Lock = Literal["alone", "beside", "people", "claims"]
"""What a transaction writes: anything; what is only appended; what people do, whose log is one
chain; who asks what."""
_FREE = f"generate_series(1, {SLOTS}) k WHERE pg_try_advisory_xact_lock({FIRST_SLOT} + k)"
_BESIDE = f"pg_advisory_xact_lock_shared({WRITER_LOCK}), (SELECT k FROM {_FREE} LIMIT 1)"  # noqa: S608 - numbers
_LOCKS: dict[Lock, str] = {
    "alone": f"pg_advisory_xact_lock({WRITER_LOCK}), 0",
    "beside": _BESIDE,
    "people": f"pg_advisory_xact_lock({PEOPLE_LOCK}), {_BESIDE}",
    "claims": f"pg_advisory_xact_lock({CLAIMS_LOCK}), 0",
}
CLASHES = ("23505", "40P01")
"""States of PostgreSQL where two have appended the same: not unique, or waiting for each other."""
IDLE_SECONDS = 15
"""After which PostgreSQL takes the lock from a writer that does nothing with it: one that was
stopped, or whose machine went to sleep, would hold up all others for good."""
OPEN_LOCK = 128
"""The byte that a SQLite connection locks as long as it is open (``UNIX_SHM_DMS``)."""
HIGHEST_PORT = 65_535
POSTGRES_NAMES = ("postgres", "postgresql", "postgresql+psycopg")
TOLD = ("host", "port", "dbname", "user", "service")
"""What of an address's query stands in messages."""
FIRST_WAIT_SECONDS = 0.2
LONGEST_WAIT_SECONDS = 5.0

ADVICE = {
    "disk is full": "what was acknowledged is stored; free some space and run the same again",
    "disk I/O error": "look at the disk's health, space and permissions, then run the same again",
    "readonly": "what was acknowledged is stored; make the file and its folder writable",
    "unable to open": "make its folder, or check the path and its permissions",
    "not a database": "this file is no store of hearteval; give another path",
    "malformed": "the file is damaged; restore a copy of it, and see `heart store verify`",
    "FATAL: database": "create it (createdb), or check the name in the address",
    "FATAL: role": "create it (createuser), or check the user in the address",
    "authentication failed": "check the user, and the password in PGPASSWORD or ~/.pgpass",
    "locked": "another process holds it; wait for that, then run the same command again",
}
"""What to do, by words of the driver's message."""
PASSING = ("starting up", "shutting down", "recovery", "terminating", "too many", "slots")
"""Words of a PostgreSQL server that refuses a connection now and may take it soon."""

logger = logging.getLogger(__name__)


def open_engine(place: str, *, read_only: bool = False) -> tuple[Engine, str]:
    """Open the database at a path (SQLite) or a PostgreSQL URL; nothing is read or written yet.

    `read_only` refuses any change, of SQLite files even of their settings. Also return a name for
    messages that holds no password.

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
    is_local = place.split("?", maxsplit=1)[0].endswith("://") or ":///" in place or "@/" in place
    if "@" in (url.host or "") or not (url.host or is_local) or (url.port or 0) > HIGHEST_PORT:
        raise _unreadable_address()
    told = {name: value for name, value in url.query.items() if name in TOLD}
    shown = url.set(drivername="postgresql", query=told).render_as_string()
    try:
        return _postgres_engine(url), shown
    except ArgumentError:  # its hosts and ports do not fit
        raise _unreadable_address() from None


def _unreadable_address() -> SettingsError:
    """Return an error that repeats nothing of an address, which may hold a password anywhere."""
    return SettingsError(
        "the store's address cannot be read; expected a path or postgresql://USER@HOST/DATABASE, "
        "with '@', '/' and ':' in a password written as %40, %2F and %3A",
        ids=("study.store",),
    )


def make_private(path: str) -> None:
    """Make an empty file, its owner's alone, where there is none; SQLite says what forbids it."""
    if path and not Path(path).exists() and os.access(Path(path).parent, os.W_OK):
        Path(path).touch(mode=0o600)


def file_identity(name: str) -> tuple[int, int] | None:
    """Say which file stands at the place of a store; None where it is none, or is gone."""
    if "://" in name or not Path(name).exists():
        return None
    found = Path(name).stat()
    return found.st_dev, found.st_ino


def require_sound(path: str) -> None:
    """Have SQLite check a whole file that was left by a process that was killed.

    Raises:
        StoreError: It is damaged.
    """
    log = Path(f"{path}-wal")
    if not log.exists() or not log.stat().st_size or is_in_use(path):
        return
    engine, name = open_engine(path, read_only=True)

    def check() -> str:
        with engine.connect() as connection:
            return str(connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar_one())

    try:
        words = run_patiently(check, name=name, patience_seconds=BUSY_TIMEOUT_SECONDS)
    finally:
        engine.dispose()
    if words != "ok":
        raise StoreError(f"store {name} is damaged ({' '.join(words.split())}); restore a copy")


def is_in_use(path: str) -> bool:
    """Say whether a living process has a SQLite file open; no where that cannot be told.

    Only Linux tells, of processes of this machine or container, on most file systems. Whoever has
    it open in WAL mode holds a lock on one byte of the file ``-shm`` beside it. The lock is looked
    up, not tried: closing that file would drop the locks of this very process.
    """
    try:
        locks = Path("/proc/locks").read_text("ascii")
        there = Path(f"{path}-shm").stat()
    except OSError:
        return False
    file = f"{os.major(there.st_dev):02x}:{os.minor(there.st_dev):02x}:{there.st_ino}"
    # It may begin earlier: Linux joins it with the lock of a reader on the byte before.
    return re.search(rf" {file} \d+ {OPEN_LOCK}$", locks, re.MULTILINE) is not None


def is_writable(name: str) -> bool:
    """Say whether a store of this name may be written, as far as its file and folder tell."""
    path = Path(name)
    return "://" in name or (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


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

        def connect_to_read() -> sqlite3.Connection:
            # A reader would leave a log beside a file that has none, as one of others or at rest.
            mode = "mode=ro" if Path(f"{path}-wal").exists() else "immutable=1"
            address = f"{Path(path).absolute().as_uri()}?{mode}"
            return sqlite3.connect(address, timeout=BUSY_TIMEOUT_SECONDS, uri=True)

        return create_engine(
            "sqlite://", hide_parameters=True, poolclass=NullPool, creator=connect_to_read
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
        connection.execute("PRAGMA secure_delete = ON")  # what a person withdraws is overwritten

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN" if _is_reading(connection) else "BEGIN IMMEDIATE")


def _postgres_engine(url: URL) -> Engine:
    if importlib.util.find_spec("psycopg") is None:
        raise SettingsError(
            "a PostgreSQL store needs the extra 'postgres': pip install 'hearteval[postgres]'"
        )
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_pre_ping=True,
        hide_parameters=True,
        connect_args={"connect_timeout": CONNECT_TIMEOUT_SECONDS, "application_name": "heart"},
    )

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        if _is_reading(connection):
            return
        limit = f"set_config('idle_in_transaction_session_timeout', '{IDLE_SECONDS}s', true)"
        locks = _LOCKS[connection.get_execution_options().get("heart_lock", "alone")]
        slot = connection.exec_driver_sql(f"SELECT {limit}, {locks}").one()[-1]
        if slot is None:  # all are taken: wait for one of them
            slot = 1 + time.monotonic_ns() % SLOTS
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({FIRST_SLOT + slot})")
        connection.info[SLOT] = slot

    return engine


def lock_money(connection: Connection) -> None:
    """Be alone, until this transaction ends, in setting money aside."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({MONEY_LOCK})")


def is_clash(error: BaseException | None) -> bool:
    """Say whether a transaction failed as another has just appended the same."""
    return isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) in CLASHES


def as_reader(engine: Engine) -> dict[str, Any]:
    """Return the options of a connection that only reads, and sees the store at one moment.

    SQLite's readers do; PostgreSQL's would see each query's own moment, and what others add
    meanwhile would look like a fault.
    """
    is_server = engine.dialect.name == "postgresql"
    level = {"isolation_level": "REPEATABLE READ"} if is_server else {}
    return {"heart_reading": True, **level}


def refresh_statistics(connection: Connection) -> None:
    """Tell PostgreSQL's planner how large the tables are, before a large read.

    Just after a run its statistics are those of empty tables, and every page of a read sorts all
    that follow: 42,000 judgments take 3.5 s instead of 0.6.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("ANALYZE assignments, pairs, judgments")


def empty_log(engine: Engine) -> bool:
    """Empty a SQLite file's log, which holds what was overwritten, unless others read it now.

    Returns whether it is empty.
    """
    if engine.dialect.name != "sqlite":
        return False
    connection = engine.raw_connection()
    try:
        is_busy, *_ = connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.close()
    return not is_busy


def rewrite(engine: Engine) -> bool:
    """Write every table anew, without the old rows that a database keeps in its files.

    PostgreSQL locks each table while it does. Returns whether the log goes on in a new file, so
    that the server may recycle the old ones; only some of its users may ask for that. Of SQLite,
    whether that is so of file and log: both wait for others who use them, but not for ever.
    """
    if engine.dialect.name != "postgresql":
        return shrink(engine) and empty_log(engine)
    alone = {"isolation_level": "AUTOCOMMIT", "heart_reading": True}
    with engine.connect().execution_options(**alone) as connection:
        for table in inspect(connection).get_table_names():
            connection.exec_driver_sql(f'VACUUM FULL "{table}"')
        try:
            connection.exec_driver_sql("CHECKPOINT")
            connection.exec_driver_sql("SELECT pg_switch_wal()")
        except ProgrammingError as error:
            logger.info("the log of the server goes on as it is: %s", error.orig)
            return False
    return True


def shrink(engine: Engine) -> bool:
    """Give back the room that is empty in a SQLite file; say whether it did."""
    if engine.dialect.name != "sqlite":
        return False
    connection = engine.raw_connection()
    try:
        connection.cursor().execute("VACUUM")
    except sqlite3.OperationalError as error:
        logger.info("the file keeps its size: %s", error)  # another reads it, or the disk is full
        return False
    finally:
        connection.close()
    return True


def _is_reading(connection: Connection) -> bool:
    return bool(connection.get_execution_options().get("heart_reading", False))


class Outage:
    """Whether a database is away: told once, by whichever thread finds it first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_told = False

    def begins(self, name: str, *, patience_seconds: float) -> None:
        """Say that a database is waited for, unless that was said."""
        with self._lock:
            was_told, self._is_told = self._is_told, True
        if not was_told:
            message = "store %s is not reachable; trying again for %.0f seconds"
            logger.warning(message, name, patience_seconds)

    def ends(self) -> None:
        """Be ready to tell of the next one."""
        with self._lock:
            self._is_told = False


def run_patiently(
    work: Callable[[], T], *, name: str, patience_seconds: float, outage: Outage | None = None
) -> T:
    """Run one transaction, safe to repeat; while the database is away, wait and run it again.

    Threads that share a database share its `outage`.

    Raises:
        StoreError: The database refused the work, holds a text that is none, or stayed away too
            long.
        InvalidRecordError: A value is not of the kind that its column holds.
    """
    deadline = time.monotonic() + patience_seconds
    wait = FIRST_WAIT_SECONDS
    outage = outage or Outage()
    has_waited = False
    while True:
        try:
            done = work()
            if has_waited:
                outage.ends()
            return done
        except IntegrityError as error:
            raise StoreError(
                f"store {name} refused a record: {words_of_driver(error)}; it refers to one that "
                "is not stored, or contradicts one that another run has added; run the same again, "
                "and see `heart store verify` where that ends so too: the store is damaged then"
            ) from error
        except NoConnectionError as error:
            words = "all connections of this process are in use, and none became free"
            raise StoreError(f"store {name} is busy: {words}; try again later") from error
        except DBAPIError as error:
            if NO_TEXT in str(error.orig):  # the error shows the text
                raise damaged(name, "a text in it cannot be read", ids=["text"]) from None
            left = deadline - time.monotonic()
            if not _is_outage(error) or left <= 0:
                raise _failure(name, error) from error
            outage.begins(name, patience_seconds=patience_seconds)
            has_waited = True
        except StatementError as error:
            words = type(error.orig).__name__
            raise InvalidRecordError(
                f"store {name} cannot hold a record: a value is of the wrong kind ({words})"
            ) from error
        time.sleep(min(wait, max(left, 0)))
        wait = min(2 * wait, LONGEST_WAIT_SECONDS)


def _is_outage(error: DBAPIError) -> bool:
    """Tell whether trying again may help: the server is away, or another writer holds the file."""
    if error.connection_invalidated or isinstance(error, InterfaceError):
        return True
    if not isinstance(error, OperationalError):
        return False
    state = getattr(error.orig, "sqlstate", "absent")
    if state == "absent":
        return "locked" in str(error.orig) or "busy" in str(error.orig)
    if state is None and "FATAL:" in str(error.orig):
        return any(words in str(error.orig) for words in PASSING)
    return state is None or state[:2] in {"08", "57"}


def _failure(name: str, error: DBAPIError) -> StoreError:
    words = words_of_driver(error)
    advice = next(
        (advice for sign, advice in ADVICE.items() if sign in words),
        "check that it can be reached, then run the same command again",
    )
    return StoreError(f"store {name} cannot be used: {words}; {advice}")


def probe_store(place: str) -> str:
    """Say what is at the place of a store: a database, or room for a new file; nothing is made.

    Raises:
        SettingsError: The address is none we know, or its driver is not installed.
        StoreError: The database cannot be reached or is refused, or the folder not written.
    """
    path = Path(place)
    if "://" not in place and not path.exists():
        if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
            raise StoreError(
                f"{path.parent} cannot be written; make the folder, or set study.store"
            )
        return f"{path} will be made"
    name, version = look(place)
    if version is None:
        return f"{name}: empty, tables will be made"
    return f"{name}: schema {version}"


def is_readable_as_is(place: str) -> bool:
    """Say whether there is a store at the place that opening would leave as it is."""
    is_there = "://" in place or Path(place).exists()
    return is_there and look(place)[1] == VERSION


def holds_store(place: str, *, patience_seconds: float) -> bool:
    """Say whether there is a store at the place; opening an empty database makes tables in it."""
    is_there = "://" in place or Path(place).exists()
    return is_there and look(place, patience_seconds=patience_seconds)[1] is not None


def require_store(place: str) -> None:
    """Raise `StoreError` unless there is a store at the place."""
    name, version = look(place)
    if version is None:
        raise StoreError(f"{name} is empty and no store; check the path")


def look(place: str, *, patience_seconds: float = 0.0) -> tuple[str, str | None]:
    """Return the name of a database for messages, and its schema version, None where it is empty.

    Raises:
        StoreError: It cannot be read, or is refused as `read_version` says.
    """
    engine, name = open_engine(place, read_only=True)

    def read() -> str | None:
        with engine.connect() as connection:
            return read_version(connection, name=name)

    try:
        return name, run_patiently(read, name=name, patience_seconds=patience_seconds)
    finally:
        engine.dispose()

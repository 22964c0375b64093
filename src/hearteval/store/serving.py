"""Which servers serve a study, and which of them opens its tasks: locks that PostgreSQL keeps.

A server has one connection for this alone. It holds a shared advisory lock of the version that is
served, and in one server the planner's lock too. PostgreSQL frees both when the process ends, some
ten seconds after its machine is gone, and `IDLE_SECONDS` after it was stopped. No clock but the
database's is asked. A SQLite file keeps no such locks: it has one server.
"""

from functools import partial
from typing import Literal, NamedTuple

from sqlalchemy import Connection, Engine, text

from hearteval.domain import Study
from hearteval.errors import StoreError
from hearteval.store.engines import run_patiently

Turn = Literal["mine", "others", "outdated"]
"""Whose it is to open tasks: this server's, or another's; or another serves a later version."""
PLANNER = 0
"""Stands where the other locks have a version."""
IDLE_SECONDS = 300
"""After which PostgreSQL ends the connection of a server that no longer looks."""
_HELD = text(
    "SELECT CAST(l.objid AS bigint) AS number, l.pid = pg_backend_pid() AS is_mine,"
    " CAST(coalesce(extract(epoch FROM clock_timestamp() - a.state_change), 0) AS float8)"
    " AS seconds FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid"
    " WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted"
    " AND CAST(l.classid AS bigint) = :study"
    " AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
# Without these, a machine that loses power would keep its locks for two hours.
_NOTICE_THE_DEAD = text(
    "SELECT set_config('tcp_keepalives_idle', '5', false),"
    " set_config('tcp_keepalives_interval', '2', false),"
    " set_config('tcp_keepalives_count', '3', false),"
    " set_config('idle_session_timeout', :idle, false)"
)
_SERVE = text("SELECT pg_advisory_lock_shared(:study, :version)")
_TAKE = text(f"SELECT pg_try_advisory_lock(:study, {PLANNER})")
_GIVE = text(f"SELECT pg_advisory_unlock(:study, {PLANNER})")


class Served(NamedTuple):
    """Who serves a study, as the database knows it."""

    versions: tuple[int, ...]
    """Of the study, one for each server."""
    planner_seconds: float | None
    """Since the server that opens tasks last looked; None where there is none."""


def _key(study_id: str) -> int:
    """Return the first half of the keys of a study's locks, a positive number of 31 bits."""
    return int(study_id[:8], 16) & 0x7FFF_FFFF


def read_served(connection: Connection, study_id: str) -> Served | None:
    """Return who serves a study; None where the database keeps no such locks."""
    if connection.dialect.name != "postgresql":
        return None
    held = connection.execute(_HELD, {"study": _key(study_id)}).all()
    return Served(
        versions=tuple(sorted(row.number for row in held if row.number != PLANNER)),
        planner_seconds=next((row.seconds for row in held if row.number == PLANNER), None),
    )


class Serving:
    """One server's part in serving a version of a study, until it is closed; for one thread."""

    def __init__(self, engine: Engine, study: Study, *, name: str) -> None:
        self._engine, self._study, self._name = engine, study, name
        self._connection: Connection | None = None
        self._is_known = False

    def look(self, *, is_ready: bool = True) -> Turn:
        """Say whose turn it is to open tasks, and take it where nobody has it.

        Until it `is_ready`, others do not know of this server: those of an earlier version go on.

        Raises:
            StoreError: The database is away; the turn is lost then, and may be taken again.
        """
        if self._engine.dialect.name != "postgresql":
            return "mine"
        try:
            looking = partial(self._look, is_ready=is_ready)
            return run_patiently(looking, name=self._name, patience_seconds=0)
        except StoreError:
            if self._connection is not None:
                self._connection.invalidate()
            self.close()
            raise

    def close(self) -> None:
        """Serve no more."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _look(self, *, is_ready: bool) -> Turn:
        keys = {"study": _key(self._study.id), "version": self._study.version}
        if self._connection is None:
            self._connection = self._connect()
            self._connection.execute(_NOTICE_THE_DEAD, {"idle": f"{IDLE_SECONDS}s"})
            self._is_known = False
        if is_ready and not self._is_known:
            self._connection.execute(_SERVE, keys)
            self._is_known = True
        held = self._connection.execute(_HELD, keys).all()
        planners = [row.is_mine for row in held if row.number == PLANNER]
        if any(row.number > self._study.version for row in held):
            if any(planners):
                self._connection.execute(_GIVE, keys)
            return "outdated"
        if not planners:
            planners = [self._connection.execute(_TAKE, keys).scalar_one()]
        return "mine" if any(planners) else "others"

    def _connect(self) -> Connection:
        """Return a connection that no pool takes back: its locks would stay with it."""
        alone = {"isolation_level": "AUTOCOMMIT", "heart_reading": True}
        found = self._engine.connect().execution_options(**alone)
        found.detach()
        return found

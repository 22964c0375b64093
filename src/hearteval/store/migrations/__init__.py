"""The schema's history: an older store is brought to today's schema when it is opened.

A new database gets today's tables at once; a test brings the store that each earlier version left
to the same tables, with all its records. Before a SQLite file is migrated, a copy of it is made
beside it; PostgreSQL is migrated in one transaction and no copy is made. Stores of the development
before the first version are refused (docs/decisions/0014). Alembic is imported only when there is
something to migrate.
"""

import logging
import sqlite3
from contextlib import closing
from importlib import import_module
from pathlib import Path

from sqlalchemy import (
    Column,
    Connection,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    create_mock_engine,
    delete,
    insert,
    inspect,
    select,
)
from sqlalchemy.exc import OperationalError, ProgrammingError

from hearteval.errors import StoreError
from hearteval.store import schema
from hearteval.store.integrity.seal import is_sealed, seal
from hearteval.store.people import tables as _tables_of_people  # noqa: F401 - its tables are made

VERSIONS = (
    *("v0001", "v0002", "v0003", "v0004", "v0005", "v0006", "v0007", "v0008", "v0009"),
    *("v0010", "v0011"),
)
"""Each but the first, which has no tables before it, is a module of this folder that brings the
tables of the one before to its own."""
DEVELOPMENT_VERSIONS = ("0001", "0002", "0003", "0004", "0005", "0006")

COLUMNS = {
    "sqlite": "SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c"
    " WHERE t.type = 'table'",
    "postgresql": "SELECT table_name, column_name FROM information_schema.columns"
    " WHERE table_schema = current_schema()",
}
"""What finds each table with each of its columns."""

logger = logging.getLogger(__name__)
_statements: dict[str, list[str]] = {}
"""By dialect: what creates today's tables."""

_versions = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)


def migrate(connection: Connection, *, name: str) -> bool:
    """Create the tables of a new database, or bring those of an older one up to date.

    Returns whether there was an older one.

    Raises:
        StoreError: As `read_version`, or there is no room for a copy of the older one.
    """
    version = read_version(connection, name=name)
    if version is None:
        _create_tables(connection)
        _stamp(connection)
    elif version != VERSIONS[-1]:
        kept = _keep_copy(connection, name=name, version=version)
        try:
            upgrade(connection, after=version)
            _require_columns(connection, name=name, version=version)
            if not is_sealed(connection):
                seal(connection)
        except (OperationalError, ProgrammingError, StoreError) as error:
            if kept is not None:
                kept.unlink()
            if isinstance(error, StoreError) or "column" not in str(error.orig):
                raise
            raise _from_development(name, version) from error
        logger.warning(
            "store %s is brought from schema %s to %s%s",
            *(name, version, VERSIONS[-1], f"; as it was it stays in {kept}" if kept else ""),
        )
        return True
    return False


def _create_tables(connection: Connection) -> None:
    """Create today's tables where there is none, in words that are put together once a process."""
    dialect = connection.dialect
    if dialect.name not in _statements:
        made: list[str] = []
        schema.metadata.create_all(
            create_mock_engine(
                f"{dialect.name}+{dialect.driver}://",
                lambda ddl, *_: made.append(str(ddl.compile(dialect=dialect))),
            ),
            checkfirst=False,
        )
        _statements[dialect.name] = made
    for statement in _statements[dialect.name]:
        connection.exec_driver_sql(statement)


def _require_columns(connection: Connection, *, name: str, version: str) -> None:
    """Raise `StoreError` unless every table has every column: one query, not an inspection."""
    found = {tuple(row) for row in connection.exec_driver_sql(COLUMNS[connection.dialect.name])}
    wanted = {
        (table.name, column.name) for table in schema.metadata.tables.values() for column in table.c
    }
    if not wanted <= found:
        raise _from_development(name, version)


def _from_development(name: str, version: str) -> StoreError:
    return StoreError(
        f"store {name} was made by an earlier development version of hearteval (schema "
        f"{version}), which this one cannot read and leaves as it is; make a new store by "
        "naming another path or database (study.store)"
    )


def _keep_copy(connection: Connection, *, name: str, version: str) -> Path | None:
    """Copy a SQLite file as it is, beside it, while no other may write; nothing else is copied."""
    if connection.dialect.name != "sqlite":
        return None
    (path,) = connection.exec_driver_sql(
        "SELECT file FROM pragma_database_list WHERE name = 'main'"
    ).scalars()
    if not path:
        return None
    kept = Path(f"{path}.{version}")
    draft = Path(f"{kept}.draft")
    try:
        draft.unlink(missing_ok=True)
        draft.touch(mode=0o600)
        with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(draft)) as new:
            old.backup(new)
        draft.replace(kept)
    except (OSError, sqlite3.Error) as error:
        if draft.is_file():
            draft.unlink()
        raise StoreError(
            f"store {name} has schema {version} and is copied before it is brought to"
            f" {VERSIONS[-1]}, but the copy cannot be written ({error}); it stays as it is: make"
            " room beside it, or its folder writable"
        ) from error
    return kept


def is_current(connection: Connection, *, name: str) -> bool:
    """Say whether `migrate` would leave a database as it is; raise `StoreError` as it does."""
    return read_version(connection, name=name) == VERSIONS[-1]


def read_version(connection: Connection, *, name: str) -> str | None:
    """Return the schema version of a database, None where it is empty.

    Raises:
        StoreError: It is a store of the development before the first version, was made by a newer
            hearteval, or holds tables of another program.
    """
    _require_unicode(connection, name=name)
    tables = set(inspect(connection).get_table_names())
    if _versions.name in tables:
        found = connection.execute(select(_versions.c.version_num)).scalars().all()
        version = ", ".join(map(str, found)) or "empty"
        if version in VERSIONS:
            if version == VERSIONS[-1]:
                _require_columns(connection, name=name, version=version)
            return version
    elif not tables:
        return None
    elif {"items", "completions", "pairs", "assignments", "judgments"} <= tables:
        version = DEVELOPMENT_VERSIONS[0]
    else:
        raise StoreError(
            f"the database holds tables of another program ({', '.join(sorted(tables)[:3])}); a "
            "store wants a database of its own"
        )
    if version in DEVELOPMENT_VERSIONS:
        raise _from_development(name, version)
    raise StoreError(
        f"store {name} has schema {version}, and this hearteval knows up to {VERSIONS[-1]}: it was "
        "made by a newer one, or by another program; upgrade hearteval, or give another path"
    )


def _require_unicode(connection: Connection, *, name: str) -> None:
    if connection.dialect.name != "postgresql":
        return
    encoding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
    if encoding != "UTF8":
        raise StoreError(
            f"store {name} has the encoding {encoding}, which cannot hold every text; make the"
            " database with createdb --encoding=UTF8 --template=template0"
        )


def upgrade(connection: Connection, *, after: str) -> None:
    """Run the migrations that come after a version, all in the connection's transaction."""
    from alembic.migration import MigrationContext  # noqa: PLC0415 - slow and rarely needed
    from alembic.operations import Operations  # noqa: PLC0415

    with Operations.context(MigrationContext.configure(connection)):
        for version in VERSIONS[VERSIONS.index(after) + 1 :]:
            import_module(f"{__name__}.{version}").upgrade()
    _stamp(connection)


def _stamp(connection: Connection) -> None:
    _versions.create(connection, checkfirst=True)
    connection.execute(delete(_versions))
    connection.execute(insert(_versions).values(version_num=VERSIONS[-1]))

"""The version of the schema: a store of another one is refused, and stays as it is.

Until there is a release there is one version, today's, and no history of it: a store of an earlier
development version is made anew (docs/decisions/0052).
"""

import re

from sqlalchemy import (
    Column,
    Connection,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    create_mock_engine,
    insert,
    inspect,
    select,
)

from hearteval.errors import StoreError
from hearteval.store import schema
from hearteval.store.people import tables as _tables_of_people  # noqa: F401 - its tables are made

VERSION = "v0016"
"""Goes up by one with any change of a table, a column or an index, or of the sums beside them."""

COLUMNS = {
    "sqlite": "SELECT t.name, c.name FROM sqlite_master t, pragma_table_info(t.name) c"
    " WHERE t.type = 'table'",
    "postgresql": "SELECT table_name, column_name FROM information_schema.columns"
    " WHERE table_schema = current_schema()",
}
"""What finds each table with each of its columns."""
EVERY_COLUMN = {(table.name, c.name) for table in schema.metadata.tables.values() for c in table.c}

_statements: dict[str, list[str]] = {}
"""By dialect: what creates today's tables."""

_versions = Table(
    "alembic_version",  # by this name it is known in every store there is
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)


def create_tables(connection: Connection, *, name: str) -> None:
    """Create the tables of an empty database, in words that are put together once a process.

    Raises:
        StoreError: As `read_version`.
    """
    if read_version(connection, name=name) is not None:
        return
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
        # Of two indexes that serve as well SQLite takes the newer: by name, not as a set has them.
        _statements[dialect.name] = sorted(made, key=lambda it: it if " INDEX " in it else "")
    for statement in _statements[dialect.name]:
        connection.exec_driver_sql(statement)
    _versions.create(connection, checkfirst=True)
    connection.execute(insert(_versions).values(version_num=VERSION))


def read_version(connection: Connection, *, name: str) -> str | None:
    """Return the schema version of a database, which is today's; None where it is empty.

    Raises:
        StoreError: It is a store of an earlier development version, was made by a newer hearteval,
            or holds tables of another program.
    """
    _require_unicode(connection, name=name)
    tables = set(inspect(connection).get_table_names())
    if _versions.name in tables:
        found = connection.execute(select(_versions.c.version_num)).scalars().all()
        version = ", ".join(map(str, found)) or "empty"
    elif not tables:
        return None
    elif {"items", "completions", "pairs", "assignments", "judgments"} <= tables:
        version = "0001"
    else:
        raise StoreError(
            f"the database holds tables of another program ({', '.join(sorted(tables)[:3])}); a "
            "store wants a database of its own"
        )
    if version == VERSION and _has_every_column(connection):
        return version
    if re.fullmatch("v?[0-9]{4}", version) and version[-4:] <= VERSION[-4:]:
        raise StoreError(
            f"store {name} was made by an earlier development version of hearteval (schema "
            f"{version}), which this one cannot read and leaves as it is; make a new store by "
            "naming another path or database (study.store)"
        )
    raise StoreError(
        f"store {name} has schema {version}, and this hearteval knows {VERSION}: it was made by a "
        "newer one, or by another program; upgrade hearteval, or give another path"
    )


def _has_every_column(connection: Connection) -> bool:
    """Say whether every table has every column: one query, not an inspection."""
    found = connection.exec_driver_sql(COLUMNS[connection.dialect.name]).all()
    return {*map(tuple, found)} >= EVERY_COLUMN


def _require_unicode(connection: Connection, *, name: str) -> None:
    if connection.dialect.name != "postgresql":
        return
    encoding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
    if encoding != "UTF8":
        raise StoreError(
            f"store {name} has the encoding {encoding}, which cannot hold every text; make the"
            " database with createdb --encoding=UTF8 --template=template0"
        )

"""The schema's history: a database of any earlier version is brought to the newest on opening.

A new database gets the newest tables at once; a test shows that both ways end alike. Alembic is
imported only when there is something to migrate.
"""

from sqlalchemy import (
    Column,
    Connection,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    insert,
    inspect,
    select,
)

from heartbench.errors import StoreError
from heartbench.store import schema

KNOWN = ("0001", "0002", "0003", "0004", "0005", "0006")
FIRST, HEAD = KNOWN[0], KNOWN[-1]

_versions = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)


def migrate(connection: Connection, *, name: str) -> None:
    """Create the tables of a new database, or bring those of an older one up to date.

    Raises:
        StoreError: The database was made by a newer version of heartbench.
    """
    version = stored_version(connection)
    if version == HEAD:
        return
    if version is None:
        schema.metadata.create_all(connection)
        _stamp(connection, HEAD)
        return
    require_known(version, name=name)
    upgrade(connection, to=HEAD)


def require_known(version: str, *, name: str) -> None:
    """Raise `StoreError` for a schema that this version of heartbench has never heard of."""
    if version not in KNOWN:
        raise StoreError(
            f"store {name} has schema {version}, and this heartbench knows up to {HEAD}: it was "
            "made by a newer one, or by another program; upgrade heartbench, or give another path"
        )


def stored_version(connection: Connection) -> str | None:
    """Return the schema version of a database, None where it is empty.

    Raises:
        StoreError: It holds tables of another program.
    """
    tables = set(inspect(connection).get_table_names())
    if _versions.name in tables:
        found = connection.execute(select(_versions.c.version_num)).scalars().all()
        return ", ".join(map(str, found)) or "empty"
    if tables >= set(schema.metadata.tables):
        return FIRST
    if tables:
        raise StoreError(
            f"the database holds tables of another program ({', '.join(sorted(tables)[:3])}); a "
            "store wants a database of its own"
        )
    return None


def upgrade(connection: Connection, *, to: str) -> None:
    """Run the migrations up to a version in the connection's transaction."""
    from alembic import command  # noqa: PLC0415 - slow to import and rarely needed
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", "heartbench:store/migrations")
    config.attributes["connection"] = connection
    if _versions.name not in inspect(connection).get_table_names() and (
        stored_version(connection) == FIRST
    ):
        command.stamp(config, FIRST)
    command.upgrade(config, to)


def _stamp(connection: Connection, version: str) -> None:
    _versions.create(connection)
    connection.execute(insert(_versions).values(version_num=version))

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

FIRST = "0001"
HEAD = "0002"

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
    if version > HEAD:
        raise StoreError(
            f"store {name} has schema {version}, made by a newer heartbench than this one, which "
            f"knows {HEAD}; upgrade heartbench"
        )
    upgrade(connection, to=HEAD)


def stored_version(connection: Connection) -> str | None:
    """Return the schema version of a database, None where it has no tables of ours."""
    tables = inspect(connection).get_table_names()
    if _versions.name in tables:
        found = connection.execute(select(_versions.c.version_num)).scalar_one_or_none()
        if found is not None:
            return str(found)
    return FIRST if schema.studies.name in tables else None


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

"""Inserting rows: by INSERT, or many at once by COPY where others write beside us."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table, insert
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, StatementError

from hearteval.store.integrity.seal import slot_of


def insertion(connection: Connection, table: Table[Any]) -> Any:
    """Return an INSERT that can say what to do with a row that is already there."""
    return (sqlite if connection.dialect.name == "sqlite" else postgresql).insert(table)


def insert_rows(
    connection: Connection, table: Table[Any], rows: Sequence[Mapping[str, Any]]
) -> None:
    """Insert rows, all of the same columns, none of which is there.

    PostgreSQL copies them, which takes it and us half the time of as many INSERTs.
    """
    if not rows:
        return
    if not slot_of(connection):
        connection.execute(insert(table), rows)
        return
    dialect = connection.dialect
    made = [
        (name, table.c[name].type.dialect_impl(dialect).bind_processor(dialect)) for name in rows[0]
    ]
    names = ", ".join(f'"{name}"' for name, _ in made)
    statement = f'COPY "{table.name}" ({names}) FROM STDIN'
    raw = connection.connection.driver_connection
    assert raw is not None
    try:
        with raw.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row([row[name] if to is None else to(row[name]) for name, to in made])
    except dialect.loaded_dbapi.Error as error:
        raise DBAPIError.instance(
            statement,
            None,
            error,
            dialect.loaded_dbapi.Error,
            hide_parameters=True,
            connection_invalidated=dialect.is_disconnect(error, raw, None),
            dialect=dialect,
        ) from error
    except (TypeError, ValueError) as error:
        raise StatementError("a value", statement, None, error, hide_parameters=True) from error

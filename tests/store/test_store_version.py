"""Which stores are refused, in one line, and that refusing changes nothing."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from kept_store import DATABASES, make_store, read_records, saved, statements
from sqlalchemy import Connection, create_engine, text

from hearteval.errors import StoreError
from hearteval.store import schema
from hearteval.store.engines import open_engine, probe_store
from hearteval.store.sql import SqlStore
from hearteval.store.version import VERSION, read_version


def test_tables_are_those_of_the_version() -> None:
    """Where this fails, `VERSION` goes up and `kept_store` writes its file anew."""
    assert saved()["statements"] == {name: statements(name) for name in DATABASES}


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store may be, still empty."""
    if request.param == "sqlite":
        return str(tmp_path / "study.db")
    return str(request.getfixturevalue("postgres_url"))


def test_a_store_of_this_version_opens_with_every_record(place: str) -> None:
    make_store(place)
    with closing(SqlStore.open(place)) as store:
        found = read_records(store)
        assert store.check(progress=lambda _kind, _n: None).faults == ()
    for kind, records in saved()["records"].items():
        assert found[kind].keys() == records.keys()
        for id_, fields in records.items():
            assert fields.items() <= found[kind][id_].items()


def execute(place: str, *statements: str) -> None:
    engine, _ = open_engine(place)
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def contents(place: str) -> dict[str, list[tuple[object, ...]]]:
    """Return every row of every table."""
    engine, _ = open_engine(place, read_only=True)
    query = {
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table'",
        "postgresql": "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
    }
    with engine.connect() as connection:
        names = connection.execute(text(query[engine.dialect.name])).scalars().all()
        found = {
            n: sorted(map(tuple, connection.execute(text(f"SELECT * FROM {n}"))), key=repr)
            for n in names
        }
    engine.dispose()
    return found


def make_earlier_store(place: str, version: str | None) -> None:
    """Make a store as development versions did, with a version or, the first, with none."""
    SqlStore.open(place).close()
    execute(
        place,
        f"UPDATE alembic_version SET version_num = '{version}'"
        if version is not None
        else "DROP TABLE alembic_version",
        "ALTER TABLE attempts DROP COLUMN cached",
        "INSERT INTO replies (id, reply, cost, created_at) VALUES (X'00', '{}', 0.5, 0)"
        if "://" not in place
        else "INSERT INTO replies (id, reply, cost, created_at) VALUES ('\\x00', '{}', 0.5, 0)",
    )


@pytest.mark.parametrize("version", ["0001", "0006", "v0002", "v0010", VERSION, None])
def test_a_store_of_an_earlier_development_version_is_refused(
    place: str, version: str | None
) -> None:
    """Also where its version says today's and a column is missing."""
    make_earlier_store(place, version)
    before = contents(place)
    for look_at in (SqlStore.open, probe_store):
        with pytest.raises(StoreError, match="earlier development version") as caught:
            look_at(place)
        assert f"(schema {version or '0001'})" in str(caught.value)
        assert "make a new store by naming another path" in str(caught.value)
        assert "\n" not in str(caught.value)
    assert contents(place) == before


def customers(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE customers (name TEXT)")
        connection.commit()


def store_of_a_newer_hearteval(path: Path) -> None:
    SqlStore.open(str(path)).close()
    execute(str(path), "UPDATE alembic_version SET version_num = 'v9999'")


REFUSED: dict[str, tuple[Callable[[Path], None], str]] = {
    "an earlier store": (
        lambda path: make_earlier_store(str(path), "v0010"),
        "earlier development version",
    ),
    "a newer store": (store_of_a_newer_hearteval, f"this hearteval knows {VERSION}"),
    "tables of another program": (customers, "another program"),
}


@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED)
def test_a_file_that_is_refused_stays_byte_for_byte(
    tmp_path: Path, make: Callable[[Path], None], message: str
) -> None:
    path = tmp_path / "refused.db"
    make(path)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=message):
        SqlStore.open(str(path))
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["refused.db"]


def test_an_earlier_store_that_a_killed_run_left_stays_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "killed.db"
    make_earlier_store(str(path), "0006")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM replies")
        connection.commit()
        files = (path, tmp_path / "killed.db-wal")
        copies = [tmp_path / "copy.db", tmp_path / "copy.db-wal"]
        for file, copy in zip(files, copies, strict=True):
            copy.write_bytes(file.read_bytes())
    before = [copy.read_bytes() for copy in copies]
    with pytest.raises(StoreError, match="earlier development version"):
        SqlStore.open(str(copies[0]))
    assert [copy.read_bytes() for copy in copies] == before


def test_a_database_of_before_versions_counts_as_the_first_of_development(tmp_path: Path) -> None:
    def version_of(connection: Connection) -> str | None:
        return read_version(connection, name="old")

    engine = create_engine(f"sqlite:///{tmp_path / 'old.db'}")
    with engine.begin() as connection:
        assert version_of(connection) is None
        schema.metadata.create_all(connection)
        with pytest.raises(StoreError, match="schema 0001"):
            version_of(connection)
    engine.dispose()

"""The schema's history: what is migrated, what is refused, and that refusing changes nothing."""

import sqlite3
import sys
import uuid
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import ModuleType

import pytest
from alembic import op
from small_world import make_world
from sqlalchemy import Column, Connection, Text, create_engine, inspect, text
from store_versions import (
    DATABASES,
    FOLDER,
    OLDEST,
    make_store,
    read_records,
    saved,
    statements,
    structure,
)

from hearteval.domain import Attempt
from hearteval.errors import StoreError
from hearteval.store import migrations, schema, sql
from hearteval.store.copy import store_hashes
from hearteval.store.engines import open_engine, probe_store
from hearteval.store.migrations import VERSIONS, read_version
from hearteval.store.sql import SqlStore

POSTGRES = [pytest.mark.postgres]
HEAD = VERSIONS[-1]
KEPT = sorted(path.stem for path in FOLDER.glob("*.json"))
"""Versions of which a store is kept as they made it: each that others may have."""


def test_tables_are_those_that_the_newest_version_has_kept() -> None:
    """Where this fails, a migration or its version's file (`store_versions`) is missing."""
    assert saved(HEAD)["statements"] == {name: statements(name) for name in DATABASES}


def test_every_migration_is_listed_and_has_kept_a_store() -> None:
    (folder,) = migrations.__path__
    assert sorted(path.stem for path in Path(folder).glob("v*.py")) == sorted(VERSIONS[1:])
    assert {OLDEST, HEAD} <= set(KEPT) <= set(VERSIONS)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=POSTGRES)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store may be, still empty."""
    if request.param == "sqlite":
        return str(tmp_path / "study.db")
    return str(request.getfixturevalue("postgres_url"))


@pytest.mark.parametrize("version", KEPT)
def test_the_store_of_each_version_becomes_one_of_today(
    place: str, another_place: str, version: str
) -> None:
    make_store(place, version)
    store = SqlStore.open(place)
    found = read_records(store)
    assert store.check(progress=lambda _kind, _n: None).faults == ()
    store.close()
    for kind, records in saved(version)["records"].items():
        assert found[kind].keys() == records.keys()
        for id_, fields in records.items():
            if kind == "reply":  # since v0003 the body of a reply, which repeats it, is not kept
                fields["reply"]["raw"] = ""
            assert fields.items() <= found[kind][id_].items()
    SqlStore.open(another_place).close()
    assert structure(place) == structure(another_place)


def test_a_file_is_copied_as_it_was_before_it_is_migrated(
    tmp_path: Path, next_version: Callable[[Callable[[], None]], None]
) -> None:
    place = str(tmp_path / "study.db")
    make_store(place, "v0002")
    before = contents(place)
    next_version(lambda: op.add_column("replies", Column("note", Text)))
    SqlStore.open(place).close()
    copy = tmp_path / "study.db.v0002"
    assert contents(str(copy)) == before
    assert copy.stat().st_mode & 0o777 == 0o600
    assert not list(tmp_path.glob("*.draft*"))


def test_a_file_that_cannot_be_copied_is_not_migrated(
    tmp_path: Path, next_version: Callable[[Callable[[], None]], None]
) -> None:
    path = tmp_path / "study.db"
    SqlStore.open(str(path)).close()
    (tmp_path / f"study.db.{HEAD}.draft").mkdir()
    before = contents(str(path))
    next_version(lambda: op.add_column("replies", Column("note", Text)))
    with pytest.raises(StoreError, match="the copy cannot be written") as caught:
        SqlStore.open(str(path))
    assert "\n" not in str(caught.value)
    assert contents(str(path)) == before


@pytest.fixture
def another_place(request: pytest.FixtureRequest, place: str) -> str:
    """A second one, of the same kind."""
    if "://" not in place:
        return f"{place}.new"
    server = request.getfixturevalue("postgres")
    return str(server.create_database(f"test_{uuid.uuid4().hex}"))


def execute(place: str, *statements: str) -> None:
    engine, _ = open_engine(place)
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def contents(place: str) -> dict[str, list[tuple[object, ...]]]:
    """Return every row of every table."""
    engine, _ = open_engine(place, read_only=True)
    with engine.connect() as connection:
        names = sorted(inspect(connection).get_table_names())
        found = {
            n: sorted(map(tuple, connection.execute(text(f"SELECT * FROM {n}")))) for n in names
        }
    engine.dispose()
    return found


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Make a later hearteval of this one, with a migration of its own."""

    def add(migration: Callable[[], None]) -> None:
        module = ModuleType("hearteval.store.migrations.v9999")
        module.__dict__["upgrade"] = migration
        monkeypatch.setitem(sys.modules, module.__name__, module)
        for where in (migrations, sql):
            monkeypatch.setattr(where, "VERSIONS", (*VERSIONS, "v9999"))

    return add


def test_a_later_migration_runs_when_the_store_is_opened_and_keeps_every_record(
    place: str, next_version: Callable[[Callable[[], None]], None]
) -> None:
    store = SqlStore.open(place)
    store.add(make_world().records)
    before = store_hashes(store)
    store.close()
    next_version(lambda: op.add_column("replies", Column("note", Text)))
    upgraded = SqlStore.open(place)
    assert store_hashes(upgraded) == before
    upgraded.close()
    assert contents(place)["alembic_version"] == [("v9999",)]
    execute(place, "SELECT note FROM replies")


def test_a_migration_that_fails_leaves_the_store_as_it_was(
    place: str, next_version: Callable[[Callable[[], None]], None]
) -> None:
    store = SqlStore.open(place)
    store.add(make_world().records)
    store.close()
    before = contents(place)

    def fail_halfway() -> None:
        op.add_column("replies", Column("note", Text))
        raise StoreError("halfway")

    next_version(fail_halfway)
    with pytest.raises(StoreError, match="halfway"):
        SqlStore.open(place)
    assert contents(place) == before


def test_a_store_of_the_first_version_keeps_its_attempts(place: str) -> None:
    make_store(place, "v0002")
    execute(
        place,
        "ALTER TABLE attempts DROP COLUMN detail",
        "UPDATE alembic_version SET version_num = 'v0001'",
    )
    store = SqlStore.open(place)
    kept = {attempt.id: attempt.detail for attempt in store.iter(Attempt)}
    store.close()
    assert kept == dict.fromkeys(saved("v0002")["records"]["attempt"])
    assert contents(place)["alembic_version"] == [(HEAD,)]


def make_development_store(place: str, version: str | None) -> None:
    """Make a store as the development versions did: a chain of six migrations, or none yet."""
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


@pytest.mark.parametrize("version", ["0001", "0006", None])
def test_a_development_store_is_refused_in_one_line(place: str, version: str | None) -> None:
    make_development_store(place, version)
    before = contents(place)
    for look_at in (SqlStore.open, probe_store):
        with pytest.raises(StoreError, match="earlier development version") as caught:
            look_at(place)
        assert f"(schema {version or '0001'})" in str(caught.value)
        assert "make a new store by naming another path" in str(caught.value)
        assert "\n" not in str(caught.value)
    assert contents(place) == before


@pytest.mark.parametrize("version", ["v0002", HEAD])
def test_a_development_store_under_a_later_version_is_refused_and_not_copied(
    tmp_path: Path, version: str
) -> None:
    path = tmp_path / "early.db"
    make_store(str(path), version)
    execute(str(path), "ALTER TABLE attempts DROP COLUMN cached")
    before = contents(str(path))
    with pytest.raises(StoreError, match="earlier development version"):
        SqlStore.open(str(path))
    assert contents(str(path)) == before
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith("early.db.")] == []


def customers(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE customers (name TEXT)")
        connection.commit()


def store_of_a_newer_hearteval(path: Path) -> None:
    SqlStore.open(str(path)).close()
    execute(str(path), "UPDATE alembic_version SET version_num = '9999'")


REFUSED: dict[str, tuple[Callable[[Path], None], str]] = {
    "a development store": (
        lambda path: make_development_store(str(path), "0006"),
        "earlier development version",
    ),
    "a newer store": (store_of_a_newer_hearteval, "this hearteval knows up to"),
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


def test_a_development_store_that_a_killed_run_left_stays_byte_for_byte(tmp_path: Path) -> None:
    path = tmp_path / "killed.db"
    make_development_store(str(path), "0006")
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

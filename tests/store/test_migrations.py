"""The schema's history: new and migrated databases are alike, and data survive."""

import sqlite3
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from small_world import make_world
from sqlalchemy import create_engine, insert, inspect

from heartbench.domain import Attempt, LatencyProbe, Rating
from heartbench.errors import StoreError
from heartbench.store import schema
from heartbench.store.copy import store_hashes
from heartbench.store.engines import open_engine
from heartbench.store.migrations import FIRST, HEAD, stored_version, upgrade
from heartbench.store.rows import TABLES, to_row
from heartbench.store.sql import SqlStore

CHANGED_SINCE = (LatencyProbe, Rating, Attempt)
NEW_OF_ATTEMPTS = ("study_id", "completion_id", "rater_id")
POSTGRES = [pytest.mark.postgres, pytest.mark.xdist_group("postgres")]


def tables(path: Path) -> dict[str, str]:
    """Every table and index as SQLite wrote it down, apart from white space and quotes."""
    connection = sqlite3.connect(path)
    rows = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
    ).fetchall()
    connection.close()
    return {name: "".join(sql.replace('"', "").split()) for name, sql in rows}


def test_head_is_the_last_migration() -> None:
    config = Config()
    config.set_main_option("script_location", "heartbench:store/migrations")
    assert ScriptDirectory.from_config(config).get_current_head() == HEAD


def test_a_new_database_is_what_the_migrations_make(tmp_path: Path) -> None:
    SqlStore.open(str(tmp_path / "new.db")).close()
    engine = create_engine(f"sqlite:///{tmp_path / 'migrated.db'}")
    with engine.begin() as connection:
        upgrade(connection, to=HEAD)
        assert stored_version(connection) == HEAD
        names = set(inspect(connection).get_table_names())
    engine.dispose()
    assert names == {*schema.metadata.tables, "alembic_version"}
    assert tables(tmp_path / "new.db") == tables(tmp_path / "migrated.db")


def test_a_database_from_before_versions_counts_as_the_first(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'old.db'}")
    with engine.begin() as connection:
        assert stored_version(connection) is None
        schema.metadata.create_all(connection)
        assert stored_version(connection) == "0001"
    engine.dispose()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=POSTGRES)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store may be, still empty."""
    if request.param == "sqlite":
        return str(tmp_path / "study.db")
    return str(request.getfixturevalue("postgres_url"))


def test_an_upgrade_from_the_first_schema_keeps_every_record(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, _ = open_engine(place)
    with engine.begin() as connection:
        upgrade(connection, to=FIRST)
        assert stored_version(connection) == FIRST
    world = make_world()
    with monkeypatch.context() as patch:
        patch.setattr("heartbench.store.sql.migrate", lambda _connection, *, name: None)
        store = SqlStore(engine, name="first")
    kinds = {kind: table for kind, table in TABLES.items() if kind not in CHANGED_SINCE}
    monkeypatch.setattr("heartbench.store.copy.TABLES", kinds)  # the first schema has no others
    store.add([record for record in world.records if type(record) in kinds])
    attempt = {k: v for k, v in to_row(world.attempt).items() if k not in NEW_OF_ATTEMPTS}
    with engine.begin() as connection:
        connection.execute(insert(schema.attempts).values(**attempt))
    before = store_hashes(store)
    upgraded = SqlStore.open(place)
    assert store_hashes(upgraded) == before
    assert list(upgraded.iter(Attempt)) == [world.attempt]
    assert len(set(before.values())) == len(before)
    upgraded.close()
    with engine.connect() as connection:
        assert stored_version(connection) == HEAD
        names = {index["name"] for index in inspect(connection).get_indexes("assignments")}
    engine.dispose()
    assert "ix_assignments_pair" in names


def test_a_database_of_a_newer_version_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "future.db"
    SqlStore.open(str(path)).close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="this heartbench knows up to"):
        SqlStore.open(str(path))


def test_a_database_of_another_program_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "customers.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE customers (name TEXT)")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="another program"):
        SqlStore.open(str(path))
    assert tables(path) == {"customers": "CREATETABLEcustomers(nameTEXT)"}

"""Who serves a study and who opens its tasks: locks that end with whoever holds them."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from made_records import made_study
from sqlalchemy import create_engine, text
from waiting import until

from hearteval.errors import StoreError
from hearteval.store import serving
from hearteval.store.sql import SqlStore

STUDY = made_study()
LATER = replace(STUDY, version=STUDY.version + 1)
END_ALL = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


@pytest.fixture
def store(postgres_url: str) -> Iterator[SqlStore]:
    with closing(SqlStore.open(postgres_url, patience_seconds=0.0)) as opened:
        yield opened


def test_a_file_has_one_server(tmp_path: Path) -> None:
    with closing(SqlStore.open(str(tmp_path / "a.db"))) as store:
        with closing(store.serving(STUDY)) as alone:
            assert alone.look() == "mine"
        assert store.served(STUDY) is None


@pytest.mark.postgres
def test_one_of_several_has_the_turn_until_it_ends(store: SqlStore) -> None:
    nobody = store.served(STUDY)
    assert nobody == ((), None)
    with closing(store.serving(STUDY)) as second:
        with closing(store.serving(STUDY)) as first:
            assert [first.look(), second.look(), first.look()] == ["mine", "others", "mine"]
            served = store.served(STUDY)
            assert served is not None
            assert served.versions == (STUDY.version,) * 2
            assert served.planner_seconds is not None
            assert served.planner_seconds >= 0
        until(lambda: second.look() == "mine")
        other = replace(STUDY, name="another", id="")
        with closing(store.serving(other)) as elsewhere:
            assert elsewhere.look() == "mine"
    until(lambda: store.served(STUDY) == nobody)


@pytest.mark.postgres
def test_a_later_version_has_the_turn_before_an_earlier_one(store: SqlStore) -> None:
    with closing(store.serving(STUDY)) as old:
        assert old.look() == "mine"
        with closing(store.serving(LATER)) as new:
            assert [new.look(is_ready=False), old.look()] == ["others", "mine"]
            assert [new.look(), old.look(), new.look()] == ["others", "outdated", "mine"]
            assert old.look() == "outdated"
        until(lambda: old.look() == "mine")


@pytest.mark.postgres
def test_a_server_that_was_stopped_loses_its_turn(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "IDLE_SECONDS", 1)
    with closing(store.serving(STUDY)) as stopped, closing(store.serving(STUDY)) as other:
        assert stopped.look() == "mine"
        until(lambda: other.look() == "mine")
        with pytest.raises(StoreError, match="cannot be used"):
            stopped.look()


@pytest.mark.postgres
def test_who_lost_the_database_has_lost_the_turn(store: SqlStore, postgres_url: str) -> None:
    engine = create_engine(postgres_url.replace("postgresql", "postgresql+psycopg"))
    with closing(store.serving(STUDY)) as first, closing(store.serving(STUDY)) as second:
        assert [first.look(), second.look()] == ["mine", "others"]
        with engine.begin() as connection:
            connection.execute(END_ALL)
        with pytest.raises(StoreError, match="cannot be used"):
            first.look()
        with pytest.raises(StoreError, match="cannot be used"):
            second.look()
        assert [second.look(), first.look()] == ["mine", "others"]
    engine.dispose()

"""A database that goes away and comes back: nothing lost, nothing twice, one clear line."""

import logging
import sqlite3
import threading
from pathlib import Path

import pytest
from postgres_server import running_server
from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError, OperationalError

from hearteval.domain import System
from hearteval.errors import StoreError
from hearteval.store.engines import Outage, run_patiently
from hearteval.store.sql import SqlStore


def systems(start: int, n: int = 20) -> list[System]:
    return [
        System(name=f"s{number}", kind="baseline", family="baseline")
        for number in range(start, start + n)
    ]


@pytest.mark.server
@pytest.mark.postgres
def test_adding_waits_for_a_server_that_restarts(
    tmp_path_factory: pytest.TempPathFactory, caplog: pytest.LogCaptureFixture
) -> None:
    with running_server(tmp_path_factory.mktemp("restarting")) as server:
        store = SqlStore.open(server.url, patience_seconds=60)
        store.add(systems(0))
        server.stop()
        restart = threading.Timer(2, server.start)
        restart.start()
        with caplog.at_level(logging.WARNING):
            assert store.add(systems(10)) == 10
        restart.join()
        assert [record.message.count("not reachable") for record in caplog.records] == [1]
        assert len(list(store.iter(System))) == 30
        store.close()


@pytest.mark.server
@pytest.mark.postgres
def test_a_server_that_stays_away_is_one_clear_line(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with running_server(tmp_path_factory.mktemp("stopped")) as server:
        store = SqlStore.open(server.url, patience_seconds=0.5)
        server.stop()
        with pytest.raises(StoreError, match="check that it can be reached") as caught:
            store.add(systems(0))
        assert "\n" not in str(caught.value)
        server.start()
        assert store.add(systems(0)) == 20
        store.close()


@pytest.mark.server
@pytest.mark.postgres
def test_writer_that_was_stopped_holds_up_the_others_no_longer_than_a_while(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hearteval.store.engines.IDLE_SECONDS", 1)
    store, other = SqlStore.open(postgres_url), SqlStore.open(postgres_url)
    begun, ended, outcomes = threading.Event(), threading.Event(), list[bool]()

    def stop_at_first(connection: Connection) -> None:
        begun.set()
        outcomes.append(ended.wait(timeout=60))
        connection.execute(text("SELECT 1"))

    stopped = threading.Thread(target=store._write_as, args=("alone", stop_at_first))
    stopped.start()
    assert begun.wait(timeout=60)

    assert other.add(systems(0)) == 20

    ended.set()
    stopped.join()
    assert len(outcomes) > 1
    assert all(outcomes)
    store.close()
    other.close()


def test_one_outage_is_one_line_however_many_threads_wait(
    caplog: pytest.LogCaptureFixture,
) -> None:
    outage, away = Outage(), OperationalError("SELECT", {}, sqlite3.OperationalError("locked"))

    def wait(together: threading.Barrier) -> None:
        tries = iter(range(2))

        def work() -> None:
            if next(tries) == 0:
                together.wait(timeout=60)
                raise away

        run_patiently(work, name="study.db", patience_seconds=60, outage=outage)

    with caplog.at_level(logging.WARNING):
        for n_outages in (1, 2):
            together = threading.Barrier(2)
            threads = [threading.Thread(target=wait, args=(together,)) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert [one.message.count("not reachable") for one in caplog.records] == [1] * n_outages


def test_a_file_that_another_process_holds_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hearteval.store.engines.BUSY_TIMEOUT_SECONDS", 0)
    path = tmp_path / "study.db"
    store = SqlStore.open(str(path), patience_seconds=30)
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.5, lambda: holder.execute("ROLLBACK"))
    release.start()
    assert store.add(systems(0)) == 20
    release.join()
    holder.close()
    store.close()


def test_a_file_held_for_good_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hearteval.store.engines.BUSY_TIMEOUT_SECONDS", 0)
    path = tmp_path / "study.db"
    store = SqlStore.open(str(path), patience_seconds=0.3)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="database is locked"):
        store.add(systems(0))
    holder.close()
    assert store.add(systems(0)) == 20
    store.close()


def test_a_process_whose_connections_are_all_in_use_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqlStore.open(str(tmp_path / "busy.db"))
    pool = store._engine.pool
    monkeypatch.setattr(pool, "_timeout", 0.01)
    held = [pool.connect() for _ in range(15)]
    with pytest.raises(StoreError, match="all connections of this process are in use"):
        list(store.iter(System))
    for connection in held:
        connection.close()
    store.close()


def test_what_a_database_refuses_is_told_without_the_values(tmp_path: Path) -> None:
    # PostgreSQL names them in a second line, and logs repeat what is told.
    refusal = Exception("duplicate key\nDETAIL:  Key (platform_id)=(5f3a-anna) already exists.")

    def work() -> None:
        raise IntegrityError("INSERT", {}, refusal)

    with pytest.raises(StoreError, match="duplicate key") as refused:
        run_patiently(work, name="study.db", patience_seconds=0)
    assert "anna" not in str(refused.value)

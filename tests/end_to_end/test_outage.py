"""A server that goes away in the middle of a run: the run waits and ends as if it had not."""

import os
import threading
import time
from pathlib import Path

import pytest
from forked_heart import Running, heart
from killable_study import finish_here, write_study
from postgres_server import running_server
from sqlalchemy import Connection, Engine, event

from hearteval.store.copy import copy_store
from hearteval.store.rows import TABLES
from hearteval.store.sql import SqlStore

pytestmark = [pytest.mark.server, pytest.mark.postgres]

OUTAGE_SECONDS = float(os.environ.get("HEART_TEST_OUTAGE_SECONDS", "3"))
"""The whole measurement is 60: ``make soak``."""


def run_halted(study: str, go_on: str) -> None:
    """Say so when it has judged, and go on when there is a file."""
    has_judged = False

    def before_commit(connection: Connection) -> None:
        nonlocal has_judged
        if has_judged or not connection.dialect.has_table(connection, "judgments"):
            return
        has_judged = bool(connection.exec_driver_sql("SELECT count(*) FROM judgments").scalar_one())
        if has_judged:
            os.write(1, b"judged\n")
            while not Path(go_on).exists():
                time.sleep(0.01)

    event.listen(Engine, "commit", before_commit)
    heart("run", study)


def ids_by_kind(store: SqlStore) -> dict[str, list[str]]:
    return {kind.__name__: [record.id for record in store.iter(kind)] for kind in TABLES}


def test_a_run_waits_for_its_database(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    reference = write_study(tmp_path / "undisturbed")
    finish_here(reference)
    study = write_study(tmp_path / "study")
    with running_server(tmp_path_factory.mktemp("outage")) as server:
        go_on = tmp_path / "go_on"
        process = Running(run_halted, str(study), str(go_on), store=server.url)
        assert process.line() == "judged\n"
        server.stop()
        restart = threading.Timer(OUTAGE_SECONDS, server.start)
        restart.start()
        go_on.touch()
        _, err = process.wait()
        restart.join()
        assert process.code == 0, err
        lines = [line for line in err.splitlines() if " so far" not in line]
        assert len(lines) == 1, lines
        (said,) = lines
        assert "is not reachable; trying again" in said
        there, here = SqlStore.open(server.url), SqlStore.in_memory()
        undisturbed = SqlStore.open(str(reference.parent / "long.db"))
        copy_store(there, here, progress=lambda _kind, _done: None)
        assert ids_by_kind(here) == ids_by_kind(undisturbed)
        for store in (there, here, undisturbed):
            store.close()

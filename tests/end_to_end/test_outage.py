"""A server that goes away in the middle of a run: the run waits and ends as if it had not."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from killable_study import DEADLINE_SECONDS, finish_here, write_study
from postgres_server import running_server

from hearteval.store.copy import copy_store
from hearteval.store.rows import TABLES
from hearteval.store.sql import SqlStore

pytestmark = [pytest.mark.server, pytest.mark.postgres]

OUTAGE_SECONDS = float(os.environ.get("HEART_TEST_OUTAGE_SECONDS", "3"))
"""The whole measurement is 60: ``make soak``."""
HALTED = """
import sys
from sqlalchemy import Connection, Engine, event
from hearteval.cli.main import run_command_line
has_judged = False
def before_commit(connection: Connection) -> None:
    global has_judged
    if has_judged or not connection.dialect.has_table(connection, "judgments"):
        return
    has_judged = bool(connection.exec_driver_sql("SELECT count(*) FROM judgments").scalar_one())
    if has_judged:
        print("judged", flush=True)
        sys.stdin.readline()
event.listen(Engine, "commit", before_commit)
run_command_line(["run", sys.argv[1]])
"""
"""A run that says so when it has judged, and goes on when it is told to."""


def ids_by_kind(store: SqlStore) -> dict[str, list[str]]:
    return {kind.__name__: [record.id for record in store.iter(kind)] for kind in TABLES}


def test_a_run_waits_for_its_database(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    reference = write_study(tmp_path / "undisturbed")
    finish_here(reference)
    study = write_study(tmp_path / "study")
    with running_server(tmp_path_factory.mktemp("outage")) as server:
        process = subprocess.Popen(
            [sys.executable, "-c", HALTED, str(study)],
            env=os.environ | {"HEART_STORE": server.url},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "judged\n"
        server.stop()
        restart = threading.Timer(OUTAGE_SECONDS, server.start)
        restart.start()
        _, err = process.communicate("go on\n", timeout=DEADLINE_SECONDS)
        restart.join()
        assert process.returncode == 0, err
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

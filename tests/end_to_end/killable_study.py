"""A study in a process that can be killed, and what it leaves behind."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from waiting import until

from hearteval.cli.main import run_command_line
from hearteval.store.engines import open_engine

SYSTEMS = ("original", "shuffled", "retrieval", "reflective", "generic", "advice")
TABLES = {
    "completions": "id, item_id, system_id, text",
    "attempts": "id, reason",
    "pairs": "id",
    "assignments": "id, first_completion_id",
    "judgments": "id, assignment_id, choice, strength, axes, raw",
    "studies": "id, version, items_hash, settings_hash",
}


def write_study(
    folder: Path, *, source: str = "starter", regular: int = 16, adversarial: int = 8
) -> Path:
    """Write a study of all keyless systems into a new folder."""
    folder.mkdir(parents=True)
    systems = "".join(f'[[system]]\npreset = "{name}"\n' for name in SYSTEMS)
    path = folder / "long.toml"
    path.write_text(
        f'[study]\nname = "long"\nseed = 11\n[items]\nsource = "{source}"\n'
        f"regular = {regular}\nadversarial = {adversarial}\n{systems}"
        '[judging]\njudges = ["cue"]\n',
        encoding="utf-8",
    )
    return path


def finish_here(study: Path) -> None:
    """Run the study to its end in this process, which starts faster."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("HEART_STORE", raising=False)
        run_command_line(["run", str(study), "--json"])


def count(database: Path, table: str) -> int:
    """Count rows; 0 while there is no such table yet."""
    try:
        connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=10)
    except sqlite3.OperationalError:
        return 0
    try:
        (n,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()
    return int(n)


def read(store: str, *queries: str) -> list[list[tuple[Any, ...]]]:
    """Return the rows of each query, from a path or a PostgreSQL address."""
    engine, _ = open_engine(store)
    with engine.connect() as connection:
        rows = [[tuple(row) for row in connection.execute(text(query))] for query in queries]
    engine.dispose()
    return rows


def wait_until_left(store: str) -> None:
    """Wait until PostgreSQL has dealt with the last words of a killed process; files need not."""
    if store.startswith("postgresql:"):
        others = "datname = current_database() AND pid <> pg_backend_pid()"
        query = f"SELECT pid FROM pg_stat_activity WHERE {others}"
        until(lambda: read(store, query) == [[]])


def content(study: Path, store: str | None = None) -> tuple[dict[str, list[Any]], Any]:
    """Return what a run leaves: every row that is no time, and the results without theirs."""
    queries = [f"SELECT {columns} FROM {table} ORDER BY id" for table, columns in TABLES.items()]
    rows = read(store or str(study.parent / "long.db"), *queries)
    results = json.loads((study.parent / "long.results.json").read_text(encoding="utf-8"))
    del results["provenance"]["created_at"], results["provenance"]["data_hash"]  # holds times
    return dict(zip(TABLES, rows, strict=True)), results

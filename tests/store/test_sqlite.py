"""What only SQLite promises: durability settings, covering indexes, clear errors about files."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Select
from sqlalchemy.dialects import sqlite

from hearteval.domain import Pair, Study
from hearteval.errors import StoreError
from hearteval.store import schema
from hearteval.store.judged import judgment_query
from hearteval.store.rows import (
    n_pairs_query,
    planned_query,
    study_query,
    timed_query,
    usage_queries,
)
from hearteval.store.sql import SqlStore

STUDY = Study(
    name="s",
    seed=1,
    item_ids=(),
    items_hash="",
    system_ids=(),
    rater_ids=(),
    design={},
    protocol_version="1",
    settings_hash="",
    software_version="",
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
)


def test_file_uses_a_write_ahead_log(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    SqlStore.open(str(path)).close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_ids_are_keys_of_16_bytes(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    store = SqlStore.open(str(path))
    store.add([STUDY])
    store.close()
    connection = sqlite3.connect(path)
    row = connection.execute("SELECT typeof(id), length(id) FROM studies").fetchone()
    connection.close()
    assert row == ("blob", 16)


def plan_of(folder: Path, query: Select[Any]) -> list[str]:
    """How SQLite would look for what a query asks for, a line for each table."""
    path = folder / "study.db"
    SqlStore.open(str(path)).close()
    compiled = query.compile(dialect=sqlite.dialect(), compile_kwargs={"render_postcompile": True})
    bound = [b"x" * 16] * len(compiled.positiontup or ())
    connection = sqlite3.connect(path)
    plan = connection.execute(f"EXPLAIN QUERY PLAN {compiled}", bound).fetchall()
    connection.close()
    return [row[3] for row in plan]


def test_counting_pairs_never_reads_the_wide_tables(tmp_path: Path) -> None:
    details = plan_of(tmp_path, judgment_query(STUDY))
    assert not [line for line in details if "completions" in line], details
    (judgments,) = [line for line in details if "judgments" in line]
    assert "COVERING INDEX ix_judgments_counts" in judgments


OF_PEOPLE = "rater_id=? AND study_id=?"


@pytest.mark.parametrize(
    ("query", "by"),
    [
        (judgment_query(STUDY), "study_id=?"),
        (judgment_query(STUDY, of_people=True), OF_PEOPLE),
        (timed_query().where(schema.assignments.c.study_id == STUDY.id), OF_PEOPLE),
        (usage_queries("0" * 32, 5)[1], "rater_id=?"),
        (planned_query(STUDY), "study_id=?"),
        (n_pairs_query(STUDY), "study_id=?"),
    ],
    ids=[
        *("judgments", "judgments of people", "times of people", "usage of a judge"),
        *("what is assigned", "number of pairs"),
    ],
)
def test_assignments_of_other_studies_and_of_judges_are_not_looked_at(
    tmp_path: Path, query: Select[Any], by: str
) -> None:
    details = plan_of(tmp_path, query)
    (found,) = [line for line in details if "ix_assignments" in line or "SCAN assign" in line]
    assert found.startswith("SEARCH assignments"), details
    assert f"({by})" in found
    assert not [line for line in details if "ORDER BY" in line]


def test_pairs_of_other_studies_are_not_looked_at(tmp_path: Path) -> None:
    query = study_query(Pair, STUDY).order_by(schema.pairs.c.id).limit(10)
    assert plan_of(tmp_path, query) == [
        "SEARCH pairs USING PRIMARY KEY (id=?)",
        "LIST SUBQUERY 1",
        "SEARCH assignments USING COVERING INDEX ix_assignments_pair (study_id=? AND pair_id>?)",
    ]


@pytest.mark.parametrize("query", [planned_query(STUDY), n_pairs_query(STUDY)])
def test_what_is_assigned_is_read_of_an_index_alone(tmp_path: Path, query: Select[Any]) -> None:
    assert "USING COVERING INDEX ix_assignments_pair" in str(plan_of(tmp_path, query))


def test_indexes_are_made_in_the_same_order_each_time(tmp_path: Path) -> None:
    """Of two that serve as well SQLite takes the newer."""
    path = tmp_path / "study.db"
    SqlStore.open(str(path)).close()
    with closing(sqlite3.connect(path)) as connection:
        made = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'assignments'"
            " AND sql IS NOT NULL ORDER BY rowid"
        )
        names = [name for (name,) in made]
    assert names == ["ix_assignments_pair", "ix_assignments_rater", "ix_assignments_study"]


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_text("these are my notes, not a database, and they are long enough to be read " * 3)
    with pytest.raises(StoreError, match=r"notes\.db cannot be used"):
        SqlStore.open(str(path))
    assert path.read_text().startswith("these are my notes")


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="absent"):
        SqlStore.open(str(tmp_path / "absent" / "study.db"))


def test_a_store_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    store = SqlStore.open(str(path))
    store.add([STUDY])
    modes = {one.name: one.stat().st_mode & 0o777 for one in tmp_path.iterdir()}
    store.close()
    assert modes == dict.fromkeys(("study.db", "study.db-shm", "study.db-wal"), 0o600)


READING = """
import sys
from hearteval.domain import Study
from hearteval.store.sql import SqlStore
store = SqlStore.open_to_read(sys.argv[1])
print([study.name for study in store.iter(Study)])
store.close()
"""


@pytest.mark.server
@pytest.mark.skipif(shutil.which("setpriv") is None and os.geteuid() == 0, reason="root reads all")
def test_a_store_that_may_not_be_written_is_read_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    store = SqlStore.open(str(path))
    store.add([STUDY])
    store.close()
    path.chmod(0o400)
    tmp_path.chmod(0o500)
    # Root may write everything unless it gives that up.
    humble = ["setpriv", "--bounding-set", "-dac_override"] if os.geteuid() == 0 else []
    done = subprocess.run(
        [*humble, sys.executable, "-c", READING, path], capture_output=True, text=True, check=False
    )
    tmp_path.chmod(0o700)
    assert (done.stdout, done.stderr) == ("['s']\n", "")
    assert [one.name for one in tmp_path.iterdir()] == ["study.db"]

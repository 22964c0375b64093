"""Each column of ids of each table: what refers to nothing is a damaged store, never a fault."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from heart_command import Heart
from people_site import START, people_world
from sqlalchemy import Column, Table
from study_files import presets, study_text

from hearteval.cli.main import run_command_line
from hearteval.domain import (
    AXES,
    Assignment,
    Attempt,
    BatchJob,
    Completion,
    Item,
    Judgment,
    Label,
    LatencyProbe,
    Rater,
    Rating,
    Screening,
    Study,
)
from hearteval.domain.quality import Exclusion
from hearteval.errors import HeartError
from hearteval.labels.taxonomy import load_taxonomy
from hearteval.store import schema
from hearteval.store.records import Record, StoredReply
from hearteval.store.rows import TABLES
from hearteval.store.sql import SqlStore

pytestmark = pytest.mark.server

STUDY = study_text(
    "people",
    presets("original", "generic"),
    items=(1, 0),
    study={"seed": 2},
    judging={"stress_items": 1, "repeat_pairs": 1},
    end='[labels]\nlabelers = ["cues"]\npeople = 2\npeople_by = ["micro-skills"]\n'
    "[people]\nwriters_per_item = 2\nraters_per_pair = 3\n",
)
IS_WHOLE = "HEART_TEST_KILLS" in os.environ
"""Every command and every sort of damage: ``make soak``."""
LABEL = "label-micro-skills-3"
GONE = b"\x07" * 16
"""The id of nothing."""
VALUES = {"gone": GONE, **({"none": "no id"} if IS_WHOLE else {})}
OF_RUNS = (
    "INSERT INTO claims VALUES (x'01010101010101010101010101010101', 'gone 1', 0, NULL)",
    "INSERT INTO ledger VALUES (x'02020202020202020202020202020202', 'gone 1', 0, 0.5, 0, 1)",
    "INSERT INTO pauses VALUES (x'03030303030303030303030303030303', 0, NULL)",
    "INSERT INTO shares VALUES (x'07070707070707070707070707070708',"
    " x'08080808080808080808080808080808', 'gone 1', 0, 0.5)",
    "INSERT INTO quotas SELECT x'04040404040404040404040404040404', study_id, '{}', 9, 1"
    " FROM people LIMIT 1",
    "INSERT INTO quota_places SELECT x'04040404040404040404040404040404', id, 0, NULL"
    " FROM people LIMIT 1",
    "INSERT INTO turned_away SELECT x'05050505050505050505050505050505', study_id,"
    " 'screened_out', x'06060606060606060606060606060606', 0 FROM people LIMIT 1",
)
COLUMNS = {
    f"{table.name}.{column.name}": (table, column)
    for table in schema.metadata.sorted_tables
    for column in table.c
    if isinstance(column.type, schema.Id)
}
RECORDS = {table.name for table in TABLES.values()}


def further_records(store: SqlStore) -> list[Record]:
    """One of each kind that a study without models and ratings lacks."""
    (study,) = store.iter(Study)
    item, completion = next(store.iter(Item)), next(store.iter(Completion))
    assignment, judgment = next(store.iter(Assignment)), next(store.iter(Judgment))
    rater, system_id = next(store.iter(Rater)), completion.system_id
    rated: dict[str, Any] = {
        "study_id": study.id,
        "completion_id": completion.id,
        "rater_id": rater.id,
    }
    label: dict[str, Any] = {"taxonomy": "safety", "category": "safety", "verdict": "absent"}
    return [
        Screening(item_id=item.id, rule="length", verdict="pass", evidence="2", version="1"),
        LatencyProbe(
            study_id=study.id,
            system_id=system_id,
            item_id=item.id,
            first_token_ms=1.0,
            created_at=START,
        ),
        Rating(**rated, axes=dict.fromkeys(AXES, 3), created_at=START),
        Attempt(item_id=item.id, system_id=system_id, reason="timeout", created_at=START),
        Attempt(assignment_id=assignment.id, reason="timeout", created_at=START),
        Attempt(**rated, reason="timeout", created_at=START),
        Label(item_id=item.id, rater_id=rater.id, **label, created_at=START),
        Label(judgment_id=judgment.id, rater_id=rater.id, **label, created_at=START),
    ]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished study that has a row in every table."""
    folder = tmp_path_factory.mktemp("finished")
    with people_world(folder, study=STUDY) as world:
        for _ in range(2):
            world.come("write").write()
            world.come("judge").judge()
        rater = world.come(LABEL)
        rater.get(LABEL)
        rater.send(LABEL, **{f"is_{key}": "present" for key in load_taxonomy("micro-skills").keys})
        world.come("judge").get("judge")
    run_command_line(["run", str(folder / "people.toml")])
    with closing(SqlStore.open(str(folder / "people.db"))) as store:
        store.add(further_records(store))
        store.keep_replies(
            [StoredReply(id="ab" * 16, reply={"text": "Hm."}, cost=0.1, created_at=START)]
        )
        left_out = Exclusion(person="P-1", is_excluded=True, why="asked", by="us", at=START)
        store.people.exclude(next(store.iter(Study)).id, left_out)
        store.keep_job(
            BatchJob(id="cd" * 16, provider="openai", model="m", custom_ids=(), created_at=START)
        )
    with closing(sqlite3.connect(folder / "people.db")) as connection:
        for statement in OF_RUNS:
            connection.execute(statement)
        connection.commit()
    return folder


@pytest.fixture
def folder(finished: Path, tmp_path: Path) -> Path:
    """The same study in a folder of its own, without what was written of it."""
    for name in ("people.toml", "people.db"):
        shutil.copy(finished / name, tmp_path / name)
    return tmp_path


def damage(folder: Path, table: Table[Any], column: Column[Any], value: object) -> None:
    """Overwrite an id of one row, where there is one that has it."""
    name = f'"{column.name}"'
    keys = ", ".join(f'"{key.name}"' for key in table.primary_key.columns)
    row = f"SELECT {keys} FROM {table.name} ORDER BY {name} IS NULL, {keys} LIMIT 1"
    edit = f"UPDATE {table.name} SET {name} = ? WHERE ({keys}) = ({row})"
    with closing(sqlite3.connect(folder / "people.db")) as connection:
        connection.execute("PRAGMA ignore_check_constraints = 1")
        assert connection.execute(edit, [value]).rowcount == 1
        connection.commit()


def pages_of(folder: Path) -> str:
    """Serve the study and visit its pages; return what is wrong."""
    try:
        with people_world(folder, study=STUDY) as world:
            for kind in ("judge", "write", LABEL, "review"):
                world.come(kind).client.get(f"/task/{kind}?begin=1&rested=1")
            world.come("research").client.get("/researcher")
    except HeartError as error:
        return str(error)
    return ""


def complaints(heart: Heart, folder: Path, *commands: str) -> list[str]:
    """Run commands on a study; return what those said that failed."""
    words: dict[str, list[str | Path]] = {
        "analyze": ["analyze"],
        "judge": ["judge"],
        "label": ["label"],
        "report": ["report"],
        "run": ["run"],
        "export": ["export", "--to", "csv", "--out", folder / "tables"],
        "verify": ["store", "verify"],
    }
    done = [heart(*words[command], folder / "people.toml") for command in commands]
    assert {one.code for one in done} <= {0, 1}
    return [one.out + one.err for one in done if one.code]


@pytest.mark.parametrize("place", COLUMNS)
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_damaged_id_is_said_to_be_one(
    heart: Heart, folder: Path, place: str, value: object
) -> None:
    table, column = COLUMNS[place]
    damage(folder, table, column, value)
    is_record = table.name in RECORDS
    said = complaints(heart, folder, *(("report", "export") if is_record else ()))
    if IS_WHOLE:
        said += complaints(heart, folder, "analyze", "judge", "label", "run")
    if IS_WHOLE or not is_record:
        said += filter(None, [pages_of(folder)])
    assert [one for one in said if not ("is damaged" in one and "heart store verify" in one)] == []
    if IS_WHOLE or (is_record and not said):
        found = complaints(heart, folder, "verify")
        assert [one for one in found if "damaged" not in one] == []
        assert said or found or not is_record

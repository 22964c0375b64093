"""A store with a record of every kind, as today's version of the schema makes it.

Its tables and rows are kept in ``tests/store/kept_store.json``. Where a table changes, so does the
version, and ``PYTHONPATH=tests python tests/kept_store.py`` writes the file anew.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from asked_study import ITEMS, asked_study, judge, model_system, plan, said, verdict
from canned_model import CannedModel
from small_world import NOW, make_item, make_world
from sqlalchemy import Boolean, text
from sqlalchemy.engine import make_url
from sqlalchemy.schema import CreateIndex, CreateTable

from hearteval.domain import BatchJob, Item, canonical_json, flat_fields
from hearteval.store import schema
from hearteval.store.base import Store
from hearteval.store.engines import open_engine
from hearteval.store.records import StoredReply
from hearteval.store.rows import TABLES, kind_name
from hearteval.store.sql import SqlStore
from hearteval.store.version import VERSION

KEPT = Path(__file__).parent / "store" / "kept_store.json"
DATABASES = ("sqlite", "postgresql")


def statements(database: str) -> list[str]:
    """What makes today's tables in a database."""
    dialect = make_url(f"{database}://").get_dialect()()
    made = []
    for table in schema.metadata.sorted_tables:
        made.append(str(CreateTable(table).compile(dialect=dialect)))
        indexes = sorted(table.indexes, key=lambda index: str(index.name))
        made += [str(CreateIndex(index).compile(dialect=dialect)) for index in indexes]
    return [" ".join(statement.split()) for statement in made]


def read_records(store: Store) -> dict[str, dict[str, Any]]:
    """Every record of a store as JSON, by kind and id."""
    found: dict[str, dict[str, Any]] = {}
    for kind in TABLES:
        records = found.setdefault(kind_name(kind), {})
        for record in store.iter(kind):
            fields = {name: str(value) for name, value in flat_fields(record).items()}
            records[record.id] = {**fields, **json.loads(canonical_json(record))}
    found["reply"] = {id_: _reply(store.find_reply(id_)) for id_ in sorted(store.reply_ids())}
    return found


def _reply(kept: StoredReply | None) -> dict[str, Any]:
    assert kept is not None
    return {"reply": dict(kept.reply), "cost": kept.cost, "created_at": str(kept.created_at)}


def saved() -> Any:
    """What the file holds: statements, rows and records."""
    return json.loads(KEPT.read_text(encoding="utf-8"))


def make_store(place: str) -> None:
    """Make the store that is kept in an empty database."""
    kept = saved()
    engine, _ = open_engine(place)
    with engine.begin() as connection:
        for statement in kept["statements"][connection.dialect.name]:
            connection.execute(text(statement))
        connection.execute(
            text(
                "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL,"
                " CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
            )
        )
        connection.execute(text(f"INSERT INTO alembic_version VALUES ('{VERSION}')"))
        for name, rows in kept["rows"].items():
            for row in rows:
                columns = ", ".join(f'"{column}"' for column in row)
                values = ", ".join(f":{column}" for column in row)
                connection.execute(
                    text(f"INSERT INTO {name} ({columns}) VALUES ({values})"), _bytes_back(row)
                )
    engine.dispose()


def _plain(value: Any) -> Any:
    return {"hex": value.hex()} if isinstance(value, bytes) else str(value)


def _bytes_back(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: bytes.fromhex(value["hex"]) if isinstance(value, dict) else value
        for name, value in row.items()
    }


def _fill() -> SqlStore:
    """Make a study that models answered, once with no verdict, and one record of every kind."""
    asked = asked_study(
        [model_system("one"), model_system("two")], [judge("judge")], items=ITEMS[:1]
    )
    for name in ("one", "two"):
        asked.complete({name: CannedModel([said(f"I hear you, says {name}.")], name=name)})
    plan(asked)
    answers = ["no JSON at all", verdict(reason="“wärmer” ☕"), verdict("B", 2)]
    asked.judge({"judge": CannedModel(answers, name="judge")})
    asked.store.add(make_world().records)
    asked.store.add([_labelled_item()])
    asked.store.keep_job(
        BatchJob(id="ab" * 16, provider="openai", model="m", custom_ids=("c",), created_at=NOW)
    )
    return asked.store


def _labelled_item() -> Item:
    labels: dict[str, Any] = {"cue": "implicit", "resistance": "despair", "intensities": (3,)}
    item = replace(make_item(2), subset="adversarial", profile="mid-ramp", reference=None, id="")
    return replace(item, **labels)


def _rows(store: SqlStore) -> dict[str, list[dict[str, Any]]]:
    found = {}
    with store._engine.connect() as connection:
        for table in schema.metadata.sorted_tables:
            rows = connection.execute(text(f"SELECT * FROM {table.name} ORDER BY 1")).mappings()
            flags = [column.name for column in table.c if isinstance(column.type, Boolean)]
            found[table.name] = [{**row, **{f: bool(row[f]) for f in flags}} for row in rows]
    return found


if __name__ == "__main__":
    made = _fill()
    kept = {
        "statements": {database: statements(database) for database in DATABASES},
        "rows": _rows(made),
        "records": read_records(made),
    }
    made.close()
    words = json.dumps(kept, default=_plain, indent=1, ensure_ascii=False)
    KEPT.write_text(words + "\n", encoding="utf-8")

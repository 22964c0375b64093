"""No value and no row of a store can be edited by SQL so that results change and nobody is told."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sqlalchemy import Integer, LargeBinary
from sqlalchemy.types import Double, TypeDecorator, TypeEngine

import hearteval as he
from hearteval.config.simulation import SimulationPlan
from hearteval.domain import Pair, Study
from hearteval.errors import StoreError
from hearteval.store import schema
from hearteval.store.people.tasks import PlannedTask
from hearteval.store.records import StoredReply
from hearteval.store.sql import SqlStore
from hearteval.study import Quiet
from hearteval.study.results import read_data
from hearteval.study.session import open_stored
from hearteval.study.simulation.making import make_study

NOW = datetime(2026, 1, 2, tzinfo=UTC)
SMALL: dict[str, Any] = {"systems": 2, "items": 4, "adversarial": 1, "people": 2, "judges": 1}
PLANS = {
    "pairs": SimulationPlan(**SMALL, writers=1, missing=0.2),
    "rating": SimulationPlan(**SMALL, writers=1, protocol="rating"),
}
EMPTY = {
    *("screenings", "reply_texts", "batch_jobs", "claims", "pauses", "exclusions"),
    *("sessions", "places", "dealings", "ratings"),
}
"""Tables in which a simulated study whose judges compare pairs has no row."""
FILLED = [table for table in schema.metadata.sorted_tables if table.name not in EMPTY]
FRAMES = ("items", "completions", "judgments", "ratings", "attempts")
IN_ONE_LINE = "ended in one line that names `heart store verify`"


class Made(NamedTuple):
    """A small study, and what is read of it."""

    study: Path
    store: bytes
    said: Any


def read(study: Path) -> Any:
    """All that results and dataframes are made of, but when; or that there is nothing."""
    try:
        with open_stored(study, Quiet()) as (session, opened):
            data = read_data(session, opened)
        assert data.provenance is not None
        whole = replace(data, provenance=replace(data.provenance, created_at=""))
        with he.open_study(study) as frames:
            return repr(whole), [getattr(frames, name).to_csv() for name in FRAMES]
    except StoreError as error:
        return IN_ONE_LINE if "`heart store verify`" in str(error) else str(error)


def fill(store: SqlStore) -> None:
    """Add what a simulated study has none of: tasks, what people told, what calls cost."""
    (study,) = store.iter(Study)
    about: dict[str, Any] = {
        "study_id": study.id,
        "kind": "judge",
        "rank": 1,
        "n_places": 2,
        "writers": (),
    }
    store.people.plan([PlannedTask(target_id=pair.id, **about) for pair in store.iter(Pair)])
    for number, person in enumerate(store.people.people(study.id)):
        told = {"background": {"age": ["18-24", "25-34"][number % 2]}}
        store.people.change_person(person, "told", told, now=NOW)
    reply = {"text": "I hear you."}
    store.keep_replies([StoredReply(id="ab" * 16, reply=reply, cost=0.5, created_at=NOW)])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Made]:
    """Make a study of a plan, once."""

    @cache
    def make(plan: str) -> Made:
        folder = tmp_path_factory.mktemp(plan) / "study"
        body = make_study(folder, "small", PLANS[plan], Quiet())
        with closing(SqlStore.open(body["store"])) as store:
            fill(store)
        study = Path(body["path"])
        return Made(study, Path(body["store"]).read_bytes(), read(study))

    return make


def any_value(kind: TypeEngine[Any]) -> str:
    """A value of a column's kind, in SQL."""
    plain = kind.impl_instance if isinstance(kind, TypeDecorator) else kind
    if isinstance(plain, LargeBinary):
        return "randomblob(16)"
    return "7" if isinstance(plain, Integer | Double) else "'[]'"


def edits(table: Any) -> Iterator[tuple[str, str]]:
    """Each value becomes another row's, or any other where all have the same; rows go and come."""
    for column in table.c:
        of = f'"{table.name}"."{column.name}"'
        other = f'SELECT o."{column.name}" FROM "{table.name}" AS o WHERE o."{column.name}"'
        value = f"coalesce(({other} IS NOT {of} ORDER BY 1 LIMIT 1), {any_value(column.type)})"
        yield of, f'UPDATE OR IGNORE "{table.name}" SET "{column.name}" = {value}'
    keys = ", ".join(f'"{column.name}"' for column in table.primary_key)
    one = f"({keys}) IN (SELECT {keys} FROM {table.name} LIMIT 1)"
    yield f"{table.name}: one is gone", f"DELETE FROM {table.name} WHERE {one}"
    yield f"{table.name}: all are gone", f"DELETE FROM {table.name}"
    values = ", ".join(
        any_value(column.type) if column.primary_key or column.unique else f'"{column.name}"'
        for column in table.c
    )
    more = f"INSERT OR IGNORE INTO {table.name} SELECT {values} FROM {table.name} LIMIT 1"
    yield f"{table.name}: one more", more


EDITS = [
    *(pytest.param("pairs", edit, id=id_) for table in FILLED for id_, edit in edits(table)),
    *(pytest.param("rating", edit, id=id_) for id_, edit in edits(schema.ratings)),
]


@pytest.mark.parametrize(("plan", "edit"), EDITS)
def test_results_are_the_same_or_end_in_one_line(
    made: Callable[[str], Made], plan: str, edit: str
) -> None:
    study, store, said = made(plan)
    place = study.with_suffix(".db")
    for file in place.parent.glob("small.db*"):
        file.unlink()
    place.write_bytes(store)
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute(edit)
    assert read(study) in (said, IN_ONE_LINE)

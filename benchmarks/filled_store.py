"""Fill an empty PostgreSQL with a study of any size, to analyze what takes hours to plan and judge.

    python benchmarks/filled_store.py DIR postgresql://... [--items 10850]
    HEART_STORE=postgresql://... /usr/bin/time -v heart analyze DIR/large.toml

18 systems, 3 LLM judges, every pair in both orders: 10,850 items are 9,960,300 judgments. Items,
replies and the study are stored as the steps store them. Pairs, assignments and judgments are made
of the same records with the same ids and hashes, and copied by two processes into tables without
indexes, which are built afterwards; the sums of them are then written as the steps write them. So
`heart analyze` finds a sound store. The reply cache stays empty: an analysis does not read it.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Table, create_engine
from sqlalchemy import text as sql
from study_size import N_SYSTEMS, make, make_answer

from hearteval.config import load_study
from hearteval.domain import Assignment, Completion, Item, Pair, Rater, System
from hearteval.store import schema
from hearteval.store.insertion import insert_rows
from hearteval.store.integrity.as_read import make_anew
from hearteval.store.integrity.seal import NO_STUDY, NOTHING, SLOT, content_of, grow, totals_written
from hearteval.store.rows import kind_name, to_row
from hearteval.study import Quiet
from hearteval.study.grow import open_grown

BARE = (schema.pairs, schema.assignments, schema.judgments)
N_ANSWERS, N_PROCESSES, ITEMS_AT_ONCE = 2_000, 2, 4
OF_TABLES = """
SELECT contype::text, conrelid::regclass::text, conname, pg_get_constraintdef(oid)
FROM pg_constraint WHERE contype IN ('p', 'f')
AND (conrelid = ANY(:tables ::regclass[]) OR confrelid = ANY(:tables ::regclass[]))
"""
INDEXES = """
SELECT indexname, indexdef FROM pg_indexes WHERE tablename = ANY(:tables)
AND indexname NOT IN (SELECT conname FROM pg_constraint)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("store", help="An empty database.")
    parser.add_argument("--items", type=int, default=10_850)
    arguments = parser.parse_args()
    os.environ["HEART_STORE"] = arguments.store
    say = _clock()
    make(arguments.folder, n_items=arguments.items, is_planned=False)
    with open_grown(load_study(arguments.folder / "large.toml"), Quiet()) as (session, study):
        kept = session.store
        items, texts = list(kept.iter(Item, study)), list(kept.iter(Completion, study))
        models = [one.id for one in kept.iter(System, study) if one.kind == "model"]
        judges = [one.id for one in kept.iter(Rater, study)]
    say(f"{len(items):,} items with {len(texts):,} replies")
    text_of = {(text.item_id, text.system_id): text.id for text in texts}
    assert len(models) == N_SYSTEMS
    ends = [(one.id, [text_of[one.id, system] for system in models]) for one in items]
    engine = create_engine(_driver(arguments.store))
    with engine.connect() as connection, _without_indexes(connection):
        parts = [ends[k::N_PROCESSES] for k in range(N_PROCESSES)]
        with ProcessPoolExecutor(N_PROCESSES) as pool:
            made = [
                pool.submit(fill, arguments.store, part, models, judges, study.id, slot)
                for slot, part in enumerate(parts, start=1)
            ]
            say(f"{sum(one.result() for one in made):,} judgments")
    say("indexes")
    with engine.begin() as connection, totals_written(connection):
        connection.info[SLOT] = 1
        make_anew(connection, study)
    say("sums")


def fill(
    store: str,
    ends: Sequence[tuple[str, list[str]]],
    systems: Sequence[str],
    judges: Sequence[str],
    study_id: str,
    slot: int,
) -> int:
    """Copy the pairs of items, given with their replies by system, and what judges say of them."""
    answers = [make_answer(str(number))[1] for number in range(N_ANSWERS)]
    said = [to_row(one) for one in answers]
    system_of = dict(each for _, texts in ends for each in zip(texts, systems, strict=True))
    n_made = 0
    with create_engine(_driver(store)).begin() as connection, totals_written(connection):
        connection.info[SLOT] = slot

        def put(
            table: Table[Any], records: Sequence[Any], rows: list[dict[str, Any]], study: str
        ) -> None:
            contents = [content_of(one) for one in records]
            grow(connection, (kind_name(type(records[0])), study), NOTHING.plus(contents))
            both = zip(rows, contents, strict=True)
            insert_rows(connection, table, [{**row, "content": content} for row, content in both])

        for start in range(0, len(ends), ITEMS_AT_ONCE):
            pairs = [
                Pair(item_id=item, completion_ids=tuple(sorted(two)))  # type: ignore[arg-type]
                for item, texts in ends[start : start + ITEMS_AT_ONCE]
                for two in combinations(texts, 2)
            ]
            shown = [(pair.id, one) for pair in pairs for one in pair.completion_ids]
            assignments = [
                Assignment(study_id=study_id, pair_id=pair, rater_id=judge, first_completion_id=one)
                for pair, one in shown
                for judge in judges
            ]
            of = [int(one.id[:8], 16) % N_ANSWERS for one in assignments]
            judgments = [
                replace(answers[k], assignment_id=one.id, id="")
                for k, one in zip(of, assignments, strict=True)
            ]
            put(
                schema.pairs,
                pairs,
                [_with_systems(to_row(one), system_of) for one in pairs],
                NO_STUDY,
            )
            put(schema.assignments, assignments, [to_row(one) for one in assignments], study_id)
            rows = [
                {**said[k], "id": one.id, "assignment_id": one.assignment_id}
                for k, one in zip(of, judgments, strict=True)
            ]
            put(schema.judgments, judgments, rows, study_id)
            n_made += len(judgments)
    return n_made


def _with_systems(pair: dict[str, Any], system_of: dict[str, str]) -> dict[str, Any]:
    ends = {side: system_of[pair[f"{side}_completion_id"]] for side in ("low", "high")}
    return {**pair, **{f"{side}_system_id": system for side, system in ends.items()}}


@contextmanager
def _without_indexes(connection: Connection) -> Iterator[None]:
    """Drop indexes and keys of what is filled, and build them again."""
    tables = {"tables": [table.name for table in BARE]}
    keys = sorted(connection.execute(sql(OF_TABLES), tables).all())  # foreign ones come first
    indexes = connection.execute(sql(INDEXES), tables).all()
    for _, table, name, _ in keys:
        connection.execute(sql(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"'))
    for name, _ in indexes:
        connection.execute(sql(f'DROP INDEX "{name}"'))
    connection.commit()
    yield
    for _, table, name, made in reversed(keys):
        connection.execute(sql(f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {made}'))
    for _, made in indexes:
        connection.execute(sql(made))
    connection.commit()
    connection.execution_options(isolation_level="AUTOCOMMIT").execute(sql("VACUUM ANALYZE"))


def _driver(store: str) -> str:
    return store.replace("postgresql://", "postgresql+psycopg://", 1)


def _clock() -> Callable[[str], None]:
    started = time.perf_counter()
    return lambda words: print(f"{time.perf_counter() - started:7.0f} s  {words}", flush=True)


if __name__ == "__main__":
    main()

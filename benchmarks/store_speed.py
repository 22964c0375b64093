"""Measure the store: insert rate, pair counts, memory, size on disk, on SQLite and PostgreSQL.

    python benchmarks/store_speed.py [--judgments 42000] [--place FILE_OR_URL]

Judgments are invented, with a raw reply of 600 characters each, of 18 systems on 300 items by five
LLM judges. Times are CPU seconds of this process, and wall seconds where a server works for it.
"""

import argparse
import resource
import sqlite3
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import combinations, islice
from pathlib import Path

import numpy as np

from hearteval.domain import (
    AXES,
    Assignment,
    AxisMark,
    Choice,
    Completion,
    Item,
    Judgment,
    Pair,
    Rater,
    Study,
    System,
    Turn,
)
from hearteval.store.sql import SqlStore

NOW = datetime(2026, 1, 1, tzinfo=UTC)
N_ITEMS, N_SYSTEMS = 300, 18
N_PAIRS = N_ITEMS * N_SYSTEMS * (N_SYSTEMS - 1) // 2
BATCH = 2_000
COUNT_QUERY = """
SELECT a.first_completion_id = p.low_completion_id, p.low_system_id, p.high_system_id, j.choice,
  count(*)
FROM assignments a JOIN judgments j ON j.assignment_id = a.id JOIN pairs p ON p.id = a.pair_id
GROUP BY 1, 2, 3, 4
"""
REPLY = "A reply of an invented judge, as long as replies are. " * 11


def main() -> None:
    arguments = _parse_arguments()
    store = SqlStore.open(arguments.place)
    study, assignments = _plan(store, arguments.judgments)
    print(f"{arguments.judgments:,} judgments, {_engine(arguments.place)}\n")
    print("| what | CPU s | wall s | rate |\n| --- | --- | --- | --- |")
    clock = _Clock()
    judgments = _judgments(assignments)
    n_assigned = 0
    while batch := list(islice(judgments, BATCH)):
        clock.run(partial(store.add, batch))
        n_assigned += len(batch)
    clock.report("add judgments, 2,000 a commit", n_assigned)
    clock = _Clock()
    n_counted = clock.run(lambda: _count(store, study))
    clock.report("pair counts through judgment_table", n_counted)
    store.close()
    if "://" not in arguments.place:
        _measure_bare_driver(arguments.place)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\npeak memory of this process {peak:,.0f} MiB; {_size(arguments.place)}")


class _Clock:
    def __init__(self) -> None:
        self.cpu = self.wall = 0.0

    def run(self, work: Callable[[], int]) -> int:
        cpu, wall = time.process_time(), time.perf_counter()
        result = work()
        self.cpu += time.process_time() - cpu
        self.wall += time.perf_counter() - wall
        return result

    def report(self, what: str, n: int) -> None:
        rate = f"{n / self.wall:,.0f} rows/s"
        print(f"| {what} | {self.cpu:.2f} | {self.wall:.2f} | {rate} |", flush=True)


def _plan(store: SqlStore, n: int) -> tuple[Study, list[Assignment]]:
    items = [
        Item(
            source="bench",
            dialogue_id=str(number),
            turn_index=0,
            situation="",
            context=(Turn(role="seeker", text=f"Number {number}."),),
            subset="regular",
            emotion="sadness",
            problem="job crisis",
            licence="Apache-2.0",
            consent_basis="invented",
        )
        for number in range(N_ITEMS)
    ]
    systems = [System(name=f"s{k:02}", kind="model", family=f"f{k}") for k in range(N_SYSTEMS)]
    n_raters = -(-n // (2 * N_PAIRS))
    raters = [
        Rater(name=f"judge {k}", kind="llm", family="j", settings={"model": k})
        for k in range(n_raters)
    ]
    study = Study(
        name="bench",
        seed=1,
        item_ids=tuple(item.id for item in items),
        items_hash="",
        system_ids=tuple(system.id for system in systems),
        rater_ids=tuple(rater.id for rater in raters),
        design={},
        protocol_version="1",
        settings_hash="",
        software_version="",
        created_at=NOW,
    )
    store.add([*items, *systems, *raters, study])
    pairs = []
    for item in items:
        completions = [
            Completion(item_id=item.id, system_id=s.id, text=f"{s.name} speaks.", created_at=NOW)
            for s in systems
        ]
        store.add(completions)
        ends = combinations([completion.id for completion in completions], 2)
        pairs += [Pair(item_id=item.id, completion_ids=end) for end in ends]
    store.add(pairs)
    both = (
        Assignment(study_id=study.id, pair_id=pair.id, rater_id=rater.id, first_completion_id=first)
        for rater in raters
        for pair in pairs
        for first in pair.completion_ids
    )
    assignments = list(islice(both, n))
    for start in range(0, n, BATCH):
        store.add(assignments[start : start + BATCH])
    return study, assignments


def _judgments(assignments: list[Assignment]) -> Iterator[Judgment]:
    rng = np.random.default_rng(1)
    for assignment in assignments:
        first = bool(rng.integers(2))
        strength = int(rng.integers(1, 6))
        choice: Choice = "first" if first else "second"
        yield Judgment(
            assignment_id=assignment.id,
            choice=choice,
            strength=strength,
            axes={axis: AxisMark(choice, strength) for axis in AXES},
            rationale=REPLY[:200],
            raw=REPLY,
            created_at=NOW,
        )


def _count(store: SqlStore, study: Study) -> int:
    """Count wins by pair of systems, as the analysis does, in batches."""
    position = {system_id: k for k, system_id in enumerate(sorted(study.system_ids))}
    wins = np.zeros((N_SYSTEMS, N_SYSTEMS), dtype=np.int64)
    for batch in store.judgment_table(study):
        left = np.array([position[s] for s in batch["first_system_id"]])
        right = np.array([position[s] for s in batch["second_system_id"]])
        is_left = np.array([choice == "first" for choice in batch["choice"]])
        np.add.at(wins, (left[is_left], right[is_left]), 1)
        np.add.at(wins, (right[~is_left], left[~is_left]), 1)
    return int(wins.sum())


def _measure_bare_driver(place: str) -> None:
    """Time the same rows and the same question without any of our code: the peer of both rows."""
    source = sqlite3.connect(place)
    rows = source.execute("SELECT * FROM judgments").fetchall()
    statements = source.execute(
        "SELECT sql FROM sqlite_master WHERE tbl_name = 'judgments' AND sql IS NOT NULL"
    ).fetchall()
    bare = sqlite3.connect(f"{place}.bare", isolation_level=None)
    bare.execute("PRAGMA journal_mode = WAL")
    bare.execute("PRAGMA synchronous = FULL")
    for (statement,) in statements:
        bare.execute(statement)
    marks = ", ".join("?" * len(rows[0]))

    def insert(batch: list[tuple[object, ...]]) -> int:
        bare.execute("BEGIN IMMEDIATE")
        bare.executemany(f"INSERT INTO judgments VALUES ({marks})", batch)
        bare.execute("COMMIT")
        return len(batch)

    clock = _Clock()
    for start in range(0, len(rows), BATCH):
        clock.run(partial(insert, rows[start : start + BATCH]))
    clock.report("peer: bare sqlite3, the same rows", len(rows))
    bare.close()
    Path(f"{place}.bare").unlink()
    clock = _Clock()
    clock.run(lambda: len(source.execute(COUNT_QUERY).fetchall()))
    clock.report("peer: one GROUP BY over the same tables", len(rows))
    source.close()


def _engine(place: str) -> str:
    return "PostgreSQL" if "://" in place else "SQLite"


def _size(place: str) -> str:
    if "://" in place:
        return "size on disk: ask the server"
    total = sum(path.stat().st_size for path in Path(place).parent.glob(Path(place).name + "*"))
    return f"{total / 2**20:,.0f} MiB on disk"


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgments", type=int, default=42_000)
    parser.add_argument("--place", default="store_speed.db")
    return parser.parse_args()


if __name__ == "__main__":
    main()

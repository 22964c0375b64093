"""A release -> a store in memory, from which everything about the study can be computed again."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hearteval.domain.quality import Exclusion
from hearteval.errors import StoreError
from hearteval.exchange.release import (
    MANIFEST,
    PEOPLE_FILE,
    STUDY_FILE,
    UNREADABLE,
    Fault,
    Manifest,
    read_file,
    read_manifest,
    read_people,
    read_records,
)
from hearteval.store.base import Store
from hearteval.store.integrity.verify import Progress
from hearteval.store.people.tasks import PlannedTask
from hearteval.store.sql import SqlStore
from hearteval.study import Tell

ASKED_FILE = "asked.json"
"""What people were to do, by kind of task."""
BATCH = 5_000
MOST_NAMED = 3


def is_release(study_file: Path) -> bool:
    """Say whether a study file stands in a release, which has no store of its own."""
    return study_file.name == STUDY_FILE and (study_file.parent / MANIFEST).is_file()


def open_release(folder: Path, tell: Tell) -> SqlStore:
    """Return a store in memory that holds a release.

    Raises:
        SettingsError: The folder holds no release that this version can read.
        StoreError: It is not as it was made.
    """
    store = SqlStore.in_memory()
    with tell.progress("reading") as progress:
        manifest = read_manifest(folder)
        reading = load_release(folder, manifest, store, progress=lambda _kind, n: progress(n, None))
        faults = list(reading)
    if faults or store.latest_study(manifest.study_id) is None:
        words = "; ".join(f"{one.where} {one.words}" for one in faults[:MOST_NAMED])
        raise StoreError(f"{folder}: is not as it was released: {words}; see `heart verify`")
    return store


def load_release(
    folder: Path, manifest: Manifest, store: Store, *, progress: Progress
) -> Iterator[Fault]:
    """Add to a store all that a release holds; yield what is not as it was made.

    What cannot be read is left out. Where records do not fit together, nothing after them is added.
    """
    try:
        yield from _load(folder, manifest, store, progress)
    except (StoreError, *UNREADABLE):
        yield Fault("records", "do not fit together, or hold what none can: not all could be read")


def _load(folder: Path, manifest: Manifest, store: Store, progress: Progress) -> Iterator[Fault]:
    for kind, lines in read_records(folder):
        records = [line.record for line in lines if line.record is not None]
        yield from (fault for line in lines for fault in line.faults)
        name = kind.__name__.lower()
        expected = manifest.n_records.get(name, 0)
        if len(lines) != expected:
            yield Fault(name, f"{len(lines):,} are there, {expected:,} were released")
        if len({line.text for line in lines}) != len(lines):
            yield Fault(name, "a record is there twice")
        for start in range(0, len(records), BATCH):
            store.add(records[start : start + BATCH])
            progress(name, min(start + BATCH, len(records)))
    yield from load_people(folder, store, manifest.study_id)


def load_people(folder: Path, store: Store, study_id: str) -> list[Fault]:
    """Let people of a release take part in what was loaded, in their pseudonyms."""
    now = datetime.now(UTC)
    text = (read_file(folder, PEOPLE_FILE) or b"").decode(errors="replace")
    rows = list(read_people(text))
    people = [row for row, _ in rows if row]
    store.people.take_in(study_id, {row["name"]: row["group"] for row in people}, now=now)
    known = {one.name: one for one in store.people.people(study_id)}
    for row in people:
        if row["background"]:
            values = {"background": row["background"]}
            store.people.change_person(known[row["name"]], "imported", values, now=now)
        if "excluded" in row:
            store.people.exclude(study_id, _exclusion(row))
    asked = json.loads(read_file(folder, ASKED_FILE) or b"{}")
    store.people.plan(
        [
            PlannedTask(study_id=study_id, kind=kind, target_id=id_, rank=0, n_places=1)
            for kind, ids in asked.items()
            for id_ in ids
        ]
    )
    return [fault for _, faults in rows for fault in faults]


def _exclusion(row: Mapping[str, Any]) -> Exclusion:
    """Return who is left out of a release; by whom it does not say."""
    of = row["excluded"]
    return Exclusion(
        person=row["name"],
        is_excluded=True,
        rules=tuple(of["rules"]),
        why=of["why"],
        by="",
        at=datetime.fromisoformat(of["at"]),
    )

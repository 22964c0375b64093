"""What notices a flipped bit, or an edit by SQL: opening, a read, SQLite's checks, verification.

    PYTHONPATH=tests python benchmarks/bit_flips.py [N]

Makes a study of 20 items by the cue judge, then N times (60) copies its store, flips one random bit
(seed 12) and asks each. A record is changed where reading all of them gives another hash, or ends
in an error; the read is what `heart analyze` reads and computes. After that it makes each edit of
the suite in a small store; there the read is of every record of every study.
"""

import shutil
import sqlite3
import sys
import tempfile
from collections import defaultdict
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from kept_store import make_store
from store_edits import EDITS

from hearteval.cli.main import run_command_line
from hearteval.domain import Study
from hearteval.errors import HeartError
from hearteval.store.copy import store_hashes
from hearteval.store.rows import TABLES
from hearteval.store.sql import SqlStore
from hearteval.study import Quiet
from hearteval.study.results import analyze
from hearteval.study.session import open_stored
from hearteval.study.verify import verify_store

STUDY = """
[study]
name = "flips"
seed = 5
[items]
source = "starter"
regular = 20
adversarial = 0
[[system]]
preset = "original"
[[system]]
preset = "generic"
[[system]]
preset = "reflective"
[judging]
judges = ["cue"]
"""


@dataclass(frozen=True)
class Flip:
    """One flipped bit, and what came of it."""

    place: int
    where: str
    is_change: bool
    """Whether any record is another, or cannot be read."""
    leaderboard: str
    noticed: dict[str, bool]


def name_pages(path: Path) -> dict[int, str]:
    """Say for each page of a file whether it is of a table or of an index; others are free."""
    with closing(sqlite3.connect(path)) as connection:
        indexes = "SELECT name FROM sqlite_master WHERE type = 'index'"
        of_index = {name for (name,) in connection.execute(indexes)}
        pages = connection.execute("SELECT pageno, name FROM dbstat")
        return {page: "index" if name in of_index else "table" for page, name in pages}


def sqlite_says(path: Path, check: str) -> bool:
    try:
        with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
            return connection.execute(f"PRAGMA {check}").fetchall() != [("ok",)]
    except sqlite3.Error:
        return True


def opening_says(path: Path) -> bool:
    try:
        SqlStore.open(str(path)).close()
    except HeartError:
        return True
    return False


def analysis_says(study: Path, before: object) -> str:
    try:
        with open_stored(study, Quiet()) as (session, stored):
            results = analyze(session, stored)
    except HeartError:
        return "none"
    return "the same" if results.leaderboard == before else "ANOTHER"


def verify_says(path: Path) -> bool:
    try:
        with closing(SqlStore.open_to_read(str(path))) as store:
            return bool(verify_store(store, progress=lambda _kind, _n: None).faults)
    except HeartError:
        return True


def is_as_it_was(path: Path, hashes: object) -> bool:
    try:
        with closing(SqlStore.open_to_read(str(path))) as store:
            return store_hashes(store) == hashes
    except HeartError:
        return False


def flip_one(study: Path, whole: bytes, rng: np.random.Generator) -> tuple[Path, int]:
    """Write the store of a study anew, with one bit flipped."""
    store, bits = study.parent / "flips.db", bytearray(whole)
    place = int(rng.integers(len(bits)))
    bits[place] ^= 1 << int(rng.integers(8))
    for ending in ("-wal", "-shm"):
        Path(f"{store}{ending}").unlink(missing_ok=True)
    store.write_bytes(bits)
    return store, place


def reading_says(path: Path) -> bool:
    try:
        with closing(SqlStore.open_to_read(str(path))) as store:
            for study in store.iter(Study):
                store.latest_study(study.id)
                for kind in TABLES:
                    list(store.iter(kind, study))
                list(store.judgment_table(study))
    except HeartError:
        return True
    return False


def tell_edits() -> None:
    print("| edit | opening | a read | heart store verify | integrity_check |")
    print("| --- | --- | --- | --- | --- |")
    for name, edit in EDITS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "study.db"
            make_store(str(path))
            with closing(sqlite3.connect(path)) as connection:
                for statement in edit.split(";"):
                    connection.execute(statement)
                connection.commit()
            says = (opening_says(path), reading_says(path), verify_says(path))
            said = (*says, sqlite_says(path, "integrity_check"))
            print(f"| {name} | {' | '.join('yes' if each else 'no' for each in said)} |")


def tell(flips: list[Flip]) -> None:
    groups: defaultdict[tuple[str, bool], list[Flip]] = defaultdict(list)
    for flip in flips:
        groups[flip.where, flip.is_change].append(flip)
    names = list(flips[0].noticed)
    print(f"| in a page of | flips | a record changed | {' | '.join(names)} | unnoticed |")
    print("| --- " * (len(names) + 4) + "|")
    for (where, is_change), group in sorted(groups.items()):
        counts = [sum(flip.noticed[name] for flip in group) for name in names]
        n_silent = sum(not any(flip.noticed.values()) for flip in group)
        cells = (where, len(group), "yes" if is_change else "no", *counts, n_silent)
        print(f"| {' | '.join(map(str, cells))} |")
    silent = [flip for flip in flips if flip.is_change and not any(flip.noticed.values())]
    wrong = [flip for flip in flips if flip.leaderboard == "ANOTHER"]
    print(f"changed a record and nothing noticed it: {len(silent)}")
    print(f"another leaderboard: {len(wrong)}")
    for flip in (*silent, *wrong):
        print(flip)


def main(n: int) -> None:
    rng = np.random.default_rng(12)
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "flips.toml"
        study.write_text(STUDY, encoding="utf-8")
        with suppress(SystemExit):
            run_command_line(["run", str(study)])
        kept = study.parent / "whole.db"
        shutil.copy(study.parent / "flips.db", kept)
        with closing(SqlStore.open_to_read(str(kept))) as opened:
            hashes = store_hashes(opened)
        with open_stored(study, Quiet()) as (session, stored):
            before = analyze(session, stored).leaderboard
        pages, whole = name_pages(kept), kept.read_bytes()
        page_size = int.from_bytes(whole[16:18], "big")
        flips = []
        for _ in range(n):
            store, place = flip_one(study, whole, rng)
            quick, full = (sqlite_says(store, c) for c in ("quick_check", "integrity_check"))
            opening, verified = opening_says(store), verify_says(store)
            is_change, board = not is_as_it_was(store, hashes), analysis_says(study, before)
            noticed = {
                "opening": opening,
                "a read": board == "none",
                "heart store verify": verified,
                "integrity_check": full,
                "quick_check": quick,
            }
            where = pages.get(place // page_size + 1, "none")
            flips.append(Flip(place, where, is_change, board, noticed))
    print(f"{n} flips in {len(whole):,} bytes, {sum(flip.is_change for flip in flips)} of a record")
    tell(flips)
    tell_edits()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)

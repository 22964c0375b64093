"""What notices one flipped bit in a store: `heart analyze`, SQLite's checks, `heart store verify`.

    .venv/bin/python benchmarks/bit_flips.py [N]

Makes a study of 20 items by the cue judge, then N times (60) copies its store, flips one random bit
(seed 12) and asks each. "harmless" is a flip after which every record is what it was, that is in
unused bytes of a page.
"""

import shutil
import sqlite3
import sys
import tempfile
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import numpy as np

from hearteval.cli.main import run_command_line
from hearteval.errors import HeartError
from hearteval.store.copy import store_hashes
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


def sqlite_says(path: Path, check: str) -> bool:
    try:
        with closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as connection:
            return connection.execute(f"PRAGMA {check}").fetchall() != [("ok",)]
    except sqlite3.Error:
        return True


def analysis_says(study: Path, before: object) -> str:
    try:
        with open_stored(study, Quiet()) as (session, stored):
            results = analyze(session, stored)
    except HeartError:
        return "stops"
    return "the same leaderboard" if results.leaderboard == before else "ANOTHER LEADERBOARD"


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


def main(n: int) -> None:
    rng = np.random.default_rng(12)
    with tempfile.TemporaryDirectory() as folder:
        study = Path(folder) / "flips.toml"
        study.write_text(STUDY, encoding="utf-8")
        with suppress(SystemExit):
            run_command_line(["run", str(study)])
        store, kept = study.parent / "flips.db", study.parent / "whole.db"
        shutil.copy(store, kept)
        with closing(SqlStore.open_to_read(str(kept))) as opened:
            hashes = store_hashes(opened)
        with open_stored(study, Quiet()) as (session, stored):
            before = analyze(session, stored).leaderboard
        found: Counter[str] = Counter()
        size = kept.stat().st_size
        for _ in range(n):
            bits = bytearray(kept.read_bytes())
            place = int(rng.integers(len(bits)))
            bits[place] ^= 1 << int(rng.integers(8))
            for ending in ("-wal", "-shm"):
                Path(f"{store}{ending}").unlink(missing_ok=True)
            store.write_bytes(bits)
            quick, whole = (sqlite_says(store, c) for c in ("quick_check", "integrity_check"))
            verified = verify_says(store)
            harmless = is_as_it_was(store, hashes)
            said = analysis_says(study, before)
            found["harmless"] += harmless
            found["quick_check"] += quick
            found["integrity_check"] += whole
            found["heart store verify"] += verified
            found["changed a record, and verify silent"] += not harmless and not verified
            found[f"analysis: {said}"] += 1
            found["analysis silent, and verify too, and another leaderboard"] += (
                said == "ANOTHER LEADERBOARD" and not verified
            )
    print(f"{n} flips in {size:,} bytes")
    for what, times in found.items():
        print(f"{times:4}  {what}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)

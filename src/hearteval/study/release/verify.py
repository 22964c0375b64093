"""A release, held against itself: every file, record, id and table, from the folder alone."""

import csv
import importlib.util
import io
import json
import math
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from hearteval.analysis.study import StudyResults
from hearteval.config import load_study
from hearteval.domain import Study
from hearteval.errors import HeartError, SettingsError
from hearteval.exchange.release import (
    MANIFEST,
    STUDY_FILE,
    UNREADABLE,
    Fault,
    Manifest,
    check_files,
    check_kept,
    others,
    read_file,
    read_manifest,
)
from hearteval.report.text import plural
from hearteval.store.sql import SqlStore
from hearteval.study import Tell
from hearteval.study.release.computed import (
    RESULTS,
    differences,
    protocol_files,
    protocol_hash,
    read_parquet,
    record_tables,
    results_files,
    strange_members,
)
from hearteval.study.release.loading import load_release
from hearteval.study.results import analyze
from hearteval.study.session import Session, utc_now
from hearteval.study.verify import verify_store
from hearteval.version import __version__

OTHERWISE, LACKING, NO_MORE = "computed otherwise", "is not there, and should be", "is there"
"""What is said of results that are not computed again as they stand."""


class Verified(NamedTuple):
    """What was found of a release."""

    folder: Path
    manifest: Manifest
    faults: tuple[Fault, ...]
    n_tables: int
    """That were computed again."""
    others: tuple[str, ...]
    """Files in the folder that are no part of it."""
    results: StudyResults | None
    """As they were computed again; None where nothing could be."""

    @property
    def is_by_this_version(self) -> bool:
        """Whether this version of hearteval made its results."""
        return self.manifest.heart_version == __version__

    @property
    def otherwise(self) -> tuple[Fault, ...]:
        """Of the faults, results of another version that this one computes otherwise."""
        if self.is_by_this_version:
            return ()
        said = (OTHERWISE, LACKING, NO_MORE)
        return tuple(
            one
            for one in self.faults
            if one.where.startswith("results/") and one.words.endswith(said)
        )


def verify_release(folder: Path, tell: Tell, *, before: Path | None = None) -> Verified:
    """Check a release from its folder alone; no network, no database.

    With the release `before` that it continues, check too that all rows of that are there.

    Raises:
        SettingsError: A folder holds no release that this version can read, or the earlier release
            is not as it was made.
    """
    manifest = read_manifest(folder)
    faults = check_files(folder, manifest)
    if before is not None:
        faults += check_kept(folder, manifest, before)
    n_tables, results = 0, None
    with closing(SqlStore.in_memory()) as store:
        with tell.progress("reading") as progress:
            faults += load_release(
                folder, manifest, store, progress=lambda _kind, n: progress(n, None)
            )
        try:
            found, n_tables, results = _check_loaded(folder, manifest, store, tell)
            faults += found
        except SettingsError:
            faults.append(Fault(STUDY_FILE, "cannot be read as a study file"))
        except (HeartError, *UNREADABLE) as error:
            # Whoever changed records may have made anything of them.
            words = f"nothing can be computed of them again ({type(error).__name__})"
            faults.append(Fault("records", words))
    return Verified(
        folder,
        manifest,
        tuple(dict.fromkeys(faults)),
        n_tables,
        tuple(others(folder, manifest)),
        results,
    )


def _check_loaded(
    folder: Path, manifest: Manifest, store: SqlStore, tell: Tell
) -> tuple[list[Fault], int, StudyResults | None]:
    """Hold what was loaded against itself, and compute of it again as `_compute_again` does."""
    study = store.latest_study(manifest.study_id)
    if study is None:
        return [Fault("study", "there is no record of it")], 0, None
    with tell.progress("reading replies again") as progress:
        checked = verify_store(store, progress=lambda _kind, n: progress(n, None))
    faults = [Fault(f"{one.kind} {one.id}".strip(), one.words) for one in checked.faults]
    session = Session(settings=load_study(folder / STUDY_FILE), store=store, tell=tell, now=utc_now)
    if (study.name, study.version, study.is_simulated) != (
        manifest.name,
        manifest.study_version,
        manifest.simulated,
    ):
        faults.append(Fault(MANIFEST, "tells of another study than the records"))
    found, n_tables, results = _compute_again(session, study, folder, manifest)
    return faults + found, n_tables, results


def _compute_again(
    session: Session, study: Study, folder: Path, manifest: Manifest
) -> tuple[list[Fault], int, StudyResults]:
    """Compute the results of a release again; return where they are others, and how many tables."""
    made = {name: read_file(folder, name) or b"" for name in manifest.files}
    faults = []
    if protocol_hash(made) != manifest.protocol:
        faults.append(Fault("protocol", "its hash is not that of its prompts and rubrics"))
    is_ours = manifest.heart_version == __version__
    if is_ours and protocol_hash(protocol_files()) != manifest.protocol:
        faults.append(Fault("protocol", "is not that of the version that made it"))
    if is_ours:
        words = "the study file describes another than the records have"
        faults += (Fault(name, words) for name in strange_members(session.settings, study))
    with session.tell.progress("computing again"):
        results = analyze(session, study)
        anew = results_files(results)
    then = _json_of(made.get(RESULTS, b""))
    moved = Counter(one.split(".")[0] for one in differences(then, _json_of(anew[RESULTS])))
    faults += (
        Fault(RESULTS, f"{plural(n, 'value')} of {name or 'all'} {OTHERWISE}")
        for name, n in moved.items()
    )
    faults += _compare_tables(made, anew)
    faults += _compare_for_reading(session, study, made)
    return faults, len(anew), results


def _compare_tables(made: Mapping[str, bytes], anew: Mapping[str, bytes]) -> list[Fault]:
    faults = []
    tables = {name for name in made if name.startswith("results/") and name != RESULTS}
    for name in sorted(tables | (anew.keys() - {RESULTS})):
        if name not in anew or name not in made:
            faults.append(Fault(name, NO_MORE if name in made else LACKING))
        elif any(differences(_cells(made[name]), _cells(anew[name]))):
            faults.append(Fault(name, f"is {OTHERWISE}"))
    return faults


def _compare_for_reading(session: Session, study: Study, made: Mapping[str, bytes]) -> list[Fault]:
    """Hold the Parquet tables against the records, where pyarrow is there to read them."""
    if importlib.util.find_spec("pyarrow") is None:
        return []
    anew = record_tables(session, study)
    return [
        Fault(name, "is not what the records say")
        for name, content in made.items()
        if name.startswith("tables/")
        and content != anew.get(name)
        and (name not in anew or read_parquet(content) != read_parquet(anew[name]))
    ]


def _cells(table: bytes) -> list[list[object]] | None:
    """Return the cells of a table, numbers as numbers; None where it is none."""
    try:
        return [[_value(cell) for cell in row] for row in csv.reader(io.StringIO(table.decode()))]
    except (UnicodeDecodeError, csv.Error):
        return None


def _value(cell: str) -> object:
    """Return a number, or a word; one such as "nan" may be a system's name."""
    try:
        number = float(cell)
    except ValueError:
        return cell
    return number if math.isfinite(number) else cell


def _json_of(content: bytes) -> object:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None

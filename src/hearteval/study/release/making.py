"""A stored study -> a release: a folder that a stranger can check, analyze and continue."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from hearteval.analysis.study import StudyResults
from hearteval.domain import Item, Study
from hearteval.domain.quality import Exclusion, excluded_now
from hearteval.errors import SettingsError, StoreError
from hearteval.exchange.release import (
    KINDS,
    MANIFEST,
    PEOPLE_FILE,
    SCHEMA,
    SUMS,
    Manifest,
    of_person,
    others,
    read_file,
    read_manifest,
    sha256,
    sums,
    to_line,
)
from hearteval.items.files import format_items
from hearteval.report.plots.files import figure_files, figures_of, require_matplotlib
from hearteval.store.rows import kind_name
from hearteval.study.release.computed import (
    RESULTS,
    differences,
    protocol_files,
    protocol_hash,
    record_tables,
    results_files,
)
from hearteval.study.release.described import describing_files
from hearteval.study.release.loading import ASKED_FILE
from hearteval.study.release.passing import Passing
from hearteval.study.release.refusals import GROUP, find_private, require_fit
from hearteval.study.release.study_file import ITEMS, public_study_file
from hearteval.study.report.folders import draft_of
from hearteval.study.results import analyze
from hearteval.study.session import Session, opened_release
from hearteval.study.simulation.apart import require_real
from hearteval.version import __version__

TASKS = ("judge",)
"""Kinds of tasks whose number results tell."""


class Released(NamedTuple):
    """A release that was made."""

    folder: Path
    manifest: Manifest
    moved: tuple[str, ...]
    """Results that are other than the study's own, as texts were left out."""


def release_study(
    session: Session,
    study: Study,
    folder: Path,
    *,
    accepted: Set[str] = frozenset(),
    is_coarse: bool = False,
    before: Path | None = None,
) -> Released:
    """Write a release of a study into a folder of its own, computed from what it passes on alone.

    Args:
        session: The study with its store.
        study: Its newest version.
        folder: A new or empty one, or an earlier release of this study, which is replaced.
        accepted: Ids or kinds of records, or files, of which somebody says that they tell nothing.
        is_coarse: Whether what is said of people may be made less until enough are alike.
        before: A release that this one continues: its records stand first, byte for byte.

    Raises:
        SettingsError: The folder holds something else, or a file that is needed cannot be read.
        StoreError: The study is simulated, holds what may not be passed on, or cannot be written.
    """
    require_real(study, "it is not released")
    _require_free(folder, study)
    came = [one for _, one in session.store.people.submissions(study.id)]
    passing = Passing(session, study, is_coarse=is_coarse)
    records: dict[type[Any], list[Any]] = {**dict(passing.records())}
    files = public_study_file(session.settings)
    files[PEOPLE_FILE] = "".join(_people_lines(passing)).encode()
    if any(table.source == "file" for table in session.settings.items):
        files[ITEMS] = format_items(records[Item]).encode()
    require_fit(find_private(records, files, submissions=came), accepted=accepted)
    files |= {**protocol_files(), **_record_files(records, before)}
    files[ASKED_FILE] = _asked(session, study)
    with draft_of(folder) as draft:
        _write(draft, files)
        unnamed = partial(_manifest, study, session, before, passing.n_left_out)
        _write(draft, {MANIFEST: _as_json(unnamed(files))})
        with opened_release(draft, session.tell, now=session.now) as (anew, released):
            results = analyze(anew, released)
            files |= results_files(results) | record_tables(anew, released)
            files |= _figures(results)
            files |= describing_files(anew, released, results, files, passing.n_left_out)
        manifest = unnamed(files)
        files |= {MANIFEST: _as_json(manifest), SUMS: sums(manifest.files).encode()}
        _write(draft, files)
        own = json.loads(results_files(analyze(session, study))[RESULTS])
    moved = differences(own, json.loads(files[RESULTS]))
    return Released(folder, manifest, tuple(dict.fromkeys(one.split(".")[0] for one in moved)))


def _require_free(folder: Path, study: Study) -> None:
    """Let only a folder be written that is new, empty, or all an earlier release of this study.

    Raises:
        SettingsError: It is another one.
    """
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    try:
        before = read_manifest(folder)
    except SettingsError:
        raise SettingsError(f"{folder}: holds something else; name a new folder") from None
    foreign = others(folder, before)
    if before.study_id != study.id or foreign:
        what = f"it holds {foreign[0]} too" if foreign else f"it is a release of {before.name}"
        raise SettingsError(f"{folder}: is not replaced: {what}; name a new folder")


def _people_lines(passing: Passing) -> Iterator[str]:
    """Write what is passed on of everybody, in the order of pseudonyms.

    Who is left out is so in a release too, or its numbers would be others; what was written of that
    by hand, and by whom, stays here.
    """
    out = excluded_now(passing.session.store.people.exclusions(passing.study.id))
    for name, of in sorted(passing.said.items()):
        background = {key: value for key, value in of.items() if key != GROUP}
        one = out.get(name)
        left_out = {} if one is None else {"excluded": _excluded(one)}
        yield of_person(name, group=of.get(GROUP), background=background, **left_out)


def _excluded(one: Exclusion) -> dict[str, Any]:
    why = one.why if one.rules else ""
    return {"rules": list(one.rules), "why": why, "at": one.at.isoformat()}


def _record_files(
    records: Mapping[type[Any], Sequence[Any]], before: Path | None
) -> dict[str, bytes]:
    """Write records kind by kind; those of an earlier release stand first, as they stood there."""
    found = {}
    for name, kind in KINDS.items():
        lines = [to_line(one) for one in records[kind]]
        old = b"" if before is None else read_file(before, name) or b""
        known = dict.fromkeys(
            f"{line}\n" for line in old.decode(errors="replace").split("\n") if line
        )
        new = [line for line in lines if line not in known]
        gone = len(known) + len(new) - len(lines)
        if gone and kind is not Study:
            raise StoreError(
                f"{before}: {gone:,} of its {kind_name(kind)} records are not in this study as they"
                " are there: only a study that continues it can add to it (heart init --from)",
                ids=(kind_name(kind),),
            )
        if known or new:
            found[name] = "".join((*known, *new)).encode()
    return found


def _asked(session: Session, study: Study) -> bytes:
    tasks = {kind: sorted(session.store.people.targets(study.id, kind)) for kind in TASKS}
    return f"{json.dumps(tasks)}\n".encode()


def _figures(results: StudyResults) -> dict[str, bytes]:
    """Draw every figure as SVG, where matplotlib is there."""
    try:
        require_matplotlib()
    except SettingsError:
        return {}
    drawn = (figure_files(results, figure, ("svg",)) for figure in figures_of(results))
    return {f"figures/{name}": content for files in drawn for name, content in files}


def _manifest(
    study: Study,
    session: Session,
    before: Path | None,
    n_left_out: Counter[str],
    files: Mapping[str, bytes],
) -> Manifest:
    said = {
        "schema": SCHEMA,
        "name": study.name,
        "study_id": study.id,
        "study_version": study.version,
        "heart_version": __version__,
        "created_at": session.now().isoformat(timespec="seconds"),
        "simulated": study.is_simulated,
        "protocol": protocol_hash(files),
        "files": {name: sha256(files[name]) for name in sorted(files)},
        "n_records": {
            kind_name(kind): files.get(name, b"").count(b"\n") for name, kind in KINDS.items()
        },
        "n_left_out": dict(sorted(n_left_out.items())),
        "previous": None if before is None else read_manifest(before).id,
    }
    unnamed = Manifest.model_validate({**said, "id": ""})
    return unnamed.model_copy(update={"id": unnamed.right_id})


def _as_json(manifest: Manifest) -> bytes:
    return (manifest.model_dump_json(by_alias=True, indent=1) + "\n").encode()


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

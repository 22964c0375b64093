"""A release as files: records as JSON Lines, each with a hash of itself, and a list of all files.

Nothing here opens a store. What is read is held against its hashes at once, and every fault names
the record or the file that it is of.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hearteval.domain import Pair, Study, content_hash, is_tombstone
from hearteval.errors import InvalidRecordError, SettingsError
from hearteval.store.records import Record
from hearteval.store.rows import TABLES, from_row, kind_name, to_row

SCHEMA = "heart.release/1"
MANIFEST, SUMS, STUDY_FILE, PEOPLE_FILE = (
    "manifest.json",
    "SHA256SUMS",
    "study.toml",
    "people.jsonl",
)
RECORDS = "records"
HASH, HEX_DIGITS = "content", 32
MADE_AT = "created_at"
UNREADABLE = (
    *(InvalidRecordError, ValueError, TypeError, LookupError, AttributeError),
    *(ArithmeticError, RecursionError),
)
"""What may be raised on the way from text that anybody may have changed to records and numbers."""
MEMBERS = ("item_ids", "system_ids", "rater_ids")
KINDS: Mapping[str, type[Any]] = {f"{RECORDS}/{kind_name(kind)}.jsonl": kind for kind in TABLES}
"""Kinds of records by their file, in the order in which they may refer to each other."""


class Manifest(BaseModel):
    """What a release says of itself: ``manifest.json``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_: str = Field(alias="schema")
    name: str
    """Of the study."""
    study_id: str
    study_version: int
    heart_version: str
    """That made the results."""
    created_at: str
    simulated: bool
    protocol: str
    """SHA-256 of all prompts, rubrics and taxonomies."""
    files: dict[str, str]
    """SHA-256 by path, this file and the sums apart."""
    n_records: dict[str, int]
    n_left_out: dict[str, int]
    """Texts that may not be passed on, by what they are."""
    previous: str | None = None
    """Id of the release that this one continues."""
    id: str

    @property
    def right_id(self) -> str:
        """The id that belongs to all the rest."""
        return content_hash(self.model_dump(by_alias=True, exclude={"id"}))


class Fault(NamedTuple):
    """One thing in a release that is not as it was made."""

    where: str
    """A file, or a record as ``kind id``."""
    words: str


class Line(NamedTuple):
    """One line of a file of records."""

    record: Record | None
    """None where it cannot be read."""
    text: str
    faults: tuple[Fault, ...]


def to_line(record: Record) -> str:
    """Write a record as one line of JSON, with a hash of all the rest of it."""
    row = to_row(record)
    if isinstance(record, Study):
        row |= {name: list(getattr(record, name)) for name in MEMBERS}
    if isinstance(row.get(MADE_AT), datetime):
        row[MADE_AT] = row[MADE_AT].isoformat()
    row = json.loads(json.dumps(row))
    return _line(row | {HASH: _hash_of(row)})


def of_person(name: str, **known: Any) -> str:
    """Write what is passed on of a person, under their pseudonym, as one line of JSON."""
    row = {"name": name, **known}
    return _line(row | {HASH: _hash_of(row)})


def read_lines(kind: type[Any], text: str) -> Iterator[Line]:
    """Read a file of records of a kind, and hold each against its hash and its id."""
    name = kind_name(kind)
    for number, line in enumerate(_lines_of(text), 1):
        try:
            row = json.loads(line)
            kept, id_ = row.pop(HASH), str(row["id"])
            is_whole = _hash_of(row) == kept
            record = _record_of(kind, row)
            is_own = is_tombstone(record) or replace(record, id="").id == id_
        except UNREADABLE:
            yield Line(None, line, (Fault(f"{name}, line {number}", "cannot be read"),))
            continue
        faults = []
        if not is_whole:
            faults.append(Fault(f"{name} {id_}", "was changed: its hash is that of other content"))
        if not is_own:
            faults.append(Fault(f"{name} {id_}", "its id is not that of its content"))
        yield Line(record, line, tuple(faults))


def read_people(text: str) -> Iterator[tuple[Mapping[str, Any], tuple[Fault, ...]]]:
    """Read what is known of people, and hold it against its hashes."""
    for number, line in enumerate(_lines_of(text), 1):
        try:
            row = json.loads(line)
            is_whole = row.pop(HASH) == _hash_of(row)
        except UNREADABLE:
            yield {}, (Fault(f"person, line {number}", "cannot be read"),)
            continue
        words = "was changed: its hash is that of other content"
        yield row, (() if is_whole else (Fault(f"person {row.get('name')}", words),))


def _record_of(kind: type[Any], row: dict[str, Any]) -> Any:
    row = dict(row)
    if MADE_AT in row:
        row[MADE_AT] = datetime.fromisoformat(row[MADE_AT])
    if kind is Study:
        return Study(**row | {name: tuple(row[name]) for name in MEMBERS})
    if kind is Pair:
        row |= {"low_system_id": None, "high_system_id": None}
    return from_row(kind, row)


def _lines_of(text: str) -> list[str]:
    """Split at line feeds alone: other ends of lines may stand in a text."""
    return text.removesuffix("\n").split("\n") if text else []


def _line(row: Mapping[str, Any]) -> str:
    line = json.dumps(row, ensure_ascii=False, sort_keys=True)
    try:
        line.encode()
    except UnicodeEncodeError:  # half a surrogate pair, which UTF-8 has not
        line = json.dumps(row, sort_keys=True)
    return f"{line}\n"


def _hash_of(row: Mapping[str, Any]) -> str:
    return content_hash(row)[:HEX_DIGITS]


def sha256(content: bytes) -> str:
    """Return a SHA-256 as 64 hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def sums(files: Mapping[str, str]) -> str:
    """Return what ``sha256sum --check`` reads."""
    return "".join(f"{digest}  {name}\n" for name, digest in sorted(files.items()))


def read_manifest(folder: Path) -> Manifest:
    """Read what a release says of itself.

    Raises:
        SettingsError: The folder holds no release, or one of a form that this version cannot read.
    """
    path = folder / MANIFEST
    try:
        found = Manifest.model_validate_json(path.read_bytes())
    except OSError:
        raise SettingsError(
            f"{folder}: is no release: it holds no {MANIFEST}; name a folder that `heart release`"
            " wrote"
        ) from None
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        raise SettingsError(f"{path}: cannot be read: {where}: {fault['msg']}") from None
    if found.schema_ != SCHEMA:
        raise SettingsError(
            f"{path}: is of the form {found.schema_!r}; this version reads {SCHEMA!r}"
        )
    return found


def check_files(folder: Path, manifest: Manifest) -> list[Fault]:
    """Hold every file of a release against the list of them."""
    faults = []
    if manifest.id != manifest.right_id:
        faults.append(Fault(MANIFEST, "was changed: its id is not that of its content"))
    for name, digest in manifest.files.items():
        content = read_file(folder, name)
        if content is None:
            faults.append(Fault(name, "is missing"))
        elif sha256(content) != digest:
            faults.append(Fault(name, "was changed: its SHA-256 is another"))
    if read_file(folder, SUMS) != sums(manifest.files).encode():
        faults.append(Fault(SUMS, f"was changed: it is not the list in {MANIFEST}"))
    return faults


def check_kept(folder: Path, manifest: Manifest, before: Path) -> list[Fault]:
    """Hold a release against the one that it continues, whose rows stand first, byte for byte.

    Raises:
        SettingsError: The earlier folder holds no release, or not as it was made.
    """
    old = read_manifest(before)
    if check_files(before, old):
        raise SettingsError(f"{before}: is not as it was released; see `heart verify` of it first")
    faults = []
    if manifest.previous != old.id:
        faults.append(Fault(MANIFEST, "says that it continues another release"))
    for name, kind in KINDS.items():
        rows = ((read_file(at, name) or b"").splitlines(keepends=True) for at in (before, folder))
        had, has = rows
        for number, line in enumerate(had):
            if has[number : number + 1] != [line]:
                where = f"{kind_name(kind)} {json.loads(line)['id']}"
                faults.append(Fault(where, "is not where and as it was in the earlier release"))
    return faults


def others(folder: Path, manifest: Manifest) -> list[str]:
    """Return the files in a folder that are no part of the release in it."""
    own = {*manifest.files, MANIFEST, SUMS}
    there = (one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file())
    return sorted(set(there) - own)


def read_file(folder: Path, name: str) -> bytes | None:
    """Return what a file of a release holds; None where it cannot be read.

    A name that leads out of the folder names none, nor does one that no file can have.
    """
    path = folder / name
    try:
        is_within = path.resolve().is_relative_to(folder.resolve())
        return path.read_bytes() if is_within and path.is_file() else None
    except (OSError, ValueError, RuntimeError):  # such as a link to itself
        return None


def read_records(
    folder: Path, names: Iterable[str] = tuple(KINDS)
) -> Iterator[tuple[type[Any], Sequence[Line]]]:
    """Read the records of a release, kind by kind in the order in which they refer."""
    for name in names:
        content = read_file(folder, name) or b""
        yield KINDS[name], [*read_lines(KINDS[name], content.decode(errors="replace"))]

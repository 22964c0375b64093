"""Content ids, and how a record checks its rules: it is named by what makes it itself.

An id is the first 16 bytes of SHA-256 over canonical JSON (UTF-8, NFC, sorted keys, no white space)
with the fields ``kind`` and ``v``, written as 32 hexadecimal digits. Content hashes are the whole
SHA-256 of the same form. Times, costs and raw replies never enter an id, so a rerun finds its own
work.
"""

import dataclasses
import hashlib
import json
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from hearteval.errors import InvalidRecordError

ID_VERSION = 1
ID_HEX_DIGITS = 32


def canonical_json(value: object) -> str:
    """Write a value as canonical JSON: NFC strings, sorted keys, no white space.

    Raises:
        ValueError: For NaN and infinities, which JSON does not have.
        TypeError: For values that are not JSON, dataclasses apart (written as objects).
    """
    text = _ENCODER.encode(value)
    # Where the whole is in NFC, so is each of its strings: parts of such text are.
    if text.isascii() or unicodedata.is_normalized("NFC", text):
        return text
    return _ENCODER.encode(normalised(value))


def content_hash(value: object) -> str:
    """Return the SHA-256 of a value's canonical JSON, as 64 hexadecimal digits."""
    return hashlib.sha256(_bytes(canonical_json(value))).hexdigest()


def record_id(kind: str, fields: Mapping[str, object]) -> str:
    """Return the id of a record of a kind from the fields that make it itself."""
    return content_hash({"kind": kind, "v": ID_VERSION, **fields})[:ID_HEX_DIGITS]


def hash_records(records: Iterable[Any]) -> str:
    """Hash whole records (not only their ids), ``created_at`` apart; their order is nothing."""
    digest = hashlib.sha256()
    for record in sorted(records, key=lambda record: record.id):
        digest.update(_bytes(canonical_json(record)))
        digest.update(b"\n")
    return digest.hexdigest()


def flat_fields(record: Any) -> dict[str, Any]:
    """Return a record's fields by name, those of its `Call` beside its own: as they are stored."""
    fields = {name: getattr(record, name) for name in _field_names(type(record))}  # type: ignore[arg-type]
    if "call" in fields:
        fields.update(flat_fields(fields.pop("call")))
    return fields


def require(holds: bool, where: str, message: str) -> None:  # noqa: FBT001 - reads as an assertion
    """Raise `InvalidRecordError` naming the record unless the rule holds."""
    if not holds:
        raise InvalidRecordError(f"{where}: {message}", ids=(where,))


def id_of(form: str, *values: object) -> str:
    """Return the id of a record that ids and numbers alone make: a plan has hundreds of thousands.

    The form is the canonical JSON of what makes it, with ``%s`` and ``%d`` for these.
    """
    return hashlib.sha256((form % values).encode()).hexdigest()[:ID_HEX_DIGITS]


def fill_id(record: Any, kind: str, *names: str, **others: object) -> None:
    """Give a record its content id unless it came with one (from a store or a release).

    It is made of these fields, and of `others`: what stands under another name in the id.
    """
    if not record.id:
        fields = {name: getattr(record, name) for name in names} | others
        object.__setattr__(record, "id", record_id(kind, fields))


@cache
def _field_names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")  # a reply may hold half a surrogate pair


def _as_object(value: Any) -> Mapping[Any, Any]:
    """Return what JSON has no word for as an object: a record, a mapping that is no dict."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = flat_fields(value)
        fields.pop("created_at", None)
        for name in getattr(value, "ADDED_LATER", ()):
            if fields[name] is None:
                del fields[name]
        return fields
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} is not JSON")


def normalised(value: Any) -> Any:
    """Return what JSON can say with every text in NFC."""
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, list | tuple):
        return [normalised(item) for item in value]
    found = value if isinstance(value, dict) else _as_object(value)
    return {normalised(key): normalised(item) for key, item in found.items()}


_ENCODER = json.JSONEncoder(
    ensure_ascii=False,
    sort_keys=True,
    separators=(",", ":"),
    allow_nan=False,
    default=_as_object,
)

"""Content ids: a record is named by what makes it itself, so a rerun finds its own work.

An id is the first 16 bytes of SHA-256 over canonical JSON (UTF-8, NFC, sorted keys, no white space)
with the fields ``kind`` and ``v``, written as 32 hexadecimal digits. Content hashes are the whole
SHA-256 of the same form. Times, costs and raw replies never enter an id.
"""

import dataclasses
import hashlib
import json
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

ID_VERSION = 1
ID_HEX_DIGITS = 32
_ENCODER = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
)


def canonical_json(value: object) -> str:
    """Write a value as canonical JSON: NFC strings, sorted keys, no white space.

    Raises:
        ValueError: For NaN and infinities, which JSON does not have.
        TypeError: For values that are not JSON, dataclasses apart (written as objects).
    """
    return _ENCODER.encode(_normalised(value))


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


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")  # a reply may hold half a surrogate pair


def _normalised(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else unicodedata.normalize("NFC", value)
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, dict) or isinstance(value, Mapping):  # noqa: SIM101 - an ABC asks slowly
        return {_normalised(key): _normalised(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_normalised(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in dataclasses.fields(value) if f.name != "created_at"]
        return {name: _normalised(getattr(value, name)) for name in names}
    return value

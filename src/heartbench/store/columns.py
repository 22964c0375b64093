"""Column types: the same values in Python and equal bytes in every database."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Dialect, LargeBinary, Text, TypeDecorator

from heartbench.domain import canonical_json

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_MARK = "\x1a"


class Id(TypeDecorator[str]):
    """32 hexadecimal digits in Python, 16 bytes in the database."""

    impl = LargeBinary(16)
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:
        """Convert digits to bytes."""
        return None if value is None else bytes.fromhex(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> str | None:
        """Convert bytes to digits."""
        return None if value is None else bytes(value).hex()


class Json(TypeDecorator[Any]):
    """Any JSON value in Python, canonical JSON text in the database."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any | None, dialect: Dialect) -> str | None:
        """Write canonical JSON, in ASCII where it holds lone surrogates."""
        if value is None:
            return None
        words = canonical_json(value)
        return json.dumps(json.loads(words)) if _UNSTORABLE.search(words) else words

    def process_result_value(self, value: Any | None, dialect: Dialect) -> Any:
        """Read JSON."""
        return None if value is None else json.loads(value)


class VerbatimJson(TypeDecorator[Any]):
    """Any JSON value in Python, the same value in the database, letter by letter."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any | None, dialect: Dialect) -> str | None:
        """Write JSON in ASCII."""
        return None if value is None else json.dumps(value, allow_nan=False)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> Any:
        """Read JSON."""
        return None if value is None else json.loads(value)


class Words(TypeDecorator[str]):
    """Any text in Python, also what a database cannot hold: NUL and lone surrogates.

    Such text, and text that starts with the mark, is kept as the mark and its JSON.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Write the text, marked where it needs it."""
        if value is None or not (_UNSTORABLE.search(value) or value.startswith(_MARK)):
            return value
        return _MARK + json.dumps(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> str | None:
        """Read the text."""
        if value is None or not value.startswith(_MARK):
            return value
        return str(json.loads(value.removeprefix(_MARK)))


class Utc(TypeDecorator[datetime]):
    """A UTC time in Python, microseconds since 1970 in the database."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Convert a time to microseconds."""
        return None if value is None else (value - _EPOCH) // timedelta(microseconds=1)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:
        """Convert microseconds to a time."""
        return None if value is None else _EPOCH + timedelta(microseconds=value)

"""The tables and their column types: the same values in Python, equal bytes in every database.

Ids are 16-byte keys, JSON is canonical text. Wide tables (texts, raw replies) keep SQLite's row
ids; narrow ones, read by key only, do without. Pairs repeat the system of each completion, and
``ix_judgments_counts`` covers the rest of what `judgment_table` reads, so that counting pairs never
touches the wide rows. An id of a judgment is made from its assignment alone: the primary key also
keeps assignments unique (a unique index of its own would make SQLite prefer it to the covering
one).
"""

import json
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    text,
)
from sqlalchemy.schema import SchemaItem

from hearteval.domain import canonical_json

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

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], str | None]:
        """Convert bytes to digits, with no layer between: a large study has millions of ids."""
        return _digits


class Hash(Id):
    """The same of a hash that stands in one row alone, for which no text is remembered."""

    cache_ok = True

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], str | None]:
        """Convert bytes to digits."""
        return _hex


class IdBytes(LargeBinary):
    """An id as the database holds it, for reads of many rows that make text of them at once."""

    def result_processor(self, dialect: Dialect, coltype: object) -> None:
        """Leave bytes as they are."""


class NoIdError(TypeError):
    """What stands in a column of ids is none."""


class Digits(dict[bytes, str]):
    """Ids as text by their bytes, each made once."""

    def __missing__(self, value: bytes) -> str:
        """Make the text of an id; a value that is none is a `TypeError`."""
        made = self[value] = sys.intern(bytes.hex(value))
        return made


def _digits(value: bytes | None) -> str | None:
    """Return an id as text, one for all the rows it stands in; else it is a `NoIdError`."""
    digits = _hex(value)
    return None if digits is None else sys.intern(digits)


def _hex(value: bytes | None) -> str | None:
    try:
        return None if value is None else bytes.hex(value)
    except TypeError:
        raise NoIdError from None


_DECODE = json.JSONDecoder().decode


def _read_json(value: str | None) -> Any:
    return None if value is None else _DECODE(value)


class VerbatimJson(TypeDecorator[Any]):
    """Any JSON value in Python, the same value in the database, letter by letter."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any | None, dialect: Dialect) -> str | None:
        """Write JSON in ASCII."""
        return None if value is None else json.dumps(value, allow_nan=False)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        """Read JSON, with no layer between."""
        return _read_json


class Json(VerbatimJson):
    """Any JSON value in Python, canonical JSON text in the database."""

    cache_ok = True

    def process_bind_param(self, value: Any | None, dialect: Dialect) -> str | None:
        """Write canonical JSON, in ASCII where it holds lone surrogates."""
        if value is None:
            return None
        words = canonical_json(value)
        return json.dumps(json.loads(words)) if _UNSTORABLE.search(words) else words


class SharedJson(Json):
    """The same of what many rows say alike, as calls their settings: read once, not to be changed.

    A hundred thousand replies would hold as many copies.
    """

    cache_ok = True

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        """Read JSON, or return what was read of the same text."""
        return _read_shared


_read_shared = lru_cache(maxsize=4_096)(_read_json)


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


metadata = MetaData()


def _table(name: str, *parts: SchemaItem, **settings: Any) -> Table[Any]:
    return Table(name, metadata, Column("id", Id, primary_key=True), *parts, **settings)


def _sealed(name: str, *parts: SchemaItem, **settings: Any) -> Table[Any]:
    """Make a table whose rows hold the hash of their whole content (see `integrity.seal`)."""
    return _table(name, *parts, Column("content", Hash), **settings)


def _ref(name: str, to: str | None = None, *, nullable: bool = False) -> Column[str]:
    return Column(name, Id, *([] if to is None else [ForeignKey(f"{to}.id")]), nullable=nullable)


def _required(kind: Any, *names: str) -> list[Column[Any]]:
    return [Column(name, kind, nullable=False) for name in names]


def _call() -> list[Column[Any]]:
    """Return the columns of a `Call`, which stands flat in the table of a record that holds one."""
    return [
        *_required(SharedJson, "requested", "effective"),
        Column("finish_reason", Text),
        Column("usage", SharedJson, nullable=False),
        Column("cost", Double),
        Column("cached", Boolean, nullable=False),
    ]


items = _sealed(
    "items",
    *_required(Words, "source", "dialogue_id"),
    Column("turn_index", Integer, nullable=False),
    Column("situation", Words, nullable=False),
    Column("context", Json, nullable=False),
    Column("subset", Text, nullable=False),
    Column("profile", Text),
    *_required(Words, "emotion", "problem"),
    Column("culture", Words),
    Column("population", Words),
    Column("language", Text, nullable=False),
    *_required(Words, "licence", "consent_basis"),
    Column("reference", Words),
    Column("cue", Text),
    Column("resistance", Text),
    Column("intensities", Json),
    Column("edge", Json),
)

screenings = _sealed(
    "screenings",
    _ref("item_id"),
    *_required(Text, "rule", "verdict"),
    Column("evidence", Words, nullable=False),
    Column("version", Text, nullable=False),
    Index("ix_screenings_item", "item_id"),
)

systems = _sealed(
    "systems",
    Column("name", Words, nullable=False),
    *_required(Text, "kind", "family"),
    Column("settings", Json, nullable=False),
)

raters = _sealed(
    "raters",
    Column("name", Words, nullable=False),
    *_required(Text, "kind", "family"),
    Column("pool", Text),
    Column("group", Text),
    Column("settings", Json, nullable=False),
)

completions = _sealed(
    "completions",
    _ref("item_id", "items"),
    _ref("system_id", "systems"),
    Column("text", Words, nullable=False),
    Column("writer_id", Text),
    Column("repeat", Integer, nullable=False),
    Column("prompt_hash", Text),
    *_call(),
    Column("first_token_ms", Double),
    Column("first_reasoning_ms", Double),
    Column("total_ms", Double),
    Column("created_at", Utc, nullable=False),
    Index(
        "uq_completions_target",
        *("system_id", "item_id", text("coalesce(writer_id, '')"), "repeat"),
        unique=True,
    ),
)

pairs = _sealed(
    "pairs",
    _ref("item_id", "items"),
    _ref("low_completion_id", "completions"),
    _ref("high_completion_id", "completions"),
    _ref("low_system_id", "systems"),
    _ref("high_system_id", "systems"),
    sqlite_with_rowid=False,
)

studies = _sealed(
    "studies",
    Column("version", Integer, primary_key=True),
    Column("name", Words, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("items_hash", Text, nullable=False),
    *_required(Json, "design", "protocols"),
    *_required(Text, "protocol_version", "settings_hash", "software_version"),
    Column("created_at", Utc, nullable=False),
)

study_members = Table(
    "study_members",
    metadata,
    Column("study_id", Id, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("member_id", Id, primary_key=True),
    sqlite_with_rowid=False,
)

assignments = _sealed(
    "assignments",
    _ref("study_id"),
    _ref("pair_id", "pairs"),
    _ref("rater_id", "raters"),
    _ref("first_completion_id", "completions"),
    Column("repeat", Integer, nullable=False),
    Column("check", Text),
    Index("ix_assignments_study", "study_id", "id"),
    Index("ix_assignments_pair", "study_id", "pair_id", "rater_id", "repeat"),
    Index("ix_assignments_rater", "rater_id", "study_id", "id"),
    sqlite_with_rowid=False,
)

attempts = _sealed(
    "attempts",
    _ref("item_id", "items", nullable=True),
    _ref("system_id", "systems", nullable=True),
    _ref("assignment_id", "assignments", nullable=True),
    *_required(Integer, "repeat", "attempt"),
    Column("reason", Text, nullable=False),
    Column("raw", Words, nullable=False),
    *_call(),
    Column("created_at", Utc, nullable=False),
    _ref("study_id", nullable=True),
    _ref("completion_id", "completions", nullable=True),
    _ref("rater_id", "raters", nullable=True),
    Column("detail", Words),
    _ref("judgment_id", "judgments", nullable=True),
    Index("ix_attempts_assignment", "assignment_id"),
)

judgments = _sealed(
    "judgments",
    _ref("assignment_id", "assignments"),
    Column("choice", Text, nullable=False),
    Column("strength", Integer),
    Column("axes", Json, nullable=False),
    # Both are NULL where `hearteval.domain.words_in` finds the same in `raw`.
    Column("reasons", Json),
    Column("rationale", Words),
    Column("seconds", Double),
    Column("raw", Words, nullable=False),
    Column("prompt_hash", Text),
    *_call(),
    Column("created_at", Utc, nullable=False),
    Index("ix_judgments_counts", "assignment_id", "choice", "strength", "axes", "finish_reason"),
)

ratings = _sealed(
    "ratings",
    _ref("study_id"),
    _ref("completion_id", "completions"),
    _ref("rater_id", "raters"),
    Column("repeat", Integer, nullable=False),
    *_required(Json, "axes", "comments"),
    Column("seconds", Double),
    Column("raw", Words, nullable=False),
    Column("prompt_hash", Text),
    *_call(),
    Column("created_at", Utc, nullable=False),
    Index("ix_ratings_study", "study_id", "id"),
)

replies = _sealed(
    "replies",
    Column("reply", VerbatimJson, nullable=False),
    Column("cost", Double),
    Column("created_at", Utc, nullable=False),
    Column("held_in", Text),
    Column("held_by", Id),
)

reply_texts = _table(
    "reply_texts",
    Column("digest", Id, nullable=False),
    Column("text", Words, nullable=False),
    Index("ix_reply_texts_digest", "digest"),
)

latency_probes = _sealed(
    "latency_probes",
    _ref("study_id"),
    _ref("system_id", "systems"),
    _ref("item_id", "items"),
    Column("repeat", Integer, nullable=False),
    Column("effective", Json, nullable=False),
    Column("first_token_ms", Double),
    Column("first_reasoning_ms", Double),
    Column("total_ms", Double),
    Column("concurrency", Integer, nullable=False),
    Column("created_at", Utc, nullable=False),
    Index("ix_latency_probes_study", "study_id", "id"),
)

labels = _sealed(
    "labels",
    _ref("completion_id", "completions", nullable=True),
    _ref("judgment_id", "judgments", nullable=True),
    *_required(Text, "taxonomy", "category", "verdict"),
    Column("probability", Double),
    Column("evidence", Words, nullable=False),
    _ref("rater_id", "raters"),
    Column("created_at", Utc, nullable=False),
    Index("ix_labels_completion", "completion_id"),
    _ref("item_id", "items", nullable=True),
    Column("score", Integer),
    Column("taxonomy_version", Text),
    Index("ix_labels_judgment", "judgment_id"),
    Index("ix_labels_item", "item_id"),
)

batch_jobs = _table(
    "batch_jobs",
    Column("provider", Text, nullable=False),
    Column("model", Words, nullable=False),
    Column("custom_ids", Json, nullable=False),
    Column("created_at", Utc, nullable=False),
    Column("remote_id", Text),
    Column("closed_at", Utc),
)

claims = _table(
    "claims",
    Column("owner", Text, nullable=False),
    Column("expires_at", Utc, nullable=False),
    Column("stamp", BigInteger),
    Index("ix_claims_stamp", "stamp"),
    sqlite_with_rowid=False,
)

ledger = _table(
    "ledger",
    Column("owner", Text, nullable=False),
    Column("expires_at", Utc, nullable=False),
    *(Column(name, Double, nullable=False) for name in ("usd", "later_usd")),
    Column("n_calls", Integer, nullable=False),
    sqlite_with_rowid=False,
)
"""What is booked, in rows of nobody, and what each process has set aside (`store.ledger`)."""

shares = _table(
    "shares",
    Column("line", Id, nullable=False),
    Column("owner", Text, nullable=False),
    Column("expires_at", Utc, nullable=False),
    Column("share", Double, nullable=False),
    sqlite_with_rowid=False,
)
"""What each process may use of what an endpoint allows one key (`store.sharing.shares`)."""

totals = Table(
    "totals",
    metadata,
    Column("kind", Text, primary_key=True),
    Column("study_id", Id, primary_key=True),
    Column("slot", Integer, primary_key=True),
    Column("n", Integer, nullable=False),
    Column("digest", Id, nullable=False),
    sqlite_with_rowid=False,
)
"""How many records were ever added, and the sum of their hashes (see `integrity.seal`).

Who writes at the same time has a slot of its own each: the total is the sum of them.
"""

call_sums = _table(
    "call_sums",
    *(Column(name, Id, nullable=False) for name in ("study_id", "rater_id")),
    Column("slot", Integer, nullable=False),
    *_required(SharedJson, "requested", "effective"),
    *_required(BigInteger, "n_calls", "n_priced", "pico_usd"),
    Index("ix_call_sums_study", "study_id"),
    sqlite_with_rowid=False,
)
"""What the calls of a study's judges were and cost, by slot as totals (see `integrity.as_read`)."""

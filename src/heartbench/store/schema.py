"""The tables. Ids are 16-byte keys; JSON is canonical text, so both databases hold equal bytes.

Wide tables (texts, raw replies) keep SQLite's row ids; narrow ones, read by key only, do without.
Pairs repeat the system of each completion, and ``ix_judgments_counts`` covers the rest of what
`judgment_table` reads, so that counting pairs never touches the wide rows. An id of a judgment is
made from its assignment alone: the primary key also keeps assignments unique (a unique index of its
own would make SQLite prefer it to the covering one).
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    text,
)

from heartbench.store.columns import Id, Json, Utc, VerbatimJson, Words

metadata = MetaData()


def _id(*, nullable: bool = False, to: str | None = None, name: str) -> Column[str]:
    keys = [] if to is None else [ForeignKey(f"{to}.id")]
    return Column(name, Id, *keys, nullable=nullable)


items = Table(
    "items",
    metadata,
    Column("id", Id, primary_key=True),
    Column("source", Words, nullable=False),
    Column("dialogue_id", Words, nullable=False),
    Column("turn_index", Integer, nullable=False),
    Column("situation", Words, nullable=False),
    Column("context", Json, nullable=False),
    Column("subset", Text, nullable=False),
    Column("profile", Text),
    Column("emotion", Words, nullable=False),
    Column("problem", Words, nullable=False),
    Column("culture", Words),
    Column("population", Words),
    Column("language", Text, nullable=False),
    Column("licence", Words, nullable=False),
    Column("consent_basis", Words, nullable=False),
    Column("reference", Words),
)

screenings = Table(
    "screenings",
    metadata,
    Column("id", Id, primary_key=True),
    _id(name="item_id"),
    Column("rule", Text, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("evidence", Words, nullable=False),
    Column("version", Text, nullable=False),
    Index("ix_screenings_item", "item_id"),
)

systems = Table(
    "systems",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Words, nullable=False),
    Column("kind", Text, nullable=False),
    Column("family", Text, nullable=False),
    Column("settings", Json, nullable=False),
)

raters = Table(
    "raters",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Words, nullable=False),
    Column("kind", Text, nullable=False),
    Column("family", Text, nullable=False),
    Column("pool", Text),
    Column("group", Text),
    Column("settings", Json, nullable=False),
)

completions = Table(
    "completions",
    metadata,
    Column("id", Id, primary_key=True),
    _id(name="item_id", to="items"),
    _id(name="system_id", to="systems"),
    Column("text", Words, nullable=False),
    Column("writer_id", Text),
    Column("repeat", Integer, nullable=False),
    Column("prompt_hash", Text),
    Column("requested", Json, nullable=False),
    Column("effective", Json, nullable=False),
    Column("finish_reason", Text),
    Column("usage", Json, nullable=False),
    Column("cost", Double),
    Column("first_token_ms", Double),
    Column("first_reasoning_ms", Double),
    Column("total_ms", Double),
    Column("cached", Boolean, nullable=False),
    Column("created_at", Utc, nullable=False),
)
Index(
    "uq_completions_target",
    completions.c.system_id,
    completions.c.item_id,
    text("coalesce(writer_id, '')"),
    completions.c.repeat,
    unique=True,
)

pairs = Table(
    "pairs",
    metadata,
    Column("id", Id, primary_key=True),
    _id(name="item_id", to="items"),
    _id(name="low_completion_id", to="completions"),
    _id(name="high_completion_id", to="completions"),
    _id(name="low_system_id", to="systems"),
    _id(name="high_system_id", to="systems"),
    sqlite_with_rowid=False,
)

studies = Table(
    "studies",
    metadata,
    Column("id", Id, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("name", Words, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("items_hash", Text, nullable=False),
    Column("design", Json, nullable=False),
    Column("protocols", Json, nullable=False),
    Column("protocol_version", Text, nullable=False),
    Column("settings_hash", Text, nullable=False),
    Column("software_version", Text, nullable=False),
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

assignments = Table(
    "assignments",
    metadata,
    Column("id", Id, primary_key=True),
    _id(name="study_id"),
    _id(name="pair_id", to="pairs"),
    _id(name="rater_id", to="raters"),
    _id(name="first_completion_id", to="completions"),
    Column("repeat", Integer, nullable=False),
    Column("check", Text),
    Index("ix_assignments_study", "study_id", "id"),
    Index("ix_assignments_pair", "pair_id", "study_id"),
    sqlite_with_rowid=False,
)

attempts = Table(
    "attempts",
    metadata,
    Column("id", Id, primary_key=True),
    _id(name="item_id", to="items", nullable=True),
    _id(name="system_id", to="systems", nullable=True),
    _id(name="assignment_id", to="assignments", nullable=True),
    Column("repeat", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("reason", Text, nullable=False),
    Column("raw", Words, nullable=False),
    Column("requested", Json, nullable=False),
    Column("effective", Json, nullable=False),
    Column("usage", Json, nullable=False),
    Column("cost", Double),
    Column("created_at", Utc, nullable=False),
    _id(name="study_id", nullable=True),
    _id(name="completion_id", to="completions", nullable=True),
    _id(name="rater_id", to="raters", nullable=True),
)

judgments = Table(
    "judgments",
    metadata,
    Column("id", Id, primary_key=True),
    _id(name="assignment_id", to="assignments"),
    Column("choice", Text, nullable=False),
    Column("strength", Integer),
    Column("axes", Json, nullable=False),
    Column("reasons", Json, nullable=False),
    Column("rationale", Words, nullable=False),
    Column("seconds", Double),
    Column("raw", Words, nullable=False),
    Column("prompt_hash", Text),
    Column("requested", Json, nullable=False),
    Column("effective", Json, nullable=False),
    Column("finish_reason", Text),
    Column("usage", Json, nullable=False),
    Column("cost", Double),
    Column("cached", Boolean, nullable=False),
    Column("created_at", Utc, nullable=False),
)
Index(
    "ix_judgments_counts",
    judgments.c.assignment_id,
    judgments.c.choice,
    judgments.c.strength,
    judgments.c.axes,
    judgments.c.finish_reason,
)

ratings = Table(
    "ratings",
    metadata,
    Column("id", Id, primary_key=True),
    _id(name="study_id"),
    _id(name="completion_id", to="completions"),
    _id(name="rater_id", to="raters"),
    Column("repeat", Integer, nullable=False),
    Column("axes", Json, nullable=False),
    Column("comments", Json, nullable=False),
    Column("seconds", Double),
    Column("raw", Words, nullable=False),
    Column("prompt_hash", Text),
    Column("requested", Json, nullable=False),
    Column("effective", Json, nullable=False),
    Column("finish_reason", Text),
    Column("usage", Json, nullable=False),
    Column("cost", Double),
    Column("cached", Boolean, nullable=False),
    Column("created_at", Utc, nullable=False),
    Index("ix_ratings_study", "study_id", "id"),
)

replies = Table(
    "replies",
    metadata,
    Column("id", Id, primary_key=True),
    Column("reply", VerbatimJson, nullable=False),
    Column("cost", Double),
    Column("created_at", Utc, nullable=False),
)

latency_probes = Table(
    "latency_probes",
    metadata,
    Column("id", Id, primary_key=True),
    _id(name="study_id"),
    _id(name="system_id", to="systems"),
    _id(name="item_id", to="items"),
    Column("repeat", Integer, nullable=False),
    Column("effective", Json, nullable=False),
    Column("first_token_ms", Double),
    Column("first_reasoning_ms", Double),
    Column("total_ms", Double),
    Column("concurrency", Integer, nullable=False),
    Column("created_at", Utc, nullable=False),
    Index("ix_latency_probes_study", "study_id", "id"),
)

batch_jobs = Table(
    "batch_jobs",
    metadata,
    Column("id", Id, primary_key=True),
    Column("provider", Text, nullable=False),
    Column("model", Words, nullable=False),
    Column("custom_ids", Json, nullable=False),
    Column("created_at", Utc, nullable=False),
    Column("remote_id", Text),
    Column("closed_at", Utc),
)

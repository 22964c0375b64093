"""Labels: what is said of a text. People: who they are, what is given to them, what happened."""

from alembic import op
from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    Text,
    UniqueConstraint,
    text,
)

from hearteval.store.schema import Id, Json, Utc, Words


def upgrade() -> None:
    """Create the tables."""
    _create_labels()
    _create_people()
    _create_tasks()


def _create_labels() -> None:
    op.create_table(
        "labels",
        Column("id", Id, primary_key=True),
        Column("completion_id", Id, ForeignKey("completions.id")),
        Column("judgment_id", Id, ForeignKey("judgments.id")),
        Column("taxonomy", Text, nullable=False),
        Column("category", Text, nullable=False),
        Column("verdict", Text, nullable=False),
        Column("probability", Double),
        Column("evidence", Words, nullable=False),
        Column("rater_id", Id, ForeignKey("raters.id"), nullable=False),
        Column("created_at", Utc, nullable=False),
        Column("content", Id),
    )
    op.create_index("ix_labels_completion", "labels", ["completion_id"])
    op.create_index("ix_labels_judgment", "labels", ["judgment_id"])


def _create_people() -> None:
    op.create_table(
        "invites",
        Column("id", Id, primary_key=True),
        Column("study_id", Id, nullable=False),
        Column("label", Words, nullable=False),
        Column("kinds", Json, nullable=False),
        Column("group", Text),
        Column("vetting", Text, nullable=False),
        Column("most_people", Integer, nullable=False),
        Column("n_people", Integer, nullable=False),
        Column("created_at", Utc, nullable=False),
        Column("expires_at", Utc, nullable=False),
        Column("revoked_at", Utc),
        CheckConstraint("n_people <= most_people"),
    )
    op.create_table(
        "people",
        Column("id", Id, primary_key=True),
        Column("study_id", Id, nullable=False),
        Column("name", Text, nullable=False, unique=True),
        Column("invite_id", Id, ForeignKey("invites.id"), nullable=False),
        Column("kinds", Json, nullable=False),
        Column("group", Text),
        Column("vetting", Text, nullable=False),
        Column("locale", Text, nullable=False),
        Column("consent_version", Text),
        Column("consented_at", Utc),
        Column("created_at", Utc, nullable=False),
        Column("stopped_at", Utc),
        Column("withdrawn_at", Utc),
        Column("platform_id", Words),
        Column("background", Json),
        Column("practice", Words),
        Column("salt", Text),
        UniqueConstraint("invite_id", "platform_id"),
    )
    op.create_table(
        "sessions",
        Column("id", Id, primary_key=True),
        Column("person_id", Id, ForeignKey("people.id"), nullable=False),
        Column("expires_at", Utc, nullable=False),
    )
    op.create_index("ix_sessions_person", "sessions", ["person_id"])
    op.create_table(
        "pauses",
        Column("study_id", Id, primary_key=True),
        Column("paused_at", Utc, nullable=False),
    )
    op.create_table(
        "events",
        Column("number", BigInteger, primary_key=True, autoincrement=False),
        Column("at", Utc, nullable=False),
        Column("what", Text, nullable=False),
        Column("about", Json, nullable=False),
        Column("hash", Text, nullable=False),
    )


def _create_tasks() -> None:
    op.create_table(
        "tasks",
        Column("id", Id, primary_key=True),
        Column("study_id", Id, nullable=False),
        Column("kind", Text, nullable=False),
        Column("target_id", Id, nullable=False),
        Column("rank", BigInteger, nullable=False),
        Column("n_places", Integer, nullable=False),
        Column("n_taken", Integer, nullable=False),
        Column("closed_at", Utc),
        CheckConstraint("0 <= n_taken AND n_taken <= n_places"),
        UniqueConstraint("study_id", "kind", "target_id"),
    )
    is_open = text("n_taken < n_places AND closed_at IS NULL")
    op.create_index(
        "ix_tasks_open",
        "tasks",
        ["study_id", "kind", "n_taken", "rank"],
        sqlite_where=is_open,
        postgresql_where=is_open,
    )
    op.create_table(
        "places",
        Column("task_id", Id, ForeignKey("tasks.id"), primary_key=True),
        Column("place", Integer, primary_key=True),
        Column("side", Integer, nullable=False),
        CheckConstraint("side IN (0, 1)"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "dealings",
        Column("task_id", Id, ForeignKey("tasks.id"), primary_key=True),
        Column("person_id", Id, ForeignKey("people.id"), primary_key=True),
        Column("state", Text, nullable=False),
        Column("place", Integer),
        Column("side", Integer),
        Column("ticket", Id, unique=True),
        Column("shown_at", Utc),
        Column("leased_until", Utc),
        Column("answered_at", Utc),
        Column("record_id", Id, unique=True),
        Column("answer_hash", Id),
        Column("signs", Json),
        Column("draft", Words),
        ForeignKeyConstraint(["task_id", "place"], ["places.task_id", "places.place"]),
        UniqueConstraint("task_id", "place"),
        CheckConstraint("state IN ('own', 'skipped', 'lapsed', 'held', 'done')"),
        CheckConstraint("(place IS NOT NULL) = (state IN ('held', 'done'))"),
        CheckConstraint("(record_id IS NOT NULL) = (state = 'done')"),
    )
    op.create_index("ix_dealings_person", "dealings", ["person_id", "state"])
    is_held = text("state = 'held'")
    op.create_index(
        "ix_dealings_leases",
        "dealings",
        ["leased_until"],
        sqlite_where=is_held,
        postgresql_where=is_held,
    )

"""Keep ratings, and the failed calls for them."""

import sqlalchemy as sa
from alembic import op

from heartbench.store.columns import Id, Json, Utc, Words

revision = "0006"
down_revision = "0005"

BEFORE = (
    "id",
    "item_id",
    "system_id",
    "assignment_id",
    "repeat",
    "attempt",
    "reason",
    "raw",
    "requested",
    "effective",
    "usage",
    "cost",
    "created_at",
)
"""What an attempt held before."""


def upgrade() -> None:
    """Create the table, and let an attempt name a rating."""
    op.create_table(
        "ratings",
        sa.Column("id", Id, primary_key=True),
        sa.Column("study_id", Id, nullable=False),
        sa.Column("completion_id", Id, sa.ForeignKey("completions.id"), nullable=False),
        sa.Column("rater_id", Id, sa.ForeignKey("raters.id"), nullable=False),
        sa.Column("repeat", sa.Integer, nullable=False),
        sa.Column("axes", Json, nullable=False),
        sa.Column("comments", Json, nullable=False),
        sa.Column("seconds", sa.Double),
        sa.Column("raw", Words, nullable=False),
        sa.Column("prompt_hash", sa.Text),
        sa.Column("requested", Json, nullable=False),
        sa.Column("effective", Json, nullable=False),
        sa.Column("finish_reason", sa.Text),
        sa.Column("usage", Json, nullable=False),
        sa.Column("cost", sa.Double),
        sa.Column("cached", sa.Boolean, nullable=False),
        sa.Column("created_at", Utc, nullable=False),
    )
    op.create_index("ix_ratings_study", "ratings", ["study_id", "id"])
    # SQLite puts an added column behind the keys; a table made anew is like that of a new store.
    op.rename_table("attempts", "attempts_before")
    op.create_table(
        "attempts",
        sa.Column("id", Id, primary_key=True),
        sa.Column("item_id", Id, sa.ForeignKey("items.id")),
        sa.Column("system_id", Id, sa.ForeignKey("systems.id")),
        sa.Column("assignment_id", Id, sa.ForeignKey("assignments.id")),
        sa.Column("repeat", sa.Integer, nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("raw", Words, nullable=False),
        sa.Column("requested", Json, nullable=False),
        sa.Column("effective", Json, nullable=False),
        sa.Column("usage", Json, nullable=False),
        sa.Column("cost", sa.Double),
        sa.Column("created_at", Utc, nullable=False),
        sa.Column("study_id", Id),
        sa.Column("completion_id", Id, sa.ForeignKey("completions.id")),
        sa.Column("rater_id", Id, sa.ForeignKey("raters.id")),
    )
    columns = ", ".join(BEFORE)
    op.execute(f"INSERT INTO attempts ({columns}) SELECT {columns} FROM attempts_before")  # noqa: S608
    op.drop_table("attempts_before")

"""The first schema: every table of items, completions, judgments and studies.

Frozen: later versions change it by migrations of their own, never here.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

ID = sa.LargeBinary(16)
metadata = sa.MetaData()

sa.Table(
    "items",
    metadata,
    sa.Column("id", ID, primary_key=True),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("dialogue_id", sa.Text, nullable=False),
    sa.Column("turn_index", sa.Integer, nullable=False),
    sa.Column("situation", sa.Text, nullable=False),
    sa.Column("context", sa.Text, nullable=False),
    sa.Column("subset", sa.Text, nullable=False),
    sa.Column("profile", sa.Text),
    sa.Column("emotion", sa.Text, nullable=False),
    sa.Column("problem", sa.Text, nullable=False),
    sa.Column("culture", sa.Text),
    sa.Column("population", sa.Text),
    sa.Column("language", sa.Text, nullable=False),
    sa.Column("licence", sa.Text, nullable=False),
    sa.Column("consent_basis", sa.Text, nullable=False),
    sa.Column("reference", sa.Text),
)
sa.Table(
    "raters",
    metadata,
    sa.Column("id", ID, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("family", sa.Text, nullable=False),
    sa.Column("pool", sa.Text),
    sa.Column("group", sa.Text),
    sa.Column("settings", sa.Text, nullable=False),
)
sa.Table(
    "screenings",
    metadata,
    sa.Column("id", ID, primary_key=True),
    sa.Column("item_id", ID, nullable=False),
    sa.Column("rule", sa.Text, nullable=False),
    sa.Column("verdict", sa.Text, nullable=False),
    sa.Column("evidence", sa.Text, nullable=False),
    sa.Column("version", sa.Text, nullable=False),
    sa.Index("ix_screenings_item", "item_id"),
)
sa.Table(
    "studies",
    metadata,
    sa.Column("id", ID, primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("seed", sa.BigInteger, nullable=False),
    sa.Column("items_hash", sa.Text, nullable=False),
    sa.Column("design", sa.Text, nullable=False),
    sa.Column("protocols", sa.Text, nullable=False),
    sa.Column("protocol_version", sa.Text, nullable=False),
    sa.Column("settings_hash", sa.Text, nullable=False),
    sa.Column("software_version", sa.Text, nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
)
sa.Table(
    "study_members",
    metadata,
    sa.Column("study_id", ID, primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("member_id", ID, primary_key=True),
    sqlite_with_rowid=False,
)
sa.Table(
    "systems",
    metadata,
    sa.Column("id", ID, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("family", sa.Text, nullable=False),
    sa.Column("settings", sa.Text, nullable=False),
)
completions = sa.Table(
    "completions",
    metadata,
    sa.Column("id", ID, primary_key=True),
    sa.Column("item_id", ID, sa.ForeignKey("items.id"), nullable=False),
    sa.Column("system_id", ID, sa.ForeignKey("systems.id"), nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("writer_id", sa.Text),
    sa.Column("repeat", sa.Integer, nullable=False),
    sa.Column("prompt_hash", sa.Text),
    sa.Column("requested", sa.Text, nullable=False),
    sa.Column("effective", sa.Text, nullable=False),
    sa.Column("finish_reason", sa.Text),
    sa.Column("usage", sa.Text, nullable=False),
    sa.Column("cost", sa.Double),
    sa.Column("first_token_ms", sa.Double),
    sa.Column("first_reasoning_ms", sa.Double),
    sa.Column("total_ms", sa.Double),
    sa.Column("cached", sa.Boolean, nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
)
sa.Table(
    "pairs",
    metadata,
    sa.Column("id", ID, primary_key=True),
    sa.Column("item_id", ID, sa.ForeignKey("items.id"), nullable=False),
    sa.Column("low_completion_id", ID, sa.ForeignKey("completions.id"), nullable=False),
    sa.Column("high_completion_id", ID, sa.ForeignKey("completions.id"), nullable=False),
    sa.Column("low_system_id", ID, sa.ForeignKey("systems.id"), nullable=False),
    sa.Column("high_system_id", ID, sa.ForeignKey("systems.id"), nullable=False),
    sqlite_with_rowid=False,
)
sa.Table(
    "assignments",
    metadata,
    sa.Column("id", ID, primary_key=True),
    sa.Column("study_id", ID, nullable=False),
    sa.Column("pair_id", ID, sa.ForeignKey("pairs.id"), nullable=False),
    sa.Column("rater_id", ID, sa.ForeignKey("raters.id"), nullable=False),
    sa.Column("first_completion_id", ID, sa.ForeignKey("completions.id"), nullable=False),
    sa.Column("repeat", sa.Integer, nullable=False),
    sa.Column("check", sa.Text),
    sa.Index("ix_assignments_study", "study_id", "id"),
    sqlite_with_rowid=False,
)
sa.Table(
    "attempts",
    metadata,
    sa.Column("id", ID, primary_key=True),
    sa.Column("item_id", ID, sa.ForeignKey("items.id")),
    sa.Column("system_id", ID, sa.ForeignKey("systems.id")),
    sa.Column("assignment_id", ID, sa.ForeignKey("assignments.id")),
    sa.Column("repeat", sa.Integer, nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("raw", sa.Text, nullable=False),
    sa.Column("requested", sa.Text, nullable=False),
    sa.Column("effective", sa.Text, nullable=False),
    sa.Column("usage", sa.Text, nullable=False),
    sa.Column("cost", sa.Double),
    sa.Column("created_at", sa.BigInteger, nullable=False),
)
sa.Table(
    "judgments",
    metadata,
    sa.Column("id", ID, primary_key=True),
    sa.Column("assignment_id", ID, sa.ForeignKey("assignments.id"), nullable=False),
    sa.Column("choice", sa.Text, nullable=False),
    sa.Column("strength", sa.Integer),
    sa.Column("axes", sa.Text, nullable=False),
    sa.Column("reasons", sa.Text, nullable=False),
    sa.Column("rationale", sa.Text, nullable=False),
    sa.Column("seconds", sa.Double),
    sa.Column("raw", sa.Text, nullable=False),
    sa.Column("prompt_hash", sa.Text),
    sa.Column("requested", sa.Text, nullable=False),
    sa.Column("effective", sa.Text, nullable=False),
    sa.Column("finish_reason", sa.Text),
    sa.Column("usage", sa.Text, nullable=False),
    sa.Column("cost", sa.Double),
    sa.Column("cached", sa.Boolean, nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Index("ix_judgments_counts", "assignment_id", "choice", "strength", "axes", "finish_reason"),
)
sa.Index(
    "uq_completions_target",
    completions.c.system_id,
    completions.c.item_id,
    sa.text("coalesce(writer_id, '')"),
    completions.c.repeat,
    unique=True,
)


def upgrade() -> None:
    """Create the tables."""
    metadata.create_all(op.get_bind())

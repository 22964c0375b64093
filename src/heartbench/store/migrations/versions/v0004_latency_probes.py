"""Keep what `heart latency` measures, apart from the completions' own times."""

import sqlalchemy as sa
from alembic import op

from heartbench.store.columns import Id, Json, Utc

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "latency_probes",
        sa.Column("id", Id, primary_key=True),
        sa.Column("study_id", Id, nullable=False),
        sa.Column("system_id", Id, sa.ForeignKey("systems.id"), nullable=False),
        sa.Column("item_id", Id, sa.ForeignKey("items.id"), nullable=False),
        sa.Column("repeat", sa.Integer, nullable=False),
        sa.Column("effective", Json, nullable=False),
        sa.Column("first_token_ms", sa.Double),
        sa.Column("first_reasoning_ms", sa.Double),
        sa.Column("total_ms", sa.Double),
        sa.Column("concurrency", sa.Integer, nullable=False),
        sa.Column("created_at", Utc, nullable=False),
    )
    op.create_index("ix_latency_probes_study", "latency_probes", ["study_id", "id"])

"""Remember the batch jobs of providers, so that a later run collects what an earlier one paid."""

import sqlalchemy as sa
from alembic import op

from heartbench.store.columns import Id, Json, Utc, Words

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "batch_jobs",
        sa.Column("id", Id, primary_key=True),
        sa.Column("provider", sa.Text, nullable=False),
        sa.Column("model", Words, nullable=False),
        sa.Column("custom_ids", Json, nullable=False),
        sa.Column("created_at", Utc, nullable=False),
        sa.Column("remote_id", sa.Text),
        sa.Column("closed_at", Utc),
    )

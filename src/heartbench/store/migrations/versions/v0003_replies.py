"""Keep what models answered, so that no call is paid for twice."""

import sqlalchemy as sa
from alembic import op

from heartbench.store.columns import Id, Json, Utc

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "replies",
        sa.Column("id", Id, primary_key=True),
        sa.Column("reply", Json, nullable=False),
        sa.Column("cost", sa.Double),
        sa.Column("created_at", Utc, nullable=False),
    )

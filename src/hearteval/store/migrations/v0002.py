"""Attempts keep the endpoint's own words for why there is no reply."""

from alembic import op
from sqlalchemy import Column

from hearteval.store.schema import Words


def upgrade() -> None:
    """Add the column."""
    op.add_column("attempts", Column("detail", Words))

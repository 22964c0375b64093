"""Claims: which process asks which open question."""

from alembic import op
from sqlalchemy import BigInteger, Column, Text

from hearteval.store.schema import Id, Utc


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "claims",
        Column("id", Id, primary_key=True),
        Column("owner", Text, nullable=False),
        Column("expires_at", Utc, nullable=False),
        Column("stamp", BigInteger),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_claims_stamp", "claims", ["stamp"])

"""Every record keeps a hash of its whole content, and the store how many there are, and their sum.

The hashes themselves are filled in by `hearteval.store.integrity.seal` after the last migration.
"""

from alembic import op
from sqlalchemy import Column, Integer, PrimaryKeyConstraint, Text

from hearteval.store.schema import Id

TABLES = (
    *("items", "screenings", "systems", "raters", "completions", "pairs", "studies"),
    *("assignments", "attempts", "judgments", "ratings", "replies", "latency_probes"),
)


def upgrade() -> None:
    """Add the columns and the table."""
    for table in TABLES:
        op.add_column(table, Column("content", Id))
    op.create_table(
        "totals",
        Column("kind", Text, nullable=False),
        Column("study_id", Id, nullable=False),
        Column("n", Integer, nullable=False),
        Column("digest", Id, nullable=False),
        PrimaryKeyConstraint("kind", "study_id"),
        sqlite_with_rowid=False,
    )

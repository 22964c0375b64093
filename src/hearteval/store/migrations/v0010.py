"""The ledger: what is booked, and what each process has set aside for calls under way."""

from datetime import UTC, datetime

from alembic import op
from sqlalchemy import Column, Double, Integer, Text

from hearteval.store.schema import Id, Utc

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def upgrade() -> None:
    """Create the table, and book what all replies have cost so far in the row of nobody."""
    table = op.create_table(
        "ledger",
        Column("id", Id, primary_key=True),
        Column("owner", Text, nullable=False),
        Column("expires_at", Utc, nullable=False),
        Column("usd", Double, nullable=False),
        Column("later_usd", Double, nullable=False),
        Column("n_calls", Integer, nullable=False),
        sqlite_with_rowid=False,
    )
    query = "SELECT coalesce(sum(cost), 0.0) FROM replies"
    usd = op.get_bind().exec_driver_sql(query).scalar_one()
    row = {"owner": "", "expires_at": EPOCH, "usd": usd, "later_usd": 0.0, "n_calls": 0}
    op.bulk_insert(table, [{"id": "0" * 32, **row}])

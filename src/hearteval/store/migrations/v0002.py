"""Attempts keep the endpoint's own words for why there is no reply."""

from alembic import op
from sqlalchemy import Column, inspect

from hearteval.store.schema import Words


def upgrade() -> None:
    """Add the column where a store of `v0001` lacks it."""
    columns = {column["name"] for column in inspect(op.get_bind()).get_columns("attempts")}
    if "detail" not in columns:
        op.add_column("attempts", Column("detail", Words))

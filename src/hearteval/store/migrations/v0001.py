"""The first schema.

Until a release has made stores it is whatever `schema` says. The first migration after that writes
these tables down here as they were, because later ones start from them.
"""

from alembic import op

from hearteval.store.schema import metadata


def upgrade() -> None:
    """Create the tables."""
    metadata.create_all(op.get_bind())

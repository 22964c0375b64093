"""Labels say by which version of their taxonomy they were given.

Labels of before bear none, so their content and its hash stay.
"""

from alembic import op
from sqlalchemy import Column, Text


def upgrade() -> None:
    """Add the column."""
    op.add_column("labels", Column("taxonomy_version", Text))

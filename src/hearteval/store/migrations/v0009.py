"""Labels say by which version of their taxonomy they were given, items what is at their edge.

Those of before say neither, so their content and its hash stay.
"""

from alembic import op
from sqlalchemy import Column, Text

from hearteval.store.schema import Json


def upgrade() -> None:
    """Add the columns."""
    op.add_column("labels", Column("taxonomy_version", Text))
    op.add_column("items", Column("edge", Json))

"""Items say how plainly the seeker speaks and, adversarial ones, how they resist and how strongly.

Items of before have none of these labels, so their content and its hash stay.
"""

from alembic import op
from sqlalchemy import Column, Text

from hearteval.store.schema import Json


def upgrade() -> None:
    """Add the columns."""
    op.add_column("items", Column("cue", Text))
    op.add_column("items", Column("resistance", Text))
    op.add_column("items", Column("intensities", Json))

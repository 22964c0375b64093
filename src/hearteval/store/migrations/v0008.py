"""Labels may be of items and bear a score; a try at them names the judgment or the item.

Labels and attempts of before have none of these, so their content and its hash stay.
"""

from alembic import op
from sqlalchemy import Column, ForeignKey, Integer

from hearteval.store.schema import Id


def upgrade() -> None:
    """Add the columns."""
    judgment = Column("judgment_id", Id, ForeignKey("judgments.id"))
    item = Column("item_id", Id, ForeignKey("items.id"))
    op.add_column("attempts", judgment, inline_references=True)
    op.add_column("labels", item, inline_references=True)
    op.add_column("labels", Column("score", Integer))
    op.create_index("ix_labels_item", "labels", ["item_id"])

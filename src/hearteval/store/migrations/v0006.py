"""Labels: what a person, a model or a rule says of a text."""

from alembic import op
from sqlalchemy import Column, Double, ForeignKey, Text

from hearteval.store.schema import Id, Utc, Words


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "labels",
        Column("id", Id, primary_key=True),
        Column("completion_id", Id, ForeignKey("completions.id")),
        Column("judgment_id", Id, ForeignKey("judgments.id")),
        Column("taxonomy", Text, nullable=False),
        Column("category", Text, nullable=False),
        Column("verdict", Text, nullable=False),
        Column("probability", Double),
        Column("evidence", Words, nullable=False),
        Column("rater_id", Id, ForeignKey("raters.id"), nullable=False),
        Column("created_at", Utc, nullable=False),
        Column("content", Id),
    )
    op.create_index("ix_labels_completion", "labels", ["completion_id"])
    op.create_index("ix_labels_judgment", "labels", ["judgment_id"])

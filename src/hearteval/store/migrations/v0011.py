"""Tasks have a turn, by which those that come later are given out among the others."""

from alembic import op
from sqlalchemy import Column, Integer, text

IS_OPEN = text("n_taken < n_places AND closed_at IS NULL")


def upgrade() -> None:
    """Add the column, for tasks of before what they are filled, and order what is open by it."""
    op.add_column("tasks", Column("turn", Integer, nullable=False, server_default="0"))
    op.execute("UPDATE tasks SET turn = n_taken")
    op.drop_index("ix_tasks_open", table_name="tasks")
    op.create_index(
        "ix_tasks_open",
        "tasks",
        ["study_id", "kind", "turn", "rank"],
        sqlite_where=IS_OPEN,
        postgresql_where=IS_OPEN,
    )

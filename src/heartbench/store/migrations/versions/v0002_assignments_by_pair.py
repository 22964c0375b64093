"""Find the assignments of a pair without reading them all.

Reading the pairs of a study of 10,080 assignments took 4.2 of 5.4 seconds of ``heart analyze``.
"""

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the index."""
    op.create_index("ix_assignments_pair", "assignments", ["pair_id", "study_id"])

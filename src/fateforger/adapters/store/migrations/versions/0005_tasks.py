"""The queue of tasks, and which of them waits for which."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "task",
        sa.Column("id", sa.Text, primary_key=True, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("cause", sa.Text, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("priority", sa.Integer, nullable=False),
        sa.Column("rank", sa.BigInteger, nullable=False),
        sa.Column("executor", sa.Text, nullable=True),
        sa.Column("leased_until", sa.BigInteger, nullable=True),
        sa.Column("schema_version", sa.Integer, nullable=False),
        sa.Column("task", sa.Text, nullable=False),
        sa.UniqueConstraint("user_id", "cause", "place"),
    )
    op.create_index("ix_task_queue", "task", ["user_id", "state", "priority", "rank"])
    op.create_index("ix_task_state", "task", ["state", "executor"])
    op.create_table(
        "task_blocker",
        sa.Column("task_id", sa.Text, sa.ForeignKey("task.id"), primary_key=True, nullable=False),
        sa.Column("blocker_id", sa.Text, sa.ForeignKey("task.id"), primary_key=True, nullable=False),
    )

"""Observed lengths of people's tasks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "task_duration",
        sa.Column("user_id", sa.Text, primary_key=True, nullable=False),
        sa.Column("id", sa.Text, primary_key=True, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("deep", sa.Boolean, nullable=False),
        sa.Column("planned", sa.Integer, nullable=False),
        sa.Column("actual", sa.Integer, nullable=False),
        sa.Column("day", sa.Date, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
    )

"""Feedback of people on what a model said."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "feedback",
        sa.Column("session_id", sa.Text, primary_key=True),
        sa.Column("turn", sa.Text, primary_key=True),
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column("helpful", sa.Boolean, nullable=False),
        sa.Column("prompts", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
    )

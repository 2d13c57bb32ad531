"""Requests to providers: when those that were made no longer count, and channels that save some."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "request_bucket",
        sa.Column("name", sa.Text, primary_key=True, nullable=False),
        sa.Column("full_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "push_channel",
        sa.Column("id", sa.Text, primary_key=True, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("calendar_id", sa.Text, nullable=False),
        sa.Column("remote_id", sa.Text, nullable=False),
        sa.Column("secret_hash", sa.Text, nullable=False),
        sa.Column("notices", sa.Integer, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_push_channel_user", "push_channel", ["user_id", "calendar_id"])

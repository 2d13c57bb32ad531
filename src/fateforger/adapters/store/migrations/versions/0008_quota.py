"""Requests that a login made lately."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "quota_use",
        sa.Column("id", sa.Text, primary_key=True, nullable=False),
        sa.Column("server", sa.Text, nullable=False),
        sa.Column("account", sa.Text, nullable=False),
        sa.Column("requests", sa.Integer, nullable=False),
        sa.Column("background", sa.Boolean, nullable=False),
        sa.Column("counts_until", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_quota_use_server", "quota_use", ["server"])

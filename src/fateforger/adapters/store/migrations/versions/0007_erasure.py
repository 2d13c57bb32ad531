"""Erasures of people, without their ids."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "erasure",
        sa.Column("id", sa.Text, primary_key=True, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("counts", sa.Text, nullable=False),
    )

"""The calendar that each person connected."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "calendar_connection",
        sa.Column("user_id", sa.Text, primary_key=True, nullable=False),
        sa.Column("provider", sa.Text, nullable=False),
        sa.Column("account", sa.Text, nullable=False),
        sa.Column("address", sa.Text, nullable=False),
        sa.Column("calendar_id", sa.Text, nullable=False),
        sa.Column("reads", sa.Text, nullable=False),
        sa.Column("secret", sa.Text, nullable=False),
        sa.Column("problem", sa.Text, nullable=False),
        sa.Column("connected_at", sa.BigInteger, nullable=False),
    )

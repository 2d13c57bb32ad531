"""Messages that the bot sends by itself: people's choices, and a mark for each message."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "ritual",
        sa.Column("user_id", sa.Text, primary_key=True, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
    )
    op.create_table(
        "ritual_mark",
        sa.Column("user_id", sa.Text, primary_key=True, nullable=False),
        sa.Column("kind", sa.Text, primary_key=True, nullable=False),
        sa.Column("day", sa.Date, primary_key=True, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
    )

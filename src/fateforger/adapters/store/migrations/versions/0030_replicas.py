"""The newest messages of threads, for whichever program sends the next card."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "thread_message",
        sa.Column("channel", sa.Text, primary_key=True, nullable=False),
        sa.Column("thread", sa.BigInteger, primary_key=True, nullable=False),
        sa.Column("ts", sa.BigInteger, primary_key=True, nullable=False),
    )

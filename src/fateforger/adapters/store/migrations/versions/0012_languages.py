"""The language of each person."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "person_language",
        sa.Column("user_id", sa.Text, primary_key=True, nullable=False),
        sa.Column("language", sa.Text, nullable=False),
        sa.Column("chosen", sa.Boolean, nullable=False),
    )

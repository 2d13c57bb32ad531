"""The last exchanges with each person outside of plans."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "person_talk",
        sa.Column("user_id", sa.Text, primary_key=True, nullable=False),
        sa.Column("talk", sa.Text, nullable=False),
    )

"""Use of language models, in counts per day, role and model."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "model_usage",
        sa.Column("day", sa.Date, primary_key=True),
        sa.Column("role", sa.Text, primary_key=True),
        sa.Column("model", sa.Text, primary_key=True),
        *(
            sa.Column(name, sa.BigInteger, nullable=False)
            for name in (
                "calls",
                "failed",
                "uncounted",
                "unpriced",
                "prompt_tokens",
                "completion_tokens",
                "nanodollars",
            )
        ),
    )

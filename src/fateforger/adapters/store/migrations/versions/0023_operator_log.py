"""A log of the operator's commands that read or change people's data."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    number = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    op.create_table(
        "operator_action",
        sa.Column("number", number, primary_key=True, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("command", sa.Text, nullable=False),
        sa.Column("operator", sa.Text, nullable=False),
    )
    op.create_index("ix_operator_action_user", "operator_action", ["user_id", "number"])
    op.create_index("ix_operator_action_at", "operator_action", ["at"])

"""Constraints that people told the planner: versions of constraints, and what their index does not show yet."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_COUNTER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "constraint_version",
        sa.Column("seq", _COUNTER, primary_key=True, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("uid", sa.Text, nullable=False),
        sa.Column("cause", sa.Text, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("written_at", sa.BigInteger, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=True),
        sa.Column("session_id", sa.Text, nullable=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("scope", sa.Text, nullable=False),
        sa.Column("valid_from", sa.Date, nullable=True),
        sa.Column("valid_until", sa.Date, nullable=True),
        sa.Column("schema_version", sa.Integer, nullable=False),
        sa.Column("record", sa.Text, nullable=False),
        sa.UniqueConstraint("user_id", "cause", "place"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_constraint_version_person", "constraint_version", ["user_id", "seq"])
    op.create_index("ix_constraint_version_uid", "constraint_version", ["user_id", "uid", "seq"])
    op.create_table(
        "constraint_unindexed",
        sa.Column("place", _COUNTER, primary_key=True, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("uid", sa.Text, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_constraint_unindexed", "constraint_unindexed", ["user_id", "uid", "place"])

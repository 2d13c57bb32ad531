"""Other agents: who may ask, what they asked, and what they propose."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_COUNTER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "agent_client",
        sa.Column("name", sa.Text, primary_key=True, nullable=False),
        sa.Column("key", sa.Text, nullable=False, unique=True),
        sa.Column("token_hash", sa.Text, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=True),
        sa.Column("revoked_at", sa.BigInteger, nullable=True),
    )
    op.create_table(
        "agent_call",
        sa.Column("number", _COUNTER, primary_key=True, nullable=False),
        sa.Column("client", sa.Text, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("tool", sa.Text, nullable=False),
        sa.Column("asked", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("outcome", sa.Text, nullable=True),
        sa.Column("ended_at", sa.BigInteger, nullable=True),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_agent_call_client", "agent_call", ["client", "at"])
    op.create_table(
        "agent_proposal",
        sa.Column("id", sa.Text, primary_key=True, nullable=False),
        sa.Column("client", sa.Text, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("settled_at", sa.BigInteger, nullable=True),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("channel", sa.Text, nullable=True),
        sa.Column("ts", sa.Text, nullable=True),
        sa.Column("schema_version", sa.Integer, nullable=False),
        sa.Column("proposal", sa.Text, nullable=False),
    )
    op.create_index("ix_agent_proposal_client", "agent_proposal", ["client", "state"])

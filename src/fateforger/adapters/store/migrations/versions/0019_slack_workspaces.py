"""Workspaces of Slack that have the app, installs under way, and the standing of people in their workspace."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "slack_workspace",
        sa.Column("tenant", sa.Text, primary_key=True, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("team_id", sa.Text),
        sa.Column("is_first", sa.Boolean, nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("token", sa.Text, nullable=False),
        sa.Column("refresh_token", sa.Text, nullable=False),
        sa.Column("expires_at", sa.BigInteger),
        sa.Column("renewing_until", sa.BigInteger),
        sa.Column("installed_at", sa.BigInteger, nullable=False),
        sa.Column("ended_at", sa.BigInteger),
    )
    op.create_table(
        "slack_install",
        sa.Column("state_hash", sa.Text, primary_key=True, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "slack_standing",
        sa.Column("user_id", sa.Text, primary_key=True, nullable=False),
        sa.Column("standing", sa.Text, nullable=False),
    )

"""State that the programs on one database share while a person is answered.

The page and the last result of each App Home, the replies to commands about rules, the requests to stop a turn, and the
time zones that Slack gave.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("home", sa.Column("page", sa.Integer, nullable=False, server_default="1"))
    op.add_column("home", sa.Column("said", sa.Text, nullable=False, server_default=""))
    op.add_column("home", sa.Column("said_at", sa.BigInteger, nullable=True))
    op.create_table(
        "slack_zone",
        sa.Column("user_id", sa.Text, primary_key=True, nullable=False),
        sa.Column("tz", sa.Text, nullable=False),
        sa.Column("until", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "rule_reply",
        sa.Column("command_id", sa.Text, primary_key=True, nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("lines", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_rule_reply_user", "rule_reply", ["user_id"])
    op.create_index("ix_rule_reply_at", "rule_reply", ["at"])
    op.add_column("planning_session", sa.Column("stop_asked_at", sa.BigInteger, nullable=True))

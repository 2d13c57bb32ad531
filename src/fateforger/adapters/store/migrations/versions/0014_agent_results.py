"""The results of proposals, and a log of agents' calls that repeats no words."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("agent_proposal", sa.Column("retries", sa.Integer, nullable=False, server_default="0"))
    # An approved rule was written at once. What came of an approved plan was not kept.
    op.execute(
        "UPDATE agent_proposal SET state = 'applied'"
        " WHERE state = 'approved' AND outcome <> '' AND subject LIKE 'constraint %'"
    )
    op.add_column("agent_call", sa.Column("about", sa.Text, nullable=False, server_default=""))
    op.execute("UPDATE agent_call SET asked = ''")
    op.execute("UPDATE agent_call SET outcome = 'refused' WHERE outcome LIKE 'refused: %'")

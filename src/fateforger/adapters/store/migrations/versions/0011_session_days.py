"""The planned day of each session, to find a person's sessions by it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("planning_session", sa.Column("day", sa.Date, nullable=True))
    if op.get_bind().dialect.name == "sqlite":
        op.execute("UPDATE planning_session SET day = json_extract(session, '$.date')")
    else:
        op.execute("UPDATE planning_session SET day = CAST(CAST(session AS json) ->> 'date' AS date)")
    op.create_index("ix_planning_session_day", "planning_session", ["user_id", "day"])

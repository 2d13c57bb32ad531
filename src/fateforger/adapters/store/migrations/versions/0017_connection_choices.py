"""The names of chosen calendars, access that an administrator gives, and what is left to do about a connection."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("calendar_connection", sa.Column("names", sa.Text, nullable=False, server_default="{}"))
    op.add_column("calendar_connection", sa.Column("delegated", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("calendar_connection", sa.Column("due", sa.Text, nullable=False, server_default=""))

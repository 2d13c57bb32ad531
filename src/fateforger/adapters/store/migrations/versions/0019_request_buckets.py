"""When the requests that accounts made no longer count."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "request_bucket",
        sa.Column("name", sa.Text, primary_key=True, nullable=False),
        sa.Column("full_at", sa.BigInteger, nullable=False),
    )

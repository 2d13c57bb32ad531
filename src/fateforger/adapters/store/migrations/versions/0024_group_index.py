"""The index of write groups begins with the group, because a group may have been written to several calendars."""

from __future__ import annotations

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.drop_index("ix_sync_tx_group", "sync_tx")
    op.create_index("ix_sync_tx_group", "sync_tx", ["tx_group", "calendar"])

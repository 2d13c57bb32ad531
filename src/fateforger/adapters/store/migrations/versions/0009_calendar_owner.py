"""Owner of the calendar. In an older database, the person who planned first keeps it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import context, op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def upgrade() -> None:
    owner = op.create_table(
        "calendar_owner",
        sa.Column("id", sa.Text, primary_key=True, nullable=False),
        sa.Column("person", sa.Text, nullable=True),
        sa.Column("origin", sa.Text, nullable=True),
        sa.Column("since", sa.BigInteger, nullable=True),
        sa.Column("closed_at", sa.BigInteger, nullable=True),
        sa.Column("closed_for", sa.Text, nullable=True),
        sa.Column("code_hash", sa.Text, nullable=True),
        sa.Column("code_salt", sa.Text, nullable=True),
        sa.Column("tries_left", sa.Integer, nullable=False),
    )
    if context.is_offline_mode():
        return
    first = min(_beginnings(), default=None)
    if first is not None:
        since, _, person = first
        row = {"id": "calendar", "person": person, "origin": "planned first", "since": since, "tries_left": 0}
        op.bulk_insert(owner, [row])


def _beginnings() -> Iterator[tuple[int, str, str]]:
    """Yield the start of each session in microseconds, its id and its person, one row in memory at a time."""
    session = sa.table(
        "planning_session",
        sa.column("id", sa.Text),
        sa.column("user_id", sa.Text),
        sa.column("touched_at", sa.BigInteger),
        sa.column("session", sa.Text),
    )
    rows = op.get_bind().execute(sa.select(session), execution_options={"yield_per": 200})
    for row in rows:
        yield _began(row.session, row.touched_at), row.id, row.user_id


def _began(document: str, touched_at: int) -> int:
    """Return the start of a session; for a document that cannot be read, the time of its last change."""
    try:
        began = datetime.fromisoformat(json.loads(document)["created_at"])
        return (began - _EPOCH) // (datetime.resolution)
    except (ValueError, KeyError, TypeError):
        return touched_at

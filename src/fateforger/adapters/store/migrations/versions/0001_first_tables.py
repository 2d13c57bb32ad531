"""The first tables: journal, sessions, outbox, jobs."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_COUNTER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def _not_null(name: str, kind: type[sa.types.TypeEngine[Any]] = sa.Text) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=False)


def _optional(name: str, kind: type[sa.types.TypeEngine[Any]] = sa.Text) -> sa.Column[Any]:
    return sa.Column(name, kind, nullable=True)


def _counter() -> sa.Column[int]:
    return sa.Column("seq", _COUNTER, primary_key=True, nullable=False)


def upgrade() -> None:
    _journal()
    _sessions()
    _jobs()


def _journal() -> None:
    op.create_table(
        "sync_tx",
        _counter(),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        _not_null("calendar"),
        _not_null("day", sa.Date),
        _not_null("tz"),
        _not_null("kind"),
        _not_null("state"),
        _not_null("created_at", sa.BigInteger),
        _optional("settled_at", sa.BigInteger),
        _not_null("cause"),
        _not_null("tx_group"),
        sa.Column("undoes", sa.Text, sa.ForeignKey("sync_tx.id"), nullable=True),
        _not_null("schema_version", sa.Integer),
        _not_null("plan"),
        _not_null("context"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_sync_tx_cause", "sync_tx", ["calendar", "cause"])
    op.create_index("ix_sync_tx_day", "sync_tx", ["calendar", "day"])
    op.create_index("ix_sync_tx_group", "sync_tx", ["calendar", "tx_group"])
    op.create_index("ix_sync_tx_state", "sync_tx", ["state"])
    op.create_table(
        "sync_op",
        sa.Column("tx_id", sa.Text, sa.ForeignKey("sync_tx.id"), primary_key=True),
        sa.Column("n", sa.Integer, primary_key=True),
        sa.Column("op_id", sa.Text, nullable=False, unique=True),
        _not_null("state"),
        _not_null("attempts", sa.Integer),
        _not_null("error"),
        _not_null("op"),
        _optional("observed"),
    )
    op.create_table(
        "event_head",
        sa.Column("calendar", sa.Text, primary_key=True),
        sa.Column("day", sa.Date, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        _not_null("event_id"),
        _not_null("schema_version", sa.Integer),
        _not_null("head"),
    )
    op.create_table(
        "event_generation",
        sa.Column("calendar", sa.Text, primary_key=True),
        sa.Column("day", sa.Text, primary_key=True),
        sa.Column("seed", sa.Text, primary_key=True),
        _not_null("generation", sa.Integer),
    )
    op.create_table(
        "calendar_lease",
        sa.Column("calendar", sa.Text, primary_key=True),
        _not_null("owner"),
        _not_null("fence", sa.BigInteger),
        _optional("expires_at", sa.BigInteger),
    )


def _sessions() -> None:
    op.create_table(
        "planning_session",
        sa.Column("id", sa.Text, primary_key=True),
        _not_null("version", sa.Integer),
        _not_null("user_id"),
        _not_null("channel"),
        _optional("thread_ts"),
        _not_null("touched_at", sa.BigInteger),
        _not_null("schema_version", sa.Integer),
        _not_null("session"),
    )
    op.create_index("ix_planning_session_thread", "planning_session", ["channel", "thread_ts"])
    op.create_index("ix_planning_session_user", "planning_session", ["user_id", "touched_at"])
    op.create_table(
        "outbox",
        _counter(),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("session_id", sa.Text, sa.ForeignKey("planning_session.id"), nullable=False),
        _not_null("slot"),
        _not_null("ephemeral", sa.Boolean),
        _not_null("state"),
        _not_null("attempts", sa.Integer),
        _not_null("error"),
        _optional("retry_at", sa.BigInteger),
        _optional("sent_channel"),
        _optional("sent_ts"),
        _optional("sent_at", sa.BigInteger),
        _not_null("schema_version", sa.Integer),
        _not_null("message"),
        sqlite_autoincrement=True,
    )
    queued = sa.text("state = 'queued'")
    for name, columns in {"ix_outbox_oldest": ["seq"], "ix_outbox_queued": ["session_id", "seq"]}.items():
        op.create_index(name, "outbox", columns, sqlite_where=queued, postgresql_where=queued)
    op.create_index("ix_outbox_slot", "outbox", ["session_id", "slot", "seq"])


def _jobs() -> None:
    op.create_table(
        "job",
        _counter(),
        _not_null("lane"),
        _not_null("key"),
        _not_null("dedupe"),
        _not_null("state"),
        _not_null("payload"),
        _not_null("enqueued_at", sa.BigInteger),
        _not_null("run_at", sa.BigInteger),
        _not_null("attempts", sa.Integer),
        _not_null("fence", sa.BigInteger),
        _optional("owner"),
        _optional("leased_until", sa.BigInteger),
        _not_null("error"),
        sqlite_autoincrement=True,
    )
    unfinished = sa.text("state = 'open'")
    for name, columns in {"ix_job_open": ["lane", "seq"], "ix_job_open_key": ["lane", "key", "seq"]}.items():
        op.create_index(name, "job", columns, sqlite_where=unfinished, postgresql_where=unfinished)
    op.create_table(
        "job_receipt",
        sa.Column("lane", sa.Text, primary_key=True),
        sa.Column("dedupe", sa.Text, primary_key=True),
    )

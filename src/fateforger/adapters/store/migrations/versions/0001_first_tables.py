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


def _needed(name: str, kind: type[sa.types.TypeEngine[Any]] = sa.Text) -> sa.Column[Any]:
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
        _needed("calendar"),
        _needed("day", sa.Date),
        _needed("tz"),
        _needed("kind"),
        _needed("state"),
        _needed("created_at", sa.BigInteger),
        _optional("settled_at", sa.BigInteger),
        _needed("cause"),
        _needed("tx_group"),
        sa.Column("undoes", sa.Text, sa.ForeignKey("sync_tx.id"), nullable=True),
        _needed("schema_version", sa.Integer),
        _needed("plan"),
        _needed("context"),
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
        _needed("state"),
        _needed("attempts", sa.Integer),
        _needed("error"),
        _needed("op"),
        _optional("observed"),
    )
    op.create_table(
        "event_head",
        sa.Column("calendar", sa.Text, primary_key=True),
        sa.Column("day", sa.Date, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        _needed("event_id"),
        _needed("schema_version", sa.Integer),
        _needed("head"),
    )
    op.create_table(
        "event_generation",
        sa.Column("calendar", sa.Text, primary_key=True),
        sa.Column("day", sa.Text, primary_key=True),
        sa.Column("seed", sa.Text, primary_key=True),
        _needed("generation", sa.Integer),
    )
    op.create_table(
        "calendar_lease",
        sa.Column("calendar", sa.Text, primary_key=True),
        _needed("owner"),
        _needed("fence", sa.BigInteger),
        _optional("expires_at", sa.BigInteger),
    )


def _sessions() -> None:
    op.create_table(
        "planning_session",
        sa.Column("id", sa.Text, primary_key=True),
        _needed("version", sa.Integer),
        _needed("user_id"),
        _needed("channel"),
        _optional("thread_ts"),
        _needed("touched_at", sa.BigInteger),
        _needed("schema_version", sa.Integer),
        _needed("session"),
    )
    op.create_index("ix_planning_session_thread", "planning_session", ["channel", "thread_ts"])
    op.create_index("ix_planning_session_user", "planning_session", ["user_id", "touched_at"])
    op.create_table(
        "outbox",
        _counter(),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("session_id", sa.Text, sa.ForeignKey("planning_session.id"), nullable=False),
        _needed("slot"),
        _needed("ephemeral", sa.Boolean),
        _needed("state"),
        _needed("attempts", sa.Integer),
        _needed("error"),
        _optional("retry_at", sa.BigInteger),
        _optional("sent_channel"),
        _optional("sent_ts"),
        _optional("sent_at", sa.BigInteger),
        _needed("schema_version", sa.Integer),
        _needed("message"),
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
        _needed("lane"),
        _needed("key"),
        _needed("dedupe"),
        _needed("state"),
        _needed("payload"),
        _needed("enqueued_at", sa.BigInteger),
        _needed("run_at", sa.BigInteger),
        _needed("attempts", sa.Integer),
        _needed("fence", sa.BigInteger),
        _optional("owner"),
        _optional("leased_until", sa.BigInteger),
        _needed("error"),
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

"""Columns and indexes with which every round and query reads only what it needs, and the age of receipts.

App Home remembers who has opened it, so that it is kept current.
"""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SQLITE = """
UPDATE planning_session SET
    tz = json_extract(session, '$.tz'),
    status = json_extract(session, '$.status'),
    stage = json_extract(session, '$.stage'),
    written = CASE
        WHEN coalesce(json_extract(session, '$.sync.written'), json_extract(session, '$.written')) IS NULL THEN 'no'
        WHEN coalesce(json_extract(session, '$.open_work.returned'), json_extract(session, '$.returned')) IS NULL
            THEN 'yes'
        ELSE 'returned'
    END
"""
_POSTGRESQL = """
UPDATE planning_session SET
    tz = document ->> 'tz',
    status = document ->> 'status',
    stage = document ->> 'stage',
    written = CASE
        WHEN coalesce(document #>> '{sync,written}', document ->> 'written') IS NULL THEN 'no'
        WHEN coalesce(document #>> '{open_work,returned}', document ->> 'returned') IS NULL THEN 'yes'
        ELSE 'returned'
    END
FROM (SELECT id AS known, CAST(session AS json) AS document FROM planning_session) AS stored
WHERE id = known
"""
"""Sessions of the first format have their fields side by side."""


def upgrade() -> None:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    for name, default in {"tz": "", "status": "active", "stage": "", "written": "no"}.items():
        op.add_column("planning_session", sa.Column(name, sa.Text, nullable=False, server_default=default))
    op.add_column("planning_session", sa.Column("judged", sa.Integer, nullable=False, server_default="0"))
    op.execute(_SQLITE if is_sqlite else _POSTGRESQL)
    by_touch = ["touched_at", "id"]
    op.create_index("ix_planning_session_touched", "planning_session", by_touch)
    _create_partial_index("ix_planning_session_active", "planning_session", by_touch, "status = 'active'")
    unjudged = "status = 'active' AND judged < version"
    _create_partial_index("ix_planning_session_unjudged", "planning_session", by_touch, unjudged)
    _create_partial_index("ix_planning_session_unreturned", "planning_session", by_touch, "written = 'yes'")
    _create_partial_index("ix_planning_session_written", "planning_session", ["day"], "written <> 'no'")
    op.add_column("sync_tx", sa.Column("session_id", sa.Text, nullable=True))
    named = "json_extract(context, '$.session')" if is_sqlite else "CAST(context AS json) ->> 'session'"
    op.execute(f"UPDATE sync_tx SET session_id = {named}")  # noqa: S608  constants
    op.create_index("ix_sync_tx_session", "sync_tx", ["session_id", "calendar"])
    op.create_index("ix_sync_tx_undoes", "sync_tx", ["undoes"])
    op.create_index("ix_task_blocker_blocker", "task_blocker", ["blocker_id"])
    # When the receipts of before were accepted is not known; they age from now on.
    now = (datetime.now(UTC) - _EPOCH) // datetime.resolution
    op.add_column("job_receipt", sa.Column("accepted_at", sa.BigInteger, nullable=False, server_default="0"))
    op.execute(sa.text("UPDATE job_receipt SET accepted_at = :now").bindparams(now=now))
    op.create_index("ix_job_receipt_accepted", "job_receipt", ["accepted_at"])
    if is_sqlite:  # PostgreSQL's jobs are in Procrastinate's tables
        _create_partial_index("ix_job_dead", "job", ["enqueued_at"], "state = 'dead'")
    _create_partial_index("ix_outbox_sent", "outbox", ["sent_at"], "state = 'sent'")
    _create_partial_index("ix_task_waiting", "task", ["id", "user_id"], "state = 'waiting'")
    _create_partial_index("ix_calendar_connection_due", "calendar_connection", ["user_id"], "due <> ''")
    op.create_index("ix_request_bucket_full", "request_bucket", ["full_at"])
    op.create_index("ix_push_channel_expires", "push_channel", ["expires_at"])
    op.create_index("ix_quota_use_until", "quota_use", ["counts_until"])
    op.add_column("ritual", sa.Column("look_at", sa.BigInteger, nullable=False, server_default="0"))
    op.create_index("ix_ritual_look", "ritual", ["look_at", "user_id"])
    op.create_table(
        "home",
        sa.Column("user_id", sa.Text, primary_key=True, nullable=False),
        sa.Column("changes", sa.Integer, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
        sa.Column("show_at", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_home_due", "home", ["show_at"])
    op.create_index("ix_feedback_user", "feedback", ["user_id"])
    op.create_index("ix_ritual_mark_at", "ritual_mark", ["at"])
    op.create_index("ix_agent_call_at", "agent_call", ["at"])
    op.create_index("ix_agent_call_user", "agent_call", ["user_id", "number"])
    op.create_index("ix_agent_proposal_user", "agent_proposal", ["user_id", "state"])


def _create_partial_index(name: str, table: str, columns: list[str], where: str) -> None:
    op.create_index(name, table, columns, sqlite_where=sa.text(where), postgresql_where=sa.text(where))

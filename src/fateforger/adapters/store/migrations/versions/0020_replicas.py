"""Many programs on one database: Procrastinate's queue on PostgreSQL, and the newest messages of threads.

Jobs of the table ``job``, which SQLite keeps, move over. A program of an earlier version that still runs then fails to
accept anything, so that Slack delivers it again elsewhere.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import context, op
from procrastinate.schema import SchemaManager

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

_MOVE = """
    INSERT INTO procrastinate_jobs (queue_name, task_name, lock, args, status, scheduled_at, attempts)
    SELECT lane, lane, lane || chr(58) || key,
        jsonb_strip_nulls(jsonb_build_object(
            'dedupe', dedupe, 'payload', payload, 'accepted_at', enqueued_at, 'error', NULLIF(error, '')
        )),
        CAST(CASE state WHEN 'open' THEN 'todo' ELSE 'failed' END AS procrastinate_job_status),
        CASE WHEN run_at > 0 THEN to_timestamp(run_at / 1e6) END,
        attempts
    FROM job ORDER BY seq
"""


def upgrade() -> None:
    op.create_table(
        "thread_message",
        sa.Column("channel", sa.Text, primary_key=True, nullable=False),
        sa.Column("thread", sa.BigInteger, primary_key=True, nullable=False),
        sa.Column("ts", sa.BigInteger, primary_key=True, nullable=False),
    )
    if op.get_context().dialect.name == "sqlite":
        return
    if context.is_offline_mode():
        op.execute(SchemaManager.get_schema().replace(":", "\\:"))
    # A database that is shared with other programs may have the queue already.
    elif not sa.inspect(op.get_bind()).has_table("procrastinate_jobs"):
        # The driver alone runs several statements at once.
        op.get_bind().connection.cursor().execute(SchemaManager.get_schema())
    op.execute(_MOVE)
    op.drop_table("job")

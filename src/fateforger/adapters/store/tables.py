"""The tables. Instants are kept as whole microseconds since 1970 in UTC: exact, ordered, the same in every database.

Values of the house are kept whole, as JSON text, beside the columns that are searched or change on their own.
``schema_version`` says which shape such a text has.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any, ClassVar

from sqlalchemy import BigInteger, Dialect, Index, Integer, MetaData, Table, Text, TypeDecorator, UniqueConstraint, text
from sqlmodel import Field, SQLModel

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

Counter = BigInteger().with_variant(Integer, "sqlite")
"""A number that the database counts up by itself; SQLite does so for its own integer type only."""


class Instant(TypeDecorator[datetime]):
    """An aware datetime as microseconds since the epoch; it comes back in UTC."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:  # noqa: ARG002  its signature
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError(f"{value} has no time zone")
        return (value - _EPOCH) // _MICROSECOND

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002  its signature
        return None if value is None else _EPOCH + value * _MICROSECOND


class _Table(SQLModel):
    """Base of our tables, with metadata of their own."""

    metadata: ClassVar[MetaData] = MetaData()


class SyncTx(_Table, table=True):
    """A transaction; its ops are in :class:`SyncOpRow`. ``seq`` is the order in which transactions began."""

    __tablename__ = "sync_tx"
    __table_args__ = (
        Index("ix_sync_tx_cause", "calendar", "cause"),
        Index("ix_sync_tx_day", "calendar", "day"),
        Index("ix_sync_tx_group", "calendar", "tx_group"),
        Index("ix_sync_tx_state", "state"),
        {"sqlite_autoincrement": True},
    )

    seq: int | None = Field(default=None, primary_key=True, sa_type=Counter)
    id: str = Field(unique=True, sa_type=Text)
    calendar: str = Field(sa_type=Text)
    day: date
    tz: str = Field(sa_type=Text)
    kind: str = Field(sa_type=Text)
    state: str = Field(sa_type=Text)
    created_at: datetime = Field(sa_type=Instant)
    settled_at: datetime | None = Field(default=None, sa_type=Instant)
    cause: str = Field(sa_type=Text)
    tx_group: str = Field(sa_type=Text)
    undoes: str | None = Field(default=None, foreign_key="sync_tx.id", sa_type=Text)
    schema_version: int
    plan: str = Field(sa_type=Text)
    context: str = Field(sa_type=Text)


class SyncOpRow(_Table, table=True):
    """One op of a transaction and how it stands."""

    __tablename__ = "sync_op"

    tx_id: str = Field(primary_key=True, foreign_key="sync_tx.id", sa_type=Text)
    n: int = Field(primary_key=True)
    op_id: str = Field(unique=True, sa_type=Text)
    state: str = Field(sa_type=Text)
    attempts: int
    error: str = Field(sa_type=Text)
    op: str = Field(sa_type=Text)
    observed: str | None = Field(default=None, sa_type=Text)


class EventHead(_Table, table=True):
    """What we last wrote for a block of a day, as the calendar showed it."""

    __tablename__ = "event_head"

    calendar: str = Field(primary_key=True, sa_type=Text)
    day: date = Field(primary_key=True)
    key: str = Field(primary_key=True, sa_type=Text)
    event_id: str = Field(sa_type=Text)
    schema_version: int
    head: str = Field(sa_type=Text)


class EventGeneration(_Table, table=True):
    """The highest generation ever minted from a seed; ``day`` is the date that the seed starts with."""

    __tablename__ = "event_generation"

    calendar: str = Field(primary_key=True, sa_type=Text)
    day: str = Field(primary_key=True, sa_type=Text)
    seed: str = Field(primary_key=True, sa_type=Text)
    generation: int


class CalendarLease(_Table, table=True):
    """Who may write to a calendar. The row stays when the lease is given back, so that fences only grow."""

    __tablename__ = "calendar_lease"

    calendar: str = Field(primary_key=True, sa_type=Text)
    owner: str = Field(sa_type=Text)
    fence: int = Field(sa_type=BigInteger)
    expires_at: datetime | None = Field(default=None, sa_type=Instant)


class SessionRow(_Table, table=True):
    """A planning session. ``version``, ``channel`` and ``thread_ts`` are true here, not in the text."""

    __tablename__ = "planning_session"
    __table_args__ = (
        Index("ix_planning_session_thread", "channel", "thread_ts"),
        Index("ix_planning_session_user", "user_id", "touched_at"),
    )

    id: str = Field(primary_key=True, sa_type=Text)
    version: int
    user_id: str = Field(sa_type=Text)
    channel: str = Field(sa_type=Text)
    thread_ts: str | None = Field(default=None, sa_type=Text)
    touched_at: datetime = Field(sa_type=Instant)
    schema_version: int
    session: str = Field(sa_type=Text)


class OutboxRow(_Table, table=True):
    """A message on its way: ``queued``, then ``sent`` or ``dead``. ``seq`` is the order within a session."""

    __tablename__ = "outbox"
    __table_args__ = (
        Index(
            "ix_outbox_queued",
            "session_id",
            "seq",
            sqlite_where=text("state = 'queued'"),
            postgresql_where=text("state = 'queued'"),
        ),
        Index(
            "ix_outbox_oldest",
            "seq",
            sqlite_where=text("state = 'queued'"),
            postgresql_where=text("state = 'queued'"),
        ),
        Index("ix_outbox_slot", "session_id", "slot", "seq"),
        {"sqlite_autoincrement": True},
    )

    seq: int | None = Field(default=None, primary_key=True, sa_type=Counter)
    id: str = Field(unique=True, sa_type=Text)
    session_id: str = Field(foreign_key="planning_session.id", sa_type=Text)
    slot: str = Field(sa_type=Text)
    ephemeral: bool
    state: str = Field(sa_type=Text)
    attempts: int
    error: str = Field(sa_type=Text)
    retry_at: datetime | None = Field(default=None, sa_type=Instant)
    sent_channel: str | None = Field(default=None, sa_type=Text)
    sent_ts: str | None = Field(default=None, sa_type=Text)
    sent_at: datetime | None = Field(default=None, sa_type=Instant)
    schema_version: int
    message: str = Field(sa_type=Text)


class JobRow(_Table, table=True):
    """Work that is not done yet, or was given up (``dead``). ``seq`` is never used twice."""

    __tablename__ = "job"
    __table_args__ = (
        Index(
            "ix_job_open",
            "lane",
            "seq",
            sqlite_where=text("state = 'open'"),
            postgresql_where=text("state = 'open'"),
        ),
        Index(
            "ix_job_open_key",
            "lane",
            "key",
            "seq",
            sqlite_where=text("state = 'open'"),
            postgresql_where=text("state = 'open'"),
        ),
        {"sqlite_autoincrement": True},
    )

    seq: int | None = Field(default=None, primary_key=True, sa_type=Counter)
    lane: str = Field(sa_type=Text)
    key: str = Field(sa_type=Text)
    dedupe: str = Field(sa_type=Text)
    state: str = Field(sa_type=Text)
    payload: str = Field(sa_type=Text)
    enqueued_at: datetime = Field(sa_type=Instant)
    run_at: datetime = Field(sa_type=Instant)
    attempts: int
    fence: int = Field(sa_type=BigInteger)
    owner: str | None = Field(default=None, sa_type=Text)
    leased_until: datetime | None = Field(default=None, sa_type=Instant)
    error: str = Field(sa_type=Text)


class JobReceipt(_Table, table=True):
    """What was ever accepted on a lane; it outlives the job."""

    __tablename__ = "job_receipt"

    lane: str = Field(primary_key=True, sa_type=Text)
    dedupe: str = Field(primary_key=True, sa_type=Text)


class FeedbackRow(_Table, table=True):
    """What a person thinks of a turn that a model had a part in; their last word counts."""

    __tablename__ = "feedback"

    session_id: str = Field(primary_key=True, sa_type=Text)
    turn: str = Field(primary_key=True, sa_type=Text)
    user_id: str = Field(primary_key=True, sa_type=Text)
    helpful: bool
    prompts: str = Field(sa_type=Text)
    at: datetime = Field(sa_type=Instant)


class ModelUsage(_Table, table=True):
    """What a model was asked in a role on a day, in counts. No column says by whom or about what."""

    __tablename__ = "model_usage"

    day: date = Field(primary_key=True)
    role: str = Field(primary_key=True, sa_type=Text)
    model: str = Field(primary_key=True, sa_type=Text)
    calls: int = Field(sa_type=BigInteger)
    failed: int = Field(sa_type=BigInteger)
    uncounted: int = Field(sa_type=BigInteger)
    unpriced: int = Field(sa_type=BigInteger)
    prompt_tokens: int = Field(sa_type=BigInteger)
    completion_tokens: int = Field(sa_type=BigInteger)
    nanodollars: int = Field(sa_type=BigInteger)


class ConstraintVersion(_Table, table=True):
    """A version of somebody's constraint; rows are only ever added, and deleted when a person is forgotten.

    ``written_at`` (system time), event, session and person are true here, not in the text. What stands between them
    (name, status, scope, the days it speaks of) repeats the text for those who look with a query of their own.
    """

    __tablename__ = "constraint_version"
    __table_args__ = (
        Index("ix_constraint_version_person", "user_id", "seq"),
        Index("ix_constraint_version_uid", "user_id", "uid", "seq"),
        UniqueConstraint("user_id", "cause", "place"),
        {"sqlite_autoincrement": True},
    )

    seq: int | None = Field(default=None, primary_key=True, sa_type=Counter)
    user_id: str = Field(sa_type=Text)
    uid: str = Field(sa_type=Text)
    cause: str = Field(sa_type=Text)
    place: int
    created_at: datetime = Field(sa_type=Instant)
    written_at: datetime = Field(sa_type=Instant)
    action: str = Field(sa_type=Text)
    reason: str | None = Field(default=None, sa_type=Text)
    session_id: str | None = Field(default=None, sa_type=Text)
    name: str = Field(sa_type=Text)
    status: str = Field(sa_type=Text)
    scope: str = Field(sa_type=Text)
    valid_from: date | None = None
    valid_until: date | None = None
    schema_version: int
    record: str = Field(sa_type=Text)


class ConstraintUnindexed(_Table, table=True):
    """Something that the index does not show yet. A constraint may be there several times; ``place`` is the order."""

    __tablename__ = "constraint_unindexed"
    __table_args__ = (Index("ix_constraint_unindexed", "user_id", "uid", "place"), {"sqlite_autoincrement": True})

    place: int | None = Field(default=None, primary_key=True, sa_type=Counter)
    user_id: str = Field(sa_type=Text)
    uid: str = Field(sa_type=Text)


class TaskRow(_Table, table=True):
    """A task of somebody's queue. What is searched (whose it is, its state, its place in the queue, who has claimed it)
    repeats the text; what led to it (``cause`` and ``place`` in it) is only here."""

    __tablename__ = "task"
    __table_args__ = (
        Index("ix_task_queue", "user_id", "state", "priority", "rank"),
        Index("ix_task_state", "state", "executor"),
        UniqueConstraint("user_id", "cause", "place"),
    )

    id: str = Field(primary_key=True, sa_type=Text)
    user_id: str = Field(sa_type=Text)
    cause: str = Field(sa_type=Text)
    place: int
    state: str = Field(sa_type=Text)
    priority: int
    rank: int = Field(sa_type=BigInteger)
    executor: str | None = Field(default=None, sa_type=Text)
    leased_until: datetime | None = Field(default=None, sa_type=Instant)
    schema_version: int
    task: str = Field(sa_type=Text)


class TaskBlocker(_Table, table=True):
    """A task that waits until another one is done."""

    __tablename__ = "task_blocker"

    task_id: str = Field(primary_key=True, foreign_key="task.id", sa_type=Text)
    blocker_id: str = Field(primary_key=True, foreign_key="task.id", sa_type=Text)


class AgentClient(_Table, table=True):
    """Another agent that may do some things for a person. Of its token there is a hash."""

    __tablename__ = "agent_client"

    name: str = Field(primary_key=True, sa_type=Text)
    key: str = Field(unique=True, sa_type=Text)
    token_hash: str = Field(sa_type=Text)
    user_id: str = Field(sa_type=Text)
    scopes: str = Field(sa_type=Text)
    created_at: datetime = Field(sa_type=Instant)
    expires_at: datetime | None = Field(default=None, sa_type=Instant)
    revoked_at: datetime | None = Field(default=None, sa_type=Instant)


class AgentCall(_Table, table=True):
    """A line of the audit log: written before a call is carried out, completed once it is known what came of it."""

    __tablename__ = "agent_call"
    __table_args__ = (Index("ix_agent_call_client", "client", "at"), {"sqlite_autoincrement": True})

    number: int | None = Field(default=None, primary_key=True, sa_type=Counter)
    client: str = Field(sa_type=Text)
    user_id: str = Field(sa_type=Text)
    tool: str = Field(sa_type=Text)
    asked: str = Field(sa_type=Text)
    at: datetime = Field(sa_type=Instant)
    outcome: str | None = Field(default=None, sa_type=Text)
    ended_at: datetime | None = Field(default=None, sa_type=Instant)


class AgentProposal(_Table, table=True):
    """What an agent would like to change. ``state``, ``settled_at``, ``outcome`` and the place of the card are true
    here, not in the text."""

    __tablename__ = "agent_proposal"
    __table_args__ = (Index("ix_agent_proposal_client", "client", "state"),)

    id: str = Field(primary_key=True, sa_type=Text)
    client: str = Field(sa_type=Text)
    user_id: str = Field(sa_type=Text)
    subject: str = Field(sa_type=Text)
    state: str = Field(sa_type=Text)
    settled_at: datetime | None = Field(default=None, sa_type=Instant)
    outcome: str = Field(sa_type=Text)
    channel: str | None = Field(default=None, sa_type=Text)
    ts: str | None = Field(default=None, sa_type=Text)
    schema_version: int
    proposal: str = Field(sa_type=Text)


metadata = _Table.metadata


def table(row: type[_Table]) -> Table:
    """The table behind a row class, for statements."""
    return metadata.tables[str(row.__tablename__)]

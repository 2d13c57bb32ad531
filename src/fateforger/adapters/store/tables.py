"""The tables of the database.

Instants are whole microseconds since 1970 in UTC: exact, ordered, the same in every database. Domain values are stored
whole, as JSON text, next to the columns that are searched or change on their own. ``schema_version`` is the format of
that text.

"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any, ClassVar

from sqlalchemy import (
    BigInteger,
    Dialect,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    text,
)
from sqlmodel import Field, SQLModel

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
Counter = BigInteger().with_variant(Integer, "sqlite")
"""A number that the database increments; SQLite does so only for its own integer type."""


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


class Base(SQLModel):
    """Base of our tables, with metadata of their own."""

    metadata: ClassVar[MetaData] = MetaData()


metadata = Base.metadata


def table(row: type[Base]) -> Table:
    """Return the table of a row class, for statements."""
    return metadata.tables[str(row.__tablename__)]


class SyncTx(Base, table=True):
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


class SyncOpRow(Base, table=True):
    """One op of a transaction and its state."""

    __tablename__ = "sync_op"

    tx_id: str = Field(primary_key=True, foreign_key="sync_tx.id", sa_type=Text)
    n: int = Field(primary_key=True)
    op_id: str = Field(unique=True, sa_type=Text)
    state: str = Field(sa_type=Text)
    attempts: int
    error: str = Field(sa_type=Text)
    op: str = Field(sa_type=Text)
    observed: str | None = Field(default=None, sa_type=Text)


class EventHead(Base, table=True):
    """The last write of ours for a block of a day, as the calendar returned it."""

    __tablename__ = "event_head"

    calendar: str = Field(primary_key=True, sa_type=Text)
    day: date = Field(primary_key=True)
    key: str = Field(primary_key=True, sa_type=Text)
    event_id: str = Field(sa_type=Text)
    schema_version: int
    head: str = Field(sa_type=Text)


class EventGeneration(Base, table=True):
    """The highest generation ever minted from a seed; ``day`` is the date that the seed starts with."""

    __tablename__ = "event_generation"

    calendar: str = Field(primary_key=True, sa_type=Text)
    day: str = Field(primary_key=True, sa_type=Text)
    seed: str = Field(primary_key=True, sa_type=Text)
    generation: int


class CalendarLease(Base, table=True):
    """The right to write to a calendar. The row stays after the lease is released, so that fences only grow."""

    __tablename__ = "calendar_lease"

    calendar: str = Field(primary_key=True, sa_type=Text)
    owner: str = Field(sa_type=Text)
    fence: int = Field(sa_type=BigInteger)
    expires_at: datetime | None = Field(default=None, sa_type=Instant)


class QuotaUse(Base, table=True):
    """Requests that a login made or is about to make, deleted once they no longer count (``counts_until``).

    ``account`` is a digest of the login's name, empty when it has none.
    """

    __tablename__ = "quota_use"
    __table_args__ = (Index("ix_quota_use_server", "server"),)

    id: str = Field(primary_key=True, sa_type=Text)
    server: str = Field(sa_type=Text)
    account: str = Field(sa_type=Text)
    requests: int
    background: bool
    counts_until: datetime = Field(sa_type=Instant)


class CalendarOwnerRow(Base, table=True):
    """The owner of the configured calendar, and the code with which a person can claim it; one row at most.

    ``closed_at`` is the time since which the calendar is closed because its owner was erased. ``closed_for`` is a
    salted hash of the person named in the settings at that time. Only a salted hash of the code is stored.
    """

    __tablename__ = "calendar_owner"

    id: str = Field(primary_key=True, sa_type=Text)
    person: str | None = Field(default=None, sa_type=Text)
    origin: str | None = Field(default=None, sa_type=Text)
    since: datetime | None = Field(default=None, sa_type=Instant)
    closed_at: datetime | None = Field(default=None, sa_type=Instant)
    closed_for: str | None = Field(default=None, sa_type=Text)
    code_hash: str | None = Field(default=None, sa_type=Text)
    code_salt: str | None = Field(default=None, sa_type=Text)
    tries_left: int = 0


class SessionRow(Base, table=True):
    """A planning session. ``version``, ``channel`` and ``thread_ts`` override the text."""

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


class OutboxRow(Base, table=True):
    """An outgoing message: ``queued``, then ``sent`` or ``dead``. ``seq`` is the order within a session."""

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


class JobRow(Base, table=True):
    """Work that is not done yet, or was given up (``dead``). ``seq`` is never reused."""

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


class JobReceipt(Base, table=True):
    """A record of everything ever accepted on a lane; it outlives the job."""

    __tablename__ = "job_receipt"

    lane: str = Field(primary_key=True, sa_type=Text)
    dedupe: str = Field(primary_key=True, sa_type=Text)


class FeedbackRow(Base, table=True):
    """A person's latest rating of a turn that a model took part in."""

    __tablename__ = "feedback"

    session_id: str = Field(primary_key=True, sa_type=Text)
    turn: str = Field(primary_key=True, sa_type=Text)
    user_id: str = Field(primary_key=True, sa_type=Text)
    helpful: bool
    prompts: str = Field(sa_type=Text)
    at: datetime = Field(sa_type=Instant)


class ModelUsage(Base, table=True):
    """Counts of model calls by day, role and model. No column says who asked or about what."""

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


class ConstraintVersion(Base, table=True):
    """A version of a person's constraint; rows are only added, and deleted when the person is erased.

    ``written_at`` (system time), event, session and person override the text. The columns between them (name, status,
    scope, valid days) repeat the text for queries by hand.
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


class ConstraintUnindexed(Base, table=True):
    """A constraint that the index does not show yet. It may be listed several times; ``place`` is the order."""

    __tablename__ = "constraint_unindexed"
    __table_args__ = (Index("ix_constraint_unindexed", "user_id", "uid", "place"), {"sqlite_autoincrement": True})

    place: int | None = Field(default=None, primary_key=True, sa_type=Counter)
    user_id: str = Field(sa_type=Text)
    uid: str = Field(sa_type=Text)


class Erasure(Base, table=True):
    """An erasure, with the number of rows of each kind. No column says who was erased."""

    __tablename__ = "erasure"

    id: str = Field(primary_key=True, sa_type=Text)
    at: datetime = Field(sa_type=Instant)
    counts: str = Field(sa_type=Text)


class TaskRow(Base, table=True):
    """A task of a person's queue.

    The searched columns (person, state, place in the queue, claim) repeat the text; ``cause`` and ``place`` are only
    here.
    """

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


class TaskBlocker(Base, table=True):
    """A task that waits until another one is done."""

    __tablename__ = "task_blocker"

    task_id: str = Field(primary_key=True, foreign_key="task.id", sa_type=Text)
    blocker_id: str = Field(primary_key=True, foreign_key="task.id", sa_type=Text)


class AgentClient(Base, table=True):
    """Another agent with access for a person. Only a hash of its token is stored."""

    __tablename__ = "agent_client"

    name: str = Field(primary_key=True, sa_type=Text)
    key: str = Field(unique=True, sa_type=Text)
    token_hash: str = Field(sa_type=Text)
    user_id: str = Field(sa_type=Text)
    scopes: str = Field(sa_type=Text)
    created_at: datetime = Field(sa_type=Instant)
    expires_at: datetime | None = Field(default=None, sa_type=Instant)
    revoked_at: datetime | None = Field(default=None, sa_type=Instant)


class AgentCall(Base, table=True):
    """A line of the audit log: written before a call is carried out, completed with its outcome."""

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


class AgentProposal(Base, table=True):
    """A change that an agent proposes.

    ``state``, ``settled_at``, ``outcome`` and the card's place override the text.
    """

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

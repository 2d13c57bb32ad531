"""Sessions, their outgoing messages, jobs, ratings and model usage."""

from __future__ import annotations

from datetime import date, datetime

from sqlalchemy import BigInteger, Index, Text, text
from sqlmodel import Field

from fateforger.adapters.store.tables.base import Base, Counter, Instant


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

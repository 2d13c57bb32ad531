"""Calendar writes, and the leases to write."""

from __future__ import annotations

from datetime import date, datetime

from sqlalchemy import BigInteger, Index, Text
from sqlmodel import Field

from fateforger.adapters.store.tables.base import Base, Counter, Instant


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

"""The common parts of the queues: receipts of everything ever accepted on a lane, and jobs as they are looked at."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, Index, Text
from sqlalchemy.dialects.postgresql import insert as insert_postgresql
from sqlalchemy.dialects.sqlite import insert as insert_sqlite
from sqlmodel import Field

from fateforger.adapters.store.tables import Base, Instant, table


class JobReceipt(Base, table=True):
    """The name of a job that was accepted; it outlives the job (:mod:`fateforger.adapters.store.retention`)."""

    __tablename__ = "job_receipt"
    __table_args__ = (Index("ix_job_receipt_accepted", "accepted_at"),)

    lane: str = Field(primary_key=True, sa_type=Text)
    dedupe: str = Field(primary_key=True, sa_type=Text)
    accepted_at: datetime = Field(sa_type=Instant, sa_column_kwargs={"server_default": "0"})


RECEIPT = table(JobReceipt)


@dataclass(frozen=True, slots=True)
class StoredJob:
    """A job that waits, runs or was given up. ``payload`` is JSON."""

    id: int
    lane: str
    key: str
    payload: str
    is_running: bool


@dataclass(frozen=True, slots=True)
class DeadRow:
    """A job that was given up. ``payload`` is JSON; ``error`` is the last one."""

    id: int
    lane: str
    payload: str
    enqueued_at: datetime
    attempts: int
    error: str


@dataclass(frozen=True, slots=True)
class LaneBacklog:
    """The number of unfinished jobs of a lane, and for how many seconds the oldest of those that are due waits."""

    lane: str
    jobs: int
    seconds: float


def accept(connection: Connection, lane: str, dedupe: str, now: datetime) -> bool:
    """Record the name of a job; return ``False`` if it was accepted before."""
    insert = insert_sqlite if connection.dialect.name == "sqlite" else insert_postgresql
    given = insert(RECEIPT).values(lane=lane, dedupe=dedupe, accepted_at=now).on_conflict_do_nothing()
    return connection.execute(given.returning(RECEIPT.c.lane)).first() is not None

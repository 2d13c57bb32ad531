"""The common parts of the queues: receipts of everything ever accepted on a lane, and jobs as they are looked at."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, Text
from sqlalchemy.dialects.postgresql import insert as insert_postgresql
from sqlalchemy.dialects.sqlite import insert as insert_sqlite
from sqlmodel import Field

from fateforger.adapters.store.tables import Base, table


class JobReceipt(Base, table=True):
    """The name of a job that was accepted."""

    __tablename__ = "job_receipt"

    lane: str = Field(primary_key=True, sa_type=Text)
    dedupe: str = Field(primary_key=True, sa_type=Text)


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
class LaneBacklog:
    """The number of unfinished jobs of a lane, and for how many seconds the oldest of those that are due waits."""

    lane: str
    jobs: int
    seconds: float


def accept(connection: Connection, lane: str, dedupe: str) -> bool:
    """Record the name of a job; return ``False`` if it was accepted before."""
    insert = insert_sqlite if connection.dialect.name == "sqlite" else insert_postgresql
    given = insert(RECEIPT).values(lane=lane, dedupe=dedupe).on_conflict_do_nothing()
    return connection.execute(given.returning(RECEIPT.c.lane)).first() is not None

"""The queue that goes with a database, and its jobs within a caller's transaction."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.jobs import (
    HAS_LEASED,
    JOB,
    DeadRow,
    LaneBacklog,
    LeaseJobs,
    StoredJob,
    drop_dead_leased,
    enqueue_leased,
    list_dead_leased,
    list_leased,
    measure_leased,
    prune_dead_leased,
    retry_dead_leased,
    retry_leased,
)
from fateforger.adapters.store.procrastinate_jobs import (
    HAS_DEFERRED,
    PROCRASTINATE_JOB,
    ProcrastinateJobs,
    defer,
    drop_dead_deferred,
    list_dead_deferred,
    list_deferred,
    measure_deferred,
    prune_dead_deferred,
    retry_dead_deferred,
    retry_deferred,
    tell,
)
from fateforger.ports.jobs import NewJob


def open_jobs(database: Database) -> LeaseJobs | ProcrastinateJobs:
    """Return the queue of a database: Procrastinate's on PostgreSQL, a table of leases in SQLite."""
    return LeaseJobs(database) if database.engine.dialect.name == "sqlite" else ProcrastinateJobs(database)


def enqueue(connection: Connection, job: NewJob, now: datetime) -> bool:
    """Accept a job within the caller's transaction."""
    return (enqueue_leased if connection.dialect.name == "sqlite" else defer)(connection, job, now)


def wake(connection: Connection, lane: str) -> None:
    """Wake the workers of a lane in other programs when the caller's transaction is committed, if they can be told."""
    if connection.dialect.name != "sqlite":
        tell(connection, lane)


def list_jobs(connection: Connection, now: datetime) -> tuple[StoredJob, ...]:
    """Return all jobs that wait, run or were given up, in the order of their arrival."""
    return list_leased(connection, now) if connection.dialect.name == "sqlite" else list_deferred(connection)


def measure_lanes(connection: Connection, now: datetime) -> tuple[LaneBacklog, ...]:
    """Count the unfinished jobs by lane."""
    return measure_leased(connection, now) if connection.dialect.name == "sqlite" else measure_deferred(connection)


def has_open_job(connection: Connection) -> ColumnElement[bool]:
    """Return the condition that the job of a receipt is not done."""
    return HAS_LEASED if connection.dialect.name == "sqlite" else HAS_DEFERRED


def list_dead(connection: Connection, *, lane: str | None, limit: int) -> tuple[DeadRow, ...]:
    """Return jobs that were given up, the oldest first."""
    found = list_dead_leased if connection.dialect.name == "sqlite" else list_dead_deferred
    return found(connection, lane=lane, limit=limit)


def retry_dead(connection: Connection, ids: Collection[int]) -> tuple[int, ...]:
    """Queue jobs again, as if they had not been tried; return those that had been given up."""
    return (retry_dead_leased if connection.dialect.name == "sqlite" else retry_dead_deferred)(connection, ids)


def retry_failed(connection: Connection, error: str) -> None:
    """Make those waiting jobs due, as if they had not been tried, whose last error has these words."""
    (retry_leased if connection.dialect.name == "sqlite" else retry_deferred)(connection, error)


def drop_dead(connection: Connection, ids: Collection[int]) -> tuple[int, ...]:
    """Delete jobs; return those that had been given up."""
    return (drop_dead_leased if connection.dialect.name == "sqlite" else drop_dead_deferred)(connection, ids)


def prune_dead(connection: Connection, *, before: datetime, limit: int) -> int:
    """Delete at most ``limit`` jobs that were accepted before an instant and given up; return their number."""
    prune = prune_dead_leased if connection.dialect.name == "sqlite" else prune_dead_deferred
    return prune(connection, before=before, limit=limit)


def get_job_id(connection: Connection) -> Column[Any]:
    """Return the column that holds the number of a job."""
    return JOB.c.seq if connection.dialect.name == "sqlite" else PROCRASTINATE_JOB.c.id

"""The queue that goes with a database, and its jobs within a caller's transaction."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Column, Connection

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.jobs import JOB, LeaseJobs, enqueue_leased, list_leased, measure_leased
from fateforger.adapters.store.procrastinate_jobs import (
    PROCRASTINATE_JOB,
    ProcrastinateJobs,
    defer,
    list_deferred,
    measure_deferred,
    tell,
)
from fateforger.adapters.store.receipts import LaneBacklog, StoredJob
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


def get_job_id(connection: Connection) -> Column[Any]:
    """Return the column that holds the number of a job."""
    return JOB.c.seq if connection.dialect.name == "sqlite" else PROCRASTINATE_JOB.c.id

"""Work and messages that wait in the database, of all programs that share it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, case, func, select

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.jobs import JOB
from fateforger.adapters.store.jobs import OPEN as OPEN_JOB
from fateforger.adapters.store.sessions import OUTBOX
from fateforger.adapters.store.sessions import QUEUED as QUEUED_MESSAGE


@dataclass(frozen=True, slots=True)
class Backlog:
    """Open jobs and seconds of waiting by lane, and the messages that are not sent yet.

    A job waits since it was queued or, if it was due later, since then. One that a worker has claimed does not wait.
    """

    jobs: Mapping[str, int]
    seconds: Mapping[str, float]
    messages: int


async def measure_backlog(database: Database, now: datetime) -> Backlog:
    """Count work and messages that wait at ``now``; no other rows are read. Raises ``StoreError``."""
    return await database.read(lambda connection: _measure(connection, now))


def _measure(connection: Connection, now: datetime) -> Backlog:
    due_at = case((JOB.c.run_at > JOB.c.enqueued_at, JOB.c.run_at), else_=JOB.c.enqueued_at)
    is_waiting = (JOB.c.run_at <= now) & (JOB.c.leased_until.is_(None) | (JOB.c.leased_until <= now))
    oldest = func.min(case((is_waiting, due_at)), type_=JOB.c.run_at.type)
    by_lane = select(JOB.c.lane, func.count(), oldest).where(JOB.c.state == OPEN_JOB).group_by(JOB.c.lane)
    rows = [tuple(row) for row in connection.execute(by_lane)]
    messages = connection.scalar(select(func.count()).select_from(OUTBOX).where(OUTBOX.c.state == QUEUED_MESSAGE))
    return Backlog(
        jobs={lane: count for lane, count, _ in rows},
        seconds={lane: max(0.0, (now - first).total_seconds()) if first else 0.0 for lane, _, first in rows},
        messages=messages or 0,
    )

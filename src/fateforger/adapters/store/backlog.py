"""Work and messages that wait in the database, of all programs that share it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.inbox import measure_lanes
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
    lanes = measure_lanes(connection, now)
    messages = connection.scalar(select(func.count()).select_from(OUTBOX).where(OUTBOX.c.state == QUEUED_MESSAGE))
    return Backlog(
        jobs={each.lane: each.jobs for each in lanes},
        seconds={each.lane: each.seconds for each in lanes},
        messages=messages or 0,
    )

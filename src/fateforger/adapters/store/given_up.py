"""Work and messages that wait, and those that were given up: listed, tried again, or dropped."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, exists, func, or_, select, update

from fateforger.adapters.store.database import Database, OnDatabase
from fateforger.adapters.store.inbox import drop_dead, list_dead, measure_lanes, prune_dead, retry_dead
from fateforger.adapters.store.queues import DeadRow
from fateforger.adapters.store.sessions import OUTBOX, SESSION
from fateforger.adapters.store.sessions import QUEUED as QUEUED_MESSAGE
from fateforger.adapters.store.tables import parse_mapping

DEAD = "dead"
_MOST = 100_000
"""Jobs that one call deletes."""


@dataclass(frozen=True, slots=True)
class DeadJob:
    """A job that was given up. ``kind`` is the name of its command, if it has one; ``reason`` is the last error."""

    number: int
    lane: str
    kind: str | None
    user_id: str | None
    enqueued_at: datetime
    attempts: int
    reason: str


@dataclass(frozen=True, slots=True)
class DeadMessage:
    """A message that was given up. One that is ``overtaken`` must not be sent: a later one took its place."""

    id: str
    session_id: str
    user_id: str
    slot: str
    touched_at: datetime
    attempts: int
    reason: str
    overtaken: bool


class SqlGivenUp(OnDatabase):
    """The list of jobs and messages that were given up, over a :class:`Database`. Raises ``StoreError``."""

    async def list_jobs(self, *, limit: int, lane: str | None = None) -> tuple[DeadJob, ...]:
        """Return jobs that were given up, the oldest first."""
        found = await self._database.read(lambda connection: list_dead(connection, lane=lane, limit=limit))
        return tuple(map(_to_job, found))

    async def retry_jobs(self, numbers: Collection[int]) -> tuple[int, ...]:
        """Queue jobs again, as if they had not been tried; return the numbers of those that had been given up."""
        return await self._database.write(lambda connection: retry_dead(connection, numbers))

    async def drop_jobs(self, numbers: Collection[int]) -> tuple[int, ...]:
        """Delete jobs; return the numbers of those that had been given up."""
        return await self._database.write(lambda connection: drop_dead(connection, numbers))

    async def list_messages(self, *, limit: int) -> tuple[DeadMessage, ...]:
        """Return messages that were given up, the oldest first."""
        query = (
            select(OUTBOX, SESSION.c.user_id, SESSION.c.touched_at, _is_overtaken().label("overtaken"))
            .join(SESSION, SESSION.c.id == OUTBOX.c.session_id)
            .where(OUTBOX.c.state == DEAD)
            .order_by(OUTBOX.c.seq)
            .limit(limit)
        )
        return await self._database.read(lambda connection: tuple(map(_to_message, connection.execute(query))))

    async def retry_messages(self, ids: Collection[str]) -> tuple[str, ...]:
        """Queue messages again; return the ids of those that had been given up and are not overtaken."""
        chosen = select(OUTBOX.c.id).where(OUTBOX.c.id.in_(ids), OUTBOX.c.state == DEAD, ~_is_overtaken())
        again = {"state": "queued", "attempts": 0, "error": "", "retry_at": None}

        def work(connection: Connection) -> tuple[str, ...]:
            found = tuple(sorted(connection.scalars(chosen)))
            connection.execute(update(OUTBOX).where(OUTBOX.c.id.in_(found)).values(**again))
            return found

        return await self._database.write(work)

    async def drop_messages(self, ids: Collection[str]) -> tuple[str, ...]:
        """Delete messages; return the ids of those that had been given up."""
        gone = delete(OUTBOX).where(OUTBOX.c.id.in_(ids), OUTBOX.c.state == DEAD).returning(OUTBOX.c.id)
        return await self._database.write(lambda connection: tuple(sorted(connection.scalars(gone))))

    async def prune(self, *, before: datetime) -> tuple[int, int]:
        """Delete what was given up before an instant; return the numbers of jobs and of messages."""
        old = select(SESSION.c.id).where(SESSION.c.touched_at < before)
        messages = delete(OUTBOX).where(OUTBOX.c.state == DEAD, OUTBOX.c.session_id.in_(old))
        return await self._database.write(
            lambda connection: (
                prune_dead(connection, before=before, limit=_MOST),
                connection.execute(messages).rowcount,
            )
        )


def _is_overtaken() -> ColumnElement[bool]:
    """Return the condition that a later message of the same slot was sent or waits to be sent."""
    later = OUTBOX.alias("later")
    return exists().where(
        later.c.session_id == OUTBOX.c.session_id,
        later.c.slot == OUTBOX.c.slot,
        later.c.ephemeral == OUTBOX.c.ephemeral,
        later.c.seq > OUTBOX.c.seq,
        or_(later.c.state == "sent", later.c.state == "queued"),
    )


def _to_job(row: DeadRow) -> DeadJob:
    payload = parse_mapping(row.payload, f"Job {row.id}")
    kind, person = payload.get("kind") or payload.get("do"), payload.get("user_id")
    return DeadJob(
        number=row.id,
        lane=row.lane,
        kind=kind if isinstance(kind, str) else None,
        user_id=person if isinstance(person, str) else None,
        enqueued_at=row.enqueued_at,
        attempts=row.attempts,
        reason=row.error,
    )


def _to_message(row: Row[Any]) -> DeadMessage:
    return DeadMessage(
        id=row.id,
        session_id=row.session_id,
        user_id=row.user_id,
        slot=row.slot,
        touched_at=row.touched_at,
        attempts=row.attempts,
        reason=row.error,
        overtaken=bool(row.overtaken),
    )


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
    return await database.read(lambda connection: _measure_backlog(connection, now))


def _measure_backlog(connection: Connection, now: datetime) -> Backlog:
    lanes = measure_lanes(connection, now)
    messages = connection.scalar(select(func.count()).select_from(OUTBOX).where(OUTBOX.c.state == QUEUED_MESSAGE))
    return Backlog(
        jobs={each.lane: each.jobs for each in lanes},
        seconds={each.lane: each.seconds for each in lanes},
        messages=messages or 0,
    )

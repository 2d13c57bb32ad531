"""The view of an administrator on the database: people, connections, whole tables, and work that was given up."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, delete, exists, func, or_, select, text, update

from fateforger.adapters.store.connections import CONNECTION, SecretUnreadable, Vault
from fateforger.adapters.store.database import Database, OnDatabase
from fateforger.adapters.store.inbox import drop_dead, list_dead, measure_lanes, prune_dead, retry_dead
from fateforger.adapters.store.jobs import DeadRow
from fateforger.adapters.store.sessions import OUTBOX, SESSION
from fateforger.adapters.store.sessions import QUEUED as QUEUED_MESSAGE
from fateforger.adapters.store.tables import iter_keys, list_tables, parse_mapping
from fateforger.adapters.store.usage import OPERATOR_ACTION

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


LinkState = Literal["connected", "broken", "disconnected"]


@dataclass(frozen=True, slots=True)
class Link:
    """The calendar that a person connected. ``problem`` is a sentence of the program about why it is broken."""

    user_id: str
    provider: str
    state: LinkState
    problem: str
    due: str
    connected_at: datetime


@dataclass(frozen=True, slots=True)
class Planner:
    """A person who plans: the number of days, the first and the last of them, and when they last did something."""

    user_id: str
    days: int
    first_day: date | None
    last_day: date | None
    active_at: datetime | None
    link: Link | None


async def list_planners(database: Database, *, after: str = "", limit: int) -> tuple[Planner, ...]:
    """Return people by id, those that follow ``after``: all who have planned or connected a calendar."""
    return await database.read(lambda connection: _list_planners(connection, after, limit))


def _list_planners(connection: Connection, after: str, limit: int) -> tuple[Planner, ...]:
    people: set[str] = set()
    for column in (SESSION.c.user_id, CONNECTION.c.user_id):
        people |= set(connection.scalars(select(column).where(column > after).distinct().order_by(column).limit(limit)))
    chosen = sorted(people)[:limit]
    counted = (
        select(
            SESSION.c.user_id,
            func.count().label("days"),
            func.min(SESSION.c.day).label("first_day"),
            func.max(SESSION.c.day).label("last_day"),
            func.max(SESSION.c.touched_at, type_=SESSION.c.touched_at.type).label("active_at"),
        )
        .where(SESSION.c.user_id.in_(chosen))
        .group_by(SESSION.c.user_id)
    )
    plans = {row.user_id: row for row in connection.execute(counted)}
    links = {link.user_id: link for link in _find_links(connection, chosen)}
    return tuple(_to_planner(person, plans.get(person), links.get(person)) for person in chosen)


def _to_planner(user_id: str, plans: Row[Any] | None, link: Link | None) -> Planner:
    if plans is None:
        return Planner(user_id, 0, None, None, None, link)
    return Planner(user_id, plans.days, plans.first_day, plans.last_day, plans.active_at, link)


async def is_known(database: Database, user_id: str) -> bool:
    """Check whether anything is held about a person, other than what operators did."""
    return await database.read(lambda connection: _is_known(connection, user_id))


def _is_known(connection: Connection, user_id: str) -> bool:
    tables = [t for t in list_tables(connection.dialect.name) if "user_id" in t.c and t is not OPERATOR_ACTION]
    return bool(connection.scalar(select(or_(*(exists().where(t.c.user_id == user_id) for t in tables)))))


async def list_links(database: Database, *, after: str = "", limit: int) -> tuple[Link, ...]:
    """Return the connections of people by id, those that follow ``after``."""
    ids = select(CONNECTION.c.user_id).where(CONNECTION.c.user_id > after).order_by(CONNECTION.c.user_id).limit(limit)
    return await database.read(lambda connection: _find_links(connection, connection.scalars(ids).all()))


def _find_links(connection: Connection, people: Sequence[str]) -> tuple[Link, ...]:
    query = select(CONNECTION).where(CONNECTION.c.user_id.in_(people)).order_by(CONNECTION.c.user_id)
    return tuple(
        Link(row.user_id, row.provider, _find_state(row), row.problem, row.due, row.connected_at)
        for row in connection.execute(query)
    )


def _find_state(row: Row[Any]) -> LinkState:
    if row.problem:
        return "broken"
    return "connected" if row.secret or row.delegated else "disconnected"


async def find_unreadable_logins(database: Database, vault: Vault) -> tuple[str, ...]:
    """Return the people whose login none of the keys can decrypt."""

    def work(connection: Connection) -> tuple[str, ...]:
        people = iter_keys(connection, CONNECTION.c.user_id, CONNECTION.c.secret != "")
        secret = select(CONNECTION.c.secret)
        return tuple(
            user_id
            for user_id in people
            if not _is_readable(vault, connection.execute(secret.where(CONNECTION.c.user_id == user_id)).scalar_one())
        )

    return await database.read(work)


def _is_readable(vault: Vault, secret: str) -> bool:
    try:
        vault.decrypt(secret)
    except SecretUnreadable:
        return False
    return True


_MOST_FINDINGS = 20
_INVALID = """
SELECT 'the index ' || c.relname || ' is not valid' FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE NOT i.indisvalid
UNION ALL SELECT 'the constraint ' || conname || ' was never checked' FROM pg_constraint WHERE NOT convalidated
"""


async def check_tables(database: Database) -> tuple[str, ...]:
    """Return the damage that the database itself finds in the tables.

    SQLite reads the whole file and checks each reference. PostgreSQL checks these at each write, so only what it has
    marked as invalid is reported.
    """
    return await database.read(_check_tables)


def _check_tables(connection: Connection) -> tuple[str, ...]:
    if connection.dialect.name != "sqlite":
        return tuple(connection.scalars(text(_INVALID)))[:_MOST_FINDINGS]
    found = [str(row[0]) for row in connection.exec_driver_sql(f"PRAGMA integrity_check({_MOST_FINDINGS})")]
    strays = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchmany(_MOST_FINDINGS)
    lost = [f"row {row[1]} of {row[0]} refers to a row of {row[2]} that is missing" for row in strays]
    return (*(each for each in found if each != "ok"), *lost)

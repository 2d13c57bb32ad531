"""Durable work in SQL: a table of leases, and the wake-up of this process's workers."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Delete,
    Index,
    Row,
    Text,
    Update,
    bindparam,
    delete,
    exists,
    insert,
    literal_column,
    or_,
    select,
    text,
    update,
)
from sqlmodel import Field

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.documents import dump_mapping, parse_mapping
from fateforger.adapters.store.tables import AutoNumber, Base, Instant, table
from fateforger.ports.jobs import Job, NewJob


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

    seq: int | None = Field(default=None, primary_key=True, sa_type=AutoNumber)
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


class Wakeups:
    """Counts announcements per lane, and the count at which a lane was last found empty.

    An announcement that arrives between looking and waiting is therefore not lost, however many workers look. For use
    in one event loop.
    """

    def __init__(self) -> None:
        self._news: Counter[str] = Counter()
        self._idle_at: Counter[str] = Counter()
        self._waiting: defaultdict[str, set[asyncio.Future[None]]] = defaultdict(set)

    def news(self, lane: str) -> int:
        """Return the number of announcements; read it before looking for work."""
        return self._news[lane]

    def announce(self, lane: str) -> None:
        """Announce that a lane may have new work."""
        self._news[lane] += 1
        for future in self._waiting.pop(lane, ()):
            if not future.done():
                future.set_result(None)

    def nothing_to_do(self, lane: str, news: int) -> None:
        """Record that a worker found no work after ``news`` announcements."""
        self._idle_at[lane] = max(self._idle_at[lane], news)

    async def wait(self, lane: str, seconds: float) -> None:
        """Return on an announcement that no worker has followed up in vain, or after that many seconds."""
        if self._news[lane] > self._idle_at[lane]:
            return
        future = asyncio.get_running_loop().create_future()
        self._waiting[lane].add(future)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await future
        finally:
            self._waiting[lane].discard(future)


JOB = table(JobRow)
RECEIPT = table(JobReceipt)

# Literal in the statements: SQLite uses a partial index only if it sees the value.
_OPEN: ColumnElement[str] = literal_column("'open'")
_DEAD = "dead"
# Not the time of arrival: if the clock is set back, the job and everything behind it with its key would wait.
_AT_ONCE = datetime.fromtimestamp(0, UTC)

_SEEN = select(RECEIPT.c.lane).where(RECEIPT.c.lane == bindparam("of_lane"), RECEIPT.c.dedupe == bindparam("of_dedupe"))
_ACCEPT = insert(RECEIPT)
_INSERT = insert(JOB)

_another = JOB.alias("another")
_IN_THE_WAY = exists().where(
    _another.c.lane == JOB.c.lane,
    _another.c.key == JOB.c.key,
    _another.c.state == _OPEN,
    _another.c.seq != JOB.c.seq,
    # With several writers, a job can appear that is earlier than one already running.
    or_(_another.c.seq < JOB.c.seq, _another.c.leased_until > bindparam("now")),
)
_NEXT = (
    select(JOB)
    .where(
        JOB.c.lane == bindparam("of_lane"),
        JOB.c.state == _OPEN,
        JOB.c.run_at <= bindparam("now"),
        or_(JOB.c.leased_until.is_(None), JOB.c.leased_until <= bindparam("now")),
        ~_IN_THE_WAY,
    )
    .order_by(JOB.c.seq)
    .limit(1)
)
_UNFINISHED = select(JOB).where(
    JOB.c.lane == bindparam("of_lane"), JOB.c.state == _OPEN, JOB.c.dedupe == bindparam("of_dedupe")
)
_CLAIM = (
    update(JOB)
    .where(JOB.c.seq == bindparam("of_seq"))
    .values(owner=bindparam("by"), leased_until=bindparam("until"), attempts=JOB.c.attempts + 1, fence=JOB.c.fence + 1)
)

_HELD = (JOB.c.seq == bindparam("of_seq")) & (JOB.c.fence == bindparam("of_fence")) & (JOB.c.state == _OPEN)
_EXTEND = update(JOB).where(_HELD).values(leased_until=bindparam("until"))
_FINISH = delete(JOB).where(_HELD)
# A new fence invalidates the claim that was just returned.
_PUT_BACK = (
    update(JOB)
    .where(_HELD)
    .values(
        run_at=bindparam("again"),
        error=bindparam("why"),
        owner=None,
        leased_until=None,
        fence=JOB.c.fence + 1,
    )
)
_BURY = (
    update(JOB)
    .where(_HELD)
    .values(state=_DEAD, error=bindparam("why"), owner=None, leased_until=None, fence=JOB.c.fence + 1)
)
# A new fence here too: a worker that was alive after all finds its claim lost.
_TAKE_BACK = (
    update(JOB)
    .where(JOB.c.owner == bindparam("of_owner"), JOB.c.leased_until.is_not(None), JOB.c.state == _OPEN)
    .values(owner=None, leased_until=None, fence=JOB.c.fence + 1)
)


class SqlJobs:
    """Implements :class:`fateforger.ports.jobs.Jobs` over a :class:`Database`.

    A worker of another process learns of new work when its :meth:`wait` times out.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._wakeups = Wakeups()

    async def enqueue(self, job: NewJob, *, now: datetime) -> bool:
        payload = dump_mapping(job.payload, f"The payload of a job on lane {job.lane}")
        accepted = await self._database.write(lambda connection: enqueue(connection, job, payload, now))
        if accepted:
            self._wakeups.announce(job.lane)
        return accepted

    async def find_unfinished(self, lane: str, dedupe: str) -> Job | None:
        return await self._database.read(lambda connection: _find_unfinished(connection, lane, dedupe))

    async def claim(self, lane: str, owner: str, *, now: datetime, lease_seconds: float) -> Job | None:
        news = self._wakeups.news(lane)
        until = now + timedelta(seconds=lease_seconds)
        job = await self._database.write(lambda connection: _claim(connection, lane, owner, now, until))
        if job is None:
            self._wakeups.nothing_to_do(lane, news)
        return job

    async def extend(self, job: Job, *, now: datetime, lease_seconds: float) -> bool:
        return await self._update_held(_EXTEND, job, until=now + timedelta(seconds=lease_seconds))

    async def finish(self, job: Job) -> bool:
        return await self._give_up(_FINISH, job)

    async def retry(self, job: Job, error: str, *, run_at: datetime) -> bool:
        return await self._give_up(_PUT_BACK, job, again=run_at, why=error)

    async def bury(self, job: Job, error: str) -> bool:
        return await self._give_up(_BURY, job, why=error)

    async def take_back(self, owner: str) -> int:
        return await self._database.write(
            lambda connection: connection.execute(_TAKE_BACK, {"of_owner": owner}).rowcount
        )

    async def wait(self, lane: str, *, seconds: float) -> None:
        await self._wakeups.wait(lane, seconds)

    async def _update_held(self, statement: Update | Delete, job: Job, **values: object) -> bool:
        claim = {"of_seq": job.id, "of_fence": job.fence}
        return await self._database.write(
            lambda connection: connection.execute(statement, claim | values).rowcount == 1
        )

    async def _give_up(self, statement: Update | Delete, job: Job, **values: object) -> bool:
        held = await self._update_held(statement, job, **values)
        if held:
            self._wakeups.announce(job.lane)
        return held


def enqueue(connection: Connection, job: NewJob, payload: str, now: datetime) -> bool:
    """Accept a job within the caller's transaction; workers find it at their next look."""
    if connection.execute(_SEEN, {"of_lane": job.lane, "of_dedupe": job.dedupe}).first() is not None:
        return False
    connection.execute(_ACCEPT, {"lane": job.lane, "dedupe": job.dedupe})
    row = {
        "lane": job.lane,
        "key": job.key,
        "dedupe": job.dedupe,
        "state": "open",
        "payload": payload,
        "enqueued_at": now,
        "run_at": _AT_ONCE if job.run_at is None else job.run_at,
        "attempts": 0,
        "fence": 0,
        "error": "",
    }
    connection.execute(_INSERT, row)
    return True


def _claim(connection: Connection, lane: str, owner: str, now: datetime, until: datetime) -> Job | None:
    row = connection.execute(_NEXT, {"of_lane": lane, "now": now}).first()
    if row is None:
        return None
    connection.execute(_CLAIM, {"of_seq": row.seq, "by": owner, "until": until})
    return _to_job(row, claims=1)


def _find_unfinished(connection: Connection, lane: str, dedupe: str) -> Job | None:
    row = connection.execute(_UNFINISHED, {"of_lane": lane, "of_dedupe": dedupe}).first()
    return None if row is None else _to_job(row)


def _to_job(row: Row[Any], *, claims: int = 0) -> Job:
    """Return a row as a job, with ``claims`` more claims."""
    return Job(
        id=row.seq,
        lane=row.lane,
        key=row.key,
        dedupe=row.dedupe,
        payload=parse_mapping(row.payload, f"Job {row.seq}"),
        attempts=row.attempts + claims,
        fence=row.fence + claims,
    )

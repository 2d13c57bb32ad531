"""Durable work in SQL: a table of leases, and the wake-up of this process's workers."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Delete,
    Index,
    Text,
    Update,
    delete,
    exists,
    func,
    literal_column,
    or_,
    update,
)
from sqlmodel import Field, select

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.documents import dump_mapping, parse_mapping
from fateforger.adapters.store.tables import (
    AutoNumber,
    Base,
    Instant,
    build_partial_index,
    find_rows,
    open_rows,
    table,
)
from fateforger.ports.jobs import Job, NewJob


class JobRow(Base, table=True):
    """Work that is not done yet, or was given up (``dead``). ``seq`` is never reused."""

    __tablename__ = "job"
    __table_args__ = (
        build_partial_index("ix_job_open", "lane", "seq", where="state = 'open'"),
        build_partial_index("ix_job_open_key", "lane", "key", "seq", where="state = 'open'"),
        build_partial_index("ix_job_dead", "enqueued_at", where="state = 'dead'"),
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
    """A record of what was accepted on a lane; it outlives the job (:mod:`fateforger.adapters.store.retention`)."""

    __tablename__ = "job_receipt"
    __table_args__ = (Index("ix_job_receipt_accepted", "accepted_at"),)

    lane: str = Field(primary_key=True, sa_type=Text)
    dedupe: str = Field(primary_key=True, sa_type=Text)
    accepted_at: datetime = Field(sa_type=Instant, sa_column_kwargs={"server_default": "0"})


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
OPEN: ColumnElement[str] = literal_column("'open'")
# Not the time of arrival: if the clock is set back, the job and everything behind it with its key would wait.
_AT_ONCE = datetime.fromtimestamp(0, UTC)


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

    def announce(self, lane: str) -> None:
        """Tell the workers of this process about a job that another transaction has accepted."""
        self._wakeups.announce(lane)

    async def find_unfinished(self, lane: str, dedupe: str) -> Job | None:
        return await self._database.read(lambda connection: _find_unfinished(connection, lane, dedupe))

    async def count_unfinished(self, lane: str, key: str) -> int:
        count = select(func.count()).where(JOB.c.lane == lane, JOB.c.key == key, JOB.c.state == OPEN)
        return int(await self._database.read(lambda connection: connection.execute(count).scalar_one()))

    async def claim(self, lane: str, owner: str, *, now: datetime, lease_seconds: float) -> Job | None:
        news = self._wakeups.news(lane)
        until = now + timedelta(seconds=lease_seconds)
        job = await self._database.write(lambda connection: _claim(connection, lane, owner, now, until))
        if job is None:
            self._wakeups.nothing_to_do(lane, news)
        return job

    async def extend(self, job: Job, *, now: datetime, lease_seconds: float) -> bool:
        until = now + timedelta(seconds=lease_seconds)
        return await self._change(update(JOB).where(_is_held(job)).values(leased_until=until))

    async def finish(self, job: Job) -> bool:
        return await self._give_up(delete(JOB).where(_is_held(job)), job)

    async def retry(self, job: Job, error: str, *, run_at: datetime) -> bool:
        return await self._give_up(_end_claims(_is_held(job)).values(run_at=run_at, error=error), job)

    async def bury(self, job: Job, error: str) -> bool:
        return await self._give_up(_end_claims(_is_held(job)).values(state="dead", error=error), job)

    async def take_back(self, owner: str) -> int:
        held = (JOB.c.owner == owner) & JOB.c.leased_until.is_not(None) & (JOB.c.state == OPEN)
        return await self._database.write(lambda connection: connection.execute(_end_claims(held)).rowcount)

    async def wait(self, lane: str, *, seconds: float) -> None:
        await self._wakeups.wait(lane, seconds)

    async def _change(self, statement: Update | Delete) -> bool:
        return await self._database.write(lambda connection: connection.execute(statement).rowcount == 1)

    async def _give_up(self, statement: Update | Delete, job: Job) -> bool:
        held = await self._change(statement)
        if held:
            self._wakeups.announce(job.lane)
        return held


def _is_held(job: Job) -> ColumnElement[bool]:
    """Return the condition that the claim of this job was not lost."""
    return (JOB.c.seq == job.id) & (JOB.c.fence == job.fence) & (JOB.c.state == OPEN)


def _end_claims(held: ColumnElement[bool]) -> Update:
    """Return the statement that ends claims. The new fence tells a worker that is alive after all."""
    return update(JOB).where(held).values(owner=None, leased_until=None, fence=JOB.c.fence + 1)


def enqueue(connection: Connection, job: NewJob, payload: str, now: datetime) -> bool:
    """Accept a job within the caller's transaction; workers find it at their next look."""
    with open_rows(connection) as rows:
        if rows.get(JobReceipt, (job.lane, job.dedupe)) is not None:
            return False
        rows.add(JobReceipt(lane=job.lane, dedupe=job.dedupe, accepted_at=now))
        rows.add(
            JobRow(
                lane=job.lane,
                key=job.key,
                dedupe=job.dedupe,
                state="open",
                payload=payload,
                enqueued_at=now,
                run_at=_AT_ONCE if job.run_at is None else job.run_at,
                attempts=0,
                fence=0,
                error="",
            )
        )
    return True


def _claim(connection: Connection, lane: str, owner: str, now: datetime, until: datetime) -> Job | None:
    other = JOB.alias("other")
    is_in_the_way = exists().where(
        other.c.lane == JOB.c.lane,
        other.c.key == JOB.c.key,
        other.c.state == OPEN,
        other.c.seq != JOB.c.seq,
        # With several writers, a job can appear that is earlier than one already running.
        or_(other.c.seq < JOB.c.seq, other.c.leased_until > now),
    )
    is_free = or_(JOB.c.leased_until.is_(None), JOB.c.leased_until <= now)
    due = select(JobRow).where(JOB.c.lane == lane, JOB.c.state == OPEN, JOB.c.run_at <= now, is_free, ~is_in_the_way)
    with open_rows(connection) as rows:
        row = rows.exec(due.order_by(JOB.c.seq).limit(1)).first()
        if row is None:
            return None
        row.owner, row.leased_until = owner, until
        row.attempts += 1
        row.fence += 1
        return _to_job(row)


def _find_unfinished(connection: Connection, lane: str, dedupe: str) -> Job | None:
    query = select(JobRow).where(JOB.c.lane == lane, JOB.c.state == OPEN, JOB.c.dedupe == dedupe)
    return next(map(_to_job, find_rows(connection, query)), None)


def _to_job(row: JobRow) -> Job:
    assert row.seq is not None  # noqa: S101  for the type checker: only a row that is not stored yet has none
    return Job(
        id=row.seq,
        lane=row.lane,
        key=row.key,
        dedupe=row.dedupe,
        payload=parse_mapping(row.payload, f"Job {row.seq}"),
        attempts=row.attempts,
        fence=row.fence,
    )

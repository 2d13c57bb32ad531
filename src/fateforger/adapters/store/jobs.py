"""Durable work in SQLite (a table of leases), and the common parts of all queues."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Delete,
    Index,
    Text,
    Update,
    case,
    delete,
    exists,
    func,
    literal,
    literal_column,
    or_,
    update,
)
from sqlalchemy import select as select_columns
from sqlalchemy.dialects.postgresql import insert as insert_postgresql
from sqlalchemy.dialects.sqlite import insert as insert_sqlite
from sqlmodel import Field, select

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.tables import (
    AutoNumber,
    Base,
    Instant,
    build_partial_index,
    dump_mapping,
    find_rows,
    open_rows,
    parse_mapping,
    table,
)
from fateforger.ports.jobs import EVER_AFTER, LONGEST_RETRY, Job, NewJob


class JobReceipt(Base, table=True):
    """The name of a job that was accepted; it outlives the job (:mod:`fateforger.adapters.store.store`)."""

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


def accept(connection: Connection, job: NewJob, now: datetime) -> bool:
    """Record the name of a job; return ``False`` if it was accepted before, or not ``apart`` enough."""
    insert = insert_sqlite if connection.dialect.name == "sqlite" else insert_postgresql
    given = insert(RECEIPT).values(lane=job.lane, dedupe=job.dedupe, accepted_at=now)
    if job.apart is None:
        given = given.on_conflict_do_nothing()
    else:
        is_apart = RECEIPT.c.accepted_at <= now - job.apart
        given = given.on_conflict_do_update(
            index_elements=[RECEIPT.c.lane, RECEIPT.c.dedupe], set_={"accepted_at": now}, where=is_apart
        )
    return connection.execute(given.returning(RECEIPT.c.lane)).first() is not None


def was_accepted(connection: Connection, lane: str, dedupe: str) -> bool:
    """Check whether the name of a job is recorded."""
    query = select_columns(RECEIPT.c.lane).where(RECEIPT.c.lane == lane, RECEIPT.c.dedupe == dedupe)
    return connection.execute(query).first() is not None


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


class JobRow(Base, table=True):
    """Work that is not done yet, or was given up (``dead``). ``seq`` is never reused."""

    __tablename__ = "job"
    __table_args__ = (
        build_partial_index("ix_job_open", "lane", "seq", where="state = 'open'"),
        build_partial_index("ix_job_open_key", "lane", "key", "seq", where="state = 'open'"),
        build_partial_index("ix_job_dead", "enqueued_at", where="state = 'dead'"),
        {"sqlite_autoincrement": True, "info": {"only": "sqlite"}},
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


JOB = table(JobRow)

# Literal in the statements: SQLite uses a partial index only if it sees the value.
OPEN: ColumnElement[str] = literal_column("'open'")
_IS_DEAD: ColumnElement[bool] = JOB.c.state == literal_column("'dead'")
# Not the time of arrival: if the clock is set back, the job and everything behind it with its key would wait.
_AT_ONCE = datetime.fromtimestamp(0, UTC)


class LeaseJobs:
    """Implements :class:`fateforger.ports.jobs.Jobs` over a :class:`Database`.

    A worker of another process learns of new work when its :meth:`wait` times out.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._wakeups = Wakeups()

    async def enqueue(self, job: NewJob, *, now: datetime) -> bool:
        accepted = await self._database.write(lambda connection: enqueue_leased(connection, job, now))
        if accepted or job.recurs:
            self._wakeups.announce(job.lane)
        return accepted

    def announce(self, lane: str) -> None:
        """Tell the workers of this process about a job that another transaction has accepted."""
        self._wakeups.announce(lane)

    async def get_share(self, owner: str) -> tuple[int, int]:  # noqa: ARG002  one program has a file for itself
        return (0, 1)

    async def count_programs(self) -> int:
        return 1

    async def listen(self, lanes: Iterable[str], on_news: Callable[[str], None]) -> None:  # noqa: ARG002  the port's
        await asyncio.Event().wait()  # other processes are found by polling

    async def aclose(self) -> None:
        """Do nothing: the claims end with their leases, or with :meth:`take_back`."""

    async def was_accepted(self, lane: str, dedupe: str) -> bool:
        return await self._database.read(lambda connection: was_accepted(connection, lane, dedupe))

    async def find_unfinished(self, lane: str, dedupe: str) -> Job | None:
        return await self._database.read(lambda connection: _find_unfinished(connection, lane, dedupe))

    async def list_unfinished(self, lane: str, key: str) -> tuple[Job, ...]:
        query = select(JobRow).where(JOB.c.lane == lane, JOB.c.key == key, JOB.c.state == OPEN).order_by(JOB.c.seq)
        return tuple(map(_to_job, await self._database.read(lambda connection: find_rows(connection, query))))

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

    async def retry(self, job: Job, error: str, *, run_at: datetime, now: datetime) -> bool:  # noqa: ARG002  needed by queues with a clock of their own
        next_round = JOB.alias("next_round")
        is_next = (next_round.c.lane == JOB.c.lane) & (next_round.c.dedupe == JOB.c.dedupe)
        waits = exists().where(is_next, next_round.c.state == OPEN, next_round.c.seq != JOB.c.seq)
        # A job that recurs is not put back when its next round waits, of which only one may wait.
        if await self._give_up(delete(JOB).where(_is_held(job), waits), job):
            return True
        return await self._give_up(_end_claims(_is_held(job)).values(run_at=run_at, error=error), job)

    async def bury(self, job: Job, error: str) -> bool:
        return await self._give_up(_end_claims(_is_held(job)).values(state="dead", error=error), job)

    async def take_back(self, owner: str) -> int:
        """End all claims of an owner, and return their number. Jobs that wait for another try become due.

        Only for a caller who knows that no worker of that name is alive: a process at start need not wait for the
        leases of its predecessor of the same name, nor for retry times that its clock has set.
        """
        held = (JOB.c.owner == owner) & JOB.c.leased_until.is_not(None) & (JOB.c.state == OPEN)
        failed = (JOB.c.attempts > 0) & JOB.c.leased_until.is_(None) & (JOB.c.state == OPEN)

        def work(connection: Connection) -> int:
            connection.execute(update(JOB).where(failed).values(run_at=_AT_ONCE))
            return connection.execute(_end_claims(held)).rowcount

        return await self._database.write(work)

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


def enqueue_leased(connection: Connection, job: NewJob, now: datetime) -> bool:
    """Accept a job within the caller's transaction; workers find it at their next look."""
    payload = dump_mapping(job.payload, f"The payload of a job on lane {job.lane}")
    run_at = _AT_ONCE if job.run_at is None else job.run_at
    if job.recurs:
        waits = (JOB.c.lane == job.lane) & (JOB.c.dedupe == job.dedupe) & (JOB.c.state == OPEN)
        waiting = update(JOB).where(waits, JOB.c.leased_until.is_(None))
        if connection.execute(waiting.values(run_at=func.min(JOB.c.run_at, literal(run_at, Instant)))).rowcount:
            return False
    elif not (accepted := accept(connection, job, now)) or job.apart is not None:
        given_up = (JOB.c.lane == job.lane) & (JOB.c.dedupe == job.dedupe) & _IS_DEAD
        repeated = job.again and connection.execute(delete(JOB).where(given_up)).rowcount
        if not accepted and not repeated:
            return False
    with open_rows(connection) as rows:
        rows.add(
            JobRow(
                lane=job.lane,
                key=job.key,
                dedupe=job.dedupe,
                state="open",
                payload=payload,
                enqueued_at=now,
                run_at=run_at,
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
    is_beyond = (JOB.c.attempts > 0) & (JOB.c.run_at > now + LONGEST_RETRY) & (JOB.c.run_at < EVER_AFTER)
    is_due = or_(JOB.c.run_at <= now, is_beyond)
    due = select(JobRow).where(JOB.c.lane == lane, JOB.c.state == OPEN, is_due, is_free, ~is_in_the_way)
    with open_rows(connection) as rows:
        row = rows.exec(due.order_by(JOB.c.seq).limit(1)).first()
        if row is None:
            return None
        row.owner, row.leased_until = owner, until
        row.attempts += 1
        row.fence += 1
        return _to_job(row)


def list_leased(connection: Connection, now: datetime) -> tuple[StoredJob, ...]:
    """Return all jobs in the order of their arrival."""
    return tuple(
        StoredJob(
            row.seq,
            row.lane,
            row.key,
            row.payload,
            row.state == "open" and row.leased_until is not None and row.leased_until > now,
        )
        for row in connection.execute(select_columns(JOB).order_by(JOB.c.seq))
    )


def measure_leased(connection: Connection, now: datetime) -> tuple[LaneBacklog, ...]:
    """Count the unfinished jobs by lane. One that a worker has claimed does not wait."""
    due_at = case((JOB.c.run_at > JOB.c.enqueued_at, JOB.c.run_at), else_=JOB.c.enqueued_at)
    is_waiting = (JOB.c.run_at <= now) & (JOB.c.leased_until.is_(None) | (JOB.c.leased_until <= now))
    oldest = func.min(case((is_waiting, due_at)), type_=JOB.c.run_at.type)
    by_lane = select_columns(JOB.c.lane, func.count(), oldest).where(JOB.c.state == OPEN).group_by(JOB.c.lane)
    rows = [tuple(row) for row in connection.execute(by_lane)]
    return tuple(
        LaneBacklog(lane, count, max(0.0, (now - first).total_seconds()) if first else 0.0)
        for lane, count, first in rows
    )


def retry_leased(connection: Connection, error: str) -> None:
    """Make those waiting jobs due, as if they had not been tried, whose last error has these words."""
    waiting = (JOB.c.state == OPEN) & JOB.c.error.contains(error, autoescape=True) & JOB.c.leased_until.is_(None)
    connection.execute(update(JOB).where(waiting).values(run_at=_AT_ONCE, attempts=0))


def list_dead_leased(connection: Connection, *, lane: str | None, limit: int) -> tuple[DeadRow, ...]:
    """Return jobs that were given up, the oldest first."""
    columns = (JOB.c.seq, JOB.c.lane, JOB.c.payload, JOB.c.enqueued_at, JOB.c.attempts, JOB.c.error)
    query = select_columns(*columns).where(_IS_DEAD).order_by(JOB.c.seq).limit(limit)
    if lane is not None:
        query = query.where(JOB.c.lane == lane)
    return tuple(DeadRow(*row) for row in connection.execute(query))


def retry_dead_leased(connection: Connection, ids: Collection[int]) -> tuple[int, ...]:
    """Queue jobs again, as if they had not been tried; return those that had been given up."""
    again = {"state": "open", "attempts": 0, "error": "", "run_at": _AT_ONCE}
    changed = _end_claims(JOB.c.seq.in_(ids) & _IS_DEAD).values(**again).returning(JOB.c.seq)
    return tuple(sorted(connection.scalars(changed)))


def drop_dead_leased(connection: Connection, ids: Collection[int]) -> tuple[int, ...]:
    """Delete jobs; return those that had been given up."""
    gone = delete(JOB).where(JOB.c.seq.in_(ids), _IS_DEAD).returning(JOB.c.seq)
    return tuple(sorted(connection.scalars(gone)))


def prune_dead_leased(connection: Connection, *, before: datetime, limit: int) -> int:
    """Delete at most ``limit`` jobs that were accepted before an instant and given up; return their number."""
    old = select_columns(JOB.c.seq).where(_IS_DEAD, JOB.c.enqueued_at < before).order_by(JOB.c.enqueued_at).limit(limit)
    return connection.execute(delete(JOB).where(JOB.c.seq.in_(old))).rowcount


HAS_LEASED: ColumnElement[bool] = exists().where(
    JOB.c.lane == RECEIPT.c.lane, JOB.c.dedupe == RECEIPT.c.dedupe, JOB.c.state == OPEN
)
"""The condition that the job of a receipt is not done."""


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

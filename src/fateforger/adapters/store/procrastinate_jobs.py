"""Durable work on PostgreSQL, in the queue of the library Procrastinate.

Its tables, its functions and its notifications are used, not its worker: that one ends a job even if another process
holds it by then, and keeps a connection for each queue. A claim is a job's number with its count of attempts, which
grows whenever a claim is lost; each call that ends a job locks it under that condition first.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    DateTime,
    Integer,
    RowMapping,
    Select,
    Table,
    Text,
    bindparam,
    cast,
    delete,
    exists,
    func,
    literal_column,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from fateforger.adapters.store.database import Database, limit_connecting
from fateforger.adapters.store.jobs import RECEIPT, DeadRow, LaneBacklog, StoredJob, Wakeups, accept, was_accepted
from fateforger.adapters.store.tables import Base, Instant, dump_mapping, parse_mapping, to_microseconds
from fateforger.errors import StoreUnavailable
from fateforger.ports.jobs import Job, NewJob

PROCRASTINATE_JOB = Table(
    "procrastinate_jobs",
    Base.metadata,
    Column("id", BigInteger, primary_key=True),
    Column("queue_name", Text),
    Column("task_name", Text),
    Column("priority", Integer),
    Column("lock", Text),
    Column("queueing_lock", Text),
    Column("args", JSONB),
    Column("status", Text),
    Column("scheduled_at", DateTime(timezone=True)),
    Column("attempts", Integer),
    Column("abort_requested", Boolean),
    Column("worker_id", BigInteger),
    info={"only": "postgresql"},
)
"""As its own migration creates it.

``args`` holds the name of a job, its payload as text, the microseconds since 1970 at which it was accepted, its last
error, and the number of attempts that do not count any more.
"""

_JOB = PROCRASTINATE_JOB
_UNFINISHED: tuple[ColumnElement[str], ...] = (literal_column("'todo'"), literal_column("'doing'"))

_DEFER = text("""
    SELECT procrastinate_defer_jobs_v1(ARRAY[ROW(
        :lane, :lane, 0, :lock, CAST(:queueing_lock AS text), CAST(:args AS jsonb),
        CASE WHEN CAST(:delay AS float8) IS NULL THEN NULL ELSE now() + make_interval(secs => :delay) END
    )]::procrastinate_job_to_defer_v1[])
""")
_BRING_FORWARD = text("""
    UPDATE procrastinate_jobs
    SET scheduled_at = LEAST(scheduled_at, now() + make_interval(secs => CAST(:delay AS float8)))
    WHERE queueing_lock = :queueing_lock AND status = 'todo'
    RETURNING pg_notify(
        'procrastinate_queue_v1#' || queue_name, json_build_object('type', 'job_inserted', 'job_id', id)::text
    )
""")
_DROP_GIVEN_UP = text("""
    DELETE FROM procrastinate_jobs
    WHERE queue_name = :lane AND args->>'dedupe' = :dedupe AND status = 'failed' RETURNING id
""")
# A job that recurs is not put back when its next round waits, of which only one may wait.
_PUT_BACK = """
    CASE WHEN EXISTS (
        SELECT FROM procrastinate_jobs next WHERE next.queueing_lock = held.queueing_lock AND next.status = 'todo'
    ) THEN procrastinate_finish_job_v1(held.id, 'succeeded', true)
    ELSE procrastinate_retry_job_v2(
        held.id, now() + make_interval(secs => CAST(:delay AS float8)), NULL, NULL, NULL
    ) END
"""
_HELD = "SELECT id, queueing_lock FROM procrastinate_jobs WHERE id = :id AND status = 'doing' AND attempts = :attempts"
_RETRY = text(f"SELECT {_PUT_BACK} FROM ({_HELD} FOR UPDATE) held")  # noqa: S608  constants
_FINISH = text(f"SELECT procrastinate_finish_job_v1(id, 'succeeded', true) FROM ({_HELD} FOR UPDATE) held")  # noqa: S608  constants
_BURY = text(f"SELECT procrastinate_finish_job_v1(id, 'failed', false) FROM ({_HELD} FOR UPDATE) held")  # noqa: S608  constants
_IS_HELD = text(_HELD)
_NOTE_ERROR = text(
    "UPDATE procrastinate_jobs SET args = args || jsonb_build_object('error', CAST(:error AS text)) WHERE id = :id"
)
# One statement and a lock, so that no job is put back that another process has rescued and claimed meanwhile.
_RESCUE = text(f"""
    SELECT {_PUT_BACK} FROM (
        SELECT job.id, job.queueing_lock FROM procrastinate_jobs job
        LEFT JOIN procrastinate_workers worker ON worker.id = job.worker_id
        WHERE job.status = 'doing' AND job.queue_name = :lane
        AND (worker.id IS NULL OR worker.last_heartbeat <= now() - make_interval(secs => :lease))
        FOR UPDATE OF job SKIP LOCKED
    ) held
""")  # noqa: S608  constants
# A claim was committed, but this process did not learn of it because the connection was lost.
_PUT_BACK_UNHEARD = text(f"""
    SELECT {_PUT_BACK} FROM (
        SELECT id, queueing_lock FROM procrastinate_jobs
        WHERE status = 'doing' AND queue_name = :lane AND worker_id = :worker AND NOT id = ANY(:known) FOR UPDATE
    ) held
""").bindparams(bindparam("known", type_=ARRAY(BigInteger)))  # noqa: S608  constants
_REGISTER = text("SELECT worker_id FROM procrastinate_register_worker_v1()")
_PRUNE = text("SELECT procrastinate_prune_stalled_workers_v1(:seconds)")
_UNREGISTER = text("SELECT procrastinate_unregister_worker_v1(:worker)")
_HEARTBEAT = text("SELECT procrastinate_update_heartbeat_v1(:worker)")
_FETCH = text("""
    SELECT id, queue_name, lock, args, attempts FROM procrastinate_fetch_job_v2(:queues, :worker) WHERE id IS NOT NULL
""").bindparams(bindparam("queues", type_=ARRAY(Text)))

_ALIVE = text("""
    SELECT id FROM procrastinate_workers WHERE last_heartbeat > now() - make_interval(secs => :alive)
""")
_TELL = text(
    "SELECT pg_notify('procrastinate_queue_v1#' || :lane, json_build_object('type', 'job_inserted', 'job_id', 0)::text)"
)

_CHANNEL = "procrastinate_queue_v1#"
_KEEPALIVES: dict[str, Any] = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
"""A server that vanishes without closing the connection is noticed after a minute; until then, polling finds work."""
PRUNED_AFTER = 3600.0
"""Seconds after which a process that is not heard of any more is forgotten."""


class ProcrastinateJobs:
    """Implements :class:`fateforger.ports.jobs.Jobs` over a :class:`Database` of PostgreSQL.

    Each ``owner`` is a worker of Procrastinate. Times are the database's: what a caller gives is a delay from its own
    ``now``.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._wakeups = Wakeups()
        self._workers: dict[str, int] = {}
        self._claimed: dict[int, int] = {}
        """The fence of the latest claim of each job that this process holds, as far as it knows."""
        self._claiming: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def enqueue(self, job: NewJob, *, now: datetime) -> bool:
        accepted = await self._database.write_now(lambda connection: defer(connection, job, now))
        if accepted or job.recurs:
            self._wakeups.announce(job.lane)
        return accepted

    def announce(self, lane: str) -> None:
        """Tell the workers of this process about a job that another transaction has accepted."""
        self._wakeups.announce(lane)

    async def was_accepted(self, lane: str, dedupe: str) -> bool:
        return await self._database.read(lambda connection: was_accepted(connection, lane, dedupe))

    async def find_unfinished(self, lane: str, dedupe: str) -> Job | None:
        query = _select_unfinished(lane).where(_JOB.c.args["dedupe"].astext == dedupe)
        rows = await self._database.read(lambda connection: connection.execute(query).mappings().all())
        return next(map(_to_job, rows), None)

    async def list_unfinished(self, lane: str, key: str) -> tuple[Job, ...]:
        query = _select_unfinished(lane).where(_JOB.c.lock == build_lock(lane, key)).order_by(_JOB.c.id)
        rows = await self._database.read(lambda connection: connection.execute(query).mappings().all())
        return tuple(map(_to_job, rows))

    async def count_unfinished(self, lane: str, key: str) -> int:
        count = select(func.count()).select_from(
            _select_unfinished(lane).where(_JOB.c.lock == build_lock(lane, key)).subquery()
        )
        return int(await self._database.read(lambda connection: connection.execute(count).scalar_one()))

    async def claim(self, lane: str, owner: str, *, now: datetime, lease_seconds: float) -> Job | None:  # noqa: ARG002  the database has the time
        news = self._wakeups.news(lane)
        worker = await self._get_worker(owner)
        async with self._claiming[lane]:
            known = list(self._claimed)

            def work(connection: Connection) -> RowMapping | None:
                connection.execute(_PUT_BACK_UNHEARD, {"lane": lane, "worker": worker, "known": known, "delay": 0.0})
                return _claim(connection, lane, worker, lease_seconds)

            row = await self._database.write_now(work)
            if row is None:
                self._wakeups.nothing_to_do(lane, news)
                return None
            job = _to_job(row)
            self._claimed[job.id] = job.fence
        return job

    async def extend(self, job: Job, *, now: datetime, lease_seconds: float) -> bool:  # noqa: ARG002  the database has the time
        def work(connection: Connection) -> bool:
            for worker in self._workers.values():
                connection.execute(_HEARTBEAT, {"worker": worker})
            return connection.execute(_IS_HELD, _claim_of(job)).first() is not None

        held = await self._database.write_now(work)
        if not held:
            self._forget(job)
        return held

    async def finish(self, job: Job) -> bool:
        return await self._end(job, lambda connection: connection.execute(_FINISH, _claim_of(job)).first())

    async def retry(self, job: Job, error: str, *, run_at: datetime, now: datetime) -> bool:
        delay = (run_at - now).total_seconds()
        put_back = _claim_of(job) | {"delay": delay}
        return await self._end(job, lambda connection: connection.execute(_RETRY, put_back).first(), error)

    async def bury(self, job: Job, error: str) -> bool:
        return await self._end(job, lambda connection: connection.execute(_BURY, _claim_of(job)).first(), error)

    async def get_share(self, owner: str) -> tuple[int, int]:
        worker = await self._get_worker(owner)
        alive = await self._list_alive()
        return sum(each < worker for each in alive), len({*alive, worker})

    async def count_programs(self) -> int:
        return len({*await self._list_alive(), *self._workers.values()}) or 1

    async def _list_alive(self) -> Sequence[int]:
        query = {"alive": ALIVE_SECONDS}
        return await self._database.read(lambda connection: connection.execute(_ALIVE, query).scalars().all())

    async def listen(self, lanes: Iterable[str], on_news: Callable[[str], None]) -> None:
        """Listen to Procrastinate's notifications of these lanes, on a connection of its own.

        Procrastinate's listener reconnects silently. This one raises, so that its caller listens again and the work
        that came meanwhile is announced.
        """
        from psycopg import AsyncConnection, OperationalError  # noqa: PLC0415  only for PostgreSQL
        from psycopg.sql import SQL, Identifier  # noqa: PLC0415  only for PostgreSQL

        url = self._database.engine.url
        address = url.set(drivername="postgresql").render_as_string(hide_password=False)
        limits = _KEEPALIVES | limit_connecting(url)
        try:
            async with await AsyncConnection.connect(address, autocommit=True, **limits) as connection:
                for lane in lanes:
                    await connection.execute(SQL("LISTEN {}").format(Identifier(f"{_CHANNEL}{lane}")))
                for lane in lanes:  # what came before is found now
                    self._wakeups.announce(lane)
                async for notification in connection.notifies():
                    lane = notification.channel.removeprefix(_CHANNEL)
                    self._wakeups.announce(lane)
                    on_news(lane)
        except OperationalError as error:
            raise StoreUnavailable(f"The database {self._database.place} does not tell of new jobs now.") from error

    async def wait(self, lane: str, *, seconds: float) -> None:
        await self._wakeups.wait(lane, seconds)

    async def aclose(self) -> None:
        """Let others take over at once what this process has not ended."""
        for worker in self._workers.values():
            await self._database.write_now(lambda c, worker=worker: c.execute(_UNREGISTER, {"worker": worker}))  # type: ignore[misc]  # mypy cannot infer a lambda with a default
        self._workers.clear()

    async def _get_worker(self, owner: str) -> int:
        if owner not in self._workers:

            def work(connection: Connection) -> int:
                connection.execute(_PRUNE, {"seconds": PRUNED_AFTER})
                return int(connection.execute(_REGISTER).scalar_one())

            worker = await self._database.write_now(work)
            if self._workers.setdefault(owner, worker) != worker:  # two lanes registered at once
                await self._database.write_now(lambda c: c.execute(_UNREGISTER, {"worker": worker}))
        return self._workers[owner]

    async def _end(self, job: Job, end: Any, error: str | None = None) -> bool:
        def work(connection: Connection) -> bool:
            held = end(connection) is not None
            if held and error is not None:
                connection.execute(_NOTE_ERROR, {"id": job.id, "error": error})
            return held

        held = await self._database.write_now(work)
        self._forget(job)
        if held:
            self._wakeups.announce(job.lane)
        return held

    def _forget(self, job: Job) -> None:
        """Forget a claim that has ended, unless this process has claimed the job again since."""
        if self._claimed.get(job.id) == job.fence:
            del self._claimed[job.id]


def build_lock(lane: str, key: str) -> str:
    """Return the lock of a key. Locks hold in all queues."""
    return f"{lane}:{key}"


def defer(connection: Connection, job: NewJob, now: datetime) -> bool:
    """Accept a job within the caller's transaction; Procrastinate tells its listeners when that is committed."""
    payload = dump_mapping(job.payload, f"The payload of a job on lane {job.lane}")
    delay = None if job.run_at is None else (job.run_at - now).total_seconds()
    queueing_lock = build_lock(job.lane, job.dedupe) if job.recurs else None
    if job.recurs:
        forward = {"queueing_lock": queueing_lock, "delay": delay or 0.0}
        if connection.execute(_BRING_FORWARD, forward).first() is not None:
            return False
    elif not (accepted := accept(connection, job, now)) or job.apart is not None:
        given_up = {"lane": job.lane, "dedupe": job.dedupe}
        repeated = job.again and connection.execute(_DROP_GIVEN_UP, given_up).first() is not None
        if not accepted and not repeated:
            return False
    accepted_at = to_microseconds(now)
    args = dump_mapping({"dedupe": job.dedupe, "payload": payload, "accepted_at": accepted_at}, "A job")
    given = {"lane": job.lane, "lock": build_lock(job.lane, job.key), "queueing_lock": queueing_lock}
    connection.execute(_DEFER, given | {"args": args, "delay": delay})
    return True


def tell(connection: Connection, lane: str) -> None:
    """Wake the workers of a lane in all programs when the caller's transaction is committed."""
    connection.execute(_TELL, {"lane": lane})


def _claim(connection: Connection, lane: str, worker: int, lease_seconds: float) -> RowMapping | None:
    connection.execute(_HEARTBEAT, {"worker": worker})
    connection.execute(_RESCUE, {"lane": lane, "lease": lease_seconds, "delay": 0.0})
    return connection.execute(_FETCH, {"queues": [lane], "worker": worker}).mappings().first()


_LIST = text("""
    SELECT job.id, queue_name, lock, args,
        status = 'doing' AND worker.last_heartbeat > now() - make_interval(secs => :alive) AS is_running
    FROM procrastinate_jobs job LEFT JOIN procrastinate_workers worker ON worker.id = worker_id ORDER BY job.id
""")
_MEASURE = text("""
    SELECT queue_name, count(*),
        extract(epoch FROM now() - min(CASE WHEN status = 'todo' AND due_at <= now() THEN due_at END))
    FROM (
        SELECT queue_name, status, GREATEST(job.scheduled_at, event.at) AS due_at
        FROM procrastinate_jobs job
        LEFT JOIN procrastinate_events event ON event.job_id = job.id AND event.type = 'deferred'
        WHERE status IN ('todo', 'doing')
    ) open
    GROUP BY queue_name
""")
ALIVE_SECONDS = 10.0
"""Seconds after which a process that was not heard of counts as dead."""


def list_deferred(connection: Connection) -> tuple[StoredJob, ...]:
    """Return all jobs in the order of their arrival."""
    return tuple(
        StoredJob(
            row.id,
            row.queue_name,
            row.lock.removeprefix(build_lock(row.queue_name, "")),
            row.args["payload"],
            bool(row.is_running),
        )
        for row in connection.execute(_LIST, {"alive": ALIVE_SECONDS})
    )


def measure_deferred(connection: Connection) -> tuple[LaneBacklog, ...]:
    """Count the unfinished jobs by lane. One that a worker has claimed does not wait."""
    return tuple(LaneBacklog(lane, count, float(age or 0)) for lane, count, age in connection.execute(_MEASURE))


_ACCEPTED_AT = cast(_JOB.c.args["accepted_at"].astext, Instant)
_IS_DEAD: ColumnElement[bool] = _JOB.c.status == literal_column("'failed'")
_RETRY_DEAD = text("""
    SELECT id, procrastinate_retry_job_v2(id, NULL, NULL, NULL, NULL) FROM (
        SELECT id FROM procrastinate_jobs WHERE id = ANY(:ids) AND status = 'failed' ORDER BY id FOR UPDATE
    ) dead
""")
# The count of attempts tells claims apart, so it never becomes smaller.
_FORGET_TRIES = text("""
    UPDATE procrastinate_jobs SET args = (args - 'error') || jsonb_build_object('forgotten', attempts)
    WHERE id = ANY(:ids)
""")
_RETRY_FAILED = text("""
    UPDATE procrastinate_jobs SET args = args || jsonb_build_object('forgotten', attempts), scheduled_at = NULL
    WHERE status = 'todo' AND strpos(args ->> 'error', :error) > 0
    RETURNING pg_notify(
        'procrastinate_queue_v1#' || queue_name, json_build_object('type', 'job_inserted', 'job_id', id)::text
    )
""")


def retry_deferred(connection: Connection, error: str) -> None:
    """Make those waiting jobs due, as if they had not been tried, whose last error has these words."""
    connection.execute(_RETRY_FAILED, {"error": error})


def list_dead_deferred(connection: Connection, *, lane: str | None, limit: int) -> tuple[DeadRow, ...]:
    """Return jobs that were given up, the oldest first."""
    columns = (_JOB.c.id, _JOB.c.queue_name, _JOB.c.args, _JOB.c.attempts, _ACCEPTED_AT.label("accepted_at"))
    query = select(*columns).where(_IS_DEAD).order_by(_JOB.c.id).limit(limit)
    if lane is not None:
        query = query.where(_JOB.c.queue_name == lane)
    return tuple(
        DeadRow(
            row.id,
            row.queue_name,
            row.args["payload"],
            row.accepted_at,
            row.attempts - row.args.get("forgotten", 0),
            row.args.get("error", ""),
        )
        for row in connection.execute(query)
    )


def retry_dead_deferred(connection: Connection, ids: Collection[int]) -> tuple[int, ...]:
    """Queue jobs again, as if they had not been tried; return those that had been given up."""
    found = [row.id for row in connection.execute(_RETRY_DEAD, {"ids": list(ids)})]
    connection.execute(_FORGET_TRIES, {"ids": found})
    return tuple(sorted(found))


def drop_dead_deferred(connection: Connection, ids: Collection[int]) -> tuple[int, ...]:
    """Delete jobs; return those that had been given up."""
    gone = delete(_JOB).where(_JOB.c.id.in_(ids), _IS_DEAD).returning(_JOB.c.id)
    return tuple(sorted(connection.scalars(gone)))


def prune_dead_deferred(connection: Connection, *, before: datetime, limit: int) -> int:
    """Delete at most ``limit`` jobs that were accepted before an instant and given up; return their number."""
    old = select(_JOB.c.id).where(_IS_DEAD, before > _ACCEPTED_AT).order_by(_JOB.c.id).limit(limit)
    return connection.execute(delete(_JOB).where(_JOB.c.id.in_(old))).rowcount


HAS_DEFERRED: ColumnElement[bool] = exists().where(
    _JOB.c.queue_name == RECEIPT.c.lane,
    _JOB.c.args["dedupe"].astext == RECEIPT.c.dedupe,
    _JOB.c.status.in_(_UNFINISHED),
)
"""The condition that the job of a receipt is not done."""


def _select_unfinished(lane: str) -> Select[Any]:
    columns = (_JOB.c.id, _JOB.c.queue_name, _JOB.c.lock, _JOB.c.args, _JOB.c.attempts, _JOB.c.status)
    return select(*columns).where(_JOB.c.queue_name == lane, _JOB.c.status.in_(_UNFINISHED))


def _claim_of(job: Job) -> dict[str, int]:
    return {"id": job.id, "attempts": job.fence - 1}


def _to_job(row: RowMapping) -> Job:
    args, lane = row["args"], row["queue_name"]
    is_waiting = row.get("status") == "todo"
    return Job(
        id=row["id"],
        lane=lane,
        key=row["lock"].removeprefix(build_lock(lane, "")),
        dedupe=args["dedupe"],
        payload=parse_mapping(args["payload"], f"Job {row['id']}"),
        attempts=row["attempts"] - args.get("forgotten", 0) + (not is_waiting),
        fence=row["attempts"] + (not is_waiting),
    )

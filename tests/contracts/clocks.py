"""A PostgreSQL database whose clock the tests set. Procrastinate and leases follow the clock of the database."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from sqlalchemy import Connection, text
from tests.contracts.jobs_contract import NOON

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.journal import SqlJournal
from fateforger.adapters.store.store import open_store
from fateforger.calendar.ports import Lease
from fateforger.ports.jobs import Job, Jobs, NewJob

_MAKE = (
    "CREATE SCHEMA IF NOT EXISTS turned",
    "CREATE TABLE IF NOT EXISTS turned.clock (at timestamptz)",
    "DELETE FROM turned.clock",
    f"INSERT INTO turned.clock VALUES ('{NOON.isoformat()}')",
    *(
        f"CREATE OR REPLACE FUNCTION turned.{name}() RETURNS timestamptz LANGUAGE sql AS 'SELECT at FROM turned.clock'"
        for name in ("now", "clock_timestamp")
    ),
)
_TURN = text("UPDATE turned.clock SET at = :at")


async def with_turned_clock(url: str) -> str:
    """Return a URL of the same database in which ``now()`` is the time that the tests set.

    The schema of :class:`DatabaseClockJobs` and :class:`DatabaseClockJournal` comes first in it.
    """
    store = open_store(url)
    for statement in _MAKE:
        await store.database.write(partial(Connection.exec_driver_sql, statement=statement))
    await store.aclose()
    return f"{url}&options=-csearch_path%3Dturned,public,pg_catalog"


@dataclass
class DatabaseClockJobs:
    """Jobs that set the clock of their database to the time of each call."""

    jobs: Jobs
    database: Database

    async def enqueue(self, job: NewJob, *, now: datetime) -> bool:
        await self._turn(now)
        return await self.jobs.enqueue(job, now=now)

    async def was_accepted(self, lane: str, dedupe: str) -> bool:
        return await self.jobs.was_accepted(lane, dedupe)

    async def find_unfinished(self, lane: str, dedupe: str) -> Job | None:
        return await self.jobs.find_unfinished(lane, dedupe)

    async def list_unfinished(self, lane: str, key: str) -> tuple[Job, ...]:
        return await self.jobs.list_unfinished(lane, key)

    async def count_unfinished(self, lane: str, key: str) -> int:
        return await self.jobs.count_unfinished(lane, key)

    async def claim(self, lane: str, owner: str, *, now: datetime, lease_seconds: float) -> Job | None:
        await self._turn(now)
        return await self.jobs.claim(lane, owner, now=now, lease_seconds=lease_seconds)

    async def extend(self, job: Job, *, now: datetime, lease_seconds: float) -> bool:
        await self._turn(now)
        return await self.jobs.extend(job, now=now, lease_seconds=lease_seconds)

    async def finish(self, job: Job) -> bool:
        return await self.jobs.finish(job)

    async def retry(self, job: Job, error: str, *, run_at: datetime, now: datetime) -> bool:
        await self._turn(now)
        return await self.jobs.retry(job, error, run_at=run_at, now=now)

    async def bury(self, job: Job, error: str) -> bool:
        return await self.jobs.bury(job, error)

    async def get_share(self, owner: str) -> tuple[int, int]:
        return await self.jobs.get_share(owner)

    async def count_programs(self) -> int:
        return await self.jobs.count_programs()

    async def listen(self, lanes: Iterable[str], on_news: Callable[[str], None]) -> None:
        await self.jobs.listen(lanes, on_news)

    async def wait(self, lane: str, *, seconds: float) -> None:
        await self.jobs.wait(lane, seconds=seconds)

    async def _turn(self, now: datetime) -> None:
        await _turn(self.database, now)


class DatabaseClockJournal(SqlJournal):
    """A journal that sets the clock of its database to the time of each call."""

    async def acquire(self, calendar: str, owner: str, *, now: datetime, seconds: float) -> Lease | None:
        await _turn(self._database, now)
        return await super().acquire(calendar, owner, now=now, seconds=seconds)


async def _turn(database: Database, now: datetime) -> None:
    await database.write_now(lambda connection: connection.execute(_TURN, {"at": now}))

"""Both queues of jobs keep the contract: a table of leases in SQLite, and Procrastinate's on PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter
from sqlalchemy import Connection
from tests.contracts.clocks import DatabaseClockJobs, with_turned_clock
from tests.contracts.jobs_contract import NOON, JobsContract, later, names, put, take, take_job
from tests.contracts.stores import Kind, two_stores
from tests.postgres import PostgresServer, Shutdown

from fateforger.adapters.clock import SystemClock
from fateforger.adapters.store.jobs import LeaseJobs
from fateforger.adapters.store.store import Store, open_store
from fateforger.errors import StoreUnavailable
from fateforger.ports.jobs import Job, Jobs
from fateforger.workers.lanes import LISTENING, Backoff, Lane, LanePolicy, TryLater
from fateforger.workers.supervisor import LaneWorkers, Repeated

SQLITE: tuple[Kind, ...] = ("memory", "file")


class TestLeaseJobs(JobsContract):
    @pytest.fixture(params=SQLITE)
    async def stores(self, request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Store, Store]]:
        async with two_stores(request, tmp_path) as stores:
            yield stores

    @pytest.fixture
    def jobs(self, stores: tuple[Store, Store]) -> Jobs:
        return stores[0].jobs

    @pytest.fixture
    def other(self, stores: tuple[Store, Store]) -> Jobs:
        return stores[1].jobs

    async def test_claims_of_the_dead_can_be_taken_back_at_once(self, jobs: LeaseJobs, other: LeaseJobs) -> None:
        """S161: a process that keeps its name need not wait for its leases. A worker that was alive after all finds its
        claim lost. Those of others stay."""
        for name in ("a1", "b1", "c1"):
            await put(jobs, name, name[0])
        lost = await take_job(jobs, owner="dead")
        held = await take_job(other, owner="alive")
        assert await other.take_back("dead") == 1
        assert not await jobs.finish(lost)
        assert [(await take_job(other)).dedupe for _ in range(2)] == ["a1", "c1"]
        assert await other.take_back("dead") == 0
        assert await other.finish(held)

    async def test_a_retry_is_not_held_up_by_a_clock_that_is_set_back(self, jobs: LeaseJobs, other: LeaseJobs) -> None:
        """S390: nor is what waits behind it. What is meant for later from the beginning waits all the same."""
        await put(jobs, "a1", "a")
        await put(jobs, "a2", "a")
        await put(jobs, "b1", "b", run_at=later(3600))
        assert await jobs.retry(await take_job(jobs), "slow", run_at=later(30), now=NOON)
        assert await names(other, -3600) == ["a1", "a2"]

    async def test_what_waits_for_another_try_is_due_once_the_dead_are_known(self, jobs: LeaseJobs) -> None:
        """S403: the clock that set the time may have been ahead. A job for a later time still waits."""
        await put(jobs, "a1", "a")
        await put(jobs, "b1", "b", run_at=later(100))
        assert await jobs.retry(await take_job(jobs), "slow", run_at=later(100), now=NOON)
        assert await names(jobs) == []
        assert await jobs.take_back("w1") == 0
        assert await names(jobs) == ["a1"]


class TestProcrastinateJobs(JobsContract):
    @pytest.fixture
    async def stores(self, postgres: str) -> AsyncIterator[tuple[Store, Store]]:
        where = await with_turned_clock(postgres)
        stores = open_store(where), open_store(where)
        yield stores
        for store in stores:
            await store.aclose()

    @pytest.fixture
    def jobs(self, stores: tuple[Store, Store]) -> Jobs:
        return DatabaseClockJobs(stores[0].jobs, stores[0].database)

    @pytest.fixture
    def other(self, stores: tuple[Store, Store]) -> Jobs:
        return DatabaseClockJobs(stores[1].jobs, stores[1].database)

    async def test_waiting_ends_at_once_when_another_program_has_work(self, jobs: Jobs, other: Jobs) -> None:
        """S346: the database announces new work; there is no polling."""
        heard: list[str] = []
        listening = asyncio.ensure_future(jobs.listen(["turns"], heard.append))
        await asyncio.wait_for(jobs.wait("turns", seconds=600), 60)  # it listens now
        assert await take(jobs) is None
        waiting = asyncio.ensure_future(jobs.wait("turns", seconds=600))
        await put(other, "a1")
        await asyncio.wait_for(waiting, 60)
        assert (await take_job(jobs)).dedupe == "a1"
        assert heard == ["turns"]
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)

    @pytest.mark.parametrize("how", ["fast", "immediate"])
    async def test_work_of_another_program_is_heard_of_again_once_the_database_is_back(
        self, jobs: Jobs, other: Jobs, postgres_server: PostgresServer, how: Shutdown
    ) -> None:
        """S402: the listening connection is opened again, and work that came before is found."""
        rounds = Repeated(LISTENING, partial(jobs.listen, ["turns"], lambda _lane: None))
        rounds.start()
        await asyncio.wait_for(jobs.wait("turns", seconds=600), 60)  # it listens now
        assert await take(jobs) is None
        postgres_server.stop(how)
        postgres_server.start()
        await asyncio.wait_for(jobs.wait("turns", seconds=600), 60)  # it listens again
        assert await take(jobs) is None
        waiting = asyncio.ensure_future(jobs.wait("turns", seconds=600))
        await put(other, "a1")
        await asyncio.wait_for(waiting, 60)
        assert (await take_job(jobs)).dedupe == "a1"
        await rounds.stop()

    async def test_a_claim_that_the_program_did_not_learn_of_is_made_again(
        self, stores: tuple[Store, Store], jobs: Jobs, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """S402: the database was stopped between the commit and its answer, and the program lives on."""
        database, lost = stores[0].database, [StoreUnavailable("The connection was lost.")]
        write_now = database.write_now

        async def lose_answer(work: Callable[[Connection], Any]) -> Any:
            done = await write_now(work)
            if lost and isinstance(done, Mapping):
                raise lost.pop()
            return done

        monkeypatch.setattr(database, "write_now", lose_answer)
        await put(jobs, "a1")
        with pytest.raises(StoreUnavailable):
            await take(jobs)
        held = await take_job(jobs)
        assert held.dedupe == "a1"
        assert await take(jobs) is None
        assert await jobs.finish(held)

    async def test_programs_that_are_alive_divide_work(self, jobs: Jobs, other: Jobs) -> None:
        """S348: each counts as long as it is heard of."""
        assert await take(jobs) is None
        assert await jobs.get_share("w1") == (0, 1)
        assert await take(other, owner="w2") is None
        assert (await jobs.get_share("w1"), await other.get_share("w2")) == ((0, 2), (1, 2))
        assert (await jobs.count_programs(), await other.count_programs()) == (2, 2)
        assert await take(other, 60, owner="w2") is None
        assert await other.count_programs() == 1
        assert await other.get_share("w2") == (0, 1)

    async def test_a_program_that_stops_leaves_its_jobs_at_once(self, stores: tuple[Store, Store], jobs: Jobs) -> None:
        await put(jobs, "a1")
        await take_job(jobs)
        assert await take(DatabaseClockJobs(stores[1].jobs, stores[1].database)) is None
        await stores[0].aclose()
        assert await stores[1].jobs.claim("turns", "w2", now=NOON, lease_seconds=10) is not None


async def test_the_end_of_a_job_is_recorded_once_the_database_is_back(
    postgres: str, postgres_server: PostgresServer
) -> None:
    """S402: the database is away for longer than a lease, while the program lives on and its claim stays."""
    store = open_store(postgres)
    policy = LanePolicy(lease_seconds=0.3, poll_seconds=0.05, backoff=Backoff(0.05, 0.1))
    lane = Lane("turns", TypeAdapter(dict[str, Any]), policy)
    stopped, back, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def perform(_payload: dict[str, Any], job: Job) -> None:
        if job.attempts > 1:
            done.set()
            return
        await asyncio.to_thread(postgres_server.stop)
        stopped.set()
        raise TryLater("the database is away")

    workers = LaneWorkers(lane, lane.handle(perform), store.jobs, owner="w1", clock=SystemClock())
    await put(store.jobs, "a1")
    workers.start()
    await asyncio.wait_for(stopped.wait(), 60)
    with suppress(TimeoutError):
        await asyncio.wait_for(back.wait(), 4 * policy.lease_seconds)  # longer than the tries of a lease
    await asyncio.to_thread(postgres_server.start)
    await asyncio.wait_for(done.wait(), 60)
    await workers.stop()
    await store.aclose()

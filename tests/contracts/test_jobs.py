"""Both queues of jobs keep the contract: a table of leases in SQLite, and Procrastinate's on PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.contracts.clocks import TurnedJobs, with_turned_clock
from tests.contracts.jobs_contract import NOON, JobsContract, later, names, put, take, taken
from tests.contracts.stores import Kind, two_stores

from fateforger.adapters.store.jobs import LeaseJobs
from fateforger.adapters.store.store import Store, open_store
from fateforger.ports.jobs import Jobs

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
        lost = await taken(jobs, owner="dead")
        held = await taken(other, owner="alive")
        assert await other.take_back("dead") == 1
        assert not await jobs.finish(lost)
        assert [(await taken(other)).dedupe for _ in range(2)] == ["a1", "c1"]
        assert await other.take_back("dead") == 0
        assert await other.finish(held)

    async def test_a_retry_is_not_held_up_by_a_clock_that_is_set_back(self, jobs: LeaseJobs, other: LeaseJobs) -> None:
        """S390: nor is what waits behind it. What is meant for later from the beginning waits all the same."""
        await put(jobs, "a1", "a")
        await put(jobs, "a2", "a")
        await put(jobs, "b1", "b", run_at=later(3600))
        assert await jobs.retry(await taken(jobs), "slow", run_at=later(30), now=NOON)
        assert await names(other, -3600) == ["a1", "a2"]


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
        return TurnedJobs(stores[0].jobs, stores[0].database)

    @pytest.fixture
    def other(self, stores: tuple[Store, Store]) -> Jobs:
        return TurnedJobs(stores[1].jobs, stores[1].database)

    async def test_waiting_ends_at_once_when_another_program_has_work(self, jobs: Jobs, other: Jobs) -> None:
        """S346: the database tells of it; nobody looks again and again."""
        heard: list[str] = []
        listening = asyncio.ensure_future(jobs.listen(["turns"], heard.append))
        await asyncio.wait_for(jobs.wait("turns", seconds=600), 60)  # it listens now
        assert await take(jobs) is None
        waiting = asyncio.ensure_future(jobs.wait("turns", seconds=600))
        await put(other, "a1")
        await asyncio.wait_for(waiting, 60)
        assert (await taken(jobs)).dedupe == "a1"
        assert heard == ["turns"]
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)

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
        await taken(jobs)
        assert await take(TurnedJobs(stores[1].jobs, stores[1].database)) is None
        await stores[0].aclose()
        assert await stores[1].jobs.claim("turns", "w2", now=NOON, lease_seconds=10) is not None

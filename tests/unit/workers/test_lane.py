"""Workers of a lane over the real job table: once, in order, again after a failure, and given up in the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import TypeAdapter

from fateforger.adapters.clock import SystemClock
from fateforger.adapters.store.store import Store, open_store
from fateforger.errors import BadInput, InternalError, StoreUnavailable, VersionConflict
from fateforger.ports.jobs import LONGEST_RETRY, Job, NewJob
from fateforger.values import replace
from fateforger.workers.lanes import Backoff, Lane, LanePolicy, TryLater
from fateforger.workers.supervisor import LaneWorkers

FAST = LanePolicy(
    workers=4, tries=3, lease_seconds=5.0, poll_seconds=0.02, grace_seconds=1.0, backoff=Backoff(0.001, 0.002)
)
DEADLINE = 60.0


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    opened = open_store(":memory:")
    yield opened
    await opened.aclose()


class RecordingHandler:
    """A performer that notes its jobs, after an action of the test."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.ended: list[str] = []
        self.given_up: list[tuple[str, str]] = []
        self.first: Callable[[Job], Awaitable[None]] = nothing
        self.troubles: list[Exception] = []
        self.changed = asyncio.Condition()

    async def perform(self, _payload: dict[str, Any], job: Job) -> None:
        await self._note(self.begun, job.dedupe)
        await self.first(job)
        await self._note(self.ended, job.dedupe)

    async def give_up(self, job: Job, error: str) -> None:
        if self.troubles:
            raise self.troubles.pop()
        async with self.changed:
            self.given_up.append((job.dedupe, error))
            self.changed.notify_all()

    async def until(self, so: Callable[[], bool]) -> None:
        async with asyncio.timeout(DEADLINE), self.changed:
            await self.changed.wait_for(so)

    async def _note(self, where: list[str], name: str) -> None:
        async with self.changed:
            where.append(name)
            self.changed.notify_all()


async def nothing(_job: Job) -> None:
    return


@asynccontextmanager
async def at_work(store: Store, handler: RecordingHandler, policy: LanePolicy = FAST) -> AsyncIterator[LaneWorkers]:
    lane = Lane("lane", TypeAdapter(dict[str, Any]), policy, tells=True)
    workers = LaneWorkers(
        lane, lane.handle(handler.perform, handler.give_up), store.jobs, owner="w", clock=SystemClock()
    )
    workers.start()
    try:
        yield workers
    finally:
        await workers.stop()


async def put(store: Store, *names: str) -> None:
    """Enqueue jobs; the key is the part before the dot."""
    for name in names:
        await store.jobs.enqueue(
            NewJob(lane="lane", key=name.split(".")[0], dedupe=name, payload={}), now=datetime.now(UTC)
        )


async def has_job(store: Store) -> bool:
    """Check whether the lane has a job that could be claimed now."""
    return await store.jobs.claim("lane", "test", now=datetime.now(UTC), lease_seconds=5) is not None


async def test_jobs_of_one_key_run_in_order_and_others_beside_them(store: Store) -> None:
    handler = RecordingHandler()
    gate = asyncio.Event()

    async def first(job: Job) -> None:
        if job.dedupe == "a.1":
            await gate.wait()

    handler.first = first
    await put(store, "a.1", "a.2", "b.1", "b.2")
    async with at_work(store, handler):
        await handler.until(lambda: handler.ended == ["b.1", "b.2"])
        assert handler.begun.count("a.2") == 0
        gate.set()
        await handler.until(lambda: len(handler.ended) == 4)
    assert handler.ended == ["b.1", "b.2", "a.1", "a.2"]


async def test_a_new_job_is_begun_at_once(store: Store) -> None:
    handler = RecordingHandler()
    patient = replace(FAST, poll_seconds=60.0)
    async with at_work(store, handler, patient):
        for n in range(5):
            await put(store, f"k{n}.1")
            await handler.until(lambda n=n: len(handler.ended) == n + 1)  # type: ignore[misc]  # mypy cannot infer a lambda with a default
    assert len(handler.ended) == 5


@pytest.mark.parametrize(
    "error",
    [StoreUnavailable("full"), VersionConflict("newer"), TryLater("busy", 0.0), TryLater("busy"), KeyError("bug")],
    ids=lambda e: type(e).__name__,
)
async def test_what_may_pass_is_tried_again_before_the_next_of_its_key(store: Store, error: Exception) -> None:
    handler = RecordingHandler()

    async def first(job: Job) -> None:
        if job.dedupe == "a.1" and job.attempts == 1:
            raise error

    handler.first = first
    await put(store, "a.1", "a.2")
    async with at_work(store, handler):
        await handler.until(lambda: len(handler.ended) == 2)
    assert (handler.begun, handler.ended, handler.given_up) == (["a.1", "a.1", "a.2"], ["a.1", "a.2"], [])


async def test_a_job_that_keeps_failing_is_given_up_and_the_next_goes_on(store: Store) -> None:
    handler = RecordingHandler()

    async def first(job: Job) -> None:
        if job.dedupe == "a.1":
            raise StoreUnavailable("The disk is full.")

    handler.first = first
    await put(store, "a.1", "a.2")
    async with at_work(store, handler):
        await handler.until(lambda: handler.ended == ["a.2"] and bool(handler.given_up))
    assert handler.begun == ["a.1"] * 3 + ["a.2"]
    assert handler.given_up == [("a.1", "The disk is full.")]


@pytest.mark.parametrize("error", [BadInput("No such thing."), InternalError("No such thing.")], ids=lambda e: e.kind)
async def test_what_cannot_pass_is_given_up_at_once(store: Store, error: Exception) -> None:
    handler = RecordingHandler()

    async def first(_job: Job) -> None:
        raise error

    handler.first = first
    await put(store, "a.1")
    async with at_work(store, handler):
        await handler.until(lambda: bool(handler.given_up))
    assert (handler.begun, handler.given_up) == (["a.1"], [("a.1", "No such thing.")])
    assert not await has_job(store)


async def test_no_job_is_given_up_untold(store: Store) -> None:
    """S403: neither while the database is away, nor if the program dies meanwhile."""
    handler = RecordingHandler()

    async def first(_job: Job) -> None:
        raise BadInput("No such thing.")

    handler.first = first
    handler.troubles = [StoreUnavailable("The disk is full."), VersionConflict("newer")]
    await put(store, "a.1")
    async with at_work(store, handler):
        await handler.until(lambda: bool(handler.given_up))
    assert (handler.begun, handler.given_up) == (["a.1"], [("a.1", "No such thing.")])
    assert not await has_job(store)


@pytest.mark.parametrize("trouble", [KeyError("bug"), StoreUnavailable("The session is damaged.")])
async def test_a_job_whose_end_cannot_be_told_does_not_hold_up_the_next(store: Store, trouble: Exception) -> None:
    """Also if its session can never be read, while the database itself answers."""
    handler = RecordingHandler()

    async def first(job: Job) -> None:
        if job.dedupe == "a.1":
            raise BadInput("No such thing.")

    handler.first = first
    handler.troubles = [trouble] * 100
    await put(store, "a.1", "a.2")
    async with at_work(store, handler):
        await handler.until(lambda: handler.ended == ["a.2"])


async def test_a_long_job_keeps_its_claim(store: Store) -> None:
    handler = RecordingHandler()
    gate = asyncio.Event()

    async def first(_job: Job) -> None:
        await gate.wait()

    handler.first = first
    await put(store, "a.1")
    async with at_work(store, handler, replace(FAST, lease_seconds=1.0)):
        await handler.until(lambda: handler.begun == ["a.1"])
        begun = asyncio.get_running_loop().time()
        while asyncio.get_running_loop().time() < begun + 1.5:  # more than a lease
            assert not await has_job(store)
            await asyncio.sleep(0.1)  # between two looks
        gate.set()
        await handler.until(lambda: handler.ended == ["a.1"])
    assert handler.begun == ["a.1"]


async def test_a_job_whose_claim_was_lost_is_stopped(store: Store) -> None:
    """Another worker took over, so this one must not go on writing."""
    handler = RecordingHandler()

    async def first(job: Job) -> None:
        now = datetime.now(UTC)
        await store.jobs.retry(job, "taken away", run_at=now + LONGEST_RETRY / 2, now=now)
        await asyncio.Event().wait()

    handler.first = first
    await put(store, "a.1", "b.1")
    async with at_work(store, handler, replace(FAST, lease_seconds=0.06)) as workers:
        await handler.until(lambda: len(handler.begun) == 2)
        async with asyncio.timeout(DEADLINE):
            while workers.busy:  # noqa: ASYNC110  nothing tells when a worker of another object ends
                await asyncio.sleep(0.005)  # between two looks
    assert (handler.ended, handler.given_up) == ([], [])


async def test_stopping_lets_running_jobs_end_and_begins_no_more(store: Store) -> None:
    handler = RecordingHandler()
    gate = asyncio.Event()

    async def first(_job: Job) -> None:
        await gate.wait()

    handler.first = first
    await put(store, "a.1", "a.2")
    async with at_work(store, handler, replace(FAST, grace_seconds=DEADLINE)) as workers:
        await handler.until(lambda: handler.begun == ["a.1"])
        stopping = asyncio.create_task(workers.stop())
        gate.set()
        await stopping
    assert (handler.begun, handler.ended) == (["a.1"], ["a.1"])
    assert await has_job(store)


async def test_a_job_that_does_not_end_in_time_is_put_back_for_the_next_start(store: Store) -> None:
    handler = RecordingHandler()

    async def first(_job: Job) -> None:
        await asyncio.Event().wait()

    handler.first = first
    await put(store, "a.1")
    async with at_work(store, handler, replace(FAST, grace_seconds=0.01)) as workers:
        await handler.until(lambda: handler.begun == ["a.1"])
        await workers.stop()
    assert handler.ended == []
    assert await has_job(store)


async def test_the_next_process_goes_on_where_the_last_one_stopped(store: Store) -> None:
    """S241: all jobs are handled, in order, by any process."""
    await put(store, "a.1", "a.2", "a.3")
    first, second = RecordingHandler(), RecordingHandler()
    async with at_work(store, first, replace(FAST, workers=1)):
        await first.until(lambda: bool(first.begun))
    async with at_work(store, second):
        await second.until(lambda: len(first.ended) + len(second.ended) == 3)
    assert first.ended + second.ended == ["a.1", "a.2", "a.3"]


def test_backoff_grows_to_a_limit() -> None:
    backoff = Backoff(first=0.5, longest=10.0)
    assert [backoff.after(n) for n in (1, 2, 3, 6, 1000)] == [0.5, 1.0, 2.0, 10.0, 10.0]

"""Of all programs on one database one sends at a time; when it stops or dies, another one does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.contracts.stores import KINDS, two_stores

from fateforger.adapters.clock import SystemClock
from fateforger.adapters.store.store import Store
from fateforger.errors import InternalError
from fateforger.slack.dispatcher import SENDING_JOB, build_sending_handler
from fateforger.values import replace
from fateforger.workers.lanes import SENDING, Backoff
from fateforger.workers.supervisor import Supervisor

FAST = replace(SENDING.policy, lease_seconds=2.0, poll_seconds=0.02, backoff=Backoff(0.01, 0.05))
LANE = replace(SENDING, policy=FAST)


def build_sender(store: Store, send: Callable[[], Awaitable[None]], name: str) -> Supervisor:
    """Return a program that only sends."""
    return Supervisor(store.jobs, [build_sending_handler(send)], owner=name, clock=SystemClock(), lanes=[LANE])


@pytest.fixture(params=KINDS)
async def stores(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Store, Store]]:
    async with two_stores(request, tmp_path) as stores:
        await stores[0].jobs.enqueue(SENDING_JOB, now=datetime.now(UTC))
        await stores[1].jobs.enqueue(SENDING_JOB, now=datetime.now(UTC))
        yield stores


class SenderLog:
    """A record of sending programs: those that send now, and all that ever did."""

    def __init__(self) -> None:
        self.now: list[str] = []
        self.ever: list[str] = []
        self.halted: dict[str, asyncio.Event] = {}
        self.changed = asyncio.Condition()

    def program(self, name: str, store: Store) -> Supervisor:
        self.halted[name] = asyncio.Event()

        async def send() -> None:
            await self._note(name, sends=True)
            try:
                await self.halted[name].wait()
            finally:
                await self._note(name, sends=False)

        workers = build_sender(store, send, name)
        workers.start()
        return workers

    async def stop(self, name: str, workers: Supervisor) -> None:
        self.halted[name].set()
        await workers.stop()

    async def until(self, ever: list[str]) -> None:
        async with asyncio.timeout(60), self.changed:
            await self.changed.wait_for(lambda: self.ever == ever)

    async def _note(self, name: str, *, sends: bool) -> None:
        async with self.changed:
            if sends:
                self.ever.append(name)
                self.now.append(name)
                assert self.now == [name]
            else:
                self.now.remove(name)
            self.changed.notify_all()


async def leased_until(store: Store) -> int:
    """Return the end of the lease in microseconds."""
    query = "SELECT leased_until FROM job"
    if store.database.engine.dialect.name != "sqlite":
        query = "SELECT extract(epoch FROM min(last_heartbeat)) * 1e6 FROM procrastinate_workers"
    found = await store.database.read(lambda connection: connection.exec_driver_sql(query).scalar_one())
    return int(found or 0)  # none between two claims


async def test_when_the_one_that_sends_stops_another_one_sends(stores: tuple[Store, Store]) -> None:
    """S180: two would post the same message twice."""
    street = SenderLog()
    one = street.program("one", stores[0])
    await street.until(["one"])
    two = street.program("two", stores[1])
    begun = await leased_until(stores[1])
    async with asyncio.timeout(60):
        # Longer than a lease: it was renewed.
        while await leased_until(stores[1]) <= begun + FAST.lease_seconds * 1e6:  # noqa: ASYNC110  another program's write
            await asyncio.sleep(0.01)
    assert street.ever == ["one"]
    await street.stop("one", one)
    await street.until(["one", "two"])
    await street.stop("two", two)
    assert street.now == []


async def test_when_the_one_that_sends_dies_another_one_sends(stores: tuple[Store, Store]) -> None:
    """S161: a claim of the dead ends with its lease."""
    dead = await stores[0].jobs.claim("sending", "dead", now=datetime.now(UTC), lease_seconds=FAST.lease_seconds)
    assert dead is not None
    street = SenderLog()
    two = street.program("two", stores[1])
    await street.until(["two"])
    assert not await stores[0].jobs.finish(dead)
    await street.stop("two", two)


async def test_a_failure_does_not_end_the_sending(stores: tuple[Store, Store]) -> None:
    """The job is there once and for ever, so it must never be given up."""
    tries: list[int] = []
    sent = asyncio.Event()

    async def send() -> None:
        tries.append(len(tries))
        if len(tries) <= 12:
            raise InternalError("a bug")
        sent.set()

    workers = build_sender(stores[0], send, "one")
    workers.start()
    await asyncio.wait_for(sent.wait(), 60)
    await workers.stop()
    assert await stores[0].jobs.claim("sending", "two", now=datetime.now(UTC), lease_seconds=1) is not None

"""The supervisor: every row of the table has a handler, and all of them start, are woken and stop together."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import TypeAdapter

from fateforger.adapters.clock import SystemClock
from fateforger.adapters.store.store import open_store
from fateforger.errors import InternalError
from fateforger.ports.jobs import Job
from fateforger.values import replace
from fateforger.workers.lanes import LANES, Lane, Row, Timer
from fateforger.workers.supervisor import BackgroundTasks, Handler, Repeated, Supervisor

PING = Timer("ping", seconds=3_600.0)
WORK = Lane("work", TypeAdapter(dict[str, int]), wakes=("ping",))
LAST = Lane("last", TypeAdapter(dict[str, int]), last=True)


async def perform(_payload: dict[str, int], _job: Job) -> None:
    return


async def repeat() -> None:
    return


async def supervise(*handlers: Handler, lanes: tuple[Row, ...] = (WORK, PING)) -> Supervisor:
    return Supervisor(open_store(":memory:").jobs, handlers, owner="w", clock=SystemClock(), lanes=lanes)


async def test_a_row_without_a_handler_is_refused() -> None:
    with pytest.raises(InternalError, match="'ping' has no handler"):
        await supervise(WORK.handle(perform))


async def test_a_handler_without_a_row_is_refused() -> None:
    with pytest.raises(InternalError, match="no background work of these names: last"):
        await supervise(WORK.handle(perform), Repeated(PING, repeat), LAST.handle(perform))


async def test_a_handler_of_the_wrong_kind_is_refused() -> None:
    with pytest.raises(InternalError, match="'ping' has no handler"):
        await supervise(WORK.handle(perform), Lane("ping", TypeAdapter(dict[str, int])).handle(perform))


async def test_a_row_that_is_switched_off_needs_no_code() -> None:
    supervisor = Supervisor(
        open_store(":memory:").jobs, [WORK.handle(perform)], owner="w", clock=SystemClock(), lanes=(WORK,)
    )
    supervisor.start()
    supervisor.wake(PING)
    await supervisor.stop()


async def test_a_lane_that_tells_people_needs_the_code_for_that() -> None:
    with pytest.raises(InternalError, match="disagree"):
        Lane("told", TypeAdapter(dict[str, int]), tells=True).handle(perform)


async def test_a_job_wakes_the_rows_that_it_names() -> None:
    store, rounds = open_store(":memory:"), asyncio.Semaphore(0)

    async def count() -> None:
        rounds.release()

    handlers: list[Handler] = [WORK.handle(perform), Repeated(PING, count)]
    supervisor = Supervisor(store.jobs, handlers, owner="w", clock=SystemClock(), lanes=(WORK, PING))
    supervisor.start()
    async with asyncio.timeout(60):
        await rounds.acquire()
        await store.jobs.enqueue(NUMBER, now=SystemClock().now())
        await rounds.acquire()
    await supervisor.stop()
    await store.aclose()


@pytest.mark.parametrize("each", [False, True])
async def test_a_round_that_leaves_something_over_is_followed_soon(each: bool) -> None:  # noqa: FBT001  a parameter
    """S396: although rounds are an hour apart."""
    store, timer, rounds = open_store(":memory:"), replace(PING, each=each), asyncio.Semaphore(0)
    left = 3

    async def work_off() -> bool:
        nonlocal left
        left -= 1
        rounds.release()
        return left > 0

    handlers: list[Handler] = [WORK.handle(perform), Repeated(timer, work_off)]
    supervisor = Supervisor(store.jobs, handlers, owner="w", clock=SystemClock(), lanes=(WORK, timer))
    supervisor.start()
    async with asyncio.timeout(60):
        for _ in range(3):
            await rounds.acquire()
    await supervisor.stop()
    await store.aclose()


async def test_a_clock_that_is_set_back_delays_no_round() -> None:
    """S427: else reminders, rituals and the recovery of writes would wait until the clock is where it was."""
    store, timer, rounds = open_store(":memory:"), Timer("ping", seconds=0.05), asyncio.Semaphore(0)
    back = timedelta()

    class Clock:
        def now(self) -> datetime:
            return datetime.now(UTC) - back

    async def work_off() -> None:
        rounds.release()

    handlers: list[Handler] = [WORK.handle(perform), Repeated(timer, work_off)]
    supervisor = Supervisor(store.jobs, handlers, owner="w", clock=Clock(), lanes=(WORK, timer))
    supervisor.start()
    async with asyncio.timeout(30):
        await rounds.acquire()
        back = timedelta(hours=1)
        while rounds._value:
            await rounds.acquire()
        for _ in range(3):
            await rounds.acquire()
    await supervisor.stop()
    await store.aclose()


NUMBER = WORK.build_job({"number": 1}, key="k", dedupe="d")


async def test_the_lane_that_carries_out_what_others_leave_stops_last() -> None:
    stopped: list[str] = []
    handlers = [
        LAST.handle(perform, halt=lambda: stopped.append("last")),
        WORK.handle(perform, halt=lambda: stopped.append("work")),
    ]
    supervisor = await supervise(*handlers, lanes=(LAST, WORK))
    supervisor.start()
    await supervisor.stop()
    assert stopped == ["work", "last"]


def test_names_are_unique() -> None:
    names = [row.name for row in LANES]
    assert len(set(names)) == len(names)


def test_the_names_of_stored_jobs_never_change() -> None:
    """Jobs that an earlier version enqueued run after an update."""
    assert {row.name for row in LANES if isinstance(row, Lane)} == {
        "sending", "turn", "greeting", "letter", "stop", "proposal", "erasing", "memory", "extract", "compare",
        "reminder", "connection", "sentence",
    }  # fmt: skip


async def test_tasks_end_with_their_owner_and_failures_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    tasks, begun = BackgroundTasks(), asyncio.Event()

    async def wait() -> None:
        begun.set()
        await asyncio.Event().wait()

    async def fail() -> None:
        raise ValueError("a bug")

    waiting = tasks.start(wait(), name="waiting")
    tasks.start(fail(), name="failing")
    await begun.wait()
    await tasks.close()
    assert (waiting.cancelled(), [record.getMessage() for record in caplog.records]) == (True, ["failing failed"])

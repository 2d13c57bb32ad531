"""The turn lane: commands in order, and an apology when one cannot be handled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime

import pytest

from fateforger.adapters.clock import SystemClock
from fateforger.adapters.store.store import Store, open_store
from fateforger.errors import StoreUnavailable
from fateforger.ports.jobs import Job, NewJob
from fateforger.session.commands import COMMAND, InboxCommand
from fateforger.session.commands.plan import RefreshCalendar
from fateforger.session.commands.thread import Opening, StartTimeboxing, TimeboxingUserReply
from fateforger.session.model import Session
from fateforger.session.queue_commands import QueueCommandBase, ShowTasks
from fateforger.text import SOURCE
from fateforger.values import replace
from fateforger.workers.lanes import NOTIFICATION, SENDING, TURN, Backoff, LanePolicy
from fateforger.workers.people import LanguageService
from fateforger.workers.supervisor import Supervisor
from fateforger.workers.turns import APOLOGY, Handle, build_command_job, build_turn_handler

AT = datetime(2026, 3, 5, 8, tzinfo=UTC)
FAST = replace(TURN, policy=LanePolicy(workers=4, tries=2, poll_seconds=0.02, backoff=Backoff(first=0.001)))
SESSION = Session(
    id="s1", user_id="U1", channel="C1", thread_ts="1.0", created_at=AT, touched_at=AT, tz="Etc/UTC", date=AT.date()
)


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    opened = open_store(":memory:")
    yield opened
    await opened.aclose()


def reply(n: int, session_id: str = "s1") -> TimeboxingUserReply:
    return TimeboxingUserReply(command_id=f"c{n}", user_id="U1", at=AT, session_id=session_id, text=f"text {n}")


async def put(store: Store, *commands: InboxCommand) -> None:
    for command in commands:
        key = (
            command.channel if isinstance(command, StartTimeboxing | Opening | QueueCommandBase) else command.session_id
        )
        payload = COMMAND.dump_python(command, mode="json")
        job = NewJob(lane=TURN.name, key=key, dedupe=command.command_id, payload=payload)
        await store.jobs.enqueue(job, now=AT)


def build_workers(store: Store, handle: Handle, wake: Callable[[], None] = lambda: None) -> Supervisor:
    """Return the lane of commands, and a sender that is only woken."""
    clock = SystemClock()

    async def send(_payload: object, _job: Job) -> None:
        raise AssertionError("not reached")

    turns = build_turn_handler(handle, store.jobs, store.sessions, LanguageService(store.languages, SOURCE), clock)
    handlers = [SENDING.handle(send, wake=wake), turns]
    return Supervisor(store.jobs, handlers, owner="w", clock=clock, lanes=[SENDING, FAST])


async def run(store: Store, handle: Handle, turns: int) -> list[str]:
    """Work until the sender was woken so often; returns the ids of the messages that wait then."""
    calls = asyncio.Semaphore(0)
    workers = build_workers(store, handle, calls.release)
    workers.start()
    async with asyncio.timeout(60):
        for _ in range(turns):
            await calls.acquire()
    await workers.stop()
    return [item.id for item in await store.outbox.pending(now=datetime.now(UTC))]


async def test_commands_arrive_as_they_were_recorded(store: Store) -> None:
    handled: list[InboxCommand] = []

    async def handle(command: InboxCommand) -> None:
        handled.append(command)

    start = StartTimeboxing(command_id="c0", user_id="U1", at=AT, channel="C1", tz="Europe/Amsterdam", date=AT.date())
    commands: list[InboxCommand] = [start, *(reply(n) for n in range(1, 6))]
    await put(store, *commands)
    assert await run(store, handle, 6) == []
    assert [c for c in handled if c != start] == commands[1:]
    assert handled.count(start) == 1


async def test_a_command_that_cannot_be_handled_ends_in_one_apology(store: Store) -> None:
    await store.sessions.save(SESSION, expected=0)

    async def handle(_command: InboxCommand) -> None:
        raise StoreUnavailable("The disk is full.")

    await put(store, reply(1))
    assert await run(store, handle, 1) == ["sorry-1"]
    (sorry,) = await store.outbox.pending(now=datetime.now(UTC))
    assert (sorry.session_id, sorry.channel, sorry.card.text) == ("s1", "C1", APOLOGY)


async def test_a_job_that_is_no_command_ends_in_one_apology(store: Store) -> None:
    await store.sessions.save(SESSION, expected=0)
    job = NewJob(lane=TURN.name, key="s1", dedupe="x", payload={"kind": "dance", "session_id": "s1"})
    await store.jobs.enqueue(job, now=AT)

    async def handle(_command: InboxCommand) -> None:
        raise AssertionError("not reached")

    assert await run(store, handle, 1) == ["sorry-1"]


async def test_without_a_session_there_is_nobody_to_apologise_to(store: Store) -> None:
    handled: list[str] = []

    async def handle(command: InboxCommand) -> None:
        handled.append(command.command_id)
        if command.command_id == "c1":
            raise StoreUnavailable("The disk is full.")

    await put(store, reply(1, "nobody"), reply(2, "nobody"))
    assert await run(store, handle, 2) == []
    assert handled == ["c1", "c1", "c2"]


async def test_a_look_that_nobody_asked_for_waits_its_turn_and_ends_without_an_apology(store: Store) -> None:
    """S115: in order with the person's commands of that session."""
    await store.sessions.save(SESSION, expected=0)
    handled: list[str] = []

    async def handle(command: InboxCommand) -> None:
        handled.append(command.command_id)
        if isinstance(command, RefreshCalendar):
            raise StoreUnavailable("The disk is full.")

    look = RefreshCalendar(command_id="look:1", session_id="s1")
    await put(store, reply(1))
    assert await store.jobs.enqueue(build_command_job(look, key=look.session_id), now=AT)
    assert not await store.jobs.enqueue(build_command_job(look, key=look.session_id), now=AT)
    await put(store, reply(2))
    assert await run(store, handle, 3) == []
    assert handled == ["c1", "look:1", "look:1", "c2"]


async def test_a_command_about_the_queue_that_cannot_be_handled_ends_in_one_apology(store: Store) -> None:
    """It belongs to no session, so the apology goes to the place of the command."""

    async def handle(_command: InboxCommand) -> None:
        raise StoreUnavailable("The disk is full.")

    await put(store, ShowTasks(command_id="c1", user_id="U1", at=AT, channel="D1"))
    workers = build_workers(store, handle)
    workers.start()
    async with asyncio.timeout(60):
        while (job := await store.jobs.claim(NOTIFICATION.name, "w", now=datetime.now(UTC), lease_seconds=9)) is None:
            await store.jobs.wait(NOTIFICATION.name, seconds=0.2)
    await workers.stop()
    assert (job.payload["channel"], job.payload["card"]["text"]) == ("D1", APOLOGY)

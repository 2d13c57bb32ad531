"""The whole program: every configured service, and a stand-in for every other one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import date

from fateforger.adapters.painter import ResvgRasterizer
from fateforger.adapters.store import Store
from fateforger.background.indexing import Indexer
from fateforger.background.ownership import Ownership
from fateforger.bootstrap.beside import run_in_background
from fateforger.bootstrap.claim import lock_data_dir, read_replica_name
from fateforger.bootstrap.ground import build_clock, open_state, submitter
from fateforger.bootstrap.lists import build_external_list
from fateforger.bootstrap.memory import build_memory
from fateforger.bootstrap.mind import build_model, count_usage, describe_model
from fateforger.bootstrap.notes import build_turn_log
from fateforger.bootstrap.owner import build_ownership, describe_claim, describe_owner
from fateforger.bootstrap.people import build_personal_data
from fateforger.bootstrap.pulse import HealthCheck
from fateforger.bootstrap.remembering import run_memory_workers
from fateforger.bootstrap.surroundings import open_integrations
from fateforger.commit import CalendarSubmitter, read_day
from fateforger.config import Settings
from fateforger.coordinator import PlanningCoordinator
from fateforger.coordinator.approving import Approvals
from fateforger.coordinator.closing import SessionCloser
from fateforger.coordinator.executor.carried import Tools
from fateforger.coordinator.memory import MemoryService
from fateforger.coordinator.proposals import ProposalService
from fateforger.coordinator.taskdesk import QueueService
from fateforger.coordinator.watching import Watcher
from fateforger.errors import WorldError
from fateforger.ports import Calendar, Clock, Journal
from fateforger.slack.app import SlackApp, open_slack_app
from fateforger.slack.connection import SlackLogin
from fateforger.slack.connection import Workspace as Team
from fateforger.sync.model import Ledger, Snapshot
from fateforger.turn import warm_up

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class App:
    """A running program.

    ``page_url`` is ``None`` with real Slack. ``lines`` describe each part. ``claim`` tells a person how to claim a
    calendar without an owner; it holds the code, which appears nowhere else.
    """

    page_url: str | None
    caldav_url: str | None
    lines: tuple[str, ...]
    claim: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Resources:
    """Resources that all parts share. When ``stack`` is closed, they are closed in reverse order."""

    stack: AsyncExitStack
    settings: Settings
    clock: Clock
    store: Store
    ownership: Ownership
    replica: str


@dataclass(frozen=True, slots=True)
class _Services:
    """The coordinator and the services that it uses."""

    coordinator: PlanningCoordinator
    memory: MemoryService
    tasks: QueueService
    indexing: Indexer


@dataclass(frozen=True, slots=True)
class _BackgroundReader:
    """The watcher's reads of the calendar. They leave most of the request budget to the reads that people wait for."""

    engine: CalendarSubmitter
    calendar: Calendar
    journal: Journal

    @property
    def writing(self) -> bool:
        return self.engine.writing

    async def read(self, day: date, tz: str) -> tuple[Snapshot, Ledger]:
        return await read_day(self.calendar, self.journal, day, tz)

    async def late(self) -> tuple[str, ...]:
        """Return a sentence for each event that reached the calendar after its undo."""
        return await self.engine.late(self.calendar)


@asynccontextmanager
async def open_app(settings: Settings) -> AsyncIterator[App]:
    """Start everything; leaving the block stops it. Raises ``UserError`` or ``WorldError``."""
    async with AsyncExitStack() as stack:
        ground = await _open_resources(stack, settings)
        store, clock = ground.store, ground.clock
        pulse = HealthCheck(store.sessions)
        around = await open_integrations(stack, settings, clock, pulse.route, store.quota)
        engine = submitter(settings, around.calendar, store, clock, role="house")
        planner = _build_services(ground, engine)
        pulse.desk = planner.memory
        await _take_over_claims(ground)
        run_in_background(stack, _recover_transactions(engine), name="recovery")
        room, team = await _connect_slack(ground, around.login, planner, engine)
        pulse.room = room
        planner.coordinator.on_message_due(room.wake)
        await stack.enter_async_context(
            run_memory_workers(settings, store, clock, owner=ground.replica, wake=room.wake)
        )
        _start_periodic_jobs(ground, planner, _BackgroundReader(engine, around.watched, store.journal))
        await asyncio.to_thread(warm_up)
        run_in_background(stack, planner.indexing.run(), name="indexing")
        pulse.indexing = planner.indexing
        slack = f"Slack: {team.team}." if settings.real_slack else "Slack: the local page."
        state = f"State: {'your database' if settings.database_url else settings.data_dir}."
        owner = f"Owner of the calendar: {describe_owner(settings, await ground.ownership.owner())}"
        code = await ground.ownership.offer_code()
        lines = (slack, around.calendar_words, owner, describe_model(settings), state)
        yield App(around.page_url, around.caldav_url, lines, None if code is None else describe_claim(code))


async def _open_resources(stack: AsyncExitStack, settings: Settings) -> _Resources:
    stack.enter_context(lock_data_dir(settings.data_dir))
    clock = build_clock(settings)
    store = await open_state(settings)
    stack.push_async_callback(store.aclose)
    ownership = build_ownership(settings, store, clock)
    return _Resources(stack, settings, clock, store, ownership, read_replica_name(settings.data_dir))


def _build_services(ground: _Resources, engine: CalendarSubmitter) -> _Services:
    settings, clock, store = ground.settings, ground.clock, ground.store
    model = count_usage(build_model(settings), store, clock, settings)
    if model is not None:
        ground.stack.push_async_callback(model.aclose)
    indexing = _build_indexer(ground)
    memory = MemoryService(store.constraints, store.jobs, clock, index=indexing, reads_words=model is not None)
    tools = Tools(
        tasks=store.tasks,
        sessions=store.sessions,
        jobs=store.jobs,
        clock=clock,
        tz=settings.time_zone,
        rules=memory,
        model=model,
    )
    tasks = QueueService(tools, ground.replica)
    coordinator = PlanningCoordinator(
        sessions=store.sessions,
        submitter=engine,
        clock=clock,
        calendar_write=settings.calendar_write,
        ownership=ground.ownership,
        model=model,
        memory=memory,
        tasks=tasks,
        outside=build_external_list(settings, clock),
        proposals=ProposalService(store.proposals, store.jobs, clock),
        logbook=build_turn_log(settings, clock),
    )
    ground.stack.push_async_callback(coordinator.aclose)
    return _Services(coordinator, memory, tasks, indexing)


def _build_indexer(ground: _Resources) -> Indexer:
    """Return the one indexer of constraints. Every write of this process wakes it."""
    store, memory = ground.store, build_memory(ground.settings)
    ground.stack.push_async_callback(memory.aclose)
    indexing = Indexer(store.constraints, memory)
    store.constraints.on_write(indexing.wake)
    store.people.on_erase(indexing.wake)
    return indexing


async def _take_over_claims(ground: _Resources) -> None:
    """Take over the claims of the previous program.

    This process holds the lock on the data directory, so the previous program is dead. The scrub completes the erasure
    of a person that was interrupted by its death.
    """
    await ground.store.jobs.take_back(ground.replica)
    await ground.store.tasks.take_back(ground.replica, now=ground.clock.now())
    await ground.store.people.scrub()


async def _recover_transactions(engine: CalendarSubmitter) -> None:
    """Finish what a crash left open. While the calendar does not answer, this is left to the next submit or undo."""
    try:
        for result in await engine.recover():
            log.info("settled an interrupted transaction: %s", " ".join(result.sentences))
    except WorldError as error:
        log.warning("an interrupted transaction stays open for now: %s", error.message)


async def _connect_slack(
    ground: _Resources, login: SlackLogin, planner: _Services, engine: CalendarSubmitter
) -> tuple[SlackApp, Team]:
    """Connect to Slack. From here on people are answered."""
    settings, clock, store = ground.settings, ground.clock, ground.store
    approvals = Approvals(
        proposals=store.proposals,
        sessions=store.sessions,
        memory=planner.memory,
        jobs=store.jobs,
        clock=clock,
        carry_out=planner.coordinator.handle,
        said=planner.coordinator.get_rule_reply,
        tz=settings.time_zone,
    )
    room, team = await open_slack_app(
        login,
        replica=ground.replica,
        door=planner.coordinator,
        jobs=store.jobs,
        outbox=store.outbox,
        sessions=store.sessions,
        feedbacks=store.feedbacks,
        clock=clock,
        painter=ResvgRasterizer() if settings.picture == "on" else None,
        approvals=approvals,
        dossiers=build_personal_data(settings, store, clock, calendar=engine.calendar_key),
    )
    ground.stack.push_async_callback(room.close)
    return room, team


def _start_periodic_jobs(ground: _Resources, planner: _Services, calendar: _BackgroundReader) -> None:
    """Start the periodic jobs: waiting tasks, abandoned sessions, and changes to the calendar."""
    stack, clock, store = ground.stack, ground.clock, ground.store
    run_in_background(stack, planner.tasks.waiting.run(), name="waiting tasks")
    run_in_background(stack, SessionCloser(store.sessions, store.jobs, clock).run(asyncio.sleep), name="closing")
    if ground.settings.watch_seconds:
        watcher = Watcher(
            sessions=store.sessions,
            jobs=store.jobs,
            calendar=calendar,
            clock=clock,
            sleep=asyncio.sleep,
            seconds=ground.settings.watch_seconds,
        )
        run_in_background(stack, watcher.run(), name="watching")

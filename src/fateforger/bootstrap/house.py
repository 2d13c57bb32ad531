"""The whole program: every configured service, and a stand-in for every other one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import date

from fateforger.adapters.painter import ResvgPainter
from fateforger.adapters.store import Store
from fateforger.background.indexing import Indexing
from fateforger.background.ownership import Ownership
from fateforger.bootstrap.beside import run_beside
from fateforger.bootstrap.claim import claimed, replica_name
from fateforger.bootstrap.ground import open_state, submitter, ticking_clock
from fateforger.bootstrap.lists import configured_list
from fateforger.bootstrap.memory import configured_memory
from fateforger.bootstrap.mind import configured_model, counted, model_words
from fateforger.bootstrap.notes import logbook_of
from fateforger.bootstrap.owner import claim_words, owner_words, ownership_of
from fateforger.bootstrap.people import dossiers
from fateforger.bootstrap.pulse import Pulse
from fateforger.bootstrap.remembering import remembering
from fateforger.bootstrap.surroundings import open_surroundings
from fateforger.commit import CalendarSubmitter, read_day
from fateforger.config import Settings
from fateforger.coordinator import PlanningCoordinator
from fateforger.coordinator.approving import Approvals
from fateforger.coordinator.closing import Closing
from fateforger.coordinator.executor.carried import Tools
from fateforger.coordinator.memory import MemoryDesk
from fateforger.coordinator.proposals import ProposalDesk
from fateforger.coordinator.taskdesk import TaskDesk
from fateforger.coordinator.watching import Watcher
from fateforger.errors import WorldError
from fateforger.ports import Calendar, Clock, Journal
from fateforger.slack.app import SlackRoom, open_room
from fateforger.slack.connection import SlackLogin
from fateforger.slack.connection import Workspace as Team
from fateforger.sync.model import Ledger, Snapshot
from fateforger.turn import warm_up

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class House:
    """A running program.

    ``page_url`` is ``None`` with real Slack. ``lines`` describe each part. ``claim`` tells a person how to claim a
    calendar without an owner; it holds the code, which appears nowhere else.
    """

    page_url: str | None
    caldav_url: str | None
    lines: tuple[str, ...]
    claim: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Ground:
    """Resources that all parts share. When ``stack`` is closed, they are closed in reverse order."""

    stack: AsyncExitStack
    settings: Settings
    clock: Clock
    store: Store
    ownership: Ownership
    replica: str


@dataclass(frozen=True, slots=True)
class _Planner:
    """The coordinator and the services that it uses."""

    coordinator: PlanningCoordinator
    memory: MemoryDesk
    tasks: TaskDesk
    indexing: Indexing


@dataclass(frozen=True, slots=True)
class _BackgroundReads:
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
async def open_house(settings: Settings) -> AsyncIterator[House]:
    """Start everything; leaving the block stops it. Raises ``UserError`` or ``WorldError``."""
    async with AsyncExitStack() as stack:
        ground = await _ground(stack, settings)
        store, clock = ground.store, ground.clock
        pulse = Pulse(store.sessions)
        around = await open_surroundings(stack, settings, clock, pulse.route, store.quota)
        engine = submitter(settings, around.calendar, store, clock, role="house")
        planner = _planner(ground, engine)
        pulse.desk = planner.memory
        await _after_the_dead(ground)
        run_beside(stack, _settle(engine), name="recovery")
        room, team = await _chat(ground, around.login, planner, engine)
        pulse.room = room
        planner.coordinator.on_owing(room.wake)
        await stack.enter_async_context(remembering(settings, store, clock, owner=ground.replica, wake=room.wake))
        _keep_looking(ground, planner, _BackgroundReads(engine, around.watched, store.journal))
        await asyncio.to_thread(warm_up)
        run_beside(stack, planner.indexing.run(), name="indexing")
        pulse.indexing = planner.indexing
        slack = f"Slack: {team.team}." if settings.real_slack else "Slack: the local page."
        state = f"State: {'your database' if settings.database_url else settings.data_dir}."
        owner = f"Owner of the calendar: {owner_words(settings, await ground.ownership.owner())}"
        code = await ground.ownership.offer_code()
        lines = (slack, around.calendar_words, owner, model_words(settings), state)
        yield House(around.page_url, around.caldav_url, lines, None if code is None else claim_words(code))


async def _ground(stack: AsyncExitStack, settings: Settings) -> _Ground:
    stack.enter_context(claimed(settings.data_dir))
    clock = ticking_clock(settings)
    store = await open_state(settings)
    stack.push_async_callback(store.aclose)
    ownership = ownership_of(settings, store, clock)
    return _Ground(stack, settings, clock, store, ownership, replica_name(settings.data_dir))


def _planner(ground: _Ground, engine: CalendarSubmitter) -> _Planner:
    settings, clock, store = ground.settings, ground.clock, ground.store
    model = counted(configured_model(settings), store, clock, settings)
    if model is not None:
        ground.stack.push_async_callback(model.aclose)
    indexing = _indexing(ground)
    memory = MemoryDesk(store.constraints, store.jobs, clock, index=indexing, reads_words=model is not None)
    tools = Tools(
        tasks=store.tasks,
        sessions=store.sessions,
        jobs=store.jobs,
        clock=clock,
        tz=settings.time_zone,
        rules=memory,
        model=model,
    )
    tasks = TaskDesk(tools, ground.replica)
    coordinator = PlanningCoordinator(
        sessions=store.sessions,
        submitter=engine,
        clock=clock,
        calendar_write=settings.calendar_write,
        ownership=ground.ownership,
        model=model,
        memory=memory,
        tasks=tasks,
        outside=configured_list(settings, clock),
        proposals=ProposalDesk(store.proposals, store.jobs, clock),
        logbook=logbook_of(settings, clock),
    )
    ground.stack.push_async_callback(coordinator.aclose)
    return _Planner(coordinator, memory, tasks, indexing)


def _indexing(ground: _Ground) -> Indexing:
    """Return the one indexer of constraints. Every write of this process wakes it."""
    store, memory = ground.store, configured_memory(ground.settings)
    ground.stack.push_async_callback(memory.aclose)
    indexing = Indexing(store.constraints, memory)
    store.constraints.on_write(indexing.wake)
    store.people.on_erase(indexing.wake)
    return indexing


async def _after_the_dead(ground: _Ground) -> None:
    """Take over the claims of the previous program.

    This process holds the lock on the data directory, so the previous program is dead. The scrub completes the erasure
    of a person that was interrupted by its death.
    """
    await ground.store.jobs.take_back(ground.replica)
    await ground.store.tasks.take_back(ground.replica, now=ground.clock.now())
    await ground.store.people.scrub()


async def _settle(engine: CalendarSubmitter) -> None:
    """Finish what a crash left open. While the calendar does not answer, this is left to the next submit or undo."""
    try:
        for result in await engine.recover():
            log.info("settled an interrupted transaction: %s", " ".join(result.sentences))
    except WorldError as error:
        log.warning("an interrupted transaction stays open for now: %s", error.message)


async def _chat(
    ground: _Ground, login: SlackLogin, planner: _Planner, engine: CalendarSubmitter
) -> tuple[SlackRoom, Team]:
    """Connect to Slack. From here on people are answered."""
    settings, clock, store = ground.settings, ground.clock, ground.store
    approvals = Approvals(
        proposals=store.proposals,
        sessions=store.sessions,
        memory=planner.memory,
        jobs=store.jobs,
        clock=clock,
        carry_out=planner.coordinator.handle,
        said=planner.coordinator.said_alone,
        tz=settings.time_zone,
    )
    room, team = await open_room(
        login,
        replica=ground.replica,
        door=planner.coordinator,
        jobs=store.jobs,
        outbox=store.outbox,
        sessions=store.sessions,
        feedbacks=store.feedbacks,
        clock=clock,
        painter=ResvgPainter() if settings.picture == "on" else None,
        approvals=approvals,
        dossiers=dossiers(settings, store, clock, calendar=engine.calendar_key),
    )
    ground.stack.push_async_callback(room.close)
    return room, team


def _keep_looking(ground: _Ground, planner: _Planner, calendar: _BackgroundReads) -> None:
    """Start the periodic jobs: waiting tasks, abandoned sessions, and changes to the calendar."""
    stack, clock, store = ground.stack, ground.clock, ground.store
    run_beside(stack, planner.tasks.waiting.run(), name="waiting tasks")
    run_beside(stack, Closing(store.sessions, store.jobs, clock).run(asyncio.sleep), name="closing")
    if ground.settings.watch_seconds:
        watcher = Watcher(
            sessions=store.sessions,
            jobs=store.jobs,
            calendar=calendar,
            clock=clock,
            sleep=asyncio.sleep,
            seconds=ground.settings.watch_seconds,
        )
        run_beside(stack, watcher.run(), name="watching")

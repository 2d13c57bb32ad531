"""The whole program: everything that is configured, and stand-ins for everything that is not."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from starlette.applications import Starlette
from starlette.routing import BaseRoute, Mount

from fateforger.adapters.painter import ResvgPainter
from fateforger.adapters.store import Store
from fateforger.background.indexing import Indexing
from fateforger.bootstrap.claim import claimed, once_made, replica_name
from fateforger.bootstrap.ground import (
    embedded_calendar,
    google_calendar,
    local_calendar,
    open_state,
    submitter,
    ticking_clock,
)
from fateforger.bootstrap.lists import configured_list
from fateforger.bootstrap.memory import configured_memory
from fateforger.bootstrap.mind import configured_model, counted, model_words
from fateforger.bootstrap.notes import logbook_of
from fateforger.bootstrap.people import dossiers
from fateforger.bootstrap.pulse import Pulse
from fateforger.bootstrap.remembering import remembering
from fateforger.bootstrap.web import WebServer
from fateforger.commit import CalendarSubmitter
from fateforger.config import Settings
from fateforger.coordinator import PlanningCoordinator
from fateforger.coordinator.approving import Approvals
from fateforger.coordinator.closing import Closing
from fateforger.coordinator.executor.carried import Tools
from fateforger.coordinator.memory import MemoryDesk
from fateforger.coordinator.taskdesk import TaskDesk
from fateforger.coordinator.watching import Watcher
from fateforger.errors import WorldError
from fateforger.local.workspace import DEFAULT_USERS, Workspace, WorkspaceConfig, create_workspace
from fateforger.ports import Calendar, Clock
from fateforger.slack.app import open_room
from fateforger.slack.connection import SLACK_URL, SlackLogin
from fateforger.slack.manifest import app_manifest
from fateforger.turn import warm_up

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class House:
    """A running program: where the page is (``None`` with real Slack), and what each part is, in words."""

    page_url: str | None
    caldav_url: str | None
    lines: tuple[str, ...]


@asynccontextmanager
async def open_house(settings: Settings) -> AsyncIterator[House]:
    """Start everything; leaving the block stops it. Raises ``UserError`` or ``WorldError`` with a sentence."""
    async with AsyncExitStack() as stack:
        stack.enter_context(claimed(settings.data_dir))
        clock = ticking_clock(settings)
        store = await open_state(settings)
        stack.push_async_callback(store.aclose)
        web = WebServer(settings.host, settings.port)
        stack.push_async_callback(web.stop)
        routes, calendar, caldav_url, spoken_calendar = await _calendar(stack, settings, clock, web)
        login = _login(settings, web)
        if not settings.real_slack:
            workspace = _workspace(settings, clock, web, login, pane=caldav_url is not None)
            stack.callback(workspace.close)
            routes.append(Mount("/", workspace.app))
        pulse = Pulse(store.sessions)
        await web.start(Starlette(routes=[pulse.route, *routes]))
        model = counted(configured_model(settings), store, clock, settings)
        if model is not None:
            stack.push_async_callback(model.aclose)
        engine = submitter(settings, calendar, store, clock, role="house")
        replica = replica_name(settings.data_dir)
        indexing = _indexing(stack, settings, store)
        memory = pulse.desk = MemoryDesk(
            store.constraints, store.jobs, clock, index=indexing, reads_words=model is not None
        )
        tools = Tools(
            tasks=store.tasks,
            sessions=store.sessions,
            jobs=store.jobs,
            clock=clock,
            tz=settings.time_zone,
            rules=memory,
            model=model,
        )
        tasks = TaskDesk(tools, replica)
        coordinator = PlanningCoordinator(
            sessions=store.sessions,
            submitter=engine,
            clock=clock,
            calendar_write=settings.calendar_write,
            calendar_owner=settings.calendar_owner,
            model=model,
            memory=memory,
            tasks=tasks,
            outside=configured_list(settings, clock),
            logbook=logbook_of(settings, clock),
        )
        stack.push_async_callback(coordinator.aclose)
        approvals = Approvals(
            proposals=store.proposals,
            sessions=store.sessions,
            memory=memory,
            jobs=store.jobs,
            clock=clock,
            carry_out=coordinator.handle,
            said=coordinator.said_alone,
            tz=settings.time_zone,
        )
        await _after_the_dead(store, replica, clock)
        settling = asyncio.create_task(_settle(engine), name="recovery")
        stack.push_async_callback(_ended, settling)
        room, team = await open_room(
            login,
            replica=replica,
            door=coordinator,
            jobs=store.jobs,
            outbox=store.outbox,
            sessions=store.sessions,
            feedbacks=store.feedbacks,
            clock=clock,
            painter=ResvgPainter() if settings.picture == "on" else None,
            approvals=approvals,
            dossiers=dossiers(settings, store, clock, calendar=engine.calendar_key),
        )
        stack.push_async_callback(room.close)
        pulse.room = room
        coordinator.on_owing(room.wake)
        await stack.enter_async_context(remembering(settings, store, clock, owner=replica, wake=room.wake))
        looking = asyncio.create_task(tasks.waiting.run(), name="waiting tasks")
        stack.push_async_callback(_ended, looking)
        closing = asyncio.create_task(Closing(store.sessions, store.jobs, clock).run(asyncio.sleep), name="closing")
        stack.push_async_callback(_ended, closing)
        if settings.watch_seconds:
            watcher = Watcher(
                sessions=store.sessions,
                jobs=store.jobs,
                calendar=engine,
                clock=clock,
                sleep=asyncio.sleep,
                seconds=settings.watch_seconds,
            )
            watching = asyncio.create_task(watcher.run(), name="watching")
            stack.push_async_callback(_ended, watching)
        await asyncio.to_thread(warm_up)
        following = asyncio.create_task(indexing.run(), name="indexing")
        stack.push_async_callback(_ended, following)
        pulse.indexing = indexing
        yield House(
            page_url=None if settings.real_slack else web.url,
            caldav_url=caldav_url,
            lines=(
                f"Slack: {team.team}." if settings.real_slack else "Slack: the local page.",
                spoken_calendar,
                model_words(settings),
                f"State: {'your database' if settings.database_url else settings.data_dir}.",
            ),
        )


async def _after_the_dead(store: Store, replica: str, clock: Clock) -> None:
    """Take back what the program before claimed; the data directory is ours alone, so it is dead. Whoever was being
    erased when it died is in no file after this."""
    await store.jobs.take_back(replica)
    await store.tasks.take_back(replica, now=clock.now())
    await store.people.scrub()


def _indexing(stack: AsyncExitStack, settings: Settings, store: Store) -> Indexing:
    """The one index of constraints, which hears of each write here; it is opened when there is something to search."""
    memory = configured_memory(settings)
    stack.push_async_callback(memory.aclose)
    indexing = Indexing(store.constraints, memory)
    store.constraints.on_write(indexing.wake)
    store.people.on_erase(indexing.wake)
    return indexing


async def _settle(engine: CalendarSubmitter) -> None:
    """Finish what a crash left open. While the calendar does not answer, the next submit or undo sees to it."""
    try:
        for result in await engine.recover():
            log.info("settled an interrupted transaction: %s", " ".join(result.sentences))
    except WorldError as error:
        log.warning("an interrupted transaction stays open for now: %s", error.message)


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _calendar(
    stack: AsyncExitStack, settings: Settings, clock: Clock, web: WebServer
) -> tuple[list[BaseRoute], Calendar, str | None, str]:
    """The routes it needs, the calendar itself, where its CalDAV store is when it is local, and how to speak of it."""
    if settings.calendar_url:
        calendar = google_calendar(settings, settings.calendar_url, role="house")
        stack.push_async_callback(calendar.aclose)
        return [], calendar, None, f"Calendar: {settings.calendar_id}, through your calendar server."
    caldav_port = settings.caldav_port if settings.port else 0
    local = await stack.enter_async_context(local_calendar(settings, clock, port=caldav_port))
    calendar = embedded_calendar(settings, f"{web.url}/calendar/mcp")
    stack.push_async_callback(calendar.aclose)
    routes: list[BaseRoute] = [Mount("/calendar", local.mcp_app), Mount("/day", local.pane_app)]
    spoken = "Calendar: your CalDAV server." if settings.caldav_url else "Calendar: the embedded one."
    return routes, calendar, local.caldav_url, spoken


def _login(settings: Settings, web: WebServer) -> SlackLogin:
    if settings.slack_bot_token is not None and settings.slack_app_token is not None:
        return SlackLogin(
            bot_token=settings.slack_bot_token.get_secret_value(),
            app_token=settings.slack_app_token.get_secret_value(),
            base_url=settings.slack_api_base_url or SLACK_URL,
        )
    # The local page's own token.
    secret = once_made(settings.data_dir / "workspace.secret", lambda: secrets.token_hex(16))
    return SlackLogin(bot_token=f"xoxb-{secret}", app_token=f"xapp-{secret}", base_url=f"{web.url}/api/")


def _workspace(settings: Settings, clock: Clock, web: WebServer, login: SlackLogin, *, pane: bool) -> Workspace:
    first, *others = DEFAULT_USERS
    config = WorkspaceConfig(
        database=settings.data_dir / "workspace.db",
        public_url=web.url,
        bot_token=login.bot_token,
        app_token=login.app_token,
        manifest=app_manifest(),
        pane_url="/day/" if pane else None,
        team_name="FateForger",
        users=(replace(first, tz=settings.time_zone), *others),
    )
    return create_workspace(config, now=clock.now)

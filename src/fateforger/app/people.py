"""A person's data for one command of the command line: counted, exported or erased; and their calendar, opened."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Mount

from fateforger.adapters.recordings import RecordingFiles
from fateforger.adapters.store.connections import SqlConnections
from fateforger.adapters.store.store import Store
from fateforger.app.caldav_login import open_servers
from fateforger.app.calendars import GATEWAY, CalDavGateway, build_access
from fateforger.app.data_dir import COMMAND_LOCK, lock_data_dir
from fateforger.app.logins import build_delegations, build_logins, build_openers
from fateforger.app.memory import build_memory
from fateforger.app.resources import (
    build_clock,
    build_ownership,
    find_calendar_key,
    get_replica_name,
    open_journal,
    open_state,
    open_submitter,
    open_vault,
    submitter,
)
from fateforger.app.web import WebServer
from fateforger.calendar.connections import Connection
from fateforger.calendar.ports import Journal
from fateforger.calendar.submitter import CalendarSubmitter
from fateforger.config import Settings
from fateforger.errors import BadInput, MemoryUnavailable
from fateforger.ports.clock import Clock
from fateforger.ports.people import Counts
from fateforger.workers.memory import Indexer
from fateforger.workers.people import Erased, PersonalData

NoteAction = Callable[[Store, str], Awaitable[None]]
"""Notes the operator's command for a person."""
PATIENCE_SECONDS = 30.0
_LOOK_SECONDS = 0.1
_AGAIN = "Everything else is erased; run this again, so that the search index is, too."

CALENDAR_STAYS = (
    "Events that are on the calendar stay there. To have them removed, take the days back before you erase: Undo in the"
    " thread, or fateforger sync undo."
)
SLACK_STAYS = "Messages stay in Slack; they can be deleted there."
PAGE_STAYS = (
    "Messages of the local page stay in workspace.db, and events of the embedded calendar in the folder calendar, both"
    " in the data directory; while fateforger is stopped they can be deleted there."
)
COPIES_STAY = "Backups, exports and recordings that you moved elsewhere are yours to delete."


def list_leftovers(settings: Settings) -> tuple[str, ...]:
    """Return one sentence for each place that an erasure does not reach."""
    return (CALENDAR_STAYS, SLACK_STAYS if settings.real_slack else PAGE_STAYS, COPIES_STAY)


def build_personal_data(settings: Settings, store: Store, clock: Clock, *, calendar: str | None) -> PersonalData:
    """Return access to people's data. ``calendar`` is the journal's name of the configured calendar."""
    recordings = None if settings.record is None else RecordingFiles(settings.record)
    ownership = build_ownership(settings, store.owners, clock)

    async def end_access(user_id: str) -> str:
        return await build_access(settings, store, clock).end_for(user_id)

    return PersonalData(store.people, recordings, clock, ownership, calendar=calendar, end_access=end_access)


async def count_held(settings: Settings, user_id: str) -> Counts:
    """Return the number of stored items of each kind. Raises ``StoreError`` and ``BadInput``."""
    async with _open_personal_data(settings) as (_, found):
        return await found.count_held(user_id)


async def export_person(settings: Settings, user_id: str, note: NoteAction) -> dict[str, Any]:
    """Return everything that is stored about a person, and note the export. Raises ``StoreError`` and ``BadInput``.

    Of an unknown person nothing is stored, not even the note.
    """
    async with _open_personal_data(settings) as (store, found):
        if any((await found.count_held(user_id)).values()):
            await note(store, user_id)
        return {**await found.export(user_id), "stays": list(list_leftovers(settings))}


async def erase_person(settings: Settings, user_id: str) -> tuple[Erased, bool]:
    """Erase a person, whether or not a program is running; the process that holds the index updates it.

    Returns what was erased, and whether the running program has yet to update the search index. Raises ``StoreError``,
    ``CalendarBusy``, ``MemoryUnavailable`` and ``BadInput``.
    """
    async with AsyncExitStack() as stack:
        store, found = await stack.enter_async_context(_open_personal_data(settings))
        try:
            stack.enter_context(lock_data_dir(settings.data_dir))
        except BadInput:
            return await _erase_with_running_program(store, found, user_id)
        await store.take_back(get_replica_name(settings))  # the process that claimed these is dead
        erased = await found.erase(user_id)
        if not await store.people.pending(user_id):
            return erased, False
        memory = build_memory(settings)
        stack.push_async_callback(memory.aclose)
        try:
            await Indexer(store.constraints, memory).catch_up()
        except MemoryUnavailable as error:
            raise MemoryUnavailable(f"{error.message} {_AGAIN}") from error
        return erased, bool(await store.people.pending(user_id))


async def _erase_with_running_program(store: Store, found: PersonalData, user_id: str) -> tuple[Erased, bool]:
    erased = await found.erase(user_id)
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await store.people.pending(user_id):  # noqa: ASYNC110  another program sends no event
                await asyncio.sleep(_LOOK_SECONDS)
    except TimeoutError:
        return erased, True
    await store.people.scrub()
    return erased, False


@asynccontextmanager
async def _open_personal_data(settings: Settings) -> AsyncIterator[tuple[Store, PersonalData]]:
    async with aclosing(await open_state(settings)) as store:
        clock = build_clock(settings)
        yield store, build_personal_data(settings, store, clock, calendar=find_calendar_key(settings))


@asynccontextmanager
async def open_person_submitter(settings: Settings, user_id: str) -> AsyncIterator[CalendarSubmitter]:
    """Open the calendar that a person connected, or the configured one if they own it.

    Raises ``BadInput`` for a person without a calendar, ``CalendarError`` and ``StoreError``.
    """
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(aclosing(await open_state(settings)))
        connections = SqlConnections(store.database, open_vault(settings))
        connection = await _find(settings, store, connections, user_id)
        if connection is None:
            await stack.aclose()
            yield await stack.enter_async_context(open_submitter(settings))
            return
        stack.enter_context(lock_data_dir(settings.data_dir, COMMAND_LOCK))
        token = secrets.token_urlsafe(24)
        clock, web = build_clock(settings), WebServer("127.0.0.1", 0, token=token)
        servers = open_servers(settings)
        gateway = CalDavGateway(settings.data_dir / "calendars", f"{web.url}{GATEWAY}", token, servers, clock.now)
        await web.start(Starlette(routes=[Mount(GATEWAY, gateway)]))
        stack.push_async_callback(web.stop)
        logins = build_logins(settings, connections, clock, web.url, store)
        openers = build_openers(gateway.open, logins, build_delegations(settings, connections, clock, store))
        opener = openers.get((connection.provider, connection.delegated))
        if opener is None:
            raise BadInput(f"The settings for {connection.provider} are missing here.", where="user")
        calendar = await stack.enter_async_context(opener(connection))
        yield submitter(settings, calendar, store.database, clock, role="door", user_id=user_id)


@asynccontextmanager
async def open_person_journal(settings: Settings, user_id: str) -> AsyncIterator[tuple[Journal, str]]:
    """Open the journal and yield it with the name of the person's calendar in it."""
    async with aclosing(await open_state(settings)) as store:
        connections = SqlConnections(store.database, open_vault(settings))
        found = await _find(settings, store, connections, user_id)
        if found is not None:
            yield store.journal, found.key
            return
    async with open_journal(settings) as configured:
        yield configured


async def _find(settings: Settings, store: Store, connections: SqlConnections, user_id: str) -> Connection | None:
    """Return a person's connection; ``None`` for the owner of the configured calendar. Raises ``BadInput``."""
    connection = await connections.of(user_id)
    if connection is not None and connection.is_open:
        return connection
    owner = await build_ownership(settings, store.owners, build_clock(settings)).owner()
    if (connection is None or connection.has_ended) and owner.person == user_id:
        return None
    problem = "" if connection is None else f" {connection.problem}".rstrip()
    raise BadInput(f"{user_id} has connected no calendar.{problem}", where="user")

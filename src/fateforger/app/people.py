"""Count, export and erase a person's data for one command of the command line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import Any

from fateforger.adapters.recordings import RecordingFiles
from fateforger.adapters.store.store import Store
from fateforger.app.access import build_access
from fateforger.app.data_dir import lock_data_dir
from fateforger.app.memory import build_memory
from fateforger.app.resources import build_clock, build_ownership, find_calendar_key, get_replica_name, open_state
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
    ownership = build_ownership(settings, store, clock)

    async def end_access(user_id: str) -> str:
        return await build_access(settings, store, clock).end_for(user_id)

    return PersonalData(store.people, recordings, clock, ownership, calendar=calendar, end_access=end_access)


async def count_held(settings: Settings, user_id: str) -> Counts:
    """Return the number of stored items of each kind. Raises ``StoreError`` and ``BadInput``."""
    async with _open_personal_data(settings) as (_, found):
        return await found.count_held(user_id)


async def export_person(settings: Settings, user_id: str, note: NoteAction) -> dict[str, Any]:
    """Return everything that is stored about a person, and note the export. Raises ``StoreError`` and ``BadInput``."""
    async with _open_personal_data(settings) as (store, found):
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

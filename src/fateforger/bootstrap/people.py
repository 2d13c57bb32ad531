"""Count, export and erase a person's data for one command of the command line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from fateforger.adapters.recordings import RecordingFiles
from fateforger.adapters.store import Store
from fateforger.background.erasing import Dossiers
from fateforger.background.indexing import Indexing
from fateforger.bootstrap.claim import claimed, replica_name
from fateforger.bootstrap.ground import configured_key, open_state, ticking_clock
from fateforger.bootstrap.memory import configured_memory
from fateforger.bootstrap.owner import ownership_of
from fateforger.config import Settings
from fateforger.errors import BadInput, MemoryUnavailable
from fateforger.ports import Clock, Counts

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


@dataclass(frozen=True, slots=True)
class Erased:
    """The result of an erasure. With ``index_follows`` the running program has yet to update the search index."""

    counts: Counts
    index_follows: bool


def what_stays(settings: Settings) -> tuple[str, ...]:
    """Return one sentence for each place that an erasure does not reach."""
    return (CALENDAR_STAYS, SLACK_STAYS if settings.real_slack else PAGE_STAYS, COPIES_STAY)


def dossiers(settings: Settings, store: Store, clock: Clock, *, calendar: str | None) -> Dossiers:
    """Return access to people's data. ``calendar`` is the journal's name of the configured calendar."""
    recordings = None if settings.record is None else RecordingFiles(settings.record)
    return Dossiers(store.people, recordings, clock, ownership_of(settings, store, clock), calendar=calendar)


async def held(settings: Settings, user_id: str) -> Counts:
    """Return the number of stored items of each kind. Raises ``StoreError`` and ``BadInput``."""
    async with _opened(settings) as (_, found):
        return await found.held(user_id)


async def exported(settings: Settings, user_id: str) -> dict[str, Any]:
    """Return everything that is stored about a person. Raises ``StoreError`` and ``BadInput``."""
    async with _opened(settings) as (_, found):
        return {**await found.export(user_id), "stays": list(what_stays(settings))}


async def erased(settings: Settings, user_id: str) -> Erased:
    """Erase a person, whether or not a program is running; the process that holds the index updates it.

    Raises ``StoreError``, ``CalendarBusy``, ``MemoryUnavailable`` and ``BadInput``.
    """
    async with AsyncExitStack() as stack:
        store, found = await stack.enter_async_context(_opened(settings))
        try:
            stack.enter_context(claimed(settings.data_dir))
        except BadInput:
            return await _beside_a_program(store, found, user_id)
        await store.jobs.take_back(replica_name(settings.data_dir))  # the process that claimed these is dead
        counts = await found.erase(user_id)
        if not await store.people.pending(user_id):
            return Erased(counts, index_follows=False)
        memory = configured_memory(settings)
        stack.push_async_callback(memory.aclose)
        try:
            await Indexing(store.constraints, memory).catch_up()
        except MemoryUnavailable as error:
            raise MemoryUnavailable(f"{error.message} {_AGAIN}") from error
        return Erased(counts, index_follows=bool(await store.people.pending(user_id)))


async def _beside_a_program(store: Store, found: Dossiers, user_id: str) -> Erased:
    counts = await found.erase(user_id)
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while await store.people.pending(user_id):  # noqa: ASYNC110  another program sends no event
                await asyncio.sleep(_LOOK_SECONDS)
    except TimeoutError:
        return Erased(counts, index_follows=True)
    await store.people.scrub()
    return Erased(counts, index_follows=False)


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[tuple[Store, Dossiers]]:
    store = await open_state(settings)
    try:
        clock = ticking_clock(settings)
        yield store, dossiers(settings, store, clock, calendar=configured_key(settings))
    finally:
        await store.aclose()

"""Upkeep of a deployment for ``fateforger admin``: what is wrong with the data, and what is old enough to go."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from fateforger.adapters.clock import SystemClock
from fateforger.adapters.recordings import RecordingFiles
from fateforger.adapters.store.connections import REMEDY
from fateforger.adapters.store.given_up import SqlGivenUp
from fateforger.adapters.store.store import Store
from fateforger.adapters.store.upkeep import check_tables, find_unreadable_logins
from fateforger.app.backup import find_vault
from fateforger.app.memory import check_memory
from fateforger.app.resources import Check
from fateforger.config import Settings
from fateforger.text import capitalize, format_count, join_words

MOST = 1000
"""The most that one question to the database answers."""


async def run_data_checks(settings: Settings, store: Store) -> tuple[Check, ...]:
    """Check the tables, the logins, the index, and what was given up. Nothing is changed."""
    return (
        await _check_tables(store),
        await _check_logins(settings, store),
        await check_memory(settings),
        await _check_given_up(store),
    )


async def _check_tables(store: Store) -> Check:
    damage = await check_tables(store.database)
    if damage:
        fix = "Restore the latest backup into a new place: fateforger admin restore FILE --data-dir DIR"
        return Check("tables", "broken", f"{join_words(damage)}.", fix)
    return Check("tables", "real", "All tables are whole.")


async def _check_logins(settings: Settings, store: Store) -> Check:
    lost = await find_unreadable_logins(store.database, find_vault(settings))
    if lost:
        return Check(
            "logins", "broken", f"No key can decrypt the logins of {join_words(lost, 10)}.", f"{capitalize(REMEDY)}."
        )
    return Check("logins", "real", "Every login that is kept can be read.")


async def _check_given_up(store: Store) -> Check:
    given_up = SqlGivenUp(store.database)
    jobs, messages = len(await given_up.list_jobs(limit=MOST)), len(await given_up.list_messages(limit=MOST))
    if not jobs and not messages:
        return Check("given up", "real", "No job and no message was given up.")
    words = f"{format_count(jobs, 'job')} and {format_count(messages, 'message')} were given up."
    return Check("given up", "missing", words, "See why: fateforger admin jobs list, fateforger admin messages list")


@dataclass(frozen=True, slots=True)
class Pruned:
    """Numbers of what was deleted because it was old: jobs and messages that were given up."""

    jobs: int
    messages: int


async def prune(settings: Settings, store: Store, *, now: datetime) -> int:
    """Delete rows and recordings that are past their time; return their number.

    Raises ``StoreError``.
    """
    count = await store.retention.prune(now=now, operator_log=timedelta(days=settings.keep_operator_log))
    if settings.keep_sessions is not None:
        count += await store.retention.prune_sessions(before=now - timedelta(days=settings.keep_sessions))
    if settings.record is not None and settings.keep_recordings is not None:
        # The times of files come from the machine's clock, which may differ from the program's.
        before = SystemClock().now() - timedelta(days=settings.keep_recordings)
        count += await RecordingFiles(settings.record).prune(before=before)
    return count


async def maintain(settings: Settings, store: Store, *, now: datetime, days: int, vacuum: bool) -> Pruned:
    """Delete what is no longer needed, and what was given up more than ``days`` ago; give space back to the disk.

    Raises ``StoreUnavailable``.
    """
    jobs, messages = await SqlGivenUp(store.database).prune(before=now - timedelta(days=days))
    await prune(settings, store, now=now)
    if vacuum:
        await store.database.vacuum()
    await store.database.scrub()
    return Pruned(jobs, messages)

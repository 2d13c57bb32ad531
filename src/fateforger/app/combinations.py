"""Combinations of settings that cannot work, refused at the start with what to set."""

from __future__ import annotations

from collections.abc import Iterator

from fateforger.adapters.store.database import Database
from fateforger.config import Settings
from fateforger.errors import BadInput

NO_CALENDAR = (
    "With Slack and a database server, plans have to reach calendars that people see. Set FATEFORGER_CALENDAR_URL or"
    " FATEFORGER_CALDAV_URL, or let people connect their own: see docs/connections.md."
)
OWN_CALENDAR = (
    "a calendar inside it, which the other one cannot see: set FATEFORGER_CALENDAR_URL or"
    " FATEFORGER_CALDAV_URL, or let people connect their own with FATEFORGER_SECRET_KEYS (docs/connections.md)"
)
OWN_INDEX = (
    "a search index inside it, which the other one cannot see: set FATEFORGER_MEMORY_STORE to pgvector or"
    " qdrant (docs/search.md)"
)


def check_settings(settings: Settings) -> None:
    """Check that plans can reach somebody's calendar. Raises ``BadInput``.

    With the database in the data directory, the calendar inside the program is on the same machine, for its person.
    """
    is_served = settings.real_slack and settings.database_url is not None
    if is_served and _has_own_calendar(settings) and not _can_connect(settings):
        raise BadInput(NO_CALENDAR, where="calendar_url")


async def take_place(settings: Settings, database: Database) -> None:
    """Take a place among the programs on a database, alone if a part of this one cannot be shared.

    Raises ``BadInput`` if there is another program already and one of the two has such a part.
    """
    parts = tuple(list_unshared(settings))
    if await database.hold_place(alone=bool(parts)):
        return
    if not parts:
        raise BadInput(
            "Another fateforger runs on this database with a calendar or a search index inside it, which this one"
            " cannot see. Stop it, and set for it what docs/operations.md lists for several programs.",
            where="database_url",
        )
    raise BadInput(
        f"Another fateforger runs on this database, and this one has {'; and '.join(parts)}.", where="database_url"
    )


def list_unshared(settings: Settings) -> Iterator[str]:
    """Yield each part of a program that others on its database cannot use, with what to set instead."""
    if _has_own_calendar(settings) and settings.secret_keys is None:
        yield OWN_CALENDAR
    if settings.memory_store == "embedded":
        yield OWN_INDEX


def _has_own_calendar(settings: Settings) -> bool:
    return settings.calendar_url is None and settings.caldav_url is None


def _can_connect(settings: Settings) -> bool:
    """Check whether people can connect calendars of their own, or an administrator has opened theirs."""
    opened = settings.google_service_account is not None or bool(settings.microsoft_domains)
    return opened or (settings.secret_keys is not None and settings.public_url is not None)

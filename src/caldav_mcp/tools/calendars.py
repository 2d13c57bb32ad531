"""The calendars, the names that callers give them, and retries of writes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeVar

from caldav_mcp.collection import Collection
from caldav_mcp.errors import NotFound, PreconditionFailed, ServerTrouble, invalid_request
from caldav_mcp.event_json import Showing
from caldav_mcp.objects import Resource
from caldav_mcp.register import Register
from caldav_mcp.times import Moment

ACCOUNT = "normal"


@dataclass(frozen=True)
class Named:
    """A calendar as a caller asked for it: `shown` is how results name it."""

    shown: str
    collection: Collection


@dataclass
class Calendars:
    """Everything the tools work on.

    The first collection is `primary`; `now` returns an aware datetime; `wrote` is told when the event of each write is.
    `list_all` reads the calendars that exist now; it is None where they never change.
    """

    collections: tuple[Collection, ...]
    owners: tuple[str, ...]
    register: Register
    now: Callable[[], datetime]
    wrote: Callable[[Moment], None]
    list_all: Callable[[], Awaitable[tuple[Collection, ...]]] | None = None

    async def refresh(self) -> None:
        """Read which calendars were added, renamed or deleted; the main one stays. Raises a `ServiceError`."""
        if self.list_all is None:
            return
        known = {collection.about: collection for collection in self.collections}
        found = [known.get(c.about, c) for c in await self.list_all() if c.about.url != self.primary.about.url]
        self.collections = (self.primary, *found)

    @property
    def primary(self) -> Collection:
        return self.collections[0]

    def one(self, name: str, account: str | None, access: Literal["read", "write"]) -> Named:
        """Return the calendar of a call for one calendar. Raises `ToolError` or `NotFound` as the real server does."""
        check_account(account)
        found = self.find(name)
        if found is None and account is not None and not _is_id(name):
            raise invalid_request(
                f'Calendar "{name}" not found. Available calendars: {self._available()}. '
                "Use 'list-calendars' tool to see all available calendars."
            )
        if found is None and account is not None:
            raise NotFound
        if found is None or (access == "write" and account is None and not found.about.writable):
            raise invalid_request(
                f'No account has {access} access to calendar "{name}". Available accounts: {ACCOUNT}. Please ensure '
                "the calendar exists and you have the necessary permissions, or specify the 'account' parameter "
                "explicitly."
            )
        return Named(name if _is_id(name) else found.about.calendar_id, found)

    def several(self, names: list[str], account: str | None) -> list[Named]:
        """Return the calendars of a listing, all of which must be known."""
        check_account(account)
        wanted = [name for name in names if name.strip()]
        if not wanted:
            raise invalid_request("At least one valid calendar identifier is required")
        found = {name: self.find(name) for name in wanted}
        unknown = [name for name in wanted if found[name] is None and not _is_id(name)]
        if unknown:
            listed = ", ".join(f'"{name}"' for name in unknown)
            raise invalid_request(
                f"Calendar(s) not found: {listed}. Available calendars: "
                f"{self._available()}. Use 'list-calendars' tool to see all available calendars."
            )
        named = []
        for name, collection in found.items():
            if collection is None:
                raise NotFound
            named.append(Named(name if _is_id(name) else collection.about.calendar_id, collection))
        return named

    def showing(self, named: Named, resource: Resource) -> Showing:
        about = named.collection.about
        return Showing(named.shown, about.zone, self.owners, resource.href, resource.etag or None)

    def find(self, name: str) -> Collection | None:
        """Return the calendar of that id or name (exactly, else whatever the case of its letters), or None."""
        if name == "primary":
            return self.primary
        tests: tuple[Callable[[Collection], bool], ...] = (
            lambda c: c.about.calendar_id == name,
            lambda c: c.about.name == name,
            lambda c: c.about.name.lower() == name.lower(),
        )
        return next((c for test in tests for c in self.collections if test(c)), None)

    def _available(self) -> str:
        return ", ".join(f'"{c.about.name}" ({c.about.calendar_id})' for c in self.collections)


def _is_id(name: str) -> bool:
    return name == "primary" or "@" in name


def check_account(account: str | None) -> None:
    if account is not None and account != ACCOUNT:
        raise invalid_request(f'Account "{account}" not found. Available accounts: {ACCOUNT}')


async def list_calendars(calendars: Calendars, given: dict[str, Any]) -> dict[str, Any]:
    check_account(given.get("account"))
    await calendars.refresh()
    shown = [_calendar(c, is_primary=c is calendars.primary) for c in calendars.collections]
    return {"calendars": shown, "totalCount": len(shown)}


def _calendar(collection: Collection, *, is_primary: bool) -> dict[str, Any]:
    about = collection.about
    entry: dict[str, Any] = {
        "id": about.calendar_id,
        "summary": about.name,
        "description": about.description,
        "timeZone": about.zone.key,
        "backgroundColor": (about.color or "#9fe1e7")[:7],
        "foregroundColor": "#000000",
        "selected": True,
        "accessRole": ("owner" if is_primary else "writer") if about.writable else "reader",
        "defaultReminders": [],
        "primary": True if is_primary else None,
    }
    return {key: value for key, value in entry.items() if value is not None}


_TRIES = 5
T = TypeVar("T")


async def retry_write(attempt: Callable[[], Awaitable[T]], *, repeat: bool) -> T:
    """Run a read-merge-write until no other write came in between, at most five times.

    With `repeat` false (the caller named the state it wants to change) the first stale state is the answer.
    """
    for _ in range(_TRIES):
        try:
            return await attempt()
        except PreconditionFailed:
            if not repeat:
                raise
    raise ServerTrouble("The event was changed by somebody else again and again")

"""The calendar that a person connected: its store, its opening on first use, and that of a person who has none."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NoReturn, Protocol, Self, TypeVar

from fateforger.calendar.event import EventImage
from fateforger.calendar.ports import (
    Calendar,
    CalendarTraits,
    DayReads,
    Delete,
    Limited,
    Outcome,
    Unauthorized,
    Window,
    Write,
)
from fateforger.errors import CalendarAuthFailed, CalendarError, CalendarNotConnected
from fateforger.ports.jobs import NewJob
from fateforger.text import gettext as _
from fateforger.text import mark_message
from fateforger.values import replace

NOT_CONNECTED = mark_message("You have not connected a calendar, so I can neither read nor change one.")


@dataclass(frozen=True, slots=True)
class MissingCalendar:
    """Answers each read with :class:`CalendarNotConnected` and each write with ``Unauthorized``.

    Implements :class:`fateforger.calendar.ports.Calendar`. With the ``key`` of a calendar that was connected before,
    the history of what was written to it can still be read.
    """

    key: str
    problem: str = ""
    """Why a calendar that was connected is not any more; empty if there was none."""

    @property
    def traits(self) -> CalendarTraits:
        return CalendarTraits()

    def in_background(self) -> Self:
        return self

    async def window(self, start: datetime, end: datetime) -> tuple[EventImage, ...]:
        del start, end
        self._refuse()

    async def get(self, event_id: str) -> EventImage | None:
        del event_id
        self._refuse()

    async def write(self, write: Write) -> Outcome:
        del write
        return Unauthorized(self._reason)

    async def aclose(self) -> None:
        """Do nothing."""

    def _refuse(self) -> NoReturn:
        raise CalendarNotConnected(self._reason)

    @property
    def _reason(self) -> str:
        return self.problem or _(NOT_CONNECTED)


T = TypeVar("T")
Open = Callable[[], AbstractAsyncContextManager[Calendar]]
"""Opens a calendar for as long as the block runs. Raises ``CalendarError``."""
ReportFailure = Callable[[CalendarError], Awaitable[None]]
"""Called with each error of opening or reading a calendar."""


class LazyCalendar:
    """Opens a calendar for the first call, and again after an attempt that failed.

    Implements :class:`fateforger.calendar.ports.Calendar`. ``key`` is known before, so the journal can be read at once.
    """

    def __init__(self, key: str, open_calendar: Open, report_failure: ReportFailure) -> None:
        self._key = key
        self._open = open_calendar
        self._report_failure = report_failure
        self._opening = asyncio.Lock()
        self._calendar: Calendar | None = None
        self._reads: DayReads | None = None
        self._resources = AsyncExitStack()

    @property
    def key(self) -> str:
        return self._key

    @property
    def traits(self) -> CalendarTraits:
        """The calendar's, which the engine asks for after it has read, and until then the least."""
        return CalendarTraits() if self._calendar is None else self._calendar.traits

    def in_background(self) -> DayReads:
        return _BackgroundReads(self)

    async def get_calendar(self) -> Calendar:
        """Return the calendar itself. Raises ``CalendarError``."""
        async with self._opening:
            if self._calendar is None:
                self._calendar = await self.with_report(self._resources.enter_async_context(self._open()))
            return self._calendar

    async def get_reads(self) -> DayReads:
        """Return the calendar's background reads, the same until it is closed. Raises ``CalendarError``."""
        calendar = await self.get_calendar()
        if self._reads is None:
            self._reads = calendar.in_background()
        return self._reads

    async def window(self, start: datetime, end: datetime) -> tuple[EventImage, ...]:
        calendar = await self.get_calendar()
        return await self.with_report(calendar.window(start, end))

    async def get(self, event_id: str) -> EventImage | None:
        calendar = await self.get_calendar()
        return await self.with_report(calendar.get(event_id))

    async def write(self, write: Write) -> Outcome:
        try:
            calendar = await self.get_calendar()
        except CalendarAuthFailed as error:
            return Unauthorized(error.message)
        except CalendarError as error:
            return Limited(reason=error.message)  # nothing was sent
        return await calendar.write(write)

    async def aclose(self) -> None:
        """Close the calendar if it was opened. A later call opens it again."""
        async with self._opening:
            self._calendar = self._reads = None
            await self._resources.aclose()

    async def with_report(self, call: Awaitable[T]) -> T:
        """Await a call of the calendar, and report its failure."""
        try:
            return await call
        except CalendarError as error:
            await self._report_failure(error)
            raise


class _BackgroundReads:
    """The background reads of a calendar that is opened when they are first used."""

    def __init__(self, calendar: LazyCalendar) -> None:
        self._calendar = calendar

    @property
    def key(self) -> str:
        return self._calendar.key

    async def window(self, start: datetime, end: datetime) -> tuple[EventImage, ...]:
        reads = await self._calendar.get_reads()
        return await self._calendar.with_report(reads.window(start, end))

    async def get(self, event_id: str) -> EventImage | None:
        reads = await self._calendar.get_reads()
        return await self._calendar.with_report(reads.get(event_id))


def hash_person(user_id: str | None) -> str:
    """Return the digest that marks the events of a person; ``None`` is for the configured calendar."""
    return hashlib.sha256((user_id or "").encode()).hexdigest()[:16]


FindOwner = Callable[[], Awaitable[str | None]]
"""Returns the id of the owner of the configured calendar, if it has one. Raises ``StoreError``."""


class PersonalReads:
    """The reads of a calendar for a person, without the blocks that other people planned on it.

    A copy of such a block is an event like any other, and a block without a person, of an earlier version, may be
    anyone's. What is planned on the configured calendar belongs to its owner, also on one that they connected, and the
    other way round.
    """

    def __init__(self, reads: DayReads, user_id: str | None, find_owner: FindOwner) -> None:
        """``user_id`` is ``None`` for the configured calendar."""
        self._reads = reads
        self._user_id = user_id
        self._find_owner = find_owner
        self._own = {"", hash_person(user_id)}

    @property
    def key(self) -> str:
        return self._reads.key

    async def window(self, start: datetime, end: datetime) -> Window:
        found = await self._reads.window(start, end)
        others = await self._find_others(found)
        left_out = found.left_out if isinstance(found, Window) else ()
        return Window((event for event in found if event.id not in others), left_out)

    async def get(self, event_id: str) -> EventImage | None:
        found = await self._reads.get(event_id)
        return None if found is None or await self._find_others([found]) else found

    async def _find_others(self, events: Iterable[EventImage]) -> set[str]:
        """Return the ids of the blocks that other people planned."""
        found = {event.id: marker.person for event in events if (marker := event.own_marker) is not None}
        if self._own.issuperset(found.values()):
            return set()
        owner = await self._find_owner()
        also = {hash_person(None if self._user_id == owner else owner)} if self._user_id in {None, owner} else set()
        return {event_id for event_id, person in found.items() if person not in self._own | also}


class PersonalCalendar(PersonalReads):
    """A calendar for a person, whose blocks it marks. Implements :class:`fateforger.calendar.ports.Calendar`.

    Several people may plan on the same calendar: what another person planned there is not read, and so never changed.
    """

    def __init__(self, calendar: Calendar, user_id: str | None, find_owner: FindOwner) -> None:
        """``user_id`` is ``None`` for the configured calendar."""
        super().__init__(calendar, user_id, find_owner)
        self._calendar = calendar

    @property
    def traits(self) -> CalendarTraits:
        return self._calendar.traits

    def in_background(self) -> DayReads:
        return PersonalReads(self._calendar.in_background(), self._user_id, self._find_owner)

    async def write(self, write: Write) -> Outcome:
        if not isinstance(write, Delete):
            write = replace(write, marker=replace(write.marker, person=hash_person(self._user_id)))
        return await self._calendar.write(write)

    async def aclose(self) -> None:
        await self._calendar.aclose()


class Provider(StrEnum):
    """The kind of server that a calendar is on."""

    CALDAV = "caldav"
    GOOGLE = "google"
    MICROSOFT = "microsoft"

    @property
    def service(self) -> str:
        """The provider as people know it."""
        return _SERVICES[self]

    @property
    def account_page(self) -> str:
        """The page on which people take a program's access away; empty where there is no such page."""
        return _ACCOUNT_PAGES.get(self, "")


_SERVICES = {Provider.CALDAV: "CalDAV", Provider.GOOGLE: "Google", Provider.MICROSOFT: "Microsoft"}
_ACCOUNT_PAGES = {
    Provider.GOOGLE: "https://myaccount.google.com/connections",
    Provider.MICROSOFT: "https://myapps.microsoft.com",
}


class FollowUp(StrEnum):
    """A thing that the program has yet to do about a connection."""

    NOTHING = ""
    TELL = "tell"
    """It broke: tell the person."""
    RESUME = "resume"
    """It works again, or is new: go on with what waited for it."""


def name_share(place: str, user_id: str) -> str:
    """Return the journal's name of a calendar that another person connected before."""
    return f"{place}@{user_id}"


@dataclass(frozen=True, slots=True)
class Connection:
    """A person's calendar: the one to write to, others to read, and how to log in.

    ``account`` is the user name or mail address, ``address`` that of a CalDAV server and otherwise empty. ``secret`` is
    a password or refresh token. It is empty once the person disconnected: then only the name of the calendar is kept,
    so that the history of what was written there can still be shown. With ``delegated``, an administrator gives the
    access, and there is no secret. ``names`` are those of the calendars by id, as the person chose them. ``problem``
    says why it does not work any more. ``shared`` means that another person plans on the same calendar, and did before.
    """

    user_id: str
    provider: Provider
    account: str
    calendar_id: str
    connected_at: datetime
    address: str = ""
    reads: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    secret: str = field(default="", repr=False)
    delegated: bool = False
    problem: str = ""
    shared: bool = False

    @property
    def place(self) -> str:
        """The name of the calendar: the same for each person who is connected to it at the same address."""
        place = self.address.rstrip("/") or self.account
        return f"{self.provider}:{place}#{self.calendar_id}"

    @property
    def key(self) -> str:
        """The journal's name of the calendar. People who share one have a record each."""
        return name_share(self.place, self.user_id) if self.shared else self.place

    @property
    def has_ended(self) -> bool:
        """Check whether the person disconnected it."""
        return not self.has_access and not self.problem

    @property
    def has_access(self) -> bool:
        """Check whether there is a way to log in, even one that was refused."""
        return bool(self.secret) or self.delegated

    @property
    def is_open(self) -> bool:
        """Check whether it can be used: there is a way to log in, and it was not refused."""
        return self.has_access and not self.problem

    def has_same_login(self, other: Connection) -> bool:
        """Check whether another connection logs in with the same secret, or by the same administrator's access."""
        mine = (self.provider, self.account, self.secret, self.delegated)
        return mine == (other.provider, other.account, other.secret, other.delegated)

    def name_of(self, calendar_id: str) -> str:
        """Return the name of one of its calendars, as people know it."""
        return self.names.get(calendar_id, calendar_id)


@dataclass(frozen=True, slots=True)
class ConnectionView:
    """A person's connection as they are shown it.

    ``link`` leads to the page on which they connect and change it; ``None`` if people cannot reach one. With
    ``configured``, they plan on the calendar that the program was set up with. ``offer`` is the service at which an
    administrator has opened their calendar, so that they need not sign in; empty if none has.
    """

    connection: Connection | None = None
    link: str | None = None
    configured: bool = False
    offer: str = ""

    @property
    def problem(self) -> str:
        """Why the calendar that they connected does not work any more; empty if there is no problem."""
        return "" if self.connection is None else self.connection.problem


class Connections(Protocol):
    """The connection of each person. Each call is one commit, and raises :class:`~fateforger.errors.StoreError`.

    Secrets are encrypted in the store. One that cannot be decrypted any more, because its key is lost, makes the
    connection's ``problem``.
    """

    async def of(self, user_id: str) -> Connection | None: ...

    async def list_people(self) -> tuple[str, ...]:
        """Return the ids of all people who have connected a calendar, also those who disconnected it."""
        ...

    async def keep(self, connection: Connection) -> None:
        """Keep a connection; it replaces the person's earlier one."""
        ...

    async def replace_secret(self, user_id: str, old: str, new: str) -> bool:
        """Replace the secret if it is still ``old``, and return whether it was.

        Two programs that refresh the same token at once cannot overwrite each other's result.
        """
        ...

    async def note_problem(self, user_id: str, problem: str) -> bool:
        """Note why a connection does not work any more, and return whether that is news."""
        ...

    async def renew_encryption(self) -> int:
        """Encrypt all secrets with the newest key, and return how many were not.

        Those whose key is lost stay as they are.
        """
        ...

    async def list_due(self) -> tuple[tuple[str, FollowUp], ...]:
        """Return the people with something left to do about their connection, and what it is.

        Left out are people whom Slack cannot reach: where the app was removed, and deactivated accounts.
        """
        ...

    async def finish(self, user_id: str, due: FollowUp, *, now: datetime, job: NewJob | None = None) -> bool:
        """Note that something was done, and queue ``job`` in the same commit.

        Return whether it was still to do: of several programs, one does it.
        """
        ...

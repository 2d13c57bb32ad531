"""The calendar port over a server with the tools of google-calendar-mcp: one calendar, or several to plan around.

The server's accounts and calendars are listed here as well.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from fateforger.adapters.calendar.budget import Allowance, NoBudget, RequestBudget, get_cost
from fateforger.adapters.calendar.connection import BUDGET_PATIENCE, CALL_SECONDS, McpSession, read_endpoint
from fateforger.adapters.calendar.tools import CalendarTools, Refused, read_window
from fateforger.adapters.calendar.wire import (
    Arguments,
    CalendarsAnswer,
    DeleteAnswer,
    EventAnswer,
    EventsAnswer,
    Target,
    build_create_arguments,
    build_delete_arguments,
    build_get_arguments,
    build_list_arguments,
    build_update_arguments,
)
from fateforger.calendar.directory import CalendarEntry, Unreadable, read_event, sort_entries
from fateforger.calendar.event import EventImage
from fateforger.calendar.group import ReadChoice
from fateforger.calendar.ports import (
    CalendarTraits,
    Create,
    Delete,
    Done,
    Gone,
    Limited,
    Outcome,
    Rejected,
    Unknown,
    Update,
    Window,
)
from fateforger.calendar.refusals import WRITE_SECONDS, GuardedWrites, RefusalKind, write_if_ours
from fateforger.errors import BadInput
from fateforger.planning.timing import zone
from fateforger.values import replace

_LONG_AGO = datetime(2001, 1, 1, tzinfo=UTC)


class McpCalendar(GuardedWrites):
    """One calendar behind an MCP server. Opens its session on first use.

    Each update and delete reads the event first. It refuses an event without our marker, a series, an occurrence, an
    invitation by another person, and an event that changed since ``expect``. A server that takes ``ifMatch`` also
    closes the gap between that read and the write (``traits.conditional_write``, known once the session is open). An
    update uses ``seen`` in place of that read, unless it moves only one end: the other end is then taken as it is now.
    A color can be changed but not removed (``traits.can_clear_color``). Among other changes ``color_id: None`` is left
    out, which the image in :class:`~fateforger.calendar.ports.Done` shows; alone it is rejected.
    """

    def __init__(
        self, tools: CalendarTools, target: Target, *, key: str | None = None, write_seconds: float = WRITE_SECONDS
    ) -> None:
        """Use ``key``, or build one from the server's address and the calendar's id."""
        self.tools = tools
        self._session = tools.session
        self.target = target
        self._key = key or f"{tools.session.endpoint.name}#{target.name}"
        self.write_seconds = write_seconds

    def for_calendar(self, calendar_id: str) -> McpCalendar:
        """Return another calendar of the same login, over the same session and budget. Closing one closes both."""
        target = replace(self.target, calendar_id=calendar_id)
        return McpCalendar(self.tools, target, write_seconds=self.write_seconds)

    def in_background(self) -> McpCalendar:
        """Return the same calendar for background reads, which leave most of the budget to others."""
        return McpCalendar(self.tools.in_background(), self.target, key=self._key, write_seconds=self.write_seconds)

    @property
    def key(self) -> str:
        return self._key

    async def list_calendars(self) -> tuple[CalendarEntry, ...]:
        """Return all calendars of the login. Raises :class:`~fateforger.errors.CalendarError`."""
        return await list_calendars(self.tools, account=self.target.account)

    @property
    def traits(self) -> CalendarTraits:
        welcome = self._session.welcome
        is_local = welcome is not None and welcome.conditional_write
        return CalendarTraits(conditional_write=is_local, compares_on_delete=True, reuses_ids=is_local)

    async def window(self, start: datetime, end: datetime) -> Window:
        return await read_window(self.tools, self.target, start, end)

    async def _insert(self, write: Create) -> Outcome:
        arguments = build_create_arguments(self.target, write.event_id, write.fields, write.marker, write.extras)
        return await self._send(write, arguments)

    async def _write_over(self, write: Update | Delete) -> Outcome:
        changes = write.changes.items() if isinstance(write, Update) else ()
        if changes and all(change == ("color_id", None) for change in changes):
            return Rejected("This calendar can change a color but not take it away.")
        return await super()._write_over(write)

    def _get_seen(self, write: Update | Delete) -> EventImage | None:
        if isinstance(write, Delete) or write.seen is None:
            return None
        return write.seen if self._can_trust_seen(write.seen, write.changes) else None

    async def _attempt(self, write: Update | Delete, seen: EventImage | None) -> Outcome:
        reserved = await self.tools.reserve(get_cost(f"{write.kind}-event") + (seen is None) * get_cost("get-event"))
        if isinstance(reserved, Limited):
            return reserved
        with reserved:
            found = seen or await self._find(write.event_id, reserved)
            return await write_if_ours(found, write, lambda image: self._send_over(write, image, reserved))

    async def _send_over(
        self, write: Update | Delete, found: EventImage, allowance: Allowance | None = None
    ) -> Outcome:
        etag = self._get_etag(found)
        if isinstance(write, Delete):
            arguments = build_delete_arguments(self.target, write.event_id, etag)
            answer = await self.tools.tell(write.kind, "delete-event", arguments, DeleteAnswer, allowance=allowance)
            return Done(None) if isinstance(answer, DeleteAnswer) else answer
        whole = _add_missing_end(write.changes, found)
        if isinstance(whole, Rejected):
            return whole
        arguments = build_update_arguments(self.target, write.event_id, whole, write.marker, etag)
        return await self._send(write, arguments, allowance)

    async def aclose(self) -> None:
        await self.tools.aclose()

    def _can_trust_seen(self, seen: EventImage, changes: Mapping[str, Any]) -> bool:
        """Check whether ``seen`` can replace a read.

        It cannot when only one end moves: the other end is sent along, and the person may just have moved it.
        """
        return not seen.gone and (self._get_etag(seen) is not None or len({"start", "end"} & changes.keys()) != 1)

    def _get_etag(self, image: EventImage) -> str | None:
        """Return the etag to send, so that the write does not overwrite a change made since the event was read."""
        etag = image.raw.get("etag")
        return etag if self.traits.conditional_write and isinstance(etag, str) else None

    async def _find(self, event_id: str, allowance: Allowance | None = None) -> EventImage | Refused | None:
        arguments = build_get_arguments(self.target, event_id)
        answer = await self.tools.ask("get-event", arguments, EventAnswer, allowance=allowance)
        if isinstance(answer, Refused):
            absent = answer.refusal in (RefusalKind.NOT_FOUND, RefusalKind.DELETED)
            return await self._check_absence(allowance) if absent else answer
        try:
            image = read_event(answer.event)
        except Unreadable as problem:
            return self.tools.unreadable(problem)
        if image.id != event_id:
            return self.tools.unreadable(Unreadable(f"it shows event {image.id} when asked for {event_id}"))
        return image

    async def _check_absence(self, allowance: Allowance | None) -> Refused | None:
        """Return ``None`` if the event is absent, or the refusal if the calendar itself cannot be found.

        An unknown calendar gives the same 404 as an unknown event; only a calendar that answers proves absence. A write
        whose event is absent pays for this call with requests it no longer needs.
        """
        arguments = build_list_arguments(self.target, _LONG_AGO, _LONG_AGO + timedelta(seconds=1))
        answer = await self.tools.ask("list-events", arguments, EventsAnswer, allowance=allowance)
        if not isinstance(answer, Refused):
            return None
        missing = answer.refusal in (RefusalKind.NOT_FOUND, RefusalKind.DELETED)
        return replace(answer, refusal=RefusalKind.NO_CALENDAR) if missing else answer

    async def _send(self, write: Create | Update, arguments: Arguments, allowance: Allowance | None = None) -> Outcome:
        answer = await self.tools.tell(write.kind, f"{write.kind}-event", arguments, EventAnswer, allowance=allowance)
        if not isinstance(answer, EventAnswer):
            return answer
        try:
            image = read_event(answer.event)
        except Unreadable as problem:
            return Unknown(f"an answer that cannot be read: {problem}")
        if image.id != write.event_id:
            return Unknown(f"an answer about event {image.id}")
        if answer.overtaken:
            return Unknown("an answer that shows what another program made of the event")
        # The server reports success for a change to a deleted event.
        return Gone() if image.gone else Done(image)


def _add_missing_end(changes: Mapping[str, Any], image: EventImage) -> dict[str, Any] | Rejected:
    """Add the unchanged end, since the server requires start and end together."""
    whole = dict(changes)
    if not {"start", "end"} & whole.keys():
        return whole
    for name in ("start", "end"):
        moment = whole.setdefault(name, getattr(image, name))
        if not isinstance(moment, datetime):
            return Rejected(f"“{image.summary[:60]}” is an all-day event; it has no {name} to keep.")
    return whole


class SeveralCalendars(McpCalendar):
    """The calendar ``main``, which also reads other calendars of its login.

    An event of another calendar can never be mistaken for ours: it has an id of another form and no marker (see
    :meth:`EventImage.elsewhere`), and every write and every read by id goes to ``main`` only. A meeting that is on
    several calendars is returned once. If any calendar cannot be read there is no answer at all, since its time would
    seem to be free.
    """

    def __init__(self, main: McpCalendar, wanted: str, *, now: Callable[[], float] = time.monotonic) -> None:
        """Read along what :func:`~fateforger.calendar.directory.choose_read` chooses by ``wanted``, on first use."""
        super().__init__(main.tools, main.target, key=main.key, write_seconds=main.write_seconds)
        self._wanted = wanted
        self._now = now
        self._read_along = ReadChoice(wanted, written=main.target.calendar_id, now=now)

    def in_background(self) -> SeveralCalendars:
        return SeveralCalendars(super().in_background(), self._wanted, now=self._now)

    async def window(self, start: datetime, end: datetime) -> Window:
        others = await self._read_along.find(self.list_calendars)
        return await self._read_along.read(
            super().window(start, end),
            {other: self.for_calendar(other.id).window(start, end) for other in others},
            time_zone=self.target.time_zone,
        )


def open_mcp_calendar(
    where: str,
    *,
    time_zone: str,
    calendar_id: str = "primary",
    account: str | None = None,
    key: str | None = None,
    token: str | None = None,
    budget: RequestBudget | None = None,
    patience: float = BUDGET_PATIENCE,
    call_seconds: float = CALL_SECONDS,
    write_seconds: float = WRITE_SECONDS,
    provider: str = "mcp",
) -> McpCalendar:
    """Return a calendar behind the MCP server at ``where``. Nothing is connected yet.

    ``where`` is a URL, to which the bearer ``token`` is sent if there is one, or a command line that is started in a
    minimal environment. ``time_zone`` is the person's IANA zone, in which all-day events are placed. ``account`` names
    the login when the server has several. ``key`` identifies the calendar in the journal; pass one when the address may
    change after a restart, otherwise it is built from the address and the calendar's id. ``budget`` is shared by
    everything that uses the same login; without one nothing is counted. ``patience`` is the number of seconds a read
    waits for the budget before it is refused. ``provider`` names it in figures. Raises
    :class:`~fateforger.errors.BadInput`.
    """
    endpoint = read_endpoint(where, token)
    try:
        target = Target(calendar_id, account, zone(time_zone).key)
    except ValueError as problem:
        raise BadInput(f"{problem}.", where="time_zone") from None
    if not calendar_id.strip():
        raise BadInput("A calendar needs an id; “primary” is the main one.", where="calendar_id")
    session = McpSession(endpoint, call_seconds=call_seconds, provider=provider)
    tools = CalendarTools(session, budget or NoBudget(), patience=patience)
    return McpCalendar(tools, target, key=key, write_seconds=write_seconds)


@dataclass(frozen=True, slots=True)
class ServerReport:
    """The identity of a server, its response time, and its calendars."""

    server: str
    version: str
    seconds: float
    conditional_write: bool
    calendars: tuple[CalendarEntry, ...]


async def probe_server(
    where: str,
    *,
    account: str | None = None,
    budget: RequestBudget | None = None,
) -> ServerReport:
    """Open a separate session, list the calendars, and close it: the liveness check, and the list for settings.

    ``where`` is a URL or a command line. ``budget`` is the login's; without one nothing is counted. Raises ``BadInput``
    for anything else, and :class:`~fateforger.errors.CalendarError` when the server or the calendar behind it does not
    answer.
    """
    async with aclosing(CalendarTools(McpSession(read_endpoint(where)), budget or NoBudget())) as tools:
        begun = time.monotonic()
        calendars = await list_calendars(tools, account=account)
        welcome = await tools.session.open()
        return ServerReport(
            server=welcome.server,
            version=welcome.version,
            seconds=time.monotonic() - begun,
            conditional_write=welcome.conditional_write,
            calendars=calendars,
        )


async def list_calendars(tools: CalendarTools, *, account: str | None = None) -> tuple[CalendarEntry, ...]:
    """Return the calendars of an account, or of all accounts, the primary one first, then by name.

    Raises :class:`~fateforger.errors.CalendarError`.
    """
    answer = await tools.ask("list-calendars", {} if account is None else {"account": account}, CalendarsAnswer)
    if isinstance(answer, Refused):
        raise answer.error
    return sort_entries(answer.calendars)

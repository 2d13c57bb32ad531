"""The calendar port over Google's interface: one calendar to write to, others read along, and reads of changes.

Google's sync tokens and bounds of time exclude each other, so one token follows a whole calendar, without its content;
a day is read in full once, and what changed is put into it.
"""

from __future__ import annotations

import asyncio
import copy
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Self

from pydantic import ValidationError

from fateforger.adapters.google.client import (
    CALLS_AT_ONCE,
    PAGE_SIZE,
    GoogleClient,
    Json,
    build_changes,
    build_event,
    build_path,
    has_etag,
    read_answer,
    read_page,
)
from fateforger.calendar.channels import Channel, extend
from fateforger.calendar.directory import CalendarEntry, WireCalendar, format_time, order_window, sort_entries
from fateforger.calendar.event import EventImage
from fateforger.calendar.group import ReadChoice
from fateforger.calendar.ports import (
    CalendarTraits,
    Create,
    Delete,
    Done,
    Gone,
    Outcome,
    Signals,
    Unknown,
    Update,
    Window,
)
from fateforger.calendar.refusals import GuardedWrites, RefusalKind, Refused
from fateforger.errors import CalendarIncomplete, CalendarNotFound
from fateforger.text import gettext as _
from fateforger.values import replace

MOST_WINDOWS = 8
"""Spans of time whose content is kept, per calendar."""
Span = tuple[datetime, datetime]
ReadSpan = Callable[[datetime, datetime], Awaitable[list[EventImage]]]
"""Reads a span of time in full. Raises ``CalendarError``."""


@dataclass(frozen=True, slots=True)
class Change:
    """An event that was written; ``event`` is ``None`` if it was deleted, when Google shows little else than its id."""

    id: str
    series_id: str | None
    event: EventImage | None


class ChangeFeed:
    """One calendar: a sync token, and the spans of time that were read since it was given, kept up to date.

    Its reads are as true as full ones, which ``read_span`` makes. A read costs one request, and none if ``signals``
    vouch for the calendar. Where an answer to a change is not simple, such as that of a series, the span is read in
    full again.
    """

    def __init__(
        self, client: GoogleClient, calendar_id: str, time_zone: str, read_span: ReadSpan, signals: Signals | None
    ) -> None:
        self._client = client
        self._calendar_id = calendar_id
        self._time_zone = time_zone
        self._read_span = read_span
        self._signals = signals
        self._token: str | None = None
        self._windows: OrderedDict[Span, dict[str, EventImage]] = OrderedDict()
        self._lock = asyncio.Lock()

    async def read(self, start: datetime, end: datetime) -> list[EventImage]:
        """Return the events of a span. Raises :class:`~fateforger.errors.CalendarError`."""
        async with self._lock:
            if await self._may_have_changed() or self._token is None:
                await self._catch_up()
            span = (start, end)
            if span not in self._windows:
                events = await self._read_span(start, end)
                self._windows[span] = {event.id: event for event in events}
            self._windows.move_to_end(span)
            while len(self._windows) > MOST_WINDOWS:
                self._windows.popitem(last=False)
            return order_window(self._windows[span].values(), start, end, self._time_zone)

    async def _may_have_changed(self) -> bool:
        return self._signals is None or await self._signals.has_changed(self._calendar_id)

    async def _catch_up(self) -> None:
        """Apply what changed. A first token, or one after an expired one, leaves no span known."""
        token, self._token = self._token, None  # if this fails half-way, the next read starts again
        if token is not None:
            found = await self._ask({"syncToken": token, "maxResults": PAGE_SIZE})
            if found is not None:
                changed, self._token = found
                self._apply(changed)
                return
        self._windows.clear()
        found = await self._ask({"maxResults": PAGE_SIZE, "fields": "nextPageToken,nextSyncToken"})
        self._token = None if found is None else found[1]

    async def _ask(self, query: dict[str, str | int]) -> tuple[list[Change], str | None] | None:
        """Return what a list shows, and the next token; ``None`` if the token expired."""
        changes: list[Change] = []
        token: str | None = None
        path = build_path("calendars", self._calendar_id, "events")
        async for page in self._client.read_pages(path, query):
            if isinstance(page, Refused):
                if page.refusal is RefusalKind.EXPIRED:
                    return None
                raise page.to_error()
            changes += _read_changes(page)
            token = page.get("nextSyncToken", token)
        return changes, token

    def _apply(self, changes: list[Change]) -> None:
        if any(self._is_involved(change) for change in changes):
            self._windows.clear()
            return
        for (start, end), known in self._windows.items():
            for change in changes:
                known.pop(change.id, None)
                event = change.event
                if event is not None and order_window([event], start, end, self._time_zone):
                    known[event.id] = event

    def _is_involved(self, change: Change) -> bool:
        """Check whether a change may concern other events than itself, or depends on the calendar's zone."""
        if change.series_id is not None or (change.event is not None and not change.event.is_timed):
            return True
        return any(image.series_id == change.id for window in self._windows.values() for image in window.values())


def _read_changes(page: Json) -> list[Change]:
    shown = page.get("items", ())
    deleted = [item for item in shown if isinstance(item, Mapping) and item.get("status") == "cancelled"]
    live = read_page({"items": [item for item in shown if item not in deleted]})
    return [
        *(Change(str(item.get("id")), item.get("recurringEventId"), None) for item in deleted),
        *(Change(event.id, event.series_id, event) for event in live),
    ]


log = logging.getLogger(__name__)


class GoogleChannels:
    """The channels of one account. Implements :class:`fateforger.calendar.channels.ChannelApi`.

    ``address`` is a public https address of this program. Google repeats the id and the secret of a channel in each
    notice.
    """

    def __init__(self, client: GoogleClient, address: str) -> None:
        self._client = client.in_background()
        self._address = address

    async def open(self, channel: Channel, secret: str) -> Channel | None:
        body = {
            "id": channel.id,
            "type": "web_hook",
            "address": self._address,
            "token": secret,
            "expiration": str(int(channel.expires_at.timestamp() * 1000)),
        }
        path = build_path("calendars", channel.calendar_id, "events", "watch")
        answer = await self._client.request("POST", path, body=body)
        if isinstance(answer, Refused):
            log.warning("Google opens no channel: %s", answer.reason)
            return None
        until = datetime.fromtimestamp(int(answer.get("expiration", body["expiration"])) / 1000, UTC)
        return extend(channel, str(answer.get("resourceId", "")), until)

    async def renew(self, channel: Channel, until: datetime) -> Channel | None:
        """Return ``None``: a channel of Google ends when it ends."""
        del channel, until
        return None

    async def close(self, channel: Channel) -> None:
        body = {"id": channel.id, "resourceId": channel.remote_id}
        answer = await self._client.request("POST", build_path("channels", "stop"), body=body)
        if isinstance(answer, Refused):
            log.info("a channel was not closed and expires at %s: %s", channel.expires_at, answer.reason)


MOST_KNOWN = 500
"""Our own events whose last version is remembered, to save a read before a deletion."""
_LONG_AGO = datetime(2001, 1, 1, tzinfo=UTC)


class GoogleCalendar(GuardedWrites):
    """One calendar of a Google account, and those that are read along with it.

    Every update and deletion carries the etag of the event as it was read, so it changes nothing if the event changed
    since. An update takes what the caller saw in place of a read, a deletion the version that this calendar itself
    returned last; both are safe, since the etag would not fit if it were otherwise now.

    Events of other calendars can never be mistaken for ours (see :meth:`EventImage.elsewhere`). If one of those
    calendars cannot be read there is no answer at all, since its time would seem to be free.
    """

    def __init__(
        self,
        client: GoogleClient,
        calendar_id: str,
        *,
        time_zone: str,
        key: str,
        also_read: str = "",
        signals: Signals | None = None,
    ) -> None:
        """Use ``key`` in the journal; it has to name the account, too, since every account has a ``primary``.

        ``also_read`` is as in :func:`~fateforger.calendar.directory.choose_read`. ``time_zone`` is the person's.
        ``signals`` save the requests of background reads.
        """
        self.client = client
        self.calendar_id = calendar_id
        self.time_zone = time_zone
        self._key = key
        self._read_along = ReadChoice(also_read, written=calendar_id)
        self._signals = signals
        self._known: OrderedDict[str, EventImage] = OrderedDict()
        self.background = False
        self._feeds: dict[str, ChangeFeed] = {}

    @property
    def key(self) -> str:
        return self._key

    @property
    def traits(self) -> CalendarTraits:
        return CalendarTraits(
            conditional_write=True, can_clear_color=True, compares_on_delete=True, writes_at_once=CALLS_AT_ONCE
        )

    def in_background(self) -> Self:
        """Return the same calendar for background reads, which ask only for what changed since the last one."""
        other = copy.copy(self)
        other.client, other.background = self.client.in_background(), True
        return other

    async def end_signals(self) -> None:
        """Close the channels by which the provider tells of changes. Raises ``StoreError``."""
        if self._signals is not None:
            await self._signals.stop()

    async def aclose(self) -> None:
        await self.client.aclose()

    # --- reads ---

    async def window(self, start: datetime, end: datetime) -> Window:
        """Return the events of this calendar and of those that are read along, without copies."""
        others = await self._read_along.find(self.list_calendars)
        return await self._read_along.read(
            self._read_own(start, end),
            {other: self._read(other.id, start, end) for other in others},
            time_zone=self.time_zone,
        )

    async def _read_own(self, start: datetime, end: datetime) -> list[EventImage]:
        events = await self._read(self.calendar_id, start, end)
        self._remember(*events)
        return events

    async def _read(self, calendar_id: str, start: datetime, end: datetime) -> list[EventImage]:
        start, end = start.astimezone(UTC), end.astimezone(UTC)
        if not self.background:
            return await self._read_span(calendar_id, start, end)
        if calendar_id not in self._feeds:
            read = partial(self._read_span, calendar_id)
            self._feeds[calendar_id] = ChangeFeed(self.client, calendar_id, self.time_zone, read, self._signals)
        return await self._feeds[calendar_id].read(start, end)

    async def _read_span(self, calendar_id: str, start: datetime, end: datetime) -> list[EventImage]:
        if end <= start:
            return []
        query: dict[str, str | int] = {
            "timeMin": format_time(start),
            "timeMax": format_time(end + timedelta(seconds=1)),  # Google ignores fractions
            "singleEvents": "true",
            "maxResults": PAGE_SIZE,
        }
        events = [
            event
            async for page in self.client.read_pages(build_path("calendars", calendar_id, "events"), query)
            for event in read_page(page)
        ]
        return order_window(events, start, end, self.time_zone)

    async def list_calendars(self) -> tuple[CalendarEntry, ...]:
        """Return all calendars of the account. Raises :class:`~fateforger.errors.CalendarError`."""
        return await list_calendars(self.client)

    async def _find(self, event_id: str) -> EventImage | Refused | None:
        answer = await self.client.read(self._get_path(event_id))
        if isinstance(answer, Refused):
            absent = answer.refusal in {RefusalKind.NOT_FOUND, RefusalKind.DELETED}
            return await self._check_absence() if absent else answer
        found = read_answer(answer, event_id)
        if isinstance(found, EventImage):
            self._remember(found)
        return found

    async def _check_absence(self) -> Refused | None:
        """Return ``None`` if only the event is absent: an unknown calendar gives the same 404."""
        query: dict[str, str | int] = {
            "timeMin": format_time(_LONG_AGO),
            "timeMax": format_time(_LONG_AGO + timedelta(1)),
            "maxResults": 1,
        }
        answer = await self.client.read(build_path("calendars", self.calendar_id, "events"), query)
        if not isinstance(answer, Refused):
            return None
        return replace(answer, refusal=RefusalKind.NO_CALENDAR) if answer.refusal is RefusalKind.NOT_FOUND else answer

    # --- writes ---

    async def _insert(self, write: Create) -> Outcome:
        body = build_event(write.event_id, write.fields, write.marker, write.extras, self.time_zone)
        query = {"sendUpdates": "none", "supportsAttachments": "true"}
        path = build_path("calendars", self.calendar_id, "events")
        return self._judge(await self.client.request("POST", path, query=query, body=body), write)

    def _get_seen(self, write: Update | Delete) -> EventImage | None:
        if isinstance(write, Update):
            return write.seen if write.seen is not None and has_etag(write.seen) else None
        known = self._known.get(write.event_id)
        return known if known is not None and write.expect == known.version else None

    async def _send_over(self, write: Update | Delete, found: EventImage) -> Outcome:
        path, query = self._get_path(write.event_id), {"sendUpdates": "none"}
        if isinstance(write, Delete):
            answer = await self.client.request("DELETE", path, query=query, if_match=found.version)
            return answer.to_outcome(write.kind) if isinstance(answer, Refused) else Done(None)
        body = build_changes(write.changes, write.marker, self.time_zone)
        answer = await self.client.request("PATCH", path, query=query, body=body, if_match=found.version)
        return self._judge(answer, write)

    def _judge(self, answer: Json | Refused, write: Create | Update) -> Outcome:
        if isinstance(answer, Refused):
            return answer.to_outcome(write.kind)
        image = read_answer(answer, write.event_id)
        if isinstance(image, Refused):
            return Unknown(image.reason)
        self._remember(image)
        return Gone() if image.gone else Done(image)

    def _get_path(self, event_id: str) -> str:
        return build_path("calendars", self.calendar_id, "events", event_id)

    def _remember(self, *events: EventImage) -> None:
        for event in events:
            if event.has_owned_id and has_etag(event):
                self._known[event.id] = event
                self._known.move_to_end(event.id)
        while len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)


# --- the account ---


async def list_calendars(client: GoogleClient) -> tuple[CalendarEntry, ...]:
    """Return all calendars of an account, the primary one first. Raises :class:`~fateforger.errors.CalendarError`.

    This program asks only for the right to change events on a person's own calendars, so another one counts as a
    calendar to read, even if the person may change it.
    """
    found: list[WireCalendar] = []
    async for page in client.read_pages(build_path("users", "me", "calendarList"), {"maxResults": 250}):
        if isinstance(page, Refused):
            raise page.to_error()
        try:
            found += map(WireCalendar.model_validate, page.get("items", ()))
        except (ValidationError, TypeError):
            raise CalendarIncomplete(_("I do not understand Google's list of your calendars.")) from None
    read_only = {"writer": "reader"}
    return tuple(replace(e, access_role=read_only.get(e.access_role, e.access_role)) for e in sort_entries(found))


async def try_account(client: GoogleClient) -> tuple[str, tuple[CalendarEntry, ...]]:
    """Check that an account can be used, and return its address and its calendars.

    Its calendars are listed, and an event of the primary one is read. Raises :class:`~fateforger.errors.CalendarError`.
    """
    calendars = await list_calendars(client)
    primary = next((entry for entry in calendars if entry.primary), None)
    if primary is None:
        raise CalendarNotFound(_("This Google account has no calendar of its own."))
    answer = await client.read(build_path("calendars", primary.id, "events"), {"maxResults": 1})
    if isinstance(answer, Refused):
        raise answer.to_error()
    return primary.id, calendars

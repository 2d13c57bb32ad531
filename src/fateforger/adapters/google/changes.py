"""Reads that ask Google only for what changed, and the push channels that announce changes.

Google's sync tokens and bounds of time exclude each other, so one token follows a whole calendar, without its content;
a day is read in full once, and what changed is put into it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from fateforger.adapters.google.client import PAGE_SIZE, GoogleClient, Json, build_path
from fateforger.adapters.google.wire import read_page
from fateforger.calendar.channels import Channel, extend
from fateforger.calendar.event import EventImage
from fateforger.calendar.event_json import order_window
from fateforger.calendar.ports import Signals
from fateforger.calendar.refusals import RefusalKind, Refused

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

"""The calendar port over Microsoft Graph: one calendar of one mailbox, and its subscriptions to changes."""

from __future__ import annotations

import copy
import logging
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any, Self, TypeVar
from urllib.parse import quote

from fateforger.adapters.microsoft.client import CALLS_AT_ONCE, GraphClient, Json, refuse
from fateforger.adapters.microsoft.wire import (
    EXPANDED,
    ID_PROPERTY,
    build_create,
    build_update,
    read_calendar,
    read_event,
)
from fateforger.calendar.channels import Channel, extend
from fateforger.calendar.directory import CalendarEntry, Unreadable
from fateforger.calendar.event import EventImage, Marker, OwnedId
from fateforger.calendar.ports import (
    CalendarTraits,
    Create,
    Delete,
    Done,
    Exists,
    Outcome,
    Rejected,
    Signals,
    Unknown,
    Update,
    Window,
    WriteKind,
)
from fateforger.calendar.refusals import WRITE_SECONDS, GuardedWrites, RefusalKind, Refused
from fateforger.planning.timing import zone
from fateforger.text import gettext as _
from fateforger.values import replace

PAGE_SIZE = 250
ALL_DAY_MARGIN = timedelta(hours=14)
"""A day begins at most this long before or after it does in UTC. Graph does not say in which zone it compares all-day
events with a span of time, so a wider span is asked for."""
MOST_KNOWN = 1000
MOST_FOLLOWED = 50


@dataclass(frozen=True, slots=True)
class Followed:
    """A span of time as it was read, and the address that tells what changed since."""

    link: str
    window: Window


class MicrosoftCalendar(GuardedWrites):
    """One calendar of one mailbox.

    Our events are found by an extended property, since Graph chooses the ids of events itself. Before a create the
    property is looked for, and a create that is repeated before it can be found carries the same ``transactionId``.

    Graph shows nothing of a deleted event. Those that were seen while this program runs are remembered, and shown as
    cancelled; after a restart a deleted event is unknown.
    """

    def __init__(
        self,
        client: GraphClient,
        *,
        key: str,
        time_zone: str,
        user: str | None = None,
        calendar_id: str | None = None,
        signals: Signals | None = None,
        write_seconds: float = WRITE_SECONDS,
    ) -> None:
        """Use the calendar of ``user``, or of the person whose token it is; without ``calendar_id`` the main one.

        ``time_zone`` is the person's IANA zone. Raises ``ValueError`` with a sentence for an unknown one.
        """
        self._mailbox = "/me" if user is None else f"/users/{quote(user, safe='')}"
        self._path = self._mailbox + (
            "/calendar" if calendar_id is None else f"/calendars/{quote(calendar_id, safe='')}"
        )
        self._client = client
        self._key = key
        self._zone = zone(time_zone)
        self._calendar_id = calendar_id
        self._signals = signals
        self.write_seconds = write_seconds
        self.background = False
        self._known: OrderedDict[str, EventImage] = OrderedDict()
        self._followed: OrderedDict[tuple[datetime, datetime], Followed] = OrderedDict()
        self._stale: set[tuple[datetime, datetime]] = set()

    @property
    def key(self) -> str:
        return self._key

    @property
    def traits(self) -> CalendarTraits:
        return CalendarTraits(
            conditional_write=True, can_clear_color=True, compares_on_delete=True, writes_at_once=CALLS_AT_ONCE
        )

    def in_background(self) -> Self:
        """Return the same calendar for background reads, which first ask whether anything changed."""
        other = copy.copy(self)
        other._client, other.background = self._client.in_background(), True  # noqa: SLF001  it is one of its own kind
        return other

    async def find_account(self) -> tuple[str, str]:
        """Return the address of the mailbox's owner, and the id of its main calendar. Raises ``CalendarError``."""
        shown = _require(await self._client.request("GET", f"{self._mailbox}/calendar"))
        owner = shown.get("owner") or {}
        if not isinstance(shown.get("id"), str) or not isinstance(owner.get("address"), str):
            raise _to_refused(Unreadable("a calendar without an owner")).to_error()
        return owner["address"], shown["id"]

    async def list_calendars(self) -> tuple[CalendarEntry, ...]:
        """Return all calendars of the mailbox, the main one first. Raises :class:`~fateforger.errors.CalendarError`."""
        pages = _require(await self._client.read_pages(f"{self._mailbox}/calendars", page_size=PAGE_SIZE))
        try:
            entries = [read_calendar(shown) for page in pages for shown in page["value"]]
        except (Unreadable, KeyError, TypeError) as problem:
            raise _to_refused(problem).to_error() from None
        return tuple(sorted(entries, key=lambda entry: (not entry.primary, entry.summary.casefold(), entry.id)))

    # --- reads ---

    async def window(self, start: datetime, end: datetime) -> Window:
        return await (self._follow(start, end) if self.background else self._read_window(start, end))

    async def _read_window(self, start: datetime, end: datetime) -> Window:
        query = {**_build_span(start, end), "$expand": EXPANDED, "$top": str(PAGE_SIZE)}
        events: dict[str, EventImage] = {}
        for page in _require(await self._client.read_pages(f"{self._path}/calendarView", query, page_size=PAGE_SIZE)):
            events |= {event.raw["graphId"]: event for event in self._read_events(page)}
        inside = [event for event in events.values() if not event.gone and self._overlaps(event, start, end)]
        return Window(sorted(inside, key=lambda event: (self._get_instant(event.start), event.id)))

    async def _follow(self, start: datetime, end: datetime) -> Window:
        """Read a span in full only if Graph reports a change of it since the last time.

        The address for the next question is taken before the span is read, so a change in between is not missed.
        """
        if await self._may_have_changed():
            self._stale.update(self._followed)
        known = self._followed.pop((start, end), None)
        if known is not None and (start, end) not in self._stale:
            self._followed[start, end] = known
            return known.window
        link, changed = await self._ask_changes(start, end, known)
        window = known.window if known is not None and not changed else await self._read_window(start, end)
        self._followed[start, end] = Followed(link, window)
        self._stale.discard((start, end))
        while len(self._followed) > MOST_FOLLOWED:
            self._stale.discard(self._followed.popitem(last=False)[0])
        return window

    async def _may_have_changed(self) -> bool:
        if self._signals is None or self._calendar_id is None:
            return True
        return await self._signals.has_changed(self._calendar_id)

    async def _ask_changes(self, start: datetime, end: datetime, known: Followed | None) -> tuple[str, bool]:
        """Return the address for the next question, and whether the span may have changed.

        A token that expired begins a new round, in which everything counts as changed.
        """
        path = f"{self._path}/calendarView/delta" if known is None else known.link
        query = _build_span(start, end) if known is None else None
        answer = await self._client.read_pages(path, query, page_size=PAGE_SIZE)
        if isinstance(answer, Refused) and answer.refusal is RefusalKind.EXPIRED and known is not None:
            return await self._ask_changes(start, end, None)
        pages = _require(answer)
        link = pages[-1].get("@odata.deltaLink")
        if not isinstance(link, str):
            raise refuse(RefusalKind.UNCLEAR, _("its answer cannot be read")).to_error()
        return link, known is None or any(page.get("value") for page in pages)

    def _read_events(self, page: Json) -> list[EventImage]:
        try:
            return [self._note(event) for event in _name_once(read_event(shown) for shown in page["value"])]
        except (Unreadable, KeyError, TypeError) as problem:
            raise _to_refused(problem).to_error() from None

    def _overlaps(self, event: EventImage, start: datetime, end: datetime) -> bool:
        begins, ends = self._get_instant(event.start), self._get_instant(event.end)
        return begins < end and ends > start

    def _get_instant(self, moment: Any) -> datetime:
        """Return the instant of an end of an event; a date is midnight in the person's zone."""
        if isinstance(moment, datetime):
            return moment
        return datetime.combine(moment, time(), self._zone).astimezone(UTC)

    async def _find(self, event_id: str) -> EventImage | Refused | None:
        return await (self._find_owned(event_id) if OwnedId.is_one(event_id) else self._find_other(event_id))

    async def _find_owned(self, event_id: str) -> EventImage | Refused | None:
        """Look for an event by our id, and return it as it is, as it was when it was deleted, or ``None``."""
        wanted = f"ep/id eq '{ID_PROPERTY}' and ep/value eq '{event_id}'"
        query = {"$filter": f"singleValueExtendedProperties/Any(ep: {wanted})", "$expand": EXPANDED, "$top": "20"}
        answer = await self._client.request("GET", f"{self._path}/events", query=query)
        if isinstance(answer, Refused):
            return (
                replace(answer, refusal=RefusalKind.NO_CALENDAR) if answer.refusal is RefusalKind.NOT_FOUND else answer
            )
        try:
            found = _name_once(read_event(shown) for shown in answer["value"])
        except (Unreadable, KeyError, TypeError) as problem:
            return _to_refused(problem)
        for event in found:
            if event.id == event_id:
                return self._note(event)
        last = self._known.get(event_id)
        return None if last is None else replace(last, status="cancelled")

    async def _find_other(self, event_id: str) -> EventImage | Refused | None:
        answer = await self._client.request(
            "GET", f"{self._path}/events/{quote(event_id, safe='')}", query={"$expand": EXPANDED}
        )
        if isinstance(answer, Refused):
            return None if answer.refusal is RefusalKind.NOT_FOUND else answer
        try:
            event = read_event(answer)
        except Unreadable as problem:
            return _to_refused(problem)
        # One of our events is not found by the id that Graph gave it: it would have two.
        return event if event.id == event_id else None

    def _note(self, event: EventImage) -> EventImage:
        """Remember one of our events, which Graph shows no more once it is deleted."""
        if event.has_owned_id:
            self._known[event.id] = event
            self._known.move_to_end(event.id)
            while len(self._known) > MOST_KNOWN:
                self._known.popitem(last=False)
        return event

    # --- writes ---

    async def _create(self, write: Create) -> Outcome:
        found = await self._find_owned(write.event_id)
        if isinstance(found, Refused):
            return found.to_outcome(write.kind)
        if found is not None:
            return Exists()
        outcome = await super()._create(write)
        return await self._correct_times(outcome, {"start": write.fields.start, "end": write.fields.end}, write.marker)

    async def _insert(self, write: Create) -> Outcome:
        body = build_create(write.event_id, write.fields, write.marker, self._zone.key, write.extras)
        return await self._send(write.kind, "POST", f"{self._path}/events", body, None)

    def _get_seen(self, write: Update | Delete) -> EventImage | None:
        seen = write.seen if isinstance(write, Update) else None
        return seen if seen is not None and not seen.gone and seen.version is not None else None

    async def _send_over(self, write: Update | Delete, found: EventImage) -> Outcome:
        path = self._build_path(found)
        if isinstance(write, Delete):
            answer = await self._client.request("DELETE", path, if_match=found.version)
            return answer.to_outcome(write.kind) if isinstance(answer, Refused) else Done(None)
        if not found.is_timed:
            return Rejected(f"“{found.summary[:60]}” is an all-day event now.")
        whole = dict(write.changes)
        if {"start", "end"} & whole.keys():
            whole = {"start": found.start, "end": found.end, **whole}
        body = build_update(whole, found, write.marker, self._zone.key)
        outcome = await self._send(write.kind, "PATCH", path, body, found)
        return await self._correct_times(outcome, whole, write.marker)

    async def end_signals(self) -> None:
        """Close the channels by which the provider tells of changes. Raises ``StoreError``."""
        if self._signals is not None:
            await self._signals.stop()

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _send(self, kind: WriteKind, method: str, path: str, body: Json, found: EventImage | None) -> Outcome:
        if_match = None if found is None else found.version
        answer = await self._client.request(method, path, body=body, if_match=if_match)
        if isinstance(answer, Refused):
            return answer.to_outcome(kind)
        try:
            return Done(self._note(_read_written(answer, body, found)))
        except Unreadable as problem:
            return Unknown(f"an answer that cannot be read: {problem}")

    async def _correct_times(self, outcome: Outcome, wanted: Mapping[str, Any], marker: Marker) -> Outcome:
        """Write the times once more in UTC if Microsoft's rules of the person's zone are other ones than ours."""
        image = outcome.image if isinstance(outcome, Done) else None
        ends = {name: wanted[name].replace(microsecond=0) for name in ("start", "end") if name in wanted}
        if image is None or all(getattr(image, name) == moment for name, moment in ends.items()):
            return outcome
        body = build_update(ends, image, marker, "UTC")
        return await self._send("update", "PATCH", self._build_path(image), body, image)

    def _build_path(self, found: EventImage) -> str:
        return f"{self._path}/events/{quote(found.raw['graphId'], safe='')}"


def _build_span(start: datetime, end: datetime) -> dict[str, str]:
    begins, ends = start.astimezone(UTC) - ALL_DAY_MARGIN, end.astimezone(UTC) + ALL_DAY_MARGIN
    return {
        "startDateTime": f"{begins.replace(tzinfo=None, microsecond=0).isoformat()}Z",
        "endDateTime": f"{ends.replace(tzinfo=None, microsecond=0).isoformat()}Z",
    }


def _read_written(answer: Json, body: Json, found: EventImage | None) -> EventImage:
    """Read the answer to a write, which leaves out the extended properties: those sent, and the id of the event."""
    sent = list(body["singleValueExtendedProperties"])
    if found is not None:
        sent.append({"id": ID_PROPERTY, "value": found.id})
    return read_event(answer, {"singleValueExtendedProperties": sent})


def _name_once(events: Iterable[EventImage]) -> list[EventImage]:
    """Leave our id to the event that was made first, should a copy of it claim the id, too."""
    named: dict[str, EventImage] = {}
    for event in sorted(events, key=lambda event: (event.raw["created"], event.raw["graphId"])):
        graph_id = event.raw["graphId"]
        taken = event.id in named
        named[graph_id if taken else event.id] = (
            replace(event, id=graph_id, raw={**event.raw, "id": graph_id}) if taken else event
        )
    return list(named.values())


A = TypeVar("A")


def _require(answer: A | Refused) -> A:
    if isinstance(answer, Refused):
        raise answer.to_error()
    return answer


def _to_refused(problem: Exception) -> Refused:
    return refuse(RefusalKind.UNCLEAR, f"{problem}")


log = logging.getLogger(__name__)


class MicrosoftChannels:
    """The subscriptions of one mailbox. Implements :class:`fateforger.calendar.channels.ChannelApi`.

    ``address`` is a public https address of this program, which Graph tries before it opens a subscription. Graph
    chooses the id, so each notice names the channel and its secret in the state that Graph repeats.
    """

    def __init__(self, client: GraphClient, address: str) -> None:
        self._client = client.in_background()
        self._address = address

    async def open(self, channel: Channel, secret: str) -> Channel | None:
        body = {
            "changeType": "created,updated,deleted",
            "notificationUrl": self._address,
            "resource": f"me/calendars/{quote(channel.calendar_id, safe='')}/events",
            "expirationDateTime": _format(channel.expires_at),
            "clientState": f"{channel.id}.{secret}",
        }
        return self._read(channel, await self._client.request("POST", "/subscriptions", body=body))

    async def renew(self, channel: Channel, until: datetime) -> Channel | None:
        path, body = _build_path(channel), {"expirationDateTime": _format(until)}
        return self._read(channel, await self._client.request("PATCH", path, body=body))

    async def close(self, channel: Channel) -> None:
        answer = await self._client.request("DELETE", _build_path(channel))
        if isinstance(answer, Refused):
            log.info("a subscription was not closed and expires at %s: %s", channel.expires_at, answer.reason)

    def _read(self, channel: Channel, answer: Json | Refused) -> Channel | None:
        if isinstance(answer, Refused):
            log.warning("Microsoft opens no subscription: %s", answer.reason)
            return None
        try:
            return extend(channel, str(answer["id"]), datetime.fromisoformat(answer["expirationDateTime"]))
        except (KeyError, TypeError, ValueError):
            log.warning("Microsoft's answer about a subscription cannot be read")
            return None


def _build_path(channel: Channel) -> str:
    return f"/subscriptions/{quote(channel.remote_id, safe='')}"


def _format(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"

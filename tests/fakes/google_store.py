"""The state of one Google calendar, and the actions of a person on its page. Only rules: no port, no faults.

The rules: an id that was ever used stays taken; a deleted event stays readable as cancelled, until it is purged;
private properties merge key by key; every write gives the event a new ``updated`` stamp. Time does not pass here:
stamps count up from a fixed instant, so that two equal histories leave equal calendars.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from fateforger.calendar.event import EventFields, EventImage

OWNER = "owner@example.com"
_EPOCH = datetime(2026, 11, 21, tzinfo=UTC)


class IdTaken(Exception):
    """An id was used before."""


class EventMissing(Exception):
    """No event has that id, or it was deleted."""


class EventInvalid(Exception):
    """The event would end before it starts, or be all-day at one end only."""


def same(fields: EventFields) -> EventFields:
    """Return the fields unchanged, as a calendar does that normalizes nothing."""
    return fields


@dataclass
class GoogleStore:
    """One calendar. ``normalize`` is what the calendar does to the text it is given; ``lag`` is for how many
    windows a new event stays invisible."""

    time_zone: str = "Europe/Berlin"
    normalize: Callable[[EventFields], EventFields] = same
    lag: int = 0
    events: dict[str, EventImage] = field(default_factory=dict)
    purged: set[str] = field(default_factory=set)
    _unseen: dict[str, int] = field(default_factory=dict)
    _ticks: int = 0
    _minted: int = 0

    # --- what the programming interface offers ---

    def get(self, event_id: str) -> EventImage | None:
        """Return the event, also a cancelled one."""
        return self.events.get(event_id)

    def live(self, event_id: str) -> EventImage:
        """Return the event, unless it is deleted. Raises :class:`EventMissing`."""
        image = self.events.get(event_id)
        if image is None or image.gone:
            raise EventMissing(event_id)
        return image

    def insert(self, event_id: str, fields: EventFields, properties: Mapping[str, str], **extras: Any) -> EventImage:
        """Insert an event. Raises :class:`IdTaken` for an id that was ever used, and :class:`EventInvalid`."""
        if event_id in self.events or event_id in self.purged:
            raise IdTaken(event_id)
        if self.lag:
            self._unseen[event_id] = self.lag
        if fields.end < fields.start:
            raise EventInvalid("The specified time range is empty.")
        busy = extras.pop("transparency", "opaque") == "opaque"
        image = EventImage(id=event_id, **self.normalize(fields).model_dump(), properties=dict(properties), busy=busy)
        return self._put(image, extras)

    def patch(self, event_id: str, changes: Mapping[str, Any], properties: Mapping[str, str]) -> EventImage:
        """Set the given fields. Raises :class:`EventMissing` and :class:`EventInvalid`."""
        image = self.live(event_id)
        merged = dict(image.properties) | dict(properties)
        changed = image.model_copy(update={**changes, "properties": merged})
        if isinstance(changed.start, datetime) is not isinstance(changed.end, datetime):
            raise EventInvalid("Start and end times must either both be date or both be dateTime.")
        if self.instant(changed.end) < self.instant(changed.start):
            raise EventInvalid("The specified time range is empty.")
        if changed.is_timed:
            changed = changed.model_copy(update=dict(self.normalize(changed.fields)))
        return self._put(changed, extras_of(image))

    def cancel(self, event_id: str) -> EventImage:
        """Delete. Raises :class:`EventMissing`."""
        image = self.live(event_id)
        return self._put(image.model_copy(update={"status": "cancelled"}), extras_of(image))

    def window(self, start: datetime, end: datetime) -> tuple[EventImage, ...]:
        """Live events that end after ``start`` and begin before ``end``, by start, then id."""
        hidden = {i for i, n in self._unseen.items() if n > 0}
        self._unseen = {i: n - 1 for i, n in self._unseen.items() if n > 1}
        inside = [
            e
            for e in self.events.values()
            if not e.gone and e.id not in hidden and self.instant(e.end) > start and self.instant(e.start) < end
        ]
        return tuple(sorted(inside, key=lambda e: (self.instant(e.start), e.id)))

    # --- what the person does in the calendar's own page ---

    def user_create(
        self,
        summary: str = "Dentist",
        *,
        start: datetime | date,
        end: datetime | date,
        event_id: str | None = None,
        **more: Any,
    ) -> EventImage:
        """Create an event of the person's own.

        ``more`` are fields of ``EventImage``, and ``extras`` (Google's other fields).
        """
        extras = more.pop("extras", {})
        event_id = self._mint() if event_id is None else event_id
        if event_id in self.events or event_id in self.purged:
            raise IdTaken(event_id)
        return self._put(EventImage(id=event_id, summary=summary, start=start, end=end, **more), extras)

    def user_edit(self, event_id: str, **changes: Any) -> EventImage:
        """Change fields of ``EventImage``, or ``extras``, of any live event."""
        image = self.live(event_id)
        extras = {**extras_of(image), **changes.pop("extras", {})}
        edited = EventImage.model_validate({**image.model_dump(exclude={"raw"}), **changes})
        return self._put(edited, extras)

    def user_delete(self, event_id: str) -> EventImage:
        return self.cancel(event_id)

    def user_restore(self, event_id: str) -> EventImage:
        """Take an event back out of the bin."""
        image = self.events[event_id]
        return self._put(image.model_copy(update={"status": "confirmed"}), extras_of(image))

    def user_copy(self, event_id: str, *, by: timedelta = timedelta()) -> EventImage:
        """Duplicate an event, moved ``by``: a new id, the same private properties."""
        image = self.live(event_id)
        moved = {"start": image.start + by, "end": image.end + by}
        return self._put(image.model_copy(update={"id": self._mint(), **moved}), extras_of(image))

    def user_repeat(self, event_id: str) -> EventImage:
        """Turn an event into a series and return its occurrence of the next day.

        The occurrence has our mark, and our id as a part of its own.
        """
        image = self.live(event_id)
        start = self.instant(image.start) + timedelta(days=1)
        return self.user_create(
            image.summary,
            start=start,
            end=start + timedelta(minutes=30),
            event_id=f"{image.id}_{start:%Y%m%dT%H%M%SZ}",
            series_id=image.id,
            properties=dict(image.properties),
        )

    def purge(self, event_id: str) -> None:
        """Forget a deleted event, as happens after some weeks; its id stays taken."""
        del self.events[event_id]
        self.purged.add(event_id)

    @property
    def ticks(self) -> int:
        """Return the number of writes so far."""
        return self._ticks

    def changed_since(self, ticks: int) -> list[EventImage]:
        """Return the events written after that many writes, also deleted ones, in the order of their last writes."""
        since = _stamp(ticks)
        return sorted((e for e in self.events.values() if str(e.version) > since), key=lambda e: str(e.version))

    # --- for assertions ---

    def get_live_events(self) -> dict[str, EventImage]:
        """Return all live events by id."""
        return {i: e for i, e in sorted(self.events.items()) if not e.gone}

    def instant(self, moment: datetime | date) -> datetime:
        """Return the instant of a moment; a date means midnight in the calendar's zone."""
        if isinstance(moment, datetime):
            return moment
        return datetime.combine(moment, time(), ZoneInfo(self.time_zone)).astimezone(UTC)

    def _put(self, image: EventImage, extras: Mapping[str, Any]) -> EventImage:
        self._ticks += 1
        image = image.model_copy(
            update={
                "version": _stamp(self._ticks),
                "html_link": f"https://www.google.com/calendar/event?eid={image.id}",
            }
        )
        image = image.model_copy(update={"raw": google_json(image, self.time_zone, extras)})
        self.events[image.id] = image
        return image

    def _mint(self) -> str:
        self._minted += 1
        return f"user{self._minted:08d}"


def google_json(image: EventImage, time_zone: str, extras: Mapping[str, Any]) -> dict[str, Any]:
    """Return the event as Google writes it: defaults left out, times with the offset of the calendar's zone."""
    who = {"email": OWNER, "self": True} if image.organized_by_me else {"email": "boss@example.com"}
    shared = extras.get("extendedProperties", {}).get("shared")
    extended = {
        **({"private": dict(image.properties)} if image.properties else {}),
        **({"shared": shared} if shared else {}),
    }
    optional = {
        "description": image.description,
        "colorId": image.color_id,
        "transparency": None if image.busy else "transparent",
        "recurringEventId": image.series_id,
    }
    return {
        "id": image.id,
        "summary": image.summary,
        "start": _google_time(image.start, time_zone),
        "end": _google_time(image.end, time_zone),
        "status": image.status,
        "htmlLink": image.html_link,
        "created": "2026-11-21T00:00:00.000Z",
        "updated": image.version,
        "creator": who,
        "organizer": who,
        "iCalUID": f"{image.id}@google.com",
        "sequence": 0,
        "reminders": {"useDefault": True},
        "eventType": image.event_type,
        **{name: value for name, value in optional.items() if value},
        **extras,
        **({"extendedProperties": extended} if extended else {}),
    }


def extras_of(image: EventImage) -> dict[str, Any]:
    """Return Google's fields that an ``EventImage`` has no name for, unchanged."""
    known = google_json(image, "UTC", {}).keys() | {"description", "colorId", "transparency", "extendedProperties"}
    kept = {name: value for name, value in image.raw.items() if name not in known or name == "reminders"}
    shared = image.raw.get("extendedProperties", {}).get("shared")
    return {**kept, "extendedProperties": {"shared": shared}} if shared else kept


def _stamp(ticks: int) -> str:
    stamp = _EPOCH + timedelta(milliseconds=ticks)
    return f"{stamp:%Y-%m-%dT%H:%M:%S}.{stamp.microsecond // 1000:03d}Z"


def _google_time(moment: datetime | date, time_zone: str) -> dict[str, str]:
    if not isinstance(moment, datetime):
        return {"date": moment.isoformat()}
    return {"dateTime": moment.astimezone(ZoneInfo(time_zone)).isoformat(), "timeZone": time_zone}

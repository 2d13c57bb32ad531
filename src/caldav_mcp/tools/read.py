"""`list-events` and `get-event`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from caldav_mcp.collection import Collection
from caldav_mcp.errors import BadRequest, internal
from caldav_mcp.event_json import event_json, only_fields
from caldav_mcp.expansion import Expansion, shown_title
from caldav_mcp.ids import split_instance
from caldav_mcp.objects import Resource
from caldav_mcp.occurrences import MOST, Occurrence, removed_stamps
from caldav_mcp.times import read_bound, rfc3339_milliseconds
from caldav_mcp.tools.calendars import Calendars, Named


async def list_events(calendars: Calendars, given: dict[str, Any]) -> dict[str, Any]:
    """Return events that overlap the open span (timeMin, timeMax), by start; the first 250 of each calendar.

    `leftOut` is an addition: events that cannot be read, repeat too often, or could not be worked out in time.
    """
    asked = given["calendarId"]
    named = calendars.several(asked if isinstance(asked, list) else [asked], given.get("account"))
    events: list[tuple[datetime, dict[str, Any]]] = []
    missing: list[dict[str, str]] = []
    for calendar in named:
        expansion = await calendar.collection.expand(*_bounds(calendar, given))
        events += _events(calendars, calendar, in_order(expansion), given)
        missing += left_out(expansion)
    events.sort(key=lambda pair: pair[0])
    answer: dict[str, Any] = {"events": [event for _, event in events], "totalCount": len(events)}
    if len(named) > 1:
        answer["calendars"] = [calendar.shown for calendar in named]
    if missing:
        answer["leftOut"] = missing
    return answer


def _bounds(named: Named, given: dict[str, Any]) -> tuple[datetime | None, datetime | None]:
    zone = named.collection.about.zone
    earliest = read_bound(given.get("timeMin"), given.get("timeZone"), zone)
    latest = read_bound(given.get("timeMax"), given.get("timeZone"), zone)
    if earliest is not None and latest is not None and earliest >= latest:
        raise BadRequest("The specified time range is empty.")
    return earliest, latest


def _events(
    calendars: Calendars, named: Named, found: list[Occurrence], given: dict[str, Any]
) -> list[tuple[datetime, dict[str, Any]]]:
    shown = []
    for occurrence in found:
        event = occurrence_json(calendars, named, occurrence)
        if _has_properties(event, given):
            shown.append((occurrence.start.instant, only_fields(event, given.get("fields"))))
    return shown[:MOST]


async def occurrences_in(
    collection: Collection, earliest: datetime | None, latest: datetime | None
) -> list[Occurrence]:
    """Return everything in a calendar that overlaps an open span of time, by start, then by end."""
    return in_order(await collection.expand(earliest, latest))


def in_order(expansion: Expansion) -> list[Occurrence]:
    return sorted(expansion.found, key=lambda o: (o.start.instant, o.end.instant, o.resource.href))


def left_out(expansion: Expansion) -> list[dict[str, str]]:
    """Return what a listing had to leave out, by title: it may be on any day."""
    return [{"summary": title} for title in sorted({shown_title(resource) for resource in expansion.left_out})]


def occurrence_json(calendars: Calendars, named: Named, occurrence: Occurrence) -> dict[str, Any]:
    resource = occurrence.resource
    showing = calendars.showing(named, resource)
    return event_json(occurrence.event, resource.event_id, showing, occurrence=occurrence.in_series)


def _has_properties(event: dict[str, Any], given: dict[str, Any]) -> bool:
    extended = event.get("extendedProperties", {})
    for kind in ("private", "shared"):
        for pair in given.get(f"{kind}ExtendedProperty", []):
            key, _, value = pair.partition("=")
            if extended.get(kind, {}).get(key) != value:
                return False
    return True


async def get_event(calendars: Calendars, given: dict[str, Any]) -> dict[str, Any]:
    """One event or occurrence; a deleted one is answered with the status `cancelled`."""
    named = calendars.one(given["calendarId"], given.get("account"), "read")
    event_id = given["eventId"]
    event = await shown_event(calendars, named, event_id)
    if event is None:
        raise internal(f"Event with ID '{event_id}' not found in calendar '{named.shown}'.")
    return {"event": only_fields(event, given.get("fields"))}


async def shown_event(calendars: Calendars, named: Named, event_id: str) -> dict[str, Any] | None:
    """Return an event as JSON, also a deleted one; None when there never was one."""
    series_id, stamp = split_instance(event_id)
    resource = await named.collection.find(series_id)
    if resource is None:
        return await buried_event(calendars, named, event_id)
    showing = calendars.showing(named, resource)
    if stamp is None:
        return event_json(resource.master, resource.event_id, showing)
    zone = named.collection.about.zone
    occurrence = await named.collection.occurrence_at(resource, stamp)
    if occurrence is not None:
        return occurrence_json(calendars, named, occurrence)
    if stamp not in removed_stamps(resource, zone):
        return None
    return event_json(resource.master, resource.event_id, showing) | {"id": event_id, "status": "cancelled"}


async def buried_event(calendars: Calendars, named: Named, event_id: str) -> dict[str, Any] | None:
    """Return a deleted event with its last known details; None when the id is unknown.

    A calendar that is gone as a whole is an error: then nothing can be said about its events. Raises `NotFound`.
    """
    about = named.collection.about
    known = await calendars.register.recall(about.key, event_id)
    await named.collection.state()
    if known is None:
        return None
    resource = Resource(named.collection.href_for(event_id), "", known.text)
    event = event_json(resource.master, resource.event_id, calendars.showing(named, resource))
    deleted = {"updated": rfc3339_milliseconds(known.deleted_at)} if known.deleted_at else {}
    return event | {"status": "cancelled"} | deleted

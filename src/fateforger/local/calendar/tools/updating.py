"""`update-event`."""

from __future__ import annotations

from typing import Any

from ..editing import Changes, change_event, change_occurrence
from ..errors import BadRequest, NotFound, PreconditionFailed, ServiceError, ToolError
from ..event_json import event_json
from ..ids import instance_id, split_instance
from ..objects import Resource, end_of, start_of
from ..occurrences import occurrence_at
from ..times import read_bound
from .calendars import Calendars, Named
from .given import check_span, read_changes, read_times
from .overlaps import Proposal, overlaps
from .reading import buried_event
from .retrying import guarded


async def update_event(calendars: Calendars, given: dict[str, Any]) -> dict[str, Any]:
    """Set the given fields of an event; everything else stays as it is.

    A deleted event is answered with the status `cancelled` and not changed. Upstream failures show their own words only.
    """
    named = calendars.one(given["calendarId"], given.get("account"), "write")
    try:
        return await guarded(lambda: _attempt(calendars, named, given), repeat="ifMatch" not in given)
    except NotFound as error:
        looks_first = "attendees" in given or (_has_times(given) and given.get("checkConflicts") is not False)
        raise ToolError(error.bare if looks_first else error.full) from error
    except ServiceError as error:
        raise ToolError(error.bare) from error


async def _attempt(calendars: Calendars, named: Named, given: dict[str, Any]) -> dict[str, Any]:
    series_id, stamp = split_instance(_target(named, given))
    resource = await named.collection.find(series_id)
    if resource is None:
        buried = await buried_event(calendars, named, given["eventId"])
        if buried is None:
            raise NotFound
        return {"event": buried}
    if given.get("ifMatch", resource.etag) != resource.etag:
        raise PreconditionFailed
    if resource.is_cancelled:
        return {"event": event_json(resource.master, resource.event_id, calendars.showing(named, resource))}
    if stamp is None:
        return await _update_whole(calendars, named, resource, given)
    return await _update_occurrence(calendars, named, resource, stamp, given)


def _target(named: Named, given: dict[str, Any]) -> str:
    """The id to change: with `thisEventOnly` that of the occurrence."""
    event_id: str = given["eventId"]
    if given.get("modificationScope") != "thisEventOnly" or split_instance(event_id)[1] is not None:
        return event_id
    original = read_bound(given["originalStartTime"], given.get("timeZone"), named.collection.about.zone)
    return event_id if original is None else instance_id(event_id, original)


async def _update_whole(
    calendars: Calendars, named: Named, resource: Resource, given: dict[str, Any]
) -> dict[str, Any]:
    if given.get("modificationScope", "all") != "all" and not resource.is_series:
        raise ToolError('Scope other than "all" only applies to recurring events')
    changes, warnings = await _planned(calendars, named, resource, resource.master, resource.event_id, given)
    text = change_event(resource.text, changes, calendars.now())
    stored = await named.collection.replace(resource, text)
    if stored.uid == resource.event_id:
        await calendars.register.remember(named.collection.about.key, resource.event_id, stored.text)
    return {"event": event_json(stored.master, stored.event_id, calendars.showing(named, stored)), **warnings}


async def _update_occurrence(
    calendars: Calendars, named: Named, resource: Resource, stamp: str, given: dict[str, Any]
) -> dict[str, Any]:
    zone = named.collection.about.zone
    occurrence = occurrence_at(resource, stamp, zone) if resource.is_series else None
    if occurrence is None:
        raise NotFound
    shown_id = f"{resource.event_id}_{stamp}"
    changes, warnings = await _planned(calendars, named, resource, occurrence.event, shown_id, given)
    text = change_occurrence(resource, occurrence.event, changes, calendars.now())
    stored = await named.collection.replace(resource, text)
    fresh = occurrence_at(stored, stamp, zone)
    if fresh is None:
        raise NotFound
    showing = calendars.showing(named, stored)
    return {"event": event_json(fresh.event, stored.event_id, showing, occurrence=True), **warnings}


async def _planned(
    calendars: Calendars, named: Named, resource: Resource, event: Any, event_id: str, given: dict[str, Any]
) -> tuple[Changes, dict[str, Any]]:
    """The changes to make, and the warnings about what the new time overlaps."""
    zone = named.collection.about.zone
    if not _has_times(given):
        return read_changes(given, None, None), {}
    start, end = read_times(given, zone)
    new_start = start.moment if start else start_of(event, zone)
    new_end = end.moment if end else end_of(event, zone)
    check_span(new_start, new_end)
    is_series = resource.is_series and "RECURRENCE-ID" not in event
    if (given.get("recurrence") or is_series) and any(side and side.has_offset for side in (start, end)):
        raise BadRequest("Missing time zone definition for start time.")
    warnings: dict[str, Any] = {}
    if given.get("checkConflicts") is not False:
        title = given.get("summary") or str(event.get("SUMMARY", ""))
        proposal = Proposal(title, new_start, new_end, event_id)
        warnings = await overlaps(calendars, named, proposal, given, duplicates=False)
    return read_changes(given, new_start, new_end), warnings


def _has_times(given: dict[str, Any]) -> bool:
    return "start" in given or "end" in given

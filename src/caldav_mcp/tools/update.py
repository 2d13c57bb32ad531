"""`update-event`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import icalendar

from caldav_mcp.edits import Changes
from caldav_mcp.errors import (
    BadRequest,
    Forbidden,
    NotFound,
    PreconditionFailed,
    ServiceError,
    ToolError,
)
from caldav_mcp.event_json import event_json
from caldav_mcp.guests import read_organizer
from caldav_mcp.ids import instance_id, split_instance
from caldav_mcp.objects import Resource, end_of, start_of
from caldav_mcp.rewrites import with_changes, with_occurrence
from caldav_mcp.times import read_bound
from caldav_mcp.tools.calendars import Calendars, Named
from caldav_mcp.tools.create import note_overtaken
from caldav_mcp.tools.given import check_span, read_changes, read_times
from caldav_mcp.tools.overlaps import Proposal, overlaps
from caldav_mcp.tools.read import buried_event, occurrence_json
from caldav_mcp.tools.retry import retry_write
from caldav_mcp.tools.split import continue_series

_ORGANIZERS_ONLY = "Shared properties can only be changed by the organizer of the event."


async def update_event(calendars: Calendars, given: dict[str, Any]) -> dict[str, Any]:
    """Set the given fields of an event; everything else stays as it is.

    A deleted event is answered with the status `cancelled` and not changed. `overtaken` is as in `create-event`.
    Upstream failures show their own words only.
    """
    named = calendars.one(given["calendarId"], given.get("account"), "write")
    try:
        return await retry_write(lambda: _attempt(calendars, named, given), repeat="ifMatch" not in given)
    except NotFound as error:
        looks_first = "attendees" in given or (_has_times(given) and given.get("checkConflicts") is not False)
        raise ToolError(error.bare if looks_first or "modificationScope" in given else error.full) from error
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
    if given.get("modificationScope", "all") != "all" and not resource.is_series:
        raise ToolError('Scope other than "all" only applies to recurring events')
    if resource.is_cancelled:
        return {"event": event_json(resource.master, resource.event_id, calendars.showing(named, resource))}
    if stamp is not None:
        return await _update_occurrence(calendars, named, resource, stamp, given)
    if given.get("modificationScope") == "thisAndFollowing":
        return {"event": await continue_series(calendars, named, resource, given)}
    return await _update_whole(calendars, named, resource, given)


def _target(named: Named, given: dict[str, Any]) -> str:
    """Return the id to change: with `thisEventOnly` that of the occurrence."""
    event_id: str = given["eventId"]
    if given.get("modificationScope") != "thisEventOnly" or split_instance(event_id)[1] is not None:
        return event_id
    original = read_bound(given["originalStartTime"], given.get("timeZone"), named.collection.about.zone)
    return event_id if original is None else instance_id(event_id, original)


async def _update_whole(
    calendars: Calendars, named: Named, resource: Resource, given: dict[str, Any]
) -> dict[str, Any]:
    changes, warnings = await _plan_changes(calendars, named, resource.master, resource.event_id, given)
    stored = await named.collection.replace(resource, with_changes(resource, changes, calendars.now()))
    await calendars.register.remember(named.collection.about.key, stored.event_id, stored.text)
    calendars.wrote(start_of(stored.master, named.collection.about.zone))
    event = event_json(stored.master, stored.event_id, calendars.showing(named, stored))
    return {"event": event, **warnings, **note_overtaken(stored)}


async def _update_occurrence(
    calendars: Calendars, named: Named, resource: Resource, stamp: str, given: dict[str, Any]
) -> dict[str, Any]:
    occurrence = await named.collection.occurrence_at(resource, stamp)
    if occurrence is None:
        raise NotFound
    shown_id = f"{resource.event_id}_{stamp}"
    changes, warnings = await _plan_changes(calendars, named, occurrence.event, shown_id, given)
    text = with_occurrence(resource, occurrence.event, changes, calendars.now())
    stored = await named.collection.replace(resource, text)
    await calendars.register.remember(named.collection.about.key, stored.event_id, stored.text)
    renewed = await named.collection.occurrence_at(stored, stamp)
    if renewed is None:
        raise NotFound
    calendars.wrote(renewed.start)
    return {"event": occurrence_json(calendars, named, renewed), **warnings}


async def _plan_changes(
    calendars: Calendars, named: Named, event: icalendar.Component, event_id: str, given: dict[str, Any]
) -> tuple[Changes, dict[str, Any]]:
    """Return the changes to make, and the warnings about what the new time overlaps."""
    changes = replace(_times(named, event, given), **_fields(given))
    _check_organizer(event, calendars.owners, changes)
    if not _has_times(given) or given.get("checkConflicts") is False:
        return changes, {}
    zone = named.collection.about.zone
    title = given.get("summary") or str(event.get("SUMMARY", ""))
    start, end = changes.start or start_of(event, zone), changes.end or end_of(event, zone)
    proposal = Proposal(title, start, end, event_id)
    return changes, await overlaps(calendars, named, proposal, given, duplicates=False)


def _fields(given: dict[str, Any]) -> dict[str, Any]:
    changes = read_changes(given)
    return {name: value for name, value in vars(changes).items() if name not in {"start", "end"}}


def _times(named: Named, event: icalendar.Component, given: dict[str, Any]) -> Changes:
    """Return the new start and end if they differ; an end that depends on the start is kept when the start moves."""
    if not _has_times(given):
        return Changes()
    zone = named.collection.about.zone
    start, end = read_times(given, zone)
    old_start, old_end = start_of(event, zone), end_of(event, zone)
    new_start = start.moment if start else old_start
    new_end = end.moment if end else old_end
    check_span(new_start, new_end)
    repeats = "RRULE" in event or bool(given.get("recurrence"))
    if repeats and any(side is not None and side.has_offset for side in (start, end)):
        raise BadRequest("Missing time zone definition for start time.")
    moves = new_start != old_start
    keeps_end = new_end == old_end and ("DTEND" in event or not moves)
    return Changes(start=new_start if moves else None, end=None if keeps_end else new_end)


def _check_organizer(event: icalendar.Component, owners: tuple[str, ...], changes: Changes) -> None:
    """Refuse to change fields of an invitation that belong to its organizer."""
    if read_organizer(event, owners).get("self"):
        return
    own = {"color_id", "reminders", "private", "transparency", "visibility"}
    shared = {name: value for name, value in vars(changes).items() if name not in own}
    if shared != {name: value for name, value in vars(Changes()).items() if name not in own}:
        raise Forbidden(_ORGANIZERS_ONLY)


def _has_times(given: dict[str, Any]) -> bool:
    return "start" in given or "end" in given

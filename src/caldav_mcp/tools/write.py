"""`create-event`, `update-event` and `delete-event`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import icalendar

from caldav_mcp.edits import Changes
from caldav_mcp.errors import (
    BadRequest,
    Conflict,
    Forbidden,
    Gone,
    NotFound,
    PreconditionFailed,
    ServiceError,
    ToolError,
    invalid_arguments,
)
from caldav_mcp.event_json import event_json
from caldav_mcp.guests import UNTOLD, read_organizer
from caldav_mcp.ids import check_new_id, instance_id, new_id, split_instance, uid_of
from caldav_mcp.objects import Resource, end_of, is_cancelled, start_of
from caldav_mcp.occurrences import removed_stamps
from caldav_mcp.rewrites import copy_series, ended_before, new_object, with_changes, with_occurrence, without_occurrence
from caldav_mcp.times import Moment, read_bound
from caldav_mcp.tools.calendars import Calendars, Named, retry_write
from caldav_mcp.tools.given import check_span, read_changes, read_times
from caldav_mcp.tools.overlaps import Proposal, overlaps
from caldav_mcp.tools.read import buried_event, occurrence_json


async def create_event(calendars: Calendars, given: dict[str, Any]) -> dict[str, Any]:
    """Create an event and answer it, with warnings about what it overlaps.

    `overtaken` is ours: the event may show what another program changed right after it was written.
    """
    named = calendars.one(given["calendarId"], given.get("account"), "write")
    start, end = read_times(given, named.collection.about.zone)
    if start is None or end is None:
        raise BadRequest
    check_span(start.moment, end.moment)
    if given.get("recurrence") and start.has_offset:
        raise BadRequest("Missing time zone definition for start time.")
    proposal = Proposal(given["summary"], start.moment, end.moment)
    warnings = await overlaps(calendars, named, proposal, given, duplicates=True)
    event_id = given.get("eventId") or new_id()
    check_new_id(event_id)
    guests = given.get("attendees")
    if guests and given.get("sendUpdates") == "none":
        guests = [{**guest, UNTOLD: True} for guest in guests]
    changes = replace(read_changes(given), start=start.moment, end=end.moment, attendees=guests)
    stored = await _store(calendars, named, event_id, new_object(uid_of(event_id), changes, calendars.now()))
    calendars.wrote(start.moment)
    event = event_json(stored.master, event_id, calendars.showing(named, stored))
    return {"event": event, **warnings, **note_overtaken(stored)}


async def _store(calendars: Calendars, named: Named, event_id: str, text: str) -> Resource:
    key, collection = named.collection.about.key, named.collection
    if await calendars.register.recall(key, event_id) is not None:
        raise _build_taken_error(event_id)
    uid = uid_of(event_id)
    try:
        stored = await collection.create(collection.href_for(uid), text)
    except (PreconditionFailed, Conflict, BadRequest, Forbidden) as refusal:
        there = await collection.find(event_id)
        if there is not None:
            await calendars.register.remember(key, event_id, there.text)
            raise _build_taken_error(event_id) from None
        if isinstance(refusal, BadRequest | Forbidden):
            raise
        await collection.state()
        # Something else is where the event would go: another program's object of that name.
        stored = await collection.create(collection.spare_href_for(uid), text)
    await calendars.register.remember(key, event_id, text)
    return stored


def note_overtaken(stored: Resource) -> dict[str, bool]:
    """Return the part of an answer that says that the event may have been changed again since the write."""
    return {"overtaken": True} if stored.overtaken else {}


def _build_taken_error(event_id: str) -> ToolError:
    return ToolError(f"Event ID '{event_id}' already exists. Please use a different ID.")


# --- `update-event` ---


async def continue_series(
    calendars: Calendars, named: Named, resource: Resource, given: dict[str, Any]
) -> dict[str, Any]:
    """End a series before `futureStartDate` and start another one there with the given fields; answers the new one.

    Two writes, as at Google: when the second one fails, the series has ended and the error says so.
    """
    zone, now = named.collection.about.zone, calendars.now()
    old_start = start_of(resource.master, zone)
    split = read_bound(given["futureStartDate"], given.get("timeZone"), zone)
    if "RRULE" not in resource.master:
        raise ToolError("Event does not have recurrence rules")
    if split is None or old_start.day is not None:
        raise BadRequest
    if split <= now:
        raise invalid_arguments("update-event", ["futureStartDate must be in the future at futureStartDate"])
    start, end = read_times(given, zone)
    length = end_of(resource.master, zone).instant - old_start.instant
    new_start = start.moment if start else Moment(split, None, old_start.zone)
    new_end = end.moment if end else Moment(new_start.instant + length, None, new_start.zone)
    check_span(new_start, new_end)
    event_id = new_id()
    changes = replace(read_changes(given), start=new_start, end=new_end)
    text = copy_series(resource, uid_of(event_id), changes, now)
    await named.collection.replace(resource, ended_before(resource, split, now))
    stored = await named.collection.create(named.collection.href_for(uid_of(event_id)), text)
    await calendars.register.remember(named.collection.about.key, event_id, stored.text)
    calendars.wrote(new_start)
    return event_json(stored.master, event_id, calendars.showing(named, stored))


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


# --- `delete-event` ---


async def delete_event(calendars: Calendars, given: dict[str, Any]) -> dict[str, Any]:
    """Delete an event, or one occurrence of a series. Raises `Gone` for one that is deleted already."""
    named = calendars.one(given["calendarId"], given.get("account"), "write")
    event_id = given["eventId"]

    async def attempt() -> None:
        series_id, stamp = split_instance(event_id)
        resource = await named.collection.find(series_id)
        if resource is None:
            raise await _absent(calendars, named, event_id)
        if given.get("ifMatch", resource.etag) != resource.etag:
            raise PreconditionFailed
        if resource.is_cancelled:
            raise Gone
        if stamp is None:
            await _delete(calendars, named, resource)
        else:
            await _delete_occurrence(calendars, named, resource, stamp)

    await retry_write(attempt, repeat="ifMatch" not in given)
    message = "Event deleted successfully"
    return {"success": True, "eventId": event_id, "calendarId": named.shown, "message": message}


async def _absent(calendars: Calendars, named: Named, event_id: str) -> Exception:
    known = await calendars.register.recall(named.collection.about.key, event_id)
    await named.collection.state()
    return NotFound() if known is None else Gone()


async def _delete(calendars: Calendars, named: Named, resource: Resource) -> None:
    # The last state goes to the register first: whatever happens next, "known and no longer there" means deleted.
    key = named.collection.about.key
    await calendars.register.remember(key, resource.event_id, resource.text)
    await named.collection.remove(resource)
    await calendars.register.remember(key, resource.event_id, resource.text, deleted_at=calendars.now())
    calendars.wrote(start_of(resource.master, named.collection.about.zone))


async def _delete_occurrence(calendars: Calendars, named: Named, resource: Resource, stamp: str) -> None:
    zone = named.collection.about.zone
    if stamp in removed_stamps(resource, zone):
        raise Gone
    occurrence = await named.collection.occurrence_at(resource, stamp)
    if occurrence is None:
        raise NotFound
    if is_cancelled(occurrence.event):
        raise Gone
    stored = await named.collection.replace(resource, without_occurrence(resource, occurrence.event, calendars.now()))
    await calendars.register.remember(named.collection.about.key, stored.event_id, stored.text)
    calendars.wrote(occurrence.start)

"""`create-event`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from caldav_mcp.errors import BadRequest, Conflict, Forbidden, PreconditionFailed, ToolError
from caldav_mcp.event_json import event_json
from caldav_mcp.guests import UNTOLD
from caldav_mcp.ids import check_new_id, new_id, uid_of
from caldav_mcp.objects import Resource
from caldav_mcp.rewrites import new_object
from caldav_mcp.tools.calendars import Calendars, Named
from caldav_mcp.tools.given import check_span, read_changes, read_times
from caldav_mcp.tools.overlaps import Proposal, overlaps


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

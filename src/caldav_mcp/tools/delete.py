"""`delete-event`."""

from __future__ import annotations

from typing import Any

from caldav_mcp.errors import Gone, NotFound, PreconditionFailed
from caldav_mcp.ids import split_instance
from caldav_mcp.objects import Resource, is_cancelled, start_of
from caldav_mcp.occurrences import removed_stamps
from caldav_mcp.rewrites import without_occurrence
from caldav_mcp.tools.calendars import Calendars, Named
from caldav_mcp.tools.retry import retry_write


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

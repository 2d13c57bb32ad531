"""`update-event` with `thisAndFollowing`: the series ends, and a new one goes on from there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from caldav_mcp.errors import BadRequest, ToolError, invalid_arguments
from caldav_mcp.event_json import event_json
from caldav_mcp.ids import new_id, uid_of
from caldav_mcp.objects import Resource, end_of, start_of
from caldav_mcp.rewrites import copy_series, ended_before
from caldav_mcp.times import Moment, read_bound
from caldav_mcp.tools.calendars import Calendars, Named
from caldav_mcp.tools.given import check_span, read_changes, read_times


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

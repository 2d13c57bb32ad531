"""`get-freebusy`, `get-current-time` and `list-colors`."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from caldav_mcp.collection import Collection
from caldav_mcp.colors import EVENT_COLORS
from caldav_mcp.errors import BadRequest, invalid_request
from caldav_mcp.guests import read_attendees
from caldav_mcp.limits import MAX_FREEBUSY_SPAN
from caldav_mcp.occurrences import Occurrence
from caldav_mcp.times import read_bound, rfc3339, zone_named
from caldav_mcp.tools.calendars import Calendars, check_account
from caldav_mcp.tools.read import occurrences_in
from caldav_mcp.values import text


async def get_freebusy(calendars: Calendars, given: dict[str, Any]) -> dict[str, Any]:
    """Busy spans of each calendar, joined where they touch; an unknown calendar has an error in place of spans."""
    check_account(given.get("account"))
    zone = calendars.primary.about.zone
    if "timeZone" in given:
        zone = _zone(given["timeZone"])
    earliest, latest = (read_bound(given[side], None, zone) for side in ("timeMin", "timeMax"))
    if earliest is None or latest is None or earliest >= latest:
        raise BadRequest("The specified time range is empty.")
    if latest - earliest > MAX_FREEBUSY_SPAN:
        raise invalid_request("The time gap between timeMin and timeMax must be less than 3 months")
    spans: dict[str, Any] = {}
    for asked in given["calendars"]:
        collection = calendars.find(asked["id"])
        if collection is None:
            spans[asked["id"]] = {"busy": [], "errors": [{"domain": "global", "reason": "notFound"}]}
        else:
            spans[asked["id"]] = {"busy": await _busy(calendars, collection, earliest, latest, zone)}
    return {"timeMin": given["timeMin"], "timeMax": given["timeMax"], "calendars": spans}


async def _busy(
    calendars: Calendars, collection: Collection, earliest: datetime, latest: datetime, zone: ZoneInfo
) -> list[dict[str, str]]:
    spans: list[tuple[datetime, datetime]] = []
    for occurrence in await occurrences_in(collection, earliest, latest):
        start, end = max(occurrence.start.instant, earliest), min(occurrence.end.instant, latest)
        if not _blocks(occurrence, calendars.owners) or start >= end:
            continue
        if spans and start <= spans[-1][1]:
            start, end = spans[-1][0], max(end, spans.pop()[1])
        spans.append((start, end))
    return [{"start": rfc3339(start, zone), "end": rfc3339(end, zone)} for start, end in spans]


def _blocks(occurrence: Occurrence, owners: tuple[str, ...]) -> bool:
    if text(occurrence.event, "TRANSP", str.upper) == "TRANSPARENT":
        return False
    guests = read_attendees(occurrence.event, owners)
    return not any(guest.get("self") and guest["responseStatus"] == "declined" for guest in guests)


def get_current_time(calendars: Calendars, given: dict[str, Any]) -> dict[str, Any]:
    check_account(given.get("account"))
    zone = _zone(given["timeZone"]) if "timeZone" in given else calendars.primary.about.zone
    now = calendars.now().astimezone(zone)
    stamp = now.isoformat(timespec="milliseconds")
    stamp = stamp.removesuffix("+00:00") + "Z" if stamp.endswith("+00:00") else stamp
    return {
        "currentTime": stamp,
        "timezone": zone.key,
        "offset": "Z" if stamp.endswith("Z") else stamp[-6:],
        "isDST": bool(now.dst()),
        "dayOfWeek": f"{now:%A}",
    }


def list_colors(given: dict[str, Any]) -> dict[str, Any]:
    check_account(given.get("account"))
    shown = {key: {"background": c.background, "foreground": c.foreground} for key, c in EVENT_COLORS.items()}
    return {"event": shown, "calendar": {}}


def _zone(name: str) -> ZoneInfo:
    zone = zone_named(name)
    if zone is None:
        raise invalid_request(f"Invalid timezone: {name}. Use IANA format (e.g. 'America/Los_Angeles').")
    return zone

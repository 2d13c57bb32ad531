"""From checked arguments to the changes they ask for."""

from __future__ import annotations

import re
from typing import Any
from zoneinfo import ZoneInfo

from caldav_mcp.colors import EVENT_COLORS
from caldav_mcp.edits import Changes
from caldav_mcp.errors import BadRequest
from caldav_mcp.times import GivenTime, Moment, read_time
from caldav_mcp.tools.declarations import EXTRA_FIELDS

_TEXTS = {"summary": "SUMMARY", "description": "DESCRIPTION", "location": "LOCATION"}
_RULE = re.compile(r"(RRULE|EXRULE|RDATE|EXDATE)[:;][^\r\n]+", re.IGNORECASE)


def read_times(given: dict[str, Any], zone: ZoneInfo) -> tuple[GivenTime | None, GivenTime | None]:
    """Return the `start` and `end` arguments; None for one that is not given."""
    time_zone = given.get("timeZone")
    start = read_time(given["start"], time_zone, zone, "start") if "start" in given else None
    end = read_time(given["end"], time_zone, zone, "end") if "end" in given else None
    return start, end


def check_span(start: Moment, end: Moment) -> None:
    """Refuse what cannot be an event's time: a day with a time, or an end before the start."""
    if (start.day is None) != (end.day is None):
        raise BadRequest("Start and end times must either both be date or both be dateTime.")
    if end.instant < start.instant or (start.day is not None and start.day == end.day):
        raise BadRequest("The specified time range is empty.")


def read_changes(given: dict[str, Any]) -> Changes:
    """All fields but the times that the arguments set; raises `BadRequest` for values that Google refuses."""
    color = given.get("colorId")
    if color is not None and color not in EVENT_COLORS:
        raise BadRequest("Invalid color ID.")
    recurrence = given.get("recurrence")
    for rule in recurrence or []:
        if not _RULE.fullmatch(rule):
            raise BadRequest("Invalid recurrence rule.")
    extended = given.get("extendedProperties", {})
    return Changes(
        texts={name: given[key] for key, name in _TEXTS.items() if key in given},
        color_id=color,
        transparency=given.get("transparency"),
        visibility=given.get("visibility"),
        recurrence=recurrence,
        reminders=given.get("reminders"),
        attendees=given.get("attendees"),
        private=extended.get("private", {}),
        shared=extended.get("shared", {}),
        extras={key: given[key] for key in EXTRA_FIELDS if key in given},
        others=given.get("otherProperties", []),
    )

"""Properties from other CalDAV programs that Google has no field for, as content lines.

These are categories, a web address and the like, and alarms that are not so many minutes before the start. What
programs note for themselves (X- properties) is not the person's.
"""

from __future__ import annotations

from datetime import timedelta

import icalendar

from caldav_mcp.content_lines import Component, line_name, read_lines
from caldav_mcp.values import first, values

NAMES = (
    "ATTACH", "CATEGORIES", "COMMENT", "CONFERENCE", "CONTACT", "GEO", "IMAGE", "PRIORITY", "RELATED-TO", "RESOURCES",
    "URL",
)  # fmt: skip
_ALARM = ("ACTION", "TRIGGER", "DESCRIPTION", "SUMMARY", "DURATION", "REPEAT")
_NOT_SET = "PRIORITY:0"
_BEGIN, _END = "BEGIN:VALARM", "END:VALARM"


def read_others(event: icalendar.Component) -> list[str] | None:
    """Return the lines, and each such alarm as one entry of several lines; ``None`` when there are none."""
    lines = [str(event.content_line(name, value)) for name in NAMES for value in values(event, name)]
    alarms = [_alarm_text(alarm) for alarm in event.walk("VALARM") if not is_minutes_before(alarm)]
    return [line for line in (*lines, *alarms) if line != _NOT_SET] or None


def is_minutes_before(alarm: icalendar.Component) -> bool:
    """Check whether an alarm is some time before the start, as Google's reminders are."""
    trigger = first(alarm, "TRIGGER")
    offset = getattr(trigger, "dt", None)
    return isinstance(offset, timedelta) and offset <= timedelta() and trigger.params.get("RELATED") != "END"


def add_others(event: Component, given: list[str]) -> Component:
    """Add lines and alarms that :func:`problem_with` has no objection to."""
    event = event.adding(line for line in given if not line.startswith(_BEGIN))
    for alarm in given:
        if alarm.startswith(_BEGIN):
            event = event.with_component(read_lines(alarm))
    return event


def problem_with(entry: str) -> str | None:
    """Return why an entry cannot be written, if so: it has to be one line of a known name, or one such alarm."""
    lines = entry.split("\n")
    if lines[0] == _BEGIN and lines[-1] == _END:
        names, known = {line_name(line) for line in lines[1:-1]}, {*_ALARM}
    else:
        names, known = {line_name(line) for line in lines}, {*NAMES}
        if len(lines) > 1:
            return "Must be one line"
    if "\r" in entry or not names or not names <= known:
        return "Must be a property that an event may have"
    return None


def _alarm_text(alarm: icalendar.Component) -> str:
    lines = [str(alarm.content_line(name, value)) for name in _ALARM for value in values(alarm, name)]
    return "\n".join([_BEGIN, *lines, _END])

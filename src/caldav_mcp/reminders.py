"""Reminders as `VALARM` components."""

from __future__ import annotations

from typing import Any

import icalendar

from caldav_mcp.content_lines import Component
from caldav_mcp.other_properties import is_minutes_before
from caldav_mcp.values import first, text

CUSTOM = "X-FATEFORGER-REMINDERS"
"""Says that the event has its own reminders even when there is none of them."""

_ACTIONS = {"popup": "DISPLAY", "email": "EMAIL"}
_METHODS = {"DISPLAY": "popup", "AUDIO": "popup", "EMAIL": "email"}


def set_reminders(event: Component, given: dict[str, Any]) -> Component:
    """Replace all alarms by the given reminders (`useDefault`: none are written)."""
    bare = event.lacking({CUSTOM}).with_components(lambda part: None if part.name == "VALARM" else part)
    if given.get("useDefault"):
        return bare
    marked = bare.adding([f"{CUSTOM}:custom"])
    for override in given.get("overrides") or []:
        marked = marked.with_component(_alarm(override.get("method", "popup"), int(override["minutes"])))
    return marked


def read_reminders(event: icalendar.Component) -> dict[str, Any]:
    """Google's form of an event's alarms; alarms without an offset before the start are not shown."""
    overrides = []
    for alarm in event.walk("VALARM"):
        if is_minutes_before(alarm):
            method = _METHODS.get(text(alarm, "ACTION", str.upper) or "DISPLAY", "popup")
            overrides.append({"method": method, "minutes": int(-first(alarm, "TRIGGER").dt.total_seconds()) // 60})
    if not overrides:
        return {"useDefault": CUSTOM not in event}
    return {"useDefault": False, "overrides": overrides}


def _alarm(method: str, minutes: int) -> Component:
    lines = [f"ACTION:{_ACTIONS[method]}", "DESCRIPTION:Reminder", f"TRIGGER:-PT{minutes}M"]
    return Component("VALARM", (*lines, "SUMMARY:Reminder") if method == "email" else tuple(lines))

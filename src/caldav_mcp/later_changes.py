"""Changes that another program makes to an event between a write and the reading after it.

A server that gives no ETag with its answer, or one that counts only for a moment, leaves a gap between the two. A
change in that gap must not be taken for a part of the write.
"""

from __future__ import annotations

import html
import re
from typing import Any
from zoneinfo import ZoneInfo

from caldav_mcp.event_json import Showing, event_json
from caldav_mcp.objects import Resource, end_of, start_of

_ANY = Showing("", ZoneInfo("UTC"), ("",), "", None)
_SERVERS = frozenset({
    "created", "updated", "sequence", "creator", "organizer", "startDayOfWeek", "endDayOfWeek", "htmlLink",
})  # fmt: skip
"""The fields that a server sets by itself."""
_TEXTS = ("summary", "description", "location")
_MARKUP = re.compile(r"<[^<>]*>")


def is_overtaken(sent: Resource, found: Resource) -> bool:
    """Check whether an object shows something else than was sent.

    A server may give a text another form, for example HTML, and a time another zone.
    """
    return _read_shown(sent) != _read_shown(found)


def _read_shown(resource: Resource) -> dict[str, Any]:
    event = resource.master
    shown = {name: value for name, value in event_json(event, "", _ANY).items() if name not in _SERVERS}
    for name in _TEXTS:
        shown[name] = " ".join(html.unescape(_MARKUP.sub(" ", shown.get(name, ""))).split())
    start, end = (moment(event, _ANY.zone) for moment in (start_of, end_of))
    guests = sorted(guest["email"].lower() for guest in shown.get("attendees", ()))
    return shown | {"start": (start.instant, start.day), "end": (end.instant, end.day), "attendees": guests}

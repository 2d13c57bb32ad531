"""Arguments of each tool.

`ifMatch` and `otherProperties` are our additions: the real server ignores them like any argument that it does not know.
"""

from __future__ import annotations

import re
from typing import Any

from caldav_mcp.other_properties import problem_with
from caldav_mcp.tools.arguments import (
    Declaration,
    array,
    calendars,
    choice,
    event_time,
    flag,
    number,
    range_bound,
    record,
    structure,
    text,
)

EVENT_FIELDS = (
    "id", "summary", "description", "start", "end", "location", "attendees", "colorId", "transparency",
    "extendedProperties", "reminders", "conferenceData", "attachments", "status", "htmlLink", "created", "updated",
    "creator", "organizer", "recurrence", "recurringEventId", "originalStartTime", "visibility", "iCalUID", "sequence",
    "hangoutLink", "anyoneCanAddSelf", "guestsCanInviteOthers", "guestsCanModify", "guestsCanSeeOtherGuests",
    "privateCopy", "locked", "source", "eventType",
)  # fmt: skip

_ACCOUNT = re.compile(r"[a-z0-9_-]{1,64}")
_PAIR = re.compile(r"[^=]+=[^=]+")
_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")


def _account(value: str) -> str | None:
    if _ACCOUNT.fullmatch(value):
        return None
    return "Account nickname must be 1-64 characters: lowercase letters, numbers, dashes, underscores only"


def _pair(value: str) -> str | None:
    return None if _PAIR.fullmatch(value) else "Must be in key=value format"


def _mail(value: str) -> str | None:
    return None if _MAIL.fullmatch(value) else "Invalid email address"


account = text(_account, description="Account nickname. There is one account here: normal")
calendar = text(description="ID of the calendar (use 'primary' for the main calendar)")
event = text(description="ID of the event, or of one occurrence: <id>_<UTC start>")
fields = array(choice(*EVENT_FIELDS))
if_match = text(description="Only when the event still has this etag")

_guest = {
    "email": text(_mail),
    "displayName": text(),
    "optional": flag(),
    "responseStatus": choice("needsAction", "declined", "tentative", "accepted"),
    "comment": text(),
    "additionalGuests": number(minimum=0),
}
_reminders = structure(
    {
        "useDefault": flag(),
        "overrides": array(structure({"method": choice("email", "popup"), "minutes": number()}, ("minutes",))),
    },
    ("useDefault",),
)
_attachment = structure({n: text() for n in ("fileUrl", "title", "mimeType", "iconLink", "fileId")}, ("fileUrl",))
EXTRA_FIELDS = {
    "guestsCanInviteOthers": flag(),
    "guestsCanModify": flag(),
    "guestsCanSeeOtherGuests": flag(),
    "anyoneCanAddSelf": flag(),
    "source": structure({"url": text(), "title": text()}, ("url", "title")),
    "attachments": array(_attachment),
}
_content = {
    "description": text(),
    "location": text(),
    "timeZone": text(description="IANA zone for times without an offset. Defaults to the calendar's zone"),
    "colorId": text(description="'1' to '11', see list-colors"),
    "reminders": _reminders,
    "recurrence": array(text(description='e.g. "RRULE:FREQ=WEEKLY;COUNT=5"')),
    "transparency": choice("opaque", "transparent"),
    "visibility": choice("default", "public", "private", "confidential"),
    "extendedProperties": structure({"private": record(), "shared": record()}),
    "sendUpdates": choice("all", "externalOnly", "none"),
    "calendarsToCheck": array(text()),
    **EXTRA_FIELDS,
}


def _scope_needs(given: dict[str, Any]) -> list[str]:
    needed = {"thisEventOnly": "originalStartTime", "thisAndFollowing": "futureStartDate"}
    scope = given.get("modificationScope")
    missing = needed.get(scope or "")
    if missing is None or missing in given:
        return []
    return [f"{missing} is required when modificationScope is '{scope}' at {missing}"]


_DECLARATIONS = (
    Declaration("list-calendars", "List all calendars", {"account": account}, read_only=True),
    Declaration(
        "list-events",
        "List events of one or several calendars, series expanded, at most 250 of each",
        {
            "account": account,
            "calendarId": calendars(),
            "timeMin": range_bound(),
            "timeMax": range_bound(),
            "timeZone": text(),
            "fields": fields,
            "privateExtendedProperty": array(text(_pair)),
            "sharedExtendedProperty": array(text(_pair)),
        },
        ("calendarId",),
        read_only=True,
    ),
    Declaration(
        "get-event",
        "Get one event; a deleted one has the status cancelled",
        {"account": account, "calendarId": calendar, "eventId": event, "fields": fields},
        ("calendarId", "eventId"),
        read_only=True,
    ),
    Declaration(
        "create-event",
        "Create an event",
        {
            "account": account,
            "calendarId": calendar,
            "eventId": text(
                description="Own id: 5 to 1024 characters of a-v and 0-9. A deleted id cannot be used again"
            ),
            "summary": text(),
            "start": event_time(),
            "end": event_time(),
            "attendees": array(structure(_guest, ("email",))),
            "allowDuplicates": flag(),
            "duplicateSimilarityThreshold": number(0, 1),
            "otherProperties": array(text(problem_with)),
            **_content,
        },
        ("calendarId", "summary", "start", "end"),
    ),
    Declaration(
        "update-event",
        "Change the given fields of an event",
        {
            "account": account,
            "calendarId": calendar,
            "eventId": event,
            "summary": text(),
            "start": event_time(),
            "end": event_time(),
            "attendees": array(structure({"email": text(_mail)}, ("email",))),
            "checkConflicts": flag(),
            "modificationScope": choice("thisAndFollowing", "all", "thisEventOnly"),
            "originalStartTime": range_bound(),
            "futureStartDate": range_bound(),
            "ifMatch": if_match,
            **_content,
        },
        ("calendarId", "eventId"),
        whole=_scope_needs,
    ),
    Declaration(
        "delete-event",
        "Delete an event; its id stays taken",
        {
            "account": account,
            "calendarId": calendar,
            "eventId": event,
            "sendUpdates": choice("all", "externalOnly", "none"),
            "ifMatch": if_match,
        },
        ("calendarId", "eventId"),
    ),
    Declaration(
        "get-freebusy",
        "Busy times of calendars",
        {
            "account": account,
            "calendars": array(structure({"id": text()}, ("id",))),
            "timeMin": range_bound(),
            "timeMax": range_bound(),
            "timeZone": text(),
        },
        ("calendars", "timeMin", "timeMax"),
        read_only=True,
    ),
    Declaration(
        "get-current-time",
        "The current time in a zone (default: the main calendar's)",
        {"account": account, "timeZone": text()},
        read_only=True,
    ),
    Declaration("list-colors", "The colors of events", {"account": account}, read_only=True),
)

DECLARATIONS = {declaration.name: declaration for declaration in _DECLARATIONS}

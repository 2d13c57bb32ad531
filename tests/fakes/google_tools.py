"""The tools of google-calendar-mcp 2.6.3 over calendars in memory: its answers, its refusals, its gotchas.

What a tool answers is a :class:`ToolAnswer`; what Google refuses is a :class:`GoogleError`, whose text depends on the
tool that met it, as it does in the real server.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from time import monotonic
from typing import Any
from zoneinfo import ZoneInfo

from tests.fakes.google_store import EventInvalid, EventMissing, GoogleStore, IdTaken

from fateforger.calendar.event import EventFields, EventImage

PAGE = 250
_DEFAULTS = {
    "id", "summary", "start", "end", "status", "htmlLink", "location", "attendees", "reminders", "recurrence",
}  # fmt: skip
_NAMES = _DEFAULTS | {
    "description", "colorId", "transparency", "extendedProperties", "conferenceData", "attachments", "created",
    "updated", "creator", "organizer", "recurringEventId", "originalStartTime", "visibility", "iCalUID", "sequence",
    "hangoutLink", "anyoneCanAddSelf", "guestsCanInviteOthers", "guestsCanModify", "guestsCanSeeOtherGuests",
    "privateCopy", "locked", "source", "eventType",
}  # fmt: skip
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(Z|[+-]\d{2}:\d{2})?")
KEPT = (
    "location", "reminders", "visibility", "transparency", "attendees", "attachments", "source", "anyoneCanAddSelf",
    "guestsCanInviteOthers", "guestsCanModify", "guestsCanSeeOtherGuests",
)  # fmt: skip

DECLARED: Mapping[str, tuple[str, ...]] = {
    "list-calendars": ("account",),
    "manage-accounts": ("action", "account_id"),
    "list-events": ("calendarId", "timeMin", "timeMax", "timeZone", "fields", "privateExtendedProperty", "account"),
    "get-event": ("calendarId", "eventId", "fields", "account"),
    "create-event": (
        "calendarId", "eventId", "summary", "start", "end", "timeZone", "description", "colorId", "extendedProperties",
        "sendUpdates", "allowDuplicates", "calendarsToCheck", "account", *KEPT,
    ),
    "update-event": (
        "calendarId", "eventId", "summary", "start", "end", "timeZone", "description", "colorId", "extendedProperties",
        "sendUpdates", "checkConflicts", "account",
    ),
    "delete-event": ("calendarId", "eventId", "sendUpdates", "account"),
}  # fmt: skip


class GoogleError(Exception):
    """Google's refusal, or what became of the connection to it (``status`` 0: reset, 1: no answer in 3 s)."""

    def __init__(self, status: int, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.reason = reason

    def text(self, tool: str, event_id: str = "", calendar_id: str = "") -> str:
        """Return the text that the tool shows for this error."""
        if self.status == 409 and tool == "create-event":
            return f"Event ID '{event_id}' already exists. Please use a different ID."
        if self.status == 404 and tool == "get-event":
            return (
                f"MCP error -32603: Internal error: Event with ID '{event_id}' not found in calendar '{calendar_id}'."
            )
        if tool == "update-event" and self.status != 404:
            return self.message
        m = self.message
        return {
            400: f"MCP error -32600: Bad Request: {m}. Details: {m}",
            401: f"MCP error -32600: Google API error: {m}. Details: {m} (Authorization)",
            403: f"MCP error -32600: Access denied: {m}",
            404: f"MCP error -32600: Resource not found: {m}",
            412: f"MCP error -32600: Google API error: {m}. Details: {m} (If-Match)",
            429: f"MCP error -32603: Rate limit exceeded. Please try again later. {m}"
            if self.reason == "rateLimitExceeded"
            else "MCP error -32600: Rate limit exceeded. This may be due to missing quota project configuration.\n\n"
            f"Original error: {m}",
            500: f"MCP error -32603: Google API server error: {m}",
            503: f"MCP error -32603: Google API server error: {m}",
            0: f"MCP error -32600: Google API error: {m}",
            1: f"MCP error -32600: Google API error: {m}",
        }.get(self.status, f"MCP error -32600: Google API error: {m}. Details: {m}")


class ToolError(Exception):
    """A complete sentence of the server itself."""


@dataclass
class OneCalendar:
    """A calendar in an account's list."""

    store: GoogleStore
    summary: str = "owner@example.com"
    access_role: str = "owner"
    selected: bool = True


@dataclass
class GoogleTools:
    """The tools over a set of calendars. ``spent`` counts the requests that the real server would send to Google, and
    ``log`` has the second at which each of them arrived, by a clock that only grows."""

    calendars: dict[str, OneCalendar] = field(default_factory=lambda: {"primary": OneCalendar(GoogleStore())})
    account: str = "normal"
    conditional: bool = False
    spent: int = 0
    mails: int = 0
    """Number of mails to guests of created events."""
    log: list[float] = field(default_factory=list)

    def call(self, tool: str, a: Mapping[str, Any]) -> dict[str, Any]:
        """Call a tool and return its JSON. Raises :class:`GoogleError` and :class:`ToolError`."""
        before = self.spent
        try:
            return self._call(tool, a)
        finally:
            self.log += [monotonic()] * (self.spent - before)

    def _call(self, tool: str, a: Mapping[str, Any]) -> dict[str, Any]:
        if tool not in DECLARED:
            raise ToolError(f"MCP error -32602: Tool {tool} not found")
        _check_arguments(tool, a)
        if tool == "list-calendars":
            return self._list_calendars()
        if tool == "manage-accounts":
            self.spent += 1
            return {"accounts": [{"account_id": self.account, "status": "active"}], "total_accounts": 1}
        calendar = self._calendar(a, tool)
        if tool in ("create-event", "update-event", "delete-event") and calendar.access_role == "reader":
            raise GoogleError(403, "You need to have writer access to this calendar.")
        if tool == "list-events":
            return self._list_events(calendar.store, a)
        if tool == "get-event":
            return self._get_event(calendar.store, a)
        if tool == "create-event":
            return self._create_event(calendar.store, a)
        if tool == "update-event":
            return self._update_event(calendar.store, a)
        return self._delete_event(calendar.store, a)

    def _calendar(self, a: Mapping[str, Any], tool: str) -> OneCalendar:
        asked = a["calendarId"]
        listed = asked != "primary" and "account" not in a
        self.spent += listed
        if a.get("account", self.account) != self.account or (listed and asked not in self.calendars):
            access = "" if tool in ("list-events", "get-event") else "write "
            raise ToolError(
                f'MCP error -32600: No account has {access}access to calendar "{asked}". Available accounts: '
                f"{self.account}. Please ensure the calendar exists and you have the necessary permissions, or specify "
                "the 'account' parameter explicitly."
            )
        if asked not in self.calendars:
            raise GoogleError(404, "Not Found")
        return self.calendars[asked]

    def _list_calendars(self) -> dict[str, Any]:
        self.spent += 1
        entries = [
            {
                "id": "owner@example.com" if i == "primary" else i,
                "summary": c.summary,
                "timeZone": c.store.time_zone,
                "colorId": "16",
                "backgroundColor": "#4986e7",
                "foregroundColor": "#000000",
                **({"selected": True} if c.selected else {}),
                "accessRole": c.access_role,
                "defaultReminders": [],
                **({"primary": True} if i == "primary" else {}),
            }
            for i, c in self.calendars.items()
        ]
        return {"calendars": entries, "totalCount": len(entries)}

    def _list_events(self, store: GoogleStore, a: Mapping[str, Any]) -> dict[str, Any]:
        self.spent += 1 if "timeZone" in a else 2
        zone = a.get("timeZone", store.time_zone)
        start, end = _instant(a["timeMin"], zone), _instant(a["timeMax"], zone)
        page = store.window(start, end)[:PAGE]
        events = [self._render_event(e, a) for e in page]
        return {"events": events, "totalCount": len(events)}

    def _get_event(self, store: GoogleStore, a: Mapping[str, Any]) -> dict[str, Any]:
        self.spent += 1
        image = store.get(a["eventId"])
        if image is None:
            raise GoogleError(404, "Not Found")
        return {"event": self._render_event(image, a)}

    def _create_event(self, store: GoogleStore, a: Mapping[str, Any]) -> dict[str, Any]:
        checks = a.get("calendarsToCheck") != []
        self.spent += 1 + checks + (0 if "timeZone" in a else 1 + checks)
        if not re.fullmatch(r"[a-v0-9]+", a["eventId"]):
            raise ToolError(
                "MCP error -32603: Internal error: Invalid event ID: can only contain lowercase letters a-v and "
                "digits 0-9 (base32hex encoding)"
            )
        start, end = _moment(a["start"], a, store), _moment(a["end"], a, store)
        if checks and not a.get("allowDuplicates") and isinstance(start, datetime):
            _refuse_duplicate(store, a["summary"], start, store.instant(end))
        if not isinstance(start, datetime) or not isinstance(end, datetime):
            raise GoogleError(400, "This stand-in makes no all-day events.")
        fields = EventFields(
            summary=a["summary"],
            description=a.get("description", ""),
            start=start,
            end=end,
            color_id=a.get("colorId") or None,
        )
        extras = {name: a[name] for name in KEPT if name in a}
        if shared := a.get("extendedProperties", {}).get("shared"):
            extras["extendedProperties"] = {"private": _private(a), "shared": shared}
        if extras.get("attendees") and a.get("sendUpdates") != "none":
            self.mails += len(extras["attendees"])
        try:
            image = store.insert(a["eventId"], fields, _private(a), **extras)
        except IdTaken:
            raise GoogleError(409, "The requested identifier already exists.", "duplicate") from None
        except EventInvalid as reason:
            raise GoogleError(400, str(reason)) from None
        return {"event": self._render_event(image, {"calendarId": a["calendarId"]})}

    def _update_event(self, store: GoogleStore, a: Mapping[str, Any]) -> dict[str, Any]:
        timed = "start" in a or "end" in a
        self.spent += 6 if timed and a.get("checkConflicts", True) else 3
        image = store.get(a["eventId"])
        if image is None:
            raise GoogleError(404, "Not Found")
        self._check_match(image, a)
        if a.get("colorId") == "":
            raise GoogleError(400, "Invalid value for: colorId")
        changes: dict[str, Any] = {name: a[name] for name in ("summary", "description") if name in a}
        changes |= {"color_id": a["colorId"]} if "colorId" in a else {}
        changes |= {name: _moment(a[name], a, store) for name in ("start", "end") if name in a}
        if image.gone:
            return {"event": self._render_event(image, {"calendarId": a["calendarId"]})}
        try:
            changed = store.patch(a["eventId"], changes, _private(a))
        except EventInvalid as reason:
            raise GoogleError(400, str(reason)) from None
        return {"event": self._render_event(changed, {"calendarId": a["calendarId"]})}

    def _delete_event(self, store: GoogleStore, a: Mapping[str, Any]) -> dict[str, Any]:
        self.spent += 1
        image = store.get(a["eventId"])
        if image is None:
            raise GoogleError(404, "Not Found")
        self._check_match(image, a)
        try:
            store.cancel(a["eventId"])
        except EventMissing:
            raise GoogleError(410, "Resource has been deleted", "deleted") from None
        return {
            "success": True,
            "eventId": a["eventId"],
            "calendarId": a["calendarId"],
            "message": "Event deleted successfully",
        }

    def _check_match(self, image: EventImage, a: Mapping[str, Any]) -> None:
        if self.conditional and "ifMatch" in a and a["ifMatch"] != _etag(image):
            raise GoogleError(412, "Precondition Failed", "conditionNotMet")

    def _render_event(self, image: EventImage, a: Mapping[str, Any]) -> dict[str, Any]:
        fields = a.get("fields")
        wanted = _NAMES if fields is None else _DEFAULTS | set(fields)
        shown = {name: value for name, value in image.raw.items() if name in wanted}
        for side in ("start", "end"):
            moment = getattr(image, side)
            shown[f"{side}DayOfWeek"] = f"{moment:%A}"
        etag = {"etag": _etag(image)} if self.conditional else {}
        return {**shown, **etag, "calendarId": a["calendarId"], "accountId": self.account}


def _etag(image: EventImage) -> str:
    return f'"{image.version}"'


def _private(a: Mapping[str, Any]) -> dict[str, str]:
    private: dict[str, str] = a.get("extendedProperties", {}).get("private", {})
    return {key: value[:1024] for key, value in private.items() if len(key) <= 44}


def _moment(text: str, a: Mapping[str, Any], store: GoogleStore) -> datetime | date:
    if len(text) == len("2027-05-04"):
        return date.fromisoformat(text)
    return _instant(text, a.get("timeZone", store.time_zone))


def _instant(text: str, zone: str) -> datetime:
    stamp = datetime.fromisoformat(text)
    return stamp if stamp.tzinfo else stamp.replace(tzinfo=ZoneInfo(zone))


def _refuse_duplicate(store: GoogleStore, summary: str, start: datetime, end: datetime) -> None:
    for other in store.window(start, end):
        if other.summary.strip().lower() == summary.strip().lower():
            raise ToolError(
                f'Duplicate event detected (95% similar). Event "{other.summary}" already exists. To create anyway, '
                "set allowDuplicates to true."
            )


def _check_arguments(tool: str, a: Mapping[str, Any]) -> None:
    problems = [f"Invalid input: expected string, received null at {name}" for name, v in a.items() if v is None]
    required = {
        "list-calendars": (),
        "manage-accounts": ("action",),
        "list-events": ("calendarId",),
        "create-event": ("calendarId", "summary", "start", "end"),
    }
    problems += [f"Required at {n}" for n in required.get(tool, ("calendarId", "eventId")) if n not in a]
    for name in ("timeMin", "timeMax"):
        if name in a and not _TIME.fullmatch(a[name]):
            problems.append(f"Must be ISO 8601 format: '2026-01-01T00:00:00' at {name}")
    for name in ("start", "end"):
        if name in a and not _TIME.fullmatch(a[name]) and not re.fullmatch(r"\d{4}-\d{2}-\d{2}", a[name]):
            problems.append(
                "Must be ISO 8601 format: '2025-01-01T10:00:00' for timed events or '2025-01-01' for all-day events "
                f"at {name}"
            )
    problems += [f"Invalid option {json.dumps(n)} at fields" for n in a.get("fields", ()) if n not in _NAMES]
    if problems:
        raise ToolError(
            f"MCP error -32602: Input validation error: Invalid arguments for tool {tool}: {'; '.join(problems)}"
        )

"""Attendees and organizers between Google's JSON and iCalendar lines."""

from __future__ import annotations

from typing import Any

import icalendar

from caldav_mcp.content_lines import Component, parameter
from caldav_mcp.values import first, values

_STATUS = {
    "NEEDS-ACTION": "needsAction",
    "ACCEPTED": "accepted",
    "DECLINED": "declined",
    "TENTATIVE": "tentative",
}
_PARTSTAT = {status: partstat for partstat, status in _STATUS.items()}
UNTOLD = "untold"
"""In a guest's data: the CalDAV server shall not send them anything (RFC 6638, 7.1)."""
_COMMENT, _GUESTS = "X-RESPONSE-COMMENT", "X-NUM-GUESTS"


def address_of(value: Any) -> str:
    """Return the e-mail address of an ATTENDEE or ORGANIZER value, without `mailto:`."""
    text = str(value)
    return text[7:] if text.lower().startswith("mailto:") else text


def read_attendees(event: icalendar.Component, owners: tuple[str, ...]) -> list[dict[str, Any]]:
    organizer = address_of(first(event, "ORGANIZER") or "").lower()
    return [_attendee(value, organizer, owners) for value in values(event, "ATTENDEE")]


def read_organizer(event: icalendar.Component, owners: tuple[str, ...]) -> dict[str, Any]:
    """Return the organizer of an event: its ORGANIZER, else the calendar's owner."""
    value = first(event, "ORGANIZER")
    if value is None:
        return {"email": owners[0], "self": True}
    address = address_of(value)
    organizer: dict[str, Any] = {"email": address}
    if "CN" in value.params:
        organizer["displayName"] = str(value.params["CN"])
    return organizer | ({"self": True} if address.lower() in owners else {})


def _attendee(value: Any, organizer: str, owners: tuple[str, ...]) -> dict[str, Any]:
    address, parameters = address_of(value), value.params
    guest: dict[str, Any] = {"email": address}
    if "CN" in parameters:
        guest["displayName"] = str(parameters["CN"])
    guest["responseStatus"] = _STATUS.get(str(parameters.get("PARTSTAT", "")).upper(), "needsAction")
    if str(parameters.get("ROLE", "")).upper() == "OPT-PARTICIPANT":
        guest["optional"] = True
    if address.lower() == organizer:
        guest["organizer"] = True
    if address.lower() in owners:
        guest["self"] = True
    if str(parameters.get("CUTYPE", "")).upper() in {"RESOURCE", "ROOM"}:
        guest["resource"] = True
    if _COMMENT in parameters:
        guest["comment"] = str(parameters[_COMMENT])
    if _GUESTS in parameters:
        guest["additionalGuests"] = _count(parameters[_GUESTS])
    return guest


def _count(value: Any) -> int:
    return int(str(value)) if str(value).isdecimal() else 0


def set_attendees(event: Component, given: list[dict[str, Any]]) -> Component:
    """Replace the list. Guests already there keep their whole line unless more than the address is given."""
    known = {_line_address(line): line for line in event.lines("ATTENDEE")}
    lines = []
    for guest in given:
        line = known.get(guest["email"].lower())
        lines.append(line if line is not None and set(guest) == {"email"} else _line(guest))
    return event.lacking({"ATTENDEE"}).adding(lines)


def _line(guest: dict[str, Any]) -> str:
    line = "ATTENDEE;PARTSTAT=" + _PARTSTAT[guest.get("responseStatus", "needsAction")]
    if guest.get("optional"):
        line += ";ROLE=OPT-PARTICIPANT"
    if guest.get(UNTOLD):
        line += ";SCHEDULE-AGENT=NONE"
    for name, key in (("CN", "displayName"), (_COMMENT, "comment"), (_GUESTS, "additionalGuests")):
        if key in guest:
            line += parameter(name, str(guest[key]))
    return f"{line}:mailto:{guest['email']}"


def _line_address(line: str) -> str:
    lower = line.lower()
    return lower.rpartition("mailto:")[2] if "mailto:" in lower else lower.rpartition(":")[2]

"""The JSON of events in Microsoft Graph, read into images and built from fields, with the zones of Windows.

Our events carry two extended properties: its id, by which it is found, and the marker with other private
properties. Graph chooses the ids of events itself, so the port's id of our events is the one in the property. A
copy that a person makes has that property too, but not the ``transactionId``, which only the request that created the
event could set; so a copy keeps the id that Graph gave it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from functools import cache
from importlib.resources import files
from typing import Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from babel.core import get_global
from pydantic import Field, ValidationError

from fateforger.calendar.directory import CalendarEntry, Unreadable, WireModel, describe_first_problem
from fateforger.calendar.event import PLAIN, EventExtras, EventFields, EventImage, Marker, OwnedId


@cache
def _load_table() -> tuple[dict[str, str], dict[str, str]]:
    """Return the IANA zone of each Windows zone, and the Windows zone of each IANA zone.

    Babel knows only the main zone of each, but those of its latest release, such as Alberta's of 2026.
    """
    text = (files("fateforger.adapters.microsoft") / "windows_zones.txt").read_text(encoding="utf-8")
    rows = [line.split(": ", 1) for line in text.splitlines() if line and not line.startswith("#")]
    members = [(windows, names.split()) for windows, names in rows]
    latest: Mapping[str, str] = get_global("windows_zone_mapping")
    return (
        {**latest, **{windows: names[0] for windows, names in members}},
        {
            **{name: windows for windows, names in members for name in names},
            **{name: windows for windows, name in latest.items()},
        },
    )


def to_windows(name: str) -> str | None:
    """Return the Windows zone of an IANA zone, if there is one."""
    return _load_table()[1].get(name)


def to_iana(name: str) -> str | None:
    """Return the IANA zone of a name as Graph writes it; ``None`` for a custom zone of an old Outlook."""
    if (found := _load_table()[0].get(name)) is not None:
        return found
    try:
        return ZoneInfo(name).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def format_moment(moment: datetime, time_zone: str) -> dict[str, str]:
    """Return an instant as Graph takes it: as a clock shows it in the person's zone, or in UTC.

    It is UTC where Windows has no such zone, and for a time that a clock shows twice, which would be ambiguous.
    """
    windows = to_windows(time_zone)
    local = moment.astimezone(ZoneInfo(time_zone)).replace(microsecond=0)
    if windows is None or local.utcoffset() != local.replace(fold=1 - local.fold).utcoffset():
        windows, local = "UTC", moment.astimezone(UTC).replace(microsecond=0)
    return {"dateTime": local.replace(tzinfo=None, fold=0).isoformat(), "timeZone": windows}


def parse_moment(written: str, time_zone: str) -> datetime:
    """Return the instant of a time as Graph writes it. Raises ``ValueError``."""
    zone = to_iana(time_zone)
    if zone is None:
        raise ValueError(f"the time zone {time_zone[:60]!r} is unknown")
    moment = datetime.fromisoformat(written)
    return (moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(zone))).astimezone(UTC)


Json = dict[str, Any]
_SET = "String {5d3f0c1e-8a64-4f0b-9b1d-7c2e4a9f6b35} Name "
ID_PROPERTY = _SET + "fateforger-id"
MARK_PROPERTY = _SET + "fateforger-mark"

EXPANDED = f"singleValueExtendedProperties($filter=id eq '{ID_PROPERTY}' or id eq '{MARK_PROPERTY}')"

CATEGORIES: Mapping[str, str] = {
    "1": "Purple category",
    "2": "Olive category",
    "3": "Dark purple category",
    "4": "Cranberry category",
    "5": "Yellow category",
    "6": "Orange category",
    "7": "Teal category",
    "8": "Gray category",
    "9": "Blue category",
    "10": "Green category",
    "11": "Red category",
}
"""The category of each color. An English Outlook has six of them to begin with, in their colors."""
_COLORS = {category: color for color, category in CATEGORIES.items()}

USUAL_REMINDER = 15
"""Minutes of the reminder that Graph gives to a new event."""
_ANSWERS = {"accepted": "accepted", "organizer": "accepted", "declined": "declined", "tentativelyAccepted": "tentative"}
_PLAIN_SHOWN = ("free", "tentative", "busy", "unknown")


class Point(WireModel):
    date_time: str
    time_zone: str = "UTC"


class Text(WireModel):
    content: str | None = None


class Place(WireModel):
    display_name: str | None = None


class Address(WireModel):
    address: str | None = None
    name: str | None = None


class Response(WireModel):
    response: str | None = None


class Attendee(WireModel):
    email_address: Address = Address()
    type: str | None = None
    status: Response | None = None


class Meeting(WireModel):
    join_url: str | None = None


class Property(WireModel):
    id: str
    value: str


class WireEvent(WireModel):
    """An event in the form of Graph."""

    id: str = Field(min_length=1)
    etag: str | None = Field(default=None, alias="@odata.etag")
    subject: str | None = None
    body: Text | None = None
    start: Point
    end: Point
    original_start_time_zone: str | None = None
    original_end_time_zone: str | None = None
    is_all_day: bool = False
    is_cancelled: bool = False
    is_organizer: bool = True
    show_as: str = "busy"
    sensitivity: str = "normal"
    importance: str = "normal"
    type: Literal["singleInstance", "occurrence", "exception", "seriesMaster"] = "singleInstance"
    series_master_id: str | None = None
    recurrence: Mapping[str, Any] | None = None
    location: Place | None = None
    attendees: tuple[Attendee, ...] = ()
    categories: tuple[str, ...] = ()
    is_reminder_on: bool = True
    reminder_minutes_before_start: int = USUAL_REMINDER
    response_status: Response | None = None
    online_meeting: Meeting | None = None
    has_attachments: bool = False
    transaction_id: str | None = None
    created_date_time: str = ""
    i_cal_u_id: str | None = Field(default=None, alias="iCalUId")
    web_link: str | None = None
    single_value_extended_properties: tuple[Property, ...] = ()


class WireCalendar(WireModel):
    """A calendar in the form of Graph."""

    id: str = Field(min_length=1)
    name: str = ""
    can_edit: bool = False
    is_default_calendar: bool = False


def read_calendar(shown: Mapping[str, Any]) -> CalendarEntry:
    """Convert a calendar of an answer. Raises :class:`Unreadable`."""
    try:
        found = WireCalendar.model_validate(shown)
    except ValidationError as error:
        raise Unreadable(describe_first_problem(error)) from None
    role = "writer" if found.can_edit else "reader"
    return CalendarEntry(
        found.id, found.name, None, "owner" if found.is_default_calendar else role, found.is_default_calendar
    )


def read_event(shown: Mapping[str, Any], written: Mapping[str, Any] | None = None) -> EventImage:
    """Convert an event of an answer. Raises :class:`Unreadable`.

    Answers to writes leave out extended properties; ``written`` is the body that was sent and holds them.
    """
    sent = {} if written is None else {"singleValueExtendedProperties": written["singleValueExtendedProperties"]}
    try:
        event = WireEvent.model_validate({**shown, **sent})
        start, end = _read_end(event, event.start), _read_end(event, event.end)
        kept = _read_properties(event)
        raw = _build_raw(event, start, end, kept)
        image = EventImage(
            id=raw["id"],
            summary=raw["summary"],
            description=raw["description"],
            start=start,
            end=end,
            color_id=raw.get("colorId"),
            status=raw["status"],
            busy=_is_busy(event),
            organized_by_me=event.is_organizer,
            series_id=event.series_master_id or (raw["id"] if event.type == "seriesMaster" else None),
            properties=kept,
            version=event.etag,
            html_link=event.web_link,
            raw=raw,
        )
        image.extras  # noqa: B018  fails here if it cannot be read
    except ValidationError as error:
        raise Unreadable(describe_first_problem(error)) from None
    except (ValueError, TypeError, KeyError) as problem:
        raise Unreadable(f"an event: {problem}") from None
    return image


def _read_end(event: WireEvent, point: Point) -> datetime | date:
    if event.is_all_day:
        return datetime.fromisoformat(point.date_time).date()
    return parse_moment(point.date_time, point.time_zone)


def _read_properties(event: WireEvent) -> dict[str, str]:
    """Return the private properties, the marker among them. A value of another program counts as none."""
    value = _find_property(event, MARK_PROPERTY)
    try:
        found = json.loads(value) if value is not None else {}
    except ValueError:
        return {}
    return {str(name): str(entry) for name, entry in found.items()} if isinstance(found, dict) else {}


def _find_property(event: WireEvent, name: str) -> str | None:
    return next((entry.value for entry in event.single_value_extended_properties if entry.id == name), None)


def _find_id(event: WireEvent, kept: Mapping[str, str]) -> str:
    """Return the id of the port. An event with our id and no marker has lost it, or is not ours: its id is taken."""
    ours = _find_property(event, ID_PROPERTY)
    if ours is None or not OwnedId.is_one(ours) or event.type not in ("singleInstance", "seriesMaster"):
        return event.id
    return ours if event.transaction_id == ours or Marker.read(kept) is None else event.id


def _is_busy(event: WireEvent) -> bool:
    declined = event.response_status is not None and event.response_status.response == "declined"
    return event.show_as not in ("free", "workingElsewhere") and not declined


def _build_raw(event: WireEvent, start: datetime | date, end: datetime | date, kept: Mapping[str, str]) -> Json:
    """Return all that is compared or needed to make the event again, by the names that images use for it."""
    optional: Json = {
        "colorId": _COLORS.get(_find_color(event.categories) or ""),
        "location": (event.location.display_name if event.location else None) or None,
        "attendees": [_read_guest(attendee) for attendee in event.attendees],
        "visibility": None if event.sensitivity == "normal" else event.sensitivity,
        "transparency": "transparent" if event.show_as == "free" else None,
        "hangoutLink": event.online_meeting.join_url if event.online_meeting else None,
        "recurringEventId": event.series_master_id,
        "recurrence": [json.dumps(event.recurrence, sort_keys=True)] if event.recurrence else None,
        "categories": list(event.categories),
        "otherProperties": _list_others(event),
        "iCalUID": event.i_cal_u_id,
        "htmlLink": event.web_link,
        "extendedProperties": {"private": dict(kept)} if kept else None,
    }
    status = "tentative" if event.show_as == "tentative" else "confirmed"
    return {
        "id": _find_id(event, kept),
        "graphId": event.id,
        "etag": event.etag,
        "created": event.created_date_time,
        "summary": event.subject or "",
        "description": ((event.body.content if event.body else None) or "").replace("\r\n", "\n").strip(),
        "start": _build_point(start, event.original_start_time_zone),
        "end": _build_point(end, event.original_end_time_zone),
        "status": "cancelled" if event.is_cancelled else status,
        "reminders": _read_reminder(event),
        **{name: value for name, value in optional.items() if value},
    }


def _find_color(categories: Iterable[str]) -> str | None:
    """Return the first category that means a color, which is the event's. Further ones are the person's."""
    return next((name for name in categories if name in _COLORS), None)


def _build_point(moment: datetime | date, original_zone: str | None) -> Json:
    if not isinstance(moment, datetime):
        return {"date": moment.isoformat()}
    zone = to_iana(original_zone or "")
    return {"dateTime": moment.isoformat(), **({} if zone is None else {"timeZone": zone})}


def _read_guest(attendee: Attendee) -> Json:
    answer = attendee.status.response if attendee.status else None
    return {
        "email": attendee.email_address.address or "",
        "displayName": attendee.email_address.name or "",
        "optional": attendee.type == "optional",
        "responseStatus": _ANSWERS.get(answer or "", "needsAction"),
    }


def _read_reminder(event: WireEvent) -> Json:
    if event.is_reminder_on and event.reminder_minutes_before_start == USUAL_REMINDER:
        return {"useDefault": True}
    popup = {"method": "popup", "minutes": event.reminder_minutes_before_start}
    return {"useDefault": False, "overrides": [popup] if event.is_reminder_on else []}


def _list_others(event: WireEvent) -> list[str]:
    """Return what only Outlook has, as lines that :func:`_build_others` reads."""
    color = _find_color(event.categories)
    lines = [f"CATEGORIES:{name}" for name in event.categories if name != color]
    lines += [f"IMPORTANCE:{event.importance}"] if event.importance != "normal" else []
    lines += [f"SHOWAS:{event.show_as}"] if event.show_as not in _PLAIN_SHOWN else []
    return lines + (["ATTACHMENTS"] if event.has_attachments else [])


def build_create(
    event_id: OwnedId, fields: EventFields, marker: Marker, time_zone: str, extras: EventExtras = PLAIN
) -> Json:
    """Return the body that creates an event.

    It has no guests, whom Graph would send a mail, and only one reminder. Files, video calls and the properties that
    only Google has cannot be given to a new event.
    """
    categories = [] if fields.color_id is None else [CATEGORIES[fields.color_id]]
    others = _build_others(extras.others)
    body = {
        "subject": fields.summary,
        "body": _build_text(fields.description),
        "start": format_moment(fields.start, time_zone),
        "end": format_moment(fields.end, time_zone),
        "transactionId": str(event_id),
        "singleValueExtendedProperties": [
            {"id": ID_PROPERTY, "value": str(event_id)},
            _build_mark({**extras.properties, **marker.properties()}),
        ],
        **_build_extras(extras),
        **others,
        "categories": [*categories, *others.get("categories", ())],
    }
    return body if body["categories"] else {name: value for name, value in body.items() if name != "categories"}


def _build_extras(extras: EventExtras) -> Json:
    given: Json = {}
    if extras.location:
        given["location"] = {"displayName": extras.location}
    if extras.visibility in ("private", "personal", "confidential"):
        given["sensitivity"] = extras.visibility
    if extras.free or extras.tentative:
        given["showAs"] = "free" if extras.free else "tentative"
    if extras.reminders is not None:
        popups = [minutes for method, minutes in extras.reminders if method == "popup"]
        if popups or not extras.reminders:
            given["isReminderOn"] = bool(popups)
            given["reminderMinutesBeforeStart"] = max(popups, default=0)
    return given


def _build_others(lines: Iterable[str]) -> Json:
    given: Json = {}
    for line in lines:
        name, _, value = line.partition(":")
        match name:
            case "CATEGORIES":
                given.setdefault("categories", []).append(value)
            case "IMPORTANCE":
                given["importance"] = value
            case "SHOWAS":
                given["showAs"] = value
    return given


def build_update(changes: Mapping[str, Any], found: EventImage, marker: Marker, time_zone: str) -> Json:
    """Return the body that sets only the given managed fields, and the marker."""
    body: Json = {"singleValueExtendedProperties": [_build_mark({**found.properties, **marker.properties()})]}
    for name, value in changes.items():
        match name:
            case "summary":
                body["subject"] = value
            case "description":
                body["body"] = _build_text(value)
            case "color_id":
                color, known = None if value is None else CATEGORIES[value], found.raw.get("categories", ())
                replaced = {color, _find_color(known)}
                others = [kept for kept in known if kept not in replaced]
                body["categories"] = others if color is None else [color, *others]
            case _:
                body[name] = format_moment(value, time_zone)
    return body


def _build_text(text: str) -> Json:
    return {"contentType": "text", "content": text}


def _build_mark(properties: Mapping[str, str]) -> Json:
    return {"id": MARK_PROPERTY, "value": json.dumps(dict(properties), ensure_ascii=False, sort_keys=True)}

"""Events in the form of Google's interface: answers read, bodies built."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from fateforger.adapters.google.client import Json, refuse
from fateforger.calendar.event import EventExtras, EventFields, EventImage, Marker, OwnedId
from fateforger.calendar.event_json import Unreadable, build_extras, format_time, read_event
from fateforger.calendar.refusals import RefusalKind, Refused
from fateforger.errors import CalendarIncomplete
from fateforger.text import gettext as _

_NAMES = {"summary": "summary", "description": "description", "color_id": "colorId"}


def has_etag(event: EventImage) -> bool:
    """Check whether an event was read with the version that a conditional write needs."""
    return not event.gone and event.version is not None and event.raw.get("etag") == event.version


def read_page(page: Json | Refused) -> list[EventImage]:
    """Read a page of a list of events. Raises :class:`~fateforger.errors.CalendarError`."""
    if isinstance(page, Refused):
        raise page.to_error()
    try:
        return [read_event(shown) for shown in page.get("items", ())]
    except (Unreadable, TypeError) as problem:
        raise CalendarIncomplete(_("I do not understand Google's answer: {problem}.", problem=problem)) from None


def read_answer(answer: Json, event_id: str) -> EventImage | Refused:
    """Read an answer about one event; one about another event is refused."""
    try:
        image = read_event(answer)
    except Unreadable as problem:
        return refuse(RefusalKind.UNCLEAR, _("I do not understand Google's answer: {problem}.", problem=problem))
    if image.id != event_id:
        return refuse(RefusalKind.UNCLEAR, f"an answer about event {image.id}")
    return image


def build_event(
    event_id: OwnedId, fields: EventFields, marker: Marker, extras: EventExtras, time_zone: str
) -> dict[str, Any]:
    """Return a new event. What has its usual value is left out, as Google leaves it out."""
    given = build_extras(extras)
    given.pop("otherProperties", None)
    shared = {"shared": dict(extras.shared_properties)} if extras.shared_properties else {}
    return {
        "id": event_id,
        "summary": fields.summary,
        "start": _build_time(fields.start, time_zone),
        "end": _build_time(fields.end, time_zone),
        **({"description": fields.description} if fields.description else {}),
        **({} if fields.color_id is None else {"colorId": fields.color_id}),
        **({"status": "tentative"} if extras.tentative else {}),
        **given,
        "extendedProperties": {"private": {**extras.properties, **marker.properties()}, **shared},
    }


def build_changes(changes: Mapping[str, Any], marker: Marker, time_zone: str) -> dict[str, Any]:
    """Return what a PATCH sends: what it does not name stays, and a color of ``None`` is removed."""
    times = {name: _build_time(changes[name], time_zone) for name in ("start", "end") if name in changes}
    return {
        **{_NAMES[name]: value for name, value in changes.items() if name in _NAMES},
        **times,
        "extendedProperties": {"private": marker.properties()},
    }


def _build_time(moment: datetime, time_zone: str) -> dict[str, str]:
    return {"dateTime": format_time(moment), "timeZone": time_zone}

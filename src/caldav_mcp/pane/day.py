"""One day of a calendar as the page draws it, with its events in columns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from caldav_mcp.display import clean_text
from caldav_mcp.occurrences import Occurrence
from caldav_mcp.pane.moves import state_of
from caldav_mcp.times import rfc3339_milliseconds
from caldav_mcp.tools.calendars import Calendars, Named
from caldav_mcp.tools.read import in_order, left_out, occurrence_json


class Place(NamedTuple):
    """A column, how many columns its group has, and how many of them the event may fill to its right."""

    column: int
    columns: int
    width: int


def side_by_side(spans: Sequence[tuple[int, int]]) -> list[Place]:
    """Give overlapping spans (start, end; any unit) their own columns.

    Spans that touch each other directly or through others form a group and share its number of columns. Each takes the
    first free column, then widens over columns that stay free next to it.
    """
    order = sorted(range(len(spans)), key=lambda n: (spans[n][0], -spans[n][1], n))
    places: dict[int, Place] = {}
    group: list[int] = []
    group_end = 0
    for n in order:
        start, end = spans[n]
        if group and start >= group_end:
            places |= _place_group(group, spans)
            group = []
        group.append(n)
        group_end = end if len(group) == 1 else max(group_end, end)
    places |= _place_group(group, spans)
    return [places[n] for n in range(len(spans))]


def _place_group(group: list[int], spans: Sequence[tuple[int, int]]) -> dict[int, Place]:
    column_of: dict[int, int] = {}
    ends: list[int] = []
    for n in group:
        start, end = spans[n]
        column = next((c for c, taken in enumerate(ends) if taken <= start), len(ends))
        ends[column : column + 1] = [end]
        column_of[n] = column
    return {n: Place(column_of[n], len(ends), _width(n, column_of, spans, len(ends))) for n in group}


def _width(n: int, column_of: dict[int, int], spans: Sequence[tuple[int, int]], columns: int) -> int:
    start, end = spans[n]
    following = [
        column for other, column in column_of.items()
        if column > column_of[n] and spans[other][0] < end and start < spans[other][1]
    ]  # fmt: skip
    return min(following, default=columns) - column_of[n]


_LONGEST_TITLE, _LONGEST_TEXT = 1_000, 20_000
"""Characters that the page draws of a title, and of notes."""
_SHORTEST = 15
"""Minutes that an event takes on the page at least, so that its title can be read."""


async def day_json(calendars: Calendars, day: date, zone: ZoneInfo) -> dict[str, Any]:
    """Everything to draw of a day in a zone. Positions are in real minutes from the zone's midnight.

    A day has 23 or 25 hours when the clocks change, and an hour label may come twice or not at all.
    """
    start = _midnight(day, zone)
    end = _midnight(day + timedelta(days=1), zone)
    named = Named("primary", calendars.primary)
    expansion = await calendars.primary.expand(start, end)
    found = in_order(expansion)
    timed = [occurrence for occurrence in found if not _fills_days(occurrence)]
    return {
        "date": day.isoformat(),
        "weekday": f"{day:%A}",
        "words": f"{day.day} {day:%B %Y}",
        "zone": zone.key,
        "calendar": clean_text(calendars.primary.about.name),
        "today": calendars.now().astimezone(zone).date().isoformat(),
        "previous": (day - timedelta(days=1)).isoformat(),
        "next": (day + timedelta(days=1)).isoformat(),
        "now": rfc3339_milliseconds(calendars.now()),
        "start": rfc3339_milliseconds(start),
        "minutes": _minutes(end - start),
        "hours": _hours(start, end, zone),
        "allDay": [
            _dump_event(calendars, named, o, zone) | _span_words(o, day)
            for o in found
            if _fills_days(o) and _covers(o, day)
        ],
        "events": _dump_timed(calendars, named, timed, start, end, zone),
        "leftOut": [clean_text(event["summary"]) for event in left_out(expansion)],
    }


def _dump_timed(
    calendars: Calendars, named: Named, found: list[Occurrence], start: datetime, end: datetime, zone: ZoneInfo
) -> list[dict[str, Any]]:
    last = _minutes(end - start)
    spans = []
    for occurrence in found:
        top = max(_minutes(occurrence.start.instant - start), 0)
        bottom = min(_minutes(occurrence.end.instant - start), last)
        spans.append((min(top, last - _SHORTEST), max(bottom, min(top, last - _SHORTEST) + _SHORTEST)))
    shown = []
    for occurrence, span, place in zip(found, spans, side_by_side(spans), strict=True):
        event = _dump_event(calendars, named, occurrence, zone)
        event |= {"top": span[0], "bottom": span[1], **place._asdict()}
        event |= {
            "starts": _minutes(occurrence.start.instant - start),
            "ends": _minutes(occurrence.end.instant - start),
        }
        event |= {"fromBefore": occurrence.start.instant < start, "goesOn": occurrence.end.instant > end}
        event |= _edges(occurrence, start.astimezone(zone).date(), zone)
        shown.append(event)
    return shown


def _dump_event(calendars: Calendars, named: Named, occurrence: Occurrence, zone: ZoneInfo) -> dict[str, Any]:
    event = occurrence_json(calendars, named, occurrence)
    own: dict[str, Any] = next((guest for guest in event.get("attendees", []) if guest.get("self")), {})
    return {
        "id": event["id"],
        "title": clean_text(event.get("summary", "")[:_LONGEST_TITLE]),
        "description": clean_text(event.get("description", "")[:_LONGEST_TEXT]),
        "location": clean_text(event.get("location", "")[:_LONGEST_TITLE]),
        "color": event.get("colorId", "0"),
        "isFree": event.get("transparency") == "transparent",
        "isTentative": event["status"] == "tentative" or own.get("responseStatus") == "tentative",
        "isDeclined": own.get("responseStatus") == "declined",
        "repeats": occurrence.in_series,
        "state": state_of(event),
        "movable": calendars.primary.about.writable and bool(event["organizer"].get("self")),
        "long": _long(occurrence, zone),
    }


def _fills_days(occurrence: Occurrence) -> bool:
    return occurrence.start.day is not None


def _covers(occurrence: Occurrence, day: date) -> bool:
    """Check whether an all-day event is on a day. Days are the same in every time zone."""
    start, end = occurrence.start.day, occurrence.end.day
    return start is not None and end is not None and start <= day < end


def _span_words(occurrence: Occurrence, day: date) -> dict[str, str]:
    start, end = occurrence.start.day, occurrence.end.day
    if start is None or end is None or (end - start).days <= 1:
        return {"when": ""}
    return {"when": f"day {(day - start).days + 1} of {(end - start).days}"}


def _edges(occurrence: Occurrence, day: date, zone: ZoneInfo) -> dict[str, str]:
    """Start and end in words, with their day where that is not the one shown; no end for what takes no time."""
    start, end = (moment.instant.astimezone(zone) for moment in (occurrence.start, occurrence.end))
    first = _clock(start) if start.date() == day else f"{start:%a} {_clock(start)}"
    is_midnight = end.date() == day + timedelta(days=1) and end.time() == time()
    last = "24:00" if is_midnight else _clock(end) if end.date() == day else f"{end:%a} {_clock(end)}"
    takes_no_time = occurrence.start.instant == occurrence.end.instant
    return {"from": first, "until": "" if takes_no_time else last}


def _long(occurrence: Occurrence, zone: ZoneInfo) -> str:
    """Return an event's time in words, with both days when there are two."""
    if occurrence.start.day is not None and occurrence.end.day is not None:
        last = occurrence.end.day - timedelta(days=1)
        first = _day_words(occurrence.start.day)
        return f"{first}, all day" if last <= occurrence.start.day else f"{first} – {_day_words(last)}"
    start, end = (moment.instant.astimezone(zone) for moment in (occurrence.start, occurrence.end))
    length = _length_words(occurrence.end.instant - occurrence.start.instant)
    if start.date() == end.date():
        return f"{_day_words(start.date())}, {_clock(start)} – {_clock(end)}{length}"
    return f"{_day_words(start.date())}, {_clock(start)} – {_day_words(end.date())}, {_clock(end)}{length}"


def _clock(local: datetime) -> str:
    """Return a time of day; with its zone, as in "02:30 CET", if the clock is set back over it."""
    is_twice = local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset()
    return f"{local:%H:%M %Z}" if is_twice else f"{local:%H:%M}"


def _day_words(day: date) -> str:
    return f"{day:%a} {day.day} {day:%b}"


def _length_words(span: timedelta) -> str:
    hours, minutes = divmod(_minutes(span), 60)
    words = [f"{hours} h" if hours else "", f"{minutes} min" if minutes else ""]
    said = " ".join(word for word in words if word)
    return f" ({said})" if said else ""


def _hours(start: datetime, end: datetime, zone: ZoneInfo) -> list[dict[str, Any]]:
    hours = []
    instant = start
    while instant < end:
        hours.append({"at": _minutes(instant - start), "label": f"{instant.astimezone(zone):%H:%M}"})
        instant += timedelta(hours=1)
    return hours


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)


def _minutes(span: timedelta) -> int:
    return int(span.total_seconds() // 60)

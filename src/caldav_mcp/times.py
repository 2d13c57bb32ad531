"""Points in time as the tools take and give them.

A `Moment` is either a calendar day or an instant with the event's own IANA zone. Results show the calendar's offset
together with the event's zone, as Google does: `2027-05-04T22:00:00+02:00` with `"timeZone": "America/New_York"`.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from caldav_mcp.errors import BadRequest

_NAIVE = r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}"
ZONED_FORM = re.compile(_NAIVE + r"(Z|[+-]\d{2}:\d{2})", re.ASCII)
NAIVE_FORM = re.compile(_NAIVE, re.ASCII)
DATE_FORM = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


@lru_cache(maxsize=256)
def zone_named(name: str) -> ZoneInfo | None:
    """Return the IANA zone of that name, or None when there is none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


@dataclass(frozen=True)
class Moment:
    """The start or end of an event.

    `instant` is in UTC (for a day: its midnight in the calendar's zone); `day` is set for all-day events only; `zone`
    is the event's own zone, an IANA name.
    """

    instant: datetime
    day: date | None
    zone: str

    def json(self, calendar_zone: ZoneInfo) -> dict[str, str]:
        if self.day is not None:
            return {"date": self.day.isoformat()}
        return {"dateTime": rfc3339(self.instant, calendar_zone), "timeZone": self.zone}

    @property
    def weekday(self) -> str:
        if self.day is not None:
            return f"{self.day:%A}"
        zone = zone_named(self.zone)
        return f"{self.instant.astimezone(zone or UTC):%A}"


def day_moment(day: date, calendar_zone: ZoneInfo) -> Moment:
    midnight = datetime.combine(day, time(), calendar_zone)
    return Moment(midnight.astimezone(UTC), day, calendar_zone.key)


def rfc3339(instant: datetime, zone: ZoneInfo) -> str:
    """Return an instant in a zone, with its offset, whole seconds; `Z` for UTC."""
    text = instant.astimezone(zone).replace(microsecond=0).isoformat()
    return text.replace("+00:00", "Z") if text.endswith("+00:00") else text


def rfc3339_milliseconds(instant: datetime) -> str:
    return f"{instant.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.{instant.microsecond // 1000:03d}Z"


def time_problem(value: str) -> str | None:
    """Say what is wrong with a `start` or `end` argument, or None."""
    text = value.strip()
    if text.startswith("{"):
        return _json_time_problem(text)
    if DATE_FORM.fullmatch(text) or range_form(text):
        return None
    return "Must be ISO 8601 format: '2025-01-01T10:00:00' for timed events or '2025-01-01' for all-day events"


def range_form(text: str) -> bool:
    """Check whether the text is a date-time as `timeMin` and `timeMax` take it (no bare dates)."""
    return bool(ZONED_FORM.fullmatch(text) or NAIVE_FORM.fullmatch(text))


def _json_time_problem(text: str) -> str | None:
    try:
        given = json.loads(text)
    except ValueError:
        return "Invalid JSON format in time input"
    if "date" in given and "dateTime" in given:
        return "Cannot specify both 'date' and 'dateTime' in time input"
    if "date" in given:
        good = isinstance(given["date"], str) and DATE_FORM.fullmatch(given["date"])
        return None if good else "Invalid date format: must be YYYY-MM-DD (e.g., '2025-01-01')"
    if "dateTime" not in given:
        return "JSON time object must have either 'dateTime' or 'date' field"
    zone = given.get("timeZone", "-")
    if not isinstance(zone, str):
        return "timeZone must be a string (IANA timezone, e.g., 'America/Los_Angeles')"
    if not zone.strip():
        return (
            "timeZone cannot be empty - provide a valid IANA timezone (e.g., 'America/Los_Angeles') or omit the field"
        )
    good_time = isinstance(given["dateTime"], str) and range_form(given["dateTime"])
    return None if good_time else "Invalid dateTime format: must be ISO 8601 (e.g., '2025-01-01T10:00:00')"


@dataclass(frozen=True)
class GivenTime:
    """A `start` or `end` argument: the moment it means, and whether it came with an offset."""

    moment: Moment
    has_offset: bool


def read_time(value: str, time_zone: str | None, calendar_zone: ZoneInfo, side: str) -> GivenTime:
    """Read a `start` or `end` argument that `time_problem` let pass.

    Naive times mean their own `timeZone`, else the `timeZone` argument, else the calendar's zone. With an offset the
    event gets the calendar's zone. A naive time in a spring gap is one gap later. Raises `BadRequest` for a date that
    does not exist or an unknown zone.
    """
    text = value.strip()
    given: dict[str, Any] = json.loads(text) if text.startswith("{") else {}
    if not given:
        given = {"date": text} if DATE_FORM.fullmatch(text) else {"dateTime": text}
    try:
        if "date" in given:
            return GivenTime(day_moment(date.fromisoformat(given["date"]), calendar_zone), has_offset=False)
        stamp = datetime.fromisoformat(given["dateTime"])
        if stamp.tzinfo is not None:
            return GivenTime(Moment(stamp.astimezone(UTC), None, calendar_zone.key), has_offset=True)
        zone = _known_zone(given.get("timeZone") or time_zone, calendar_zone, f"for {side} time")
        return GivenTime(Moment(stamp.replace(tzinfo=zone).astimezone(UTC), None, zone.key), has_offset=False)
    except (ValueError, OverflowError):
        raise BadRequest(f"Invalid {side} time.") from None


def read_bound(text: str | None, time_zone: str | None, calendar_zone: ZoneInfo) -> datetime | None:
    """Read `timeMin` or `timeMax` as a UTC instant."""
    if text is None:
        return None
    try:
        stamp = datetime.fromisoformat(text)
        if stamp.tzinfo is None:
            stamp = stamp.replace(tzinfo=_known_zone(time_zone, calendar_zone, ""))
        return stamp.astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadRequest from None


def _known_zone(name: str | None, calendar_zone: ZoneInfo, place: str) -> ZoneInfo:
    if not name:
        return calendar_zone
    zone = zone_named(name)
    if zone is None:
        raise BadRequest(f"Invalid time zone definition {place}".strip() + ".")
    return zone

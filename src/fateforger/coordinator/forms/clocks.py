"""Times and lengths as people type them: ``9``, ``9.30``, ``21h``, ``9:30 pm``; ``9-12, 14-16``; ``90``, ``1 h 30``."""

from __future__ import annotations

import re
import unicodedata
from datetime import time
from typing import Literal

from fateforger.errors import BadInput

DAY = 24 * 60
LONGEST_NIGHT = 16 * 60
"""Longest window over midnight, in minutes; a longer one is more likely a slip, like 9-5 for 9-17."""
_CLOCK = re.compile(r"(\d{1,2})(?:[:.h](\d{2})|h|(?<=\d)(\d{2}))?(am|pm)?")
_LENGTH = re.compile(r"(?:(\d+(?:[.,]\d+)?)(?:h|hr|hrs|hour|hours))?(?:(\d+)(?:m|min|mins|minute|minutes)?)?")
_DASH = re.compile(r"\s*[-–—‒−~]\s*")


def parse_clock(text: str) -> time:
    """Parse a time of day; 24:00 is midnight. Raises :class:`BadInput`."""
    found = _CLOCK.fullmatch(_normalize(text))
    if found is not None:
        hour, minute, half = int(found[1]), int(found[2] or found[3] or 0), found[4]
        if half is not None and 1 <= hour <= 12:
            hour = hour % 12 + (12 if half == "pm" else 0)
            half = None
        if half is None and minute < 60 and (hour < 24 or (hour, minute) == (24, 0)):
            return time(hour % 24, minute)
    raise BadInput(f"I can't read “{text.strip()[:30]}” as a time of day; write it like 9:30, 21.30 or 9 pm.")


def parse_windows(text: str) -> tuple[tuple[time, time], ...]:
    """Parse time windows separated by commas. A window that ends before its start reaches over midnight.

    Raises :class:`BadInput`.
    """
    pieces = [piece.strip() for piece in re.split(r"[,;\n]", text) if piece.strip()]
    return tuple(_parse_window(piece) for piece in pieces)


def parse_minutes(text: str, *, bare: Literal["h", "min"] = "min") -> int:
    """Parse a length and return it in minutes; ``bare`` is the unit of a small number without one.

    Raises :class:`BadInput`.
    """
    given = _normalize(text)
    minutes: float | None = None
    if re.fullmatch(r"\d{1,2}:\d{2}", given):
        hours, rest = given.split(":")
        minutes = int(hours) * 60 + int(rest) if int(rest) < 60 else None
    elif re.fullmatch(r"\d+(?:[.,]\d+)?", given):
        number = float(given.replace(",", "."))
        minutes = number * 60 if bare == "h" and number <= 24 else number
    elif given and (found := _LENGTH.fullmatch(given)):
        minutes = float((found[1] or "0").replace(",", ".")) * 60 + int(found[2] or 0)
    if minutes is None:
        raise BadInput(f"I can't read “{text.strip()[:30]}” as a length of time; write it like 30 min or 7 h 30.")
    if not 1 <= round(minutes) <= DAY:
        raise BadInput("Please choose a length between 1 minute and 24 hours.")
    return round(minutes)


def format_windows(windows: tuple[tuple[time, time], ...]) -> str:
    """Format windows for a text field: ``9:00-12:00, 14:00-16:00``."""
    return ", ".join(f"{_format_clock(start)}-{_format_clock(end)}" for start, end in windows)


def format_minutes(minutes: int) -> str:
    """Format a length for a text field."""
    hours, rest = divmod(minutes, 60)
    return " ".join(([f"{hours} h"] if hours else []) + ([f"{rest} min"] if rest or not hours else []))


def _parse_window(text: str) -> tuple[time, time]:
    ends = _DASH.split(text)
    if len(ends) != 2:
        raise BadInput(f"“{text[:30]}” needs a beginning and an end; write it like 9-12 or 9:30-12.")
    start, end = (parse_clock(end) for end in ends)
    if start == end:
        raise BadInput(f"“{text[:30]}” begins and ends at the same time; write it like 9-12.")
    length = (_to_minute(end) - _to_minute(start)) % DAY
    if _to_minute(end) < _to_minute(start) and _to_minute(end) and length > LONGEST_NIGHT:
        raise BadInput(
            f"“{text[:30]}” would reach over midnight and take {length // 60} hours. For an afternoon, write {end.hour}"
            f" as {end.hour + 12} or {end.hour} pm."
        )
    return start, end


def _to_minute(clock: time) -> int:
    return clock.hour * 60 + clock.minute


def _format_clock(clock: time) -> str:
    return f"{clock.hour}:{clock.minute:02d}"


def _normalize(text: str) -> str:
    """Return the text without spaces, in lower case, with ``am`` and ``pm`` and digits in normal form."""
    small = unicodedata.normalize("NFKC", text).casefold()
    return re.sub(r"\s+", "", small).replace("a.m.", "am").replace("p.m.", "pm")

"""Format days for people."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

from fateforger.plan import zone

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_EVENING = time(18, 0)


def weekday(day: date) -> str:
    """Return a name like ``Monday``."""
    return _DAYS[day.weekday()]


def day_words(day: date) -> str:
    """Return a day like ``Monday 2 March``."""
    return f"{weekday(day)} {day.day} {_MONTHS[day.month - 1]}"


def local_today(now: datetime, tz: str) -> date:
    """Return the current calendar day in a zone."""
    return now.astimezone(zone(tz)).date()


def day_to_plan(now: datetime, tz: str) -> date:
    """Return today, or tomorrow once the evening has begun."""
    local = now.astimezone(zone(tz))
    return local.date() + timedelta(days=1) if local.time() >= _EVENING else local.date()

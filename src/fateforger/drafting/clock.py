"""Write an instant as a clock value that reads back as exactly the same instant."""

from __future__ import annotations

from datetime import UTC, date, datetime

from fateforger.plan import instant_of, zone
from fateforger.plan.timing import Clock


def clock_at(when: datetime, day: date, tz: str) -> Clock:
    """Return the clock value of the aware instant ``when`` in a plan of ``day``.

    It is a time of day, a local date-time on another day, or a date-time with offset for the second pass of an hour
    that happens twice.
    """
    local = when.astimezone(zone(tz))
    wall = local.replace(tzinfo=None, fold=0)
    if instant_of(wall, zone(tz)).astimezone(UTC) != when.astimezone(UTC):
        return datetime.fromisoformat(local.isoformat())
    return wall.time() if wall.date() == day else wall

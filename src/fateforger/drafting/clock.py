"""An instant as the clock value that leads back to exactly it."""

from __future__ import annotations

from datetime import UTC, date, datetime

from fateforger.plan import instant_of, zone
from fateforger.plan.timing import Clock


def clock_at(when: datetime, day: date, tz: str) -> Clock:
    """How a plan of ``day`` in zone ``tz`` writes the aware instant ``when``: a time of day, on another day a local
    date-time, and a date-time with offset for the second pass of an hour that happens twice."""
    local = when.astimezone(zone(tz))
    wall = local.replace(tzinfo=None, fold=0)
    if instant_of(wall, zone(tz)).astimezone(UTC) != when.astimezone(UTC):
        return datetime.fromisoformat(local.isoformat())
    return wall.time() if wall.date() == day else wall

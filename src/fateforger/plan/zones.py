"""Look up time zones by name and turn wall-clock readings into instants."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


@lru_cache(maxsize=256)
def zone(name: str) -> ZoneInfo:
    """Return the IANA zone of that name.

    Raises ``ValueError`` with a sentence for a person.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(
            f"“{name[:60]}” is not a time zone I know; use an IANA name such as Europe/Amsterdam"
        ) from None


def instant_of(local: datetime, tz: ZoneInfo) -> datetime:
    """Return the instant of a wall-clock reading, in ``tz``.

    A reading that the spring change skips moves forward by the length of the gap. A reading that happens twice in
    autumn means the first pass (both as in RFC 5545). A reading with an offset is that exact instant.
    """
    if local.tzinfo is None:
        local = local.replace(tzinfo=tz, fold=local.fold)
    return local.astimezone(UTC).astimezone(tz)


def second_reading(local: datetime, tz: ZoneInfo) -> datetime | None:
    """Return the later instant of a wall-clock reading that happens twice, else ``None``."""
    if local.tzinfo is not None:
        return None
    first, second = (local.replace(tzinfo=tz, fold=f).astimezone(UTC) for f in (0, 1))
    return second.astimezone(tz) if second > first else None


def local_day(day: date, tz: ZoneInfo) -> tuple[datetime, datetime]:
    """Return the first instants of a local day and of the next day.

    They are 23, 24 or 25 hours apart in most zones.
    """
    start = datetime(day.year, day.month, day.day)  # noqa: DTZ001  a wall-clock reading on purpose
    return instant_of(start, tz), instant_of(start + timedelta(days=1), tz)

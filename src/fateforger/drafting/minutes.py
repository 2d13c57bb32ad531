"""Minutes: on the time line, on the five-minute grid, and as text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

GRID = 5
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def floor(instant: datetime) -> int:
    """Return elapsed minutes since the epoch, rounded down to the grid."""
    return int((instant - _EPOCH) // timedelta(minutes=GRID)) * GRID


def ceil(instant: datetime) -> int:
    """Return elapsed minutes since the epoch, rounded up to the grid."""
    return -int((_EPOCH - instant) // timedelta(minutes=GRID)) * GRID


def minute_of(instant: datetime) -> int:
    """Return whole elapsed minutes since the epoch."""
    return int((instant - _EPOCH) // timedelta(minutes=1))


def instant(minute: int) -> datetime:
    """Return the instant of a minute since the epoch, in UTC."""
    return _EPOCH + timedelta(minutes=minute)


def in_words(minutes: int) -> str:
    """Return a length like ``45 min``, ``2 h``, ``1 h 30 min``."""
    hours, rest = divmod(minutes, 60)
    if not hours:
        return f"{rest} min"
    return f"{hours} h {rest} min" if rest else f"{hours} h"

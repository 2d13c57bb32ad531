"""Five-minute grid of the clock, and stretches of time on it.

A minute is an elapsed minute since the epoch, so a change of the clock has no effect on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from fateforger.planning.timing import Clock, instant_of, zone

GRID = 5
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def floor(instant: datetime) -> int:
    """Return elapsed minutes since the epoch, rounded down to the grid."""
    return int((instant - _EPOCH) // timedelta(minutes=GRID)) * GRID


def ceil(instant: datetime) -> int:
    """Return elapsed minutes since the epoch, rounded up to the grid."""
    return -int((_EPOCH - instant) // timedelta(minutes=GRID)) * GRID


def on_grid(minutes: int) -> int:
    """Round a length up to the grid, in minutes."""
    return -(-minutes // GRID) * GRID


def minute_of(instant: datetime) -> int:
    """Return whole elapsed minutes since the epoch."""
    return int((instant - _EPOCH) // timedelta(minutes=1))


def instant(minute: int) -> datetime:
    """Return the instant of a minute since the epoch, in UTC."""
    return _EPOCH + timedelta(minutes=minute)


def find_next_fit(taken: Iterable[tuple[datetime, datetime]], start: datetime, length: timedelta) -> datetime:
    """Return the first instant from ``start`` on at which ``length`` fits between the ``taken`` times."""
    for begin, end in sorted(taken):
        if begin < start + length and start < end:
            start = end
    return start


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


@dataclass(frozen=True, slots=True)
class Busy:
    """Busy time that does not move.

    An empty or reversed stretch takes no time.
    """

    start: datetime
    end: datetime
    title: str = field(default="", kw_only=True)


class Stretch(NamedTuple):
    """A stretch of time in minutes since the epoch, end not included."""

    start: int
    end: int

    @property
    def minutes(self) -> int:
        return self.end - self.start


def busy_stretches(busy: Iterable[Busy]) -> tuple[Stretch, ...]:
    """Return the busy time, rounded outward to the grid, merged, in time order."""
    return join_stretches(Stretch(floor(b.start), ceil(b.end)) for b in busy if b.start < b.end)


def join_stretches(stretches: Iterable[Stretch]) -> tuple[Stretch, ...]:
    """Return the union of the stretches, in time order."""
    union: list[Stretch] = []
    for stretch in sorted(stretches):
        if union and stretch.start <= union[-1].end:
            union[-1] = Stretch(union[-1].start, max(union[-1].end, stretch.end))
        else:
            union.append(stretch)
    return tuple(union)


def gaps(frame: Stretch, taken: Iterable[Stretch]) -> Iterator[Stretch]:
    """Yield the parts of the frame that ``taken`` leaves free, in time order."""
    at = frame.start
    for stretch in join_stretches(taken):
        if at >= frame.end:
            return
        if stretch.start > at:
            yield Stretch(at, min(stretch.start, frame.end))
        at = max(at, stretch.end)
    if at < frame.end:
        yield Stretch(at, frame.end)

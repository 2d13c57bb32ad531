"""Time axis: minutes, slots of five minutes, and sets of slots as the bits of one integer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo

from fateforger.planning.timing import GRID, ceil, floor, instant, instant_of

_CHANGE = timedelta(hours=3)
"""Distance from a window within which a change of the clock matters to it."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A time axis.

    Slot ``n`` begins ``n`` times five minutes after ``origin``, a minute since the epoch on the grid.
    """

    origin: int
    slots: int

    def slots_touching(self, start: datetime, end: datetime) -> int:
        """Return the slots that a stretch of time touches."""
        return self._span(floor(start), ceil(end)) if start.astimezone(UTC) < end.astimezone(UTC) else 0

    def slots_within(self, start: datetime, end: datetime) -> int:
        """Return the slots that lie entirely within a stretch of time."""
        return self._span(ceil(start), floor(end)) if start.astimezone(UTC) < end.astimezone(UTC) else 0

    def _span(self, start: int, end: int) -> int:
        return slot_range((start - self.origin) // GRID, min((end - self.origin) // GRID, self.slots))

    def slot(self, when: datetime) -> int:
        """Return the slot that contains an instant; it may lie outside the axis."""
        return (floor(when) - self.origin) // GRID

    def when(self, slot: int) -> datetime:
        """Return the instant at which a slot begins, in UTC."""
        return instant(self.origin + slot * GRID)


@dataclass(frozen=True, slots=True)
class PlannedDay:
    """A day on the axis: its frame, and all of its slots until the next day's."""

    date: date
    start: datetime
    end: datetime
    next_start: datetime
    frame: int
    slots: int


def slot_range(first: int, end: int) -> int:
    """Return the slots from ``first`` up to, but not including, ``end``."""
    first = max(0, first)
    return ((1 << (end - first)) - 1) << first if end > first else 0


@cache
def _shifts(length: int) -> tuple[int, ...]:
    """Return the shifts that, applied one after the other, test or cover ``length`` slots in a row."""
    have, by = 1, []
    while have * 2 <= length:
        by.append(have)
        have *= 2
    return (*by, length - have) if have < length else tuple(by)


def run_starts(free: int, length: int) -> int:
    """Return the slots at which ``length`` free slots in a row begin."""
    for by in _shifts(length):
        free &= free >> by
    return free


def spread(starts: int, length: int) -> int:
    """Return the slots covered by runs of that length that begin at ``starts``."""
    for by in _shifts(length):
        starts |= starts << by
    return starts


def longest_run(free: int) -> int:
    """Return the length of the longest run of free slots."""
    halves, length = [], 1
    while free:
        halves.append(free)
        free &= free >> length
        length *= 2
    if not halves:
        return 0
    length //= 2
    there = halves.pop()
    while halves:
        more = there & (halves.pop() >> length)
        if more:
            there = more
            length += 1 << len(halves)
    return length


def slots_of(mask: int) -> Iterator[int]:
    """Yield each slot of a set, in time order."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def stretches(mask: int) -> Iterator[tuple[int, int]]:
    """Yield the runs of a set as pairs of first slot and length, in time order."""
    at = 0
    while mask:
        skip = (mask & -mask).bit_length() - 1
        mask >>= skip
        at += skip
        length = (~mask & -~mask).bit_length() - 1
        yield at, length
        mask >>= length
        at += length


def wall_instant(day: date, clock: time, tz: ZoneInfo) -> datetime:
    """Return the instant of a wall-clock reading, in UTC.

    A reading that the spring change skips is the instant of the change.
    """
    local = datetime.combine(day, clock)
    there = instant_of(local, tz)
    if there.replace(tzinfo=None) == local:
        return there.astimezone(UTC)
    after = there.utcoffset()
    at = there.astimezone(UTC)
    while (at - timedelta(minutes=1)).astimezone(tz).utcoffset() == after:
        at -= timedelta(minutes=1)
    return at


def window_slots(axis: Axis, day: date, start: time, end: time, tz: ZoneInfo, *, whole: bool) -> int:
    """Return the slots in a wall-clock window of a local day.

    An end that is not after the start is on the next day. With ``whole``, only slots entirely inside the window
    count, otherwise all that it touches.
    """
    first, last = datetime.combine(day, start), datetime.combine(day if end > start else day + timedelta(days=1), end)
    begin, finish = wall_instant(day, start, tz), wall_instant(last.date(), end, tz)
    near, far = begin - _CHANGE, finish + _CHANGE
    if near.astimezone(tz).utcoffset() == far.astimezone(tz).utcoffset():
        return axis.slots_within(begin, finish) if whole else axis.slots_touching(begin, finish)
    mask = 0
    for slot in range(max(0, axis.slot(near)), min(axis.slots, axis.slot(far))):
        at = axis.when(slot)
        walls = [(at + timedelta(minutes=n)).astimezone(tz).replace(tzinfo=None) for n in range(GRID)]
        hit = [first <= one < last for one in walls]
        if all(hit) if whole else any(hit):
            mask |= 1 << slot
    return mask

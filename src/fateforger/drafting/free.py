"""Join stretches of time and find the gaps between them.

A stretch is a pair of minutes on the grid, ``[start, end)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fateforger.drafting.minutes import ceil, floor
from fateforger.drafting.model import Busy, Day


class Stretch(NamedTuple):
    """A stretch of time in minutes since the epoch, end not included."""

    start: int
    end: int

    @property
    def minutes(self) -> int:
        return self.end - self.start


def frame_of(day: Day) -> Stretch:
    """Return the frame of the day, rounded inward to the grid."""
    return Stretch(ceil(day.start), max(ceil(day.start), floor(day.end)))


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

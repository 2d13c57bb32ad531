"""Time axis of the picture: the range of time it shows, and its hour lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time

from fateforger.picture.model import DayView
from fateforger.picture.scale import Scale
from fateforger.picture.scene import Hour
from fateforger.plan import instant_of, local_day

_LEAST_BETWEEN_LINES, _LEAST_BETWEEN_LABELS = 9.0, 15.0
_EMPTY = (time(9, 0), time(18, 0))
_QUARTER = 900
"""Quarter of an hour, in seconds; the UTC offsets of all zones are multiples of it."""


@dataclass(frozen=True, slots=True)
class Range:
    """Range of time shown, in whole seconds since the epoch."""

    first: int
    last: int

    def span(self, start: datetime, end: datetime) -> tuple[int, int]:
        """Return the visible part of an entry; never empty."""
        begin = min(max(int(start.timestamp()), self.first), self.last - 60)
        return begin, max(min(int(end.timestamp()), self.last), begin + 60)


def range_of(view: DayView) -> Range:
    """Return the range that covers the frame, all blocks, earlier ones included, and the meetings.

    Meetings count only within the day or the plan.
    """
    midnight, next_midnight = (int(moment.timestamp()) for moment in local_day(view.date, view.zone))
    blocks = (*view.blocks, *(view.before or ()))
    starts = [int(block.start.timestamp()) for block in blocks]
    ends = [int(block.end.timestamp()) for block in blocks]
    if view.start is not None and view.end is not None:
        starts.append(int(view.start.timestamp()))
        ends.append(int(view.end.timestamp()))
    last = max([next_midnight, *ends])
    starts += [max(midnight, int(meeting.start.timestamp())) for meeting in view.meetings]
    ends += [min(last, int(meeting.end.timestamp())) for meeting in view.meetings]
    if not starts:
        starts, ends = ([int(instant_of(datetime.combine(view.date, c), view.zone).timestamp())] for c in _EMPTY)
    first = min(starts)
    return Range(first, max(*ends, first + 3600, max(starts) + 60))


def hours(view: DayView, reach: Range, scale: Scale, top: float) -> Iterator[Hour]:
    """Yield a line at each full hour of the local clock, as far as there is room.

    The label names the zone's abbreviation where the clock has just changed.
    """
    line = label = float("-inf")
    offset = None
    for second in range(-(-reach.first // _QUARTER) * _QUARTER, reach.last + 1, _QUARTER):
        local = datetime.fromtimestamp(second, view.zone)
        if local.minute:
            continue
        changed = offset is not None and local.utcoffset() != offset
        offset = local.utcoffset()
        y = top + scale.y(second)
        if y - line < _LEAST_BETWEEN_LINES:
            continue
        words = ""
        if y - label >= _LEAST_BETWEEN_LABELS:
            words = _label(local, last=second == reach.last, changed=changed)
            label = y
        line = y
        yield Hour(y, words)


def _label(local: datetime, *, last: bool, changed: bool) -> str:
    text = "24:00" if last and local.time() == time(0) else f"{local:%H:%M}"
    return f"{local:%H %Z}" if changed else text


def clock_change(view: DayView) -> str:
    """Describe a clock change on this day, or return an empty string."""
    start, end = local_day(view.date, view.zone)
    before, after = start.utcoffset(), end.utcoffset()
    if before is None or after is None or before == after:
        return ""
    seconds = int((end.astimezone(UTC) - start.astimezone(UTC)).total_seconds())
    way = "forward" if after > before else "back"
    return f"the clocks go {way}: this day has {seconds / 3600:g} hours"

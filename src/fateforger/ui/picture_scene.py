"""Scene of a picture before it is drawn, and its time axis.

Lengths are in pixels; y grows downward. Long free times are compressed, and short blocks get room for a line of text,
so hours differ in height. The hour lines follow, and later is always lower.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from itertools import accumulate, pairwise
from typing import Literal

from fateforger.planning.plan import ET
from fateforger.planning.timing import instant_of, local_day
from fateforger.session.cards import DayView
from fateforger.text import gettext as _

Look = Literal["block", "meeting", "free", "ghost", "removed"]


@dataclass(frozen=True, slots=True)
class Rect:
    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text.

    It begins at ``x``, or ends there if ``at_end``; ``y`` is its baseline and ``room`` its width.
    """

    x: float
    y: float
    text: str
    size: float
    room: float
    bold: bool = False
    soft: bool = False
    struck: bool = False
    at_end: bool = False


@dataclass(frozen=True, slots=True)
class Pill:
    """A word in a dark box."""

    place: Rect
    text: str


@dataclass(frozen=True, slots=True)
class Box:
    """A block, a meeting, or the earlier place of a block.

    ``name`` is ``block:KEY``, ``meeting:N``, or ``before:KEY``.
    """

    name: str
    look: Look
    kind: ET
    place: Rect
    texts: tuple[Text, ...] = ()
    pill: Pill | None = None
    mark: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Hour:
    """A line across at a full hour.

    ``label`` is empty where two would be too close.
    """

    y: float
    label: str


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow from the earlier place of a block to its new one."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class Scene:
    """The whole picture.

    ``day`` is the area of the hours; ``outside`` are its parts outside the frame. ``free`` names the time between the
    boxes.
    """

    width: float
    height: float
    day: Rect
    title: tuple[Text, ...]
    headings: tuple[Text, ...]
    outside: tuple[Rect, ...]
    hours: tuple[Hour, ...]
    free: tuple[Text, ...]
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    now: float | None
    legend: tuple[tuple[ET, Text], ...]


PIXELS_PER_SECOND = 54 / 3600
LONGEST_GAP = 75 * 60
"""Seconds of free time drawn at full height."""
FLATTENED = 0.15
"""Share of the height that free time beyond that keeps."""


class Scale:
    """Heights of instants, given as whole seconds since the epoch, between the first and the last."""

    def __init__(
        self,
        spans: Sequence[tuple[int, int]],
        first: int,
        last: int,
        *,
        least: float,
        gaps: Sequence[tuple[int, int]] = (),
        least_gap: float = 0.0,
    ) -> None:
        """Compute the scale; each of ``spans`` gets at least the height ``least``, each of ``gaps`` ``least_gap``."""
        edges = sorted({first, last, *(edge for span in (*spans, *gaps) for edge in span)})
        heights = [_height(start, end, spans) for start, end in pairwise(edges)]
        at = {edge: n for n, edge in enumerate(edges)}
        wanted = [(end - start, start, end, least) for start, end in spans]
        wanted += [(end - start, start, end, least_gap) for start, end in gaps]
        for _seconds, start, end, height in sorted(wanted):
            inside = range(at[start], at[end])
            missing = height - sum(heights[n] for n in inside)
            if missing > 0:
                for n in inside:
                    heights[n] += missing * (edges[n + 1] - edges[n]) / (end - start)
        self._edges = edges
        self._tops = [0.0, *accumulate(heights)]

    @property
    def height(self) -> float:
        return self._tops[-1]

    def y(self, second: int) -> float:
        """Return the distance of an instant from the top, clamped to the range."""
        if second <= self._edges[0]:
            return 0.0
        if second >= self._edges[-1]:
            return self.height
        n = bisect_right(self._edges, second) - 1
        part = (second - self._edges[n]) / (self._edges[n + 1] - self._edges[n])
        return self._tops[n] + part * (self._tops[n + 1] - self._tops[n])


def _height(start: int, end: int, spans: Sequence[tuple[int, int]]) -> float:
    seconds = end - start
    if any(a < end and start < b for a, b in spans) or seconds <= LONGEST_GAP:
        return seconds * PIXELS_PER_SECOND
    return (LONGEST_GAP + (seconds - LONGEST_GAP) * FLATTENED) * PIXELS_PER_SECOND


def free_spans(view: DayView, reach: Range) -> tuple[tuple[int, int], ...]:
    """Return the spans of at least ten minutes that nothing takes, from the start of the frame to its end.

    Without a frame they lie between the first and the last entry. Blocks in the background take no time.
    """
    taken = [reach.span(block.start, block.end) for block in view.blocks if block.kind is not ET.BACKGROUND]
    taken = sorted([*taken, *(reach.span(meeting.start, meeting.end) for meeting in view.meetings)])
    if not taken:
        return ()
    first, last = taken[0][0], max(end for _start, end in taken)
    if view.start is not None and view.end is not None:
        first, last = int(view.start.timestamp()), int(view.end.timestamp())
    found, at = [], first
    for start, end in (*taken, (last, last)):
        if min(start, last) - at >= _SHORTEST_FREE:
            found.append((at, min(start, last)))
        at = max(at, end)
    return tuple(found)


_SHORTEST_FREE = 10 * 60
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
        local = view.local_time(datetime.fromtimestamp(second, UTC))
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
    hours = (end.astimezone(UTC) - start.astimezone(UTC)).total_seconds() / 3600
    if after > before:
        return _("the clocks go forward: this day has {hours:g} hours", hours=hours)
    return _("the clocks go back: this day has {hours:g} hours", hours=hours)

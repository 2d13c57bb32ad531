"""Lay out the picture: hours on the left, the day on the right, the earlier day between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil

from fateforger.picture.axis import Range, hours, range_of
from fateforger.picture.changes import Changes, changes_of
from fateforger.picture.heading import headings, legend, title
from fateforger.picture.lanes import assign_lanes
from fateforger.picture.lettering import LEAST, letter_box
from fateforger.picture.metrics import flatten
from fateforger.picture.model import DayView, Meeting, PlannedBlock
from fateforger.picture.scale import Scale
from fateforger.picture.scene import Arrow, Box, Look, Rect, Scene
from fateforger.picture.words import change_words, clock_words, ends_words, kind_words, length_words
from fateforger.plan import ET

WIDTH, WITH_BEFORE = 520.0, 590.0
"""Narrow, because a thread is narrow, and scaling the picture down shrinks its letters."""
MARGIN = 18.0
AXIS = 48.0
TOP, TOP_ALL_DAY, HEADINGS = 66.0, 22.0, 22.0
BEFORE, GUTTER = 148.0, 30.0
BESIDE = 118.0
GAP = 3.0
FOOT = 18.0
PILLS = {"new": "NEW", "moved": "MOVED", "longer": "LONGER", "shorter": "SHORTER", "renamed": "CHANGED"}


@dataclass(frozen=True, slots=True)
class _Entry:
    """An entry on the time line, with its text."""

    name: str
    look: Look
    kind: ET
    span: tuple[int, int]
    title: str
    details: tuple[str, ...]
    pill: str = ""


def lay_out(view: DayView) -> Scene:
    """Return the scene of a day."""
    changes = changes_of(view)
    reach = range_of(view)
    ghosts = [_ghost(view, block, reach, changes) for block in changes.ghosts]
    beside = [_block(view, b, reach, changes) for b in view.blocks if b.kind is ET.BACKGROUND]
    main = [_block(view, b, reach, changes) for b in view.blocks if b.kind is not ET.BACKGROUND]
    main += [_meeting(view, meeting, reach, n) for n, meeting in enumerate(view.meetings)]
    spans = [entry.span for entry in (*main, *beside, *ghosts)]
    scale = Scale(spans, reach.first, reach.last, least=LEAST + GAP)
    width = WITH_BEFORE if ghosts else WIDTH
    top = TOP + (TOP_ALL_DAY if view.all_day else 0) + (HEADINGS if ghosts or beside else 0)
    day = Rect(MARGIN + AXIS, top, width - 2 * MARGIN - AXIS, scale.height)
    left = day.x + (BEFORE + GUTTER if ghosts else 0)
    right = day.right - (BESIDE + 2 * GAP if beside else 0)
    placed = (
        *_boxes(ghosts, scale, day, day.x, day.x + BEFORE),
        *_boxes(main, scale, day, left, right),
        *_boxes(beside, scale, day, right + 2 * GAP, day.right),
    )
    keys, height = legend(view, MARGIN, day.bottom + FOOT + 14, width - 2 * MARGIN)
    return Scene(
        width=width,
        height=float(ceil(day.bottom + FOOT + height + MARGIN)),
        day=day,
        title=title(view, MARGIN, width - 2 * MARGIN),
        headings=headings(day, left, right, ghosts=bool(ghosts), beside=bool(beside)),
        outside=_outside(view, scale, day),
        hours=tuple(hours(view, reach, scale, day.y)),
        boxes=placed,
        arrows=_arrows(placed, changes),
        now=None if view.now is None else _now(view.now, reach, scale, day),
        legend=keys,
    )


def _boxes(entries: Sequence[_Entry], scale: Scale, day: Rect, left: float, right: float) -> tuple[Box, ...]:
    boxes = []
    for entry, lane in zip(entries, assign_lanes([entry.span for entry in entries]), strict=True):
        wide = (right - left) / lane.of
        y = day.y + scale.y(entry.span[0])
        height = day.y + scale.y(entry.span[1]) - y - GAP
        place = Rect(left + lane.at * wide, y + GAP / 2, wide - (GAP if lane.at < lane.of - 1 else 0), height)
        struck = entry.look == "removed"
        texts, pill, mark = letter_box(place, entry.title, entry.details, entry.pill, struck=struck)
        boxes.append(Box(entry.name, entry.look, entry.kind, place, texts, pill, mark))
    return tuple(boxes)


def _block(view: DayView, block: PlannedBlock, reach: Range, changes: Changes) -> _Entry:
    times, kind = _times(view, block.start, block.end), kind_words(block.kind)
    long = f"{times} · {length_words(block.minutes)} · {kind}"
    change = changes.of.get(block.key)
    details: tuple[str, ...] = (long, f"{times} · {kind}", times, clock_words(view, block.start))
    if change is not None and change != "new":
        said = change_words(view, block, changes)
        details = (f"{long} · {said}", f"{times} · {kind} · {said}", f"{times} · {said}", *details[1:])
    look: Look = "meeting" if block.kind is ET.MEETING else "block"
    pill = "" if change is None else PILLS[change]
    return _Entry(
        f"block:{block.key}",
        look,
        block.kind,
        reach.span(block.start, block.end),
        _visible_title(block.title),
        details,
        pill,
    )


def _meeting(view: DayView, meeting: Meeting, reach: Range, n: int) -> _Entry:
    times = _times(view, meeting.start, meeting.end)
    word = "meeting" if meeting.busy else "meeting, shown as free"
    where = () if meeting.calendar is None else (f"{times} · {word} · {flatten(meeting.calendar)}",)
    details = (*where, f"{times} · {word}", f"{times} · meeting", times, clock_words(view, meeting.start))
    look: Look = "meeting" if meeting.busy else "free"
    span = reach.span(meeting.start, meeting.end)
    return _Entry(f"meeting:{n}", look, ET.MEETING, span, _visible_title(meeting.title), details)


def _ghost(view: DayView, block: PlannedBlock, reach: Range, changes: Changes) -> _Entry:
    times = _times(view, block.start, block.end)
    removed = block.key not in changes.of
    return _Entry(
        name=f"before:{block.key}",
        look="removed" if removed else "ghost",
        kind=block.kind,
        span=reach.span(block.start, block.end),
        title=_visible_title(block.title),
        details=(times, clock_words(view, block.start)),
        pill="REMOVED" if removed else "",
    )


def _visible_title(words: str) -> str:
    return flatten(words) or "(no title)"


def _times(view: DayView, start: datetime, end: datetime) -> str:
    """Return times like ``09:00–10:30``, with a weekday for another day."""
    return "–".join(ends_words(view, start, end)).replace(" on ", " ")


def _arrows(boxes: Sequence[Box], changes: Changes) -> tuple[Arrow, ...]:
    at = {box.name: box.place for box in boxes}
    arrows = []
    for key, change in changes.of.items():
        old, new = at.get(f"before:{key}"), at.get(f"block:{key}")
        if change == "moved" and old is not None and new is not None:
            old_y, new_y = (place.y + min(place.height / 2, LEAST / 2) for place in (old, new))
            arrows.append(Arrow(old.right + 2, old_y, new.x - 3, new_y))
    return tuple(arrows)


def _outside(view: DayView, scale: Scale, day: Rect) -> tuple[Rect, ...]:
    if view.start is None or view.end is None:
        return ()
    start, end = scale.y(int(view.start.timestamp())), scale.y(int(view.end.timestamp()))
    parts = ((day.y, start), (day.y + end, scale.height - end))
    return tuple(Rect(day.x, y, day.width, height) for y, height in parts if height > 1)


def _now(now: datetime, reach: Range, scale: Scale, day: Rect) -> float | None:
    second = int(now.timestamp())
    return day.y + scale.y(second) if reach.first <= second <= reach.last else None

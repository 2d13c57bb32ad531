"""Text around the picture: the day's name, the column headings, and the legend."""

from __future__ import annotations

from fateforger.picture.axis import clock_change
from fateforger.picture.metrics import cut, flatten, width
from fateforger.picture.model import DayView
from fateforger.picture.scene import Rect, Text
from fateforger.picture.words import day_name, kind_words, span_words
from fateforger.plan import ET

NAME, LINE, HEADING, KEY = 20.0, 12.5, 11.0, 11.5
_MARK, _BETWEEN, _ROW = 16.0, 18.0, 20.0


def title(view: DayView, x: float, room: float) -> tuple[Text, ...]:
    """Return the lines with the day, its frame and zone, and its all-day events."""
    frame = "" if view.start is None or view.end is None else span_words(view, view.start, view.end)
    about = " · ".join(part for part in (frame.replace(" to ", "–"), view.tz, clock_change(view)) if part)
    lines = [Text(x, 34, cut(day_name(view.date), NAME, room, bold=True), NAME, room, bold=True)]
    lines.append(Text(x, 53, cut(about, LINE, room), LINE, room, soft=True))
    if view.all_day:
        words = "All day: " + " · ".join(flatten(one) or "(no title)" for one in view.all_day)
        lines.append(Text(x, 73, cut(words, LINE, room), LINE, room))
    return tuple(lines)


def headings(day: Rect, left: float, right: float, *, ghosts: bool, beside: bool) -> tuple[Text, ...]:
    """Return the column headings, where there is more than one column."""
    named = ((day.x, "BEFORE", ghosts), (left, "NOW", ghosts), (right + 6, "IN THE BACKGROUND", beside))
    return tuple(
        Text(x, day.y - 8, words, HEADING, day.right - x, bold=True, soft=True) for x, words, shown in named if shown
    )


def legend(view: DayView, x: float, y: float, room: float) -> tuple[tuple[tuple[ET, Text], ...], float]:
    """Return each type that occurs, with its mark, and the height of the legend."""
    there = {block.kind for block in (*view.blocks, *(view.before or ()))}
    if view.meetings:
        there.add(ET.MEETING)
    found: list[tuple[ET, Text]] = []
    at = x
    for kind in (kind for kind in ET if kind in there):
        words = kind_words(kind)
        wide = _MARK + width(words, KEY)
        if at > x and at + wide > x + room:
            at, y = x, y + _ROW
        found.append((kind, Text(at + _MARK, y, words, KEY, wide - _MARK + 1, soft=True)))
        at += wide + _BETWEEN
    rows = len({text.y for _, text in found})
    return tuple(found), rows * _ROW

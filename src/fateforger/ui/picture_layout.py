"""Layout of the picture: hours on the left, the day on the right, the earlier day between them; and that of a week."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil

from fateforger.planning.plan import ET
from fateforger.session.cards import DayBar, DayView, Meeting, PlannedBlock, WeekBars
from fateforger.text import NO_TITLE, capitalize, format_day, format_length, format_short_day, mark_message
from fateforger.text import gettext as _
from fateforger.ui.picture_scene import (
    Arrow,
    Box,
    Look,
    Pill,
    Range,
    Rect,
    Scale,
    Scene,
    Text,
    clock_change,
    free_spans,
    hours,
    range_of,
)
from fateforger.ui.picture_words import (
    Changes,
    change_words,
    changes_of,
    clock_words,
    cut,
    ends_words,
    flatten,
    short_span,
    width,
)


@dataclass(frozen=True, slots=True)
class Lane:
    """Place of an entry: lane ``at`` of ``of``."""

    at: int
    of: int


def assign_lanes(spans: Sequence[tuple[int, int]]) -> tuple[Lane, ...]:
    """Return a lane for each span (start, end), in the order given.

    Spans that share time get different lanes. Spans that are linked by sharing time, directly or through others, have
    the same width.
    """
    order = sorted(range(len(spans)), key=lambda n: (spans[n][0], -spans[n][1], n))
    found: dict[int, Lane] = {}
    group: list[int] = []
    ends: list[int] = []
    place: dict[int, int] = {}
    for n in order:
        start, end = spans[n]
        if group and start >= max(ends):
            found.update({one: Lane(place[one], len(ends)) for one in group})
            group, ends = [], []
        free = next((lane for lane, until in enumerate(ends) if until <= start), len(ends))
        if free == len(ends):
            ends.append(end)
        ends[free] = end
        place[n] = free
        group.append(n)
    found.update({one: Lane(place[one], len(ends)) for one in group})
    return tuple(found[n] for n in range(len(spans)))


TITLE, DETAIL, PILL = 14.0, 11.5, 10.0
LINE = 17.0
LEAST = 22.0
"""Height of a box with one line."""
_SPINE, _MARK, _AIR = 6.0, 13.0, 6.0
_TWO_LINES = 39.0
_NARROW = 60.0
"""Minimum width of the text.

Below it, the mark is left out and the title is stacked, one word per line.
"""


def letter_box(
    place: Rect, title: str, details: Sequence[str], pill: str = "", *, struck: bool = False
) -> tuple[tuple[Text, ...], Pill | None, tuple[float, float] | None]:
    """Return the texts, the pill, and the center of the mark.

    ``details`` are ever shorter versions of the same text. The longest that fits is used, below the title in a tall
    box, else after it.
    """
    left = place.x + _SPINE + _MARK + 2 * _AIR - 2
    right = place.right - _AIR
    tall = place.height >= _TWO_LINES
    first = place.y + (LINE if tall else place.height / 2 + TITLE * 0.36)
    mark = (place.x + _SPINE + _AIR + _MARK / 2 - 1, first - TITLE * 0.36)
    if place.width < _SPINE + _MARK + _AIR:
        return (), None, None
    if right - left < _NARROW:
        return _stack_title(place, title), None, None
    badge = _pill(pill, right, first, left)
    if badge is not None:
        right = badge.place.x - _AIR
    room = max(0.0, right - left)
    if not tall:
        return (*_one_line(left, first, room, title, details, struck=struck),), badge, mark
    lines = [title]
    if place.height >= _TWO_LINES + LINE:
        lines = _wrap_title(title, room, place.right - _AIR - left)
    texts = [
        _text(left, first + n * LINE, line, TITLE, room if n == 0 else place.right - _AIR - left, struck=struck)
        for n, line in enumerate(lines)
    ]
    under = place.right - _AIR - left
    detail = next((words for words in details if width(words, DETAIL) <= under), details[-1] if details else "")
    texts.append(_text(left, first + len(lines) * LINE - 1, detail, DETAIL, under))
    return tuple(text for text in texts if text.text), badge, mark


def _stack_title(place: Rect, title: str) -> tuple[Text, ...]:
    left, line = place.x + _SPINE + _AIR / 2, DETAIL + 3
    room = max(0.0, place.right - 2 - left)
    many = max(1, int((place.height - _AIR) // line))
    words = title.split(" ")
    words = [*words[: many - 1], " ".join(words[many - 1 :])] if len(words) > many else words
    first = place.y + min(LINE, place.height / 2 + DETAIL * 0.36)
    texts = (_text(left, first + n * line, word, DETAIL, room) for n, word in enumerate(words))
    return tuple(text for text in texts if text.text)


def _one_line(x: float, y: float, room: float, title: str, details: Sequence[str], *, struck: bool) -> list[Text]:
    needed = width(title, TITLE, bold=True)
    for words in details:
        taken = width(words, DETAIL)
        if needed + 2 * _AIR + taken <= room:
            return [
                _text(x, y, title, TITLE, needed + 1, struck=struck),
                _text(x + needed + 2 * _AIR, y, words, DETAIL, room - needed - 2 * _AIR),
            ]
    return [text for text in (_text(x, y, title, TITLE, room, struck=struck),) if text.text]


def _text(x: float, y: float, words: str, size: float, room: float, *, struck: bool = False) -> Text:
    bold = size == TITLE
    return Text(x, y, cut(words, size, room, bold=bold), size, room, bold=bold, soft=not bold, struck=struck and bold)


def _pill(word: str, right: float, y: float, left: float) -> Pill | None:
    """Return the pill at the end of the first line, or ``None`` without room for some of the title."""
    if not word:
        return None
    wide = width(word, PILL, bold=True) + 12
    if right - wide - left < 40:
        return None
    return Pill(Rect(right - wide, y - 12.5, wide, 16), word)


def _wrap_title(title: str, first: float, rest: float) -> list[str]:
    """Break a title into two lines, between words, when one is not enough."""
    if width(title, TITLE, bold=True) <= first:
        return [title]
    words = title.split(" ")
    taken = 0
    while taken < len(words) and width(" ".join(words[: taken + 1]), TITLE, bold=True) <= first:
        taken += 1
    if not taken:
        return [title]
    return [" ".join(words[:taken]), cut(" ".join(words[taken:]), TITLE, rest, bold=True)]


NAME, SUBHEADING, HEADING, KEY = 20.0, 12.5, 11.0, 11.5
_KEY_MARK, _BETWEEN, _ROW = 16.0, 18.0, 20.0


def title(view: DayView, x: float, room: float) -> tuple[Text, ...]:
    """Return the lines with the day, its frame and zone, and its all-day events."""
    frame = "" if view.start is None or view.end is None else "–".join(ends_words(view, view.start, view.end))
    zones = [view.tz, *(tz for _at, tz in view.zones)]
    about = " · ".join(part for part in (frame, " → ".join(zones), clock_change(view)) if part)
    lines = [Text(x, 34, cut(format_day(view.date), NAME, room, bold=True), NAME, room, bold=True)]
    lines.append(Text(x, 53, cut(about, SUBHEADING, room), SUBHEADING, room, soft=True))
    if view.all_day:
        words = _("All day: {titles}", titles=" · ".join(flatten(one) or _(NO_TITLE) for one in view.all_day))
        lines.append(Text(x, 73, cut(words, SUBHEADING, room), SUBHEADING, room))
    return tuple(lines)


def headings(day: Rect, left: float, right: float, *, ghosts: bool, beside: bool) -> tuple[Text, ...]:
    """Return the column headings, where there is more than one column."""
    named = ((day.x, _("BEFORE"), ghosts), (left, _("NOW"), ghosts), (right + 6, _("IN THE BACKGROUND"), beside))
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
        words = kind.block_words
        wide = _KEY_MARK + width(words, KEY)
        if at > x and at + wide > x + room:
            at, y = x, y + _ROW
        found.append((kind, Text(at + _KEY_MARK, y, words, KEY, wide - _KEY_MARK + 1, soft=True)))
        at += wide + _BETWEEN
    rows = len({text.y for _, text in found})
    return tuple(found), rows * _ROW


WIDTH, WITH_BEFORE = 520.0, 590.0
"""Narrow, because a thread is narrow, and scaling the picture down shrinks its letters."""
MARGIN = 18.0
AXIS = 48.0
TOP, TOP_ALL_DAY, HEADINGS = 66.0, 22.0, 22.0
BEFORE, GUTTER = 148.0, 30.0
BESIDE = 118.0
GAP = 3.0
FREE = 10.5
LEAST_GAP = 14.0
"""Height of free time, so that its name fits."""
LONGEST_PAUSE = 20
"""Minutes up to which free time is called a pause."""
FOOT = 18.0
PILLS = {
    "new": mark_message("NEW"),
    "moved": mark_message("MOVED"),
    "longer": mark_message("LONGER"),
    "shorter": mark_message("SHORTER"),
    "renamed": mark_message("CHANGED"),
}


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
    changes = changes_of(view)
    reach = range_of(view)
    ghosts = [_ghost(view, block, reach, changes) for block in changes.ghosts]
    beside = [_block(view, b, reach, changes) for b in view.blocks if b.kind is ET.BACKGROUND]
    main = [_block(view, b, reach, changes) for b in view.blocks if b.kind is not ET.BACKGROUND]
    main += [_meeting(view, meeting, reach, n) for n, meeting in enumerate(view.meetings)]
    spans = [entry.span for entry in (*main, *beside, *ghosts)]
    gaps = free_spans(view, reach)
    gaps_from = min((span[0] for span in spans), default=reach.last)
    scale = Scale(spans, reach.first, reach.last, least=LEAST + GAP, gaps=gaps, least_gap=LEAST_GAP)
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
        free=tuple(_free(gap, scale, day.y, left, is_pause=gap[0] > gaps_from) for gap in gaps),
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


def _free(gap: tuple[int, int], scale: Scale, top: float, left: float, *, is_pause: bool) -> Text:
    """Return the name of free time; what is short and follows something is a pause."""
    minutes = (gap[1] - gap[0]) // 60
    length = format_length(minutes)
    words = (
        _("pause · {length}", length=length)
        if is_pause and minutes <= LONGEST_PAUSE
        else _("free · {length}", length=length)
    )
    middle = top + (scale.y(gap[0]) + scale.y(gap[1])) / 2
    return Text(
        left + _SPINE + _MARK + 2 * _AIR - 2, middle + FREE * 0.36, words, FREE, width(words, FREE) + 1, soft=True
    )


def _block(view: DayView, block: PlannedBlock, reach: Range, changes: Changes) -> _Entry:
    times, kind = short_span(view, block.start, block.end), block.kind.block_words
    long = f"{times} · {format_length(block.minutes)} · {kind}"
    change = changes.of.get(block.key)
    details: tuple[str, ...] = (long, f"{times} · {kind}", times, clock_words(view, block.start))
    if change is not None and change != "new":
        said = change_words(view, block, changes)
        details = (f"{long} · {said}", f"{times} · {kind} · {said}", f"{times} · {said}", *details[1:])
    look: Look = "meeting" if block.kind is ET.MEETING else "block"
    pill = "" if change is None else _(PILLS[change])
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
    times = short_span(view, meeting.start, meeting.end)
    word = _("meeting") if meeting.busy else _("meeting, shown as free")
    where = () if meeting.calendar is None else (f"{times} · {word} · {flatten(meeting.calendar)}",)
    details = (
        *where,
        f"{times} · {word}",
        f"{times} · {_('meeting')}",
        times,
        clock_words(view, meeting.start),
    )
    look: Look = "meeting" if meeting.busy else "free"
    span = reach.span(meeting.start, meeting.end)
    return _Entry(f"meeting:{n}", look, ET.MEETING, span, _visible_title(meeting.title), details)


def _ghost(view: DayView, block: PlannedBlock, reach: Range, changes: Changes) -> _Entry:
    times = short_span(view, block.start, block.end)
    removed = block.key not in changes.of
    return _Entry(
        name=f"before:{block.key}",
        look="removed" if removed else "ghost",
        kind=block.kind,
        span=reach.span(block.start, block.end),
        title=_visible_title(block.title),
        details=(times, clock_words(view, block.start)),
        pill=_("REMOVED") if removed else "",
    )


def _visible_title(words: str) -> str:
    return flatten(words) or _(NO_TITLE)


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


WEEK_TOP, NAMES, ROW, BAR = 56.0, 92.0, 36.0, 26.0
DAY_NAME, LABEL, SWATCH = 12.5, 11.5, 14.0
PARTS: tuple[tuple[str, Look, ET], ...] = (
    ("done", "block", ET.HABIT),
    ("moved", "ghost", ET.BUFFER),
    ("left", "free", ET.SHALLOW_WORK),
)
"""Parts of a bar, each with its look."""


def lay_out_week(week: WeekBars) -> Scene:
    area = Rect(MARGIN + NAMES, WEEK_TOP, WIDTH - 2 * MARGIN - NAMES, ROW * len(week.days))
    longest = max((day.minutes for day in week.days), default=0) or 1
    rows = tuple(enumerate(week.days))
    return Scene(
        width=WIDTH,
        height=area.bottom + 2 * MARGIN + SWATCH,
        day=area,
        title=(Text(MARGIN, 34, _("Your week"), NAME, WIDTH - 2 * MARGIN, bold=True),),
        headings=tuple(
            Text(
                MARGIN,
                WEEK_TOP + ROW * n + 17,
                cut(capitalize(format_short_day(day.date)), DAY_NAME, NAMES),
                DAY_NAME,
                NAMES,
            )
            for n, day in rows
        ),
        outside=(),
        hours=(),
        free=(),
        boxes=(
            *(box for n, day in rows for box in _build_bar(day, area, WEEK_TOP + ROW * n, area.width / longest)),
            *_build_keys(area.bottom + MARGIN),
        ),
        arrows=(),
        now=None,
        legend=(),
    )


def _build_bar(day: DayBar, area: Rect, y: float, scale: float) -> Iterator[Box]:
    x = area.x
    for name, look, kind in PARTS:
        minutes = day.minutes_of(name)
        if not minutes:
            continue
        place = Rect(x, y, minutes * scale, BAR)
        words = format_length(minutes)
        fits = width(words, LABEL) + 20 <= place.width
        texts = (Text(x + 12, y + 17, words, LABEL, place.width - 14),) if fits else ()
        yield Box(f"{name}:{day.date.isoformat()}", look, kind, place, texts)
        x += place.width


def _build_keys(y: float) -> Iterator[Box]:
    """Yield the key of the looks."""
    x = MARGIN
    for (name, look, kind), words in zip(PARTS, (_("done"), _("moved"), _("left open")), strict=True):
        room = width(words, LABEL) + 1
        yield Box(
            f"key:{name}", look, kind, Rect(x, y, SWATCH, SWATCH), (Text(x + SWATCH + 6, y + 11, words, LABEL, room),)
        )
        x += SWATCH + 6 + room + 18

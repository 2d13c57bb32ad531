"""Layout of the picture of a week: one bar for each day, with the time that was done, moved and left open."""

from __future__ import annotations

from collections.abc import Iterator

from fateforger.planning.plan import ET
from fateforger.session.cards import DayBar, WeekBars
from fateforger.text import capitalize, format_short_day
from fateforger.text import gettext as _
from fateforger.ui.font_metrics import cut, width
from fateforger.ui.picture_scene import Box, Look, Rect, Scene, Text
from fateforger.ui.picture_words import length_words

WIDTH, MARGIN, NAMES = 520.0, 18.0, 92.0
TOP, ROW, BAR = 56.0, 36.0, 26.0
NAME, LABEL, HEADING = 12.5, 11.5, 20.0
KEY = 14.0
PARTS: tuple[tuple[str, Look, ET], ...] = (
    ("done", "block", ET.HABIT),
    ("moved", "ghost", ET.BUFFER),
    ("left", "free", ET.SHALLOW_WORK),
)
"""Parts of a bar, each with its look."""


def lay_out_week(week: WeekBars) -> Scene:
    """Return the scene of a week."""
    area = Rect(MARGIN + NAMES, TOP, WIDTH - 2 * MARGIN - NAMES, ROW * len(week.days))
    longest = max((day.minutes for day in week.days), default=0) or 1
    rows = tuple(enumerate(week.days))
    return Scene(
        width=WIDTH,
        height=area.bottom + 2 * MARGIN + KEY,
        day=area,
        title=(Text(MARGIN, 34, _("Your week"), HEADING, WIDTH - 2 * MARGIN, bold=True),),
        headings=tuple(
            Text(MARGIN, TOP + ROW * n + 17, cut(capitalize(format_short_day(day.date)), NAME, NAMES), NAME, NAMES)
            for n, day in rows
        ),
        outside=(),
        hours=(),
        free=(),
        boxes=(
            *(box for n, day in rows for box in _build_bar(day, area, TOP + ROW * n, area.width / longest)),
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
        words = length_words(minutes)
        fits = width(words, LABEL) + 20 <= place.width
        texts = (Text(x + 12, y + 17, words, LABEL, place.width - 14),) if fits else ()
        yield Box(f"{name}:{day.date.isoformat()}", look, kind, place, texts)
        x += place.width


def _build_keys(y: float) -> Iterator[Box]:
    """Yield the key of the looks."""
    x = MARGIN
    for (name, look, kind), words in zip(PARTS, (_("done"), _("moved"), _("left open")), strict=True):
        room = width(words, LABEL) + 1
        yield Box(f"key:{name}", look, kind, Rect(x, y, KEY, KEY), (Text(x + KEY + 6, y + 11, words, LABEL, room),))
        x += KEY + 6 + room + 18

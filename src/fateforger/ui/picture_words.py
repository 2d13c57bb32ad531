"""Words of a picture: their widths in the bundled fonts, changes between versions, and the text for screen readers."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, time
from functools import cache
from pathlib import Path
from typing import Literal

from fateforger.planning.timing import format_clock
from fateforger.session.cards import DayView, Meeting, PlannedBlock, WeekBars
from fateforger.text import (
    NO_TITLE,
    capitalize,
    clean_text,
    count_blocks,
    count_meetings,
    format_day,
    format_length,
    format_weekday,
    join_sentences,
    join_words,
    label_text,
    ngettext,
    speak,
    truncate,
)
from fateforger.text import gettext as _

FOLDER = Path(__file__).parent / "fonts"
REGULAR, BOLD = "NotoSans-Regular.ttf", "NotoSans-Bold.ttf"
FAMILIES = {
    REGULAR: "Noto Sans",
    "NotoSansHebrew-Regular.ttf": "Noto Sans Hebrew",
    "NotoSansArabic-Regular.ttf": "Noto Sans Arabic",
    "NotoEmoji-Regular.ttf": "Noto Emoji",
}
OTHERS = tuple(name for name in FAMILIES if name != REGULAR)
FONT_FILES = tuple(FOLDER / name for name in (REGULAR, BOLD, *OTHERS))
ELLIPSIS = "…"
_LETTERS = frozenset({"Noto Sans Hebrew", "Noto Sans Arabic"})
"""Fonts whose spaces suit running text; in the emoji font, a space is as wide as an emoji."""
_UNKNOWN = 1.0
"""Width in ems of a character that no bundled font has: East Asian characters are square."""
_INVISIBLE = frozenset({"Mn", "Me", "Cf", "Cc"})
_LEFTWARD = frozenset({"R", "AL"})
_RIGHT_TO_LEFT_MARK = "\u200f"


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of one line at a font size, in pixels; rather too wide than too narrow."""
    fonts = (BOLD if bold else REGULAR, *OTHERS)
    return size * sum(_advance(char, fonts) for char in text)


def split_by_font(text: str) -> list[tuple[str, str]]:
    """Split a text into pieces of one font each, with the font's name.

    The name is empty where no bundled font has the characters.
    """
    pieces: list[tuple[str, str]] = []
    for cluster in _clusters(text):
        family = _family(cluster[0])
        if pieces and (pieces[-1][0] == family or (cluster == " " and pieces[-1][0] in _LETTERS)):
            pieces[-1] = pieces[-1][0], pieces[-1][1] + cluster
        else:
            pieces.append((family, cluster))
    return pieces


def _family(char: str) -> str:
    return next((family for name, family in FAMILIES.items() if ord(char) in _widths(name)), "")


def is_covered(text: str) -> bool:
    """Check whether the bundled fonts have every character of a text."""
    return all(_is_invisible(char) or _family(char) for char in text)


def flatten(text: str) -> str:
    """Return a text on one line, safe to show; SVG forbids some of the characters that this leaves out."""
    return " ".join(clean_text(text).split())


def cut(text: str, size: float, room: float, *, bold: bool = False) -> str:
    """Cut a text to the room available, with an ellipsis in place of the rest.

    Returns an empty string when not even one character and the ellipsis fit.
    """
    if width(text, size, bold=bold) <= room:
        return text
    kept = ""
    used = width(ELLIPSIS, size, bold=bold)
    for cluster in _clusters(text):
        used += width(cluster, size, bold=bold)
        if used > room:
            break
        kept += cluster
    if not kept.strip():
        return ""
    # A neutral sign at the end takes the direction of the text that follows.
    mark = _RIGHT_TO_LEFT_MARK if _is_leftward(kept) else ""
    return kept.rstrip(" ,.;:-–") + ELLIPSIS + mark


def _clusters(text: str) -> list[str]:
    """Split a text into clusters: a character with its marks, or joined emoji."""
    pieces: list[str] = []
    for char in text:
        joined = pieces and (_is_invisible(char) or pieces[-1].endswith("\u200d") or 0x1F3FB <= ord(char) <= 0x1F3FF)
        if joined:
            pieces[-1] += char
        else:
            pieces.append(char)
    return pieces


def _is_leftward(text: str) -> bool:
    strong = [way for char in text if (way := unicodedata.bidirectional(char)) in {"L", "R", "AL"}]
    return bool(strong) and strong[-1] in _LEFTWARD


def _is_invisible(char: str) -> bool:
    return unicodedata.category(char) in _INVISIBLE


def _advance(char: str, fonts: tuple[str, ...]) -> float:
    if _is_invisible(char):
        return 0.0
    return next((widths[ord(char)] for name in fonts if ord(char) in (widths := _widths(name))), _UNKNOWN)


@cache
def _widths(name: str) -> dict[int, float]:
    """Return the advance of each character of a font, in ems."""
    from fontTools.ttLib import TTFont  # type: ignore[import-untyped]  # noqa: PLC0415  slow to load; it ships no types

    with TTFont(FOLDER / name, lazy=True) as font:
        units, metrics = font["head"].unitsPerEm, font["hmtx"].metrics
        return {code: metrics[glyph][0] / units for code, glyph in font.getBestCmap().items()}


Change = Literal["new", "moved", "longer", "shorter", "renamed"]


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes of a day.

    ``of`` maps a block's key to its change. ``was`` maps it to the block before. ``removed`` are the blocks that no
    longer exist, in time order.
    """

    of: dict[str, Change]
    was: dict[str, PlannedBlock]
    removed: tuple[PlannedBlock, ...]

    @property
    def ghosts(self) -> tuple[PlannedBlock, ...]:
        """Earlier places of blocks that were moved, resized, or removed, in time order."""
        placed = (block for key, block in self.was.items() if self.of[key] in {"moved", "longer", "shorter"})
        return tuple(sorted((*placed, *self.removed), key=lambda b: (b.start.astimezone(UTC), b.key)))


def changes_of(view: DayView) -> Changes:
    """Return the changes from the day before to now; none when there is no earlier version."""
    if view.before is None:
        return Changes({}, {}, ())
    earlier = {block.key: block for block in view.before}
    kept = {block.key for block in view.blocks}
    of: dict[str, Change] = {}
    was: dict[str, PlannedBlock] = {}
    for block in view.blocks:
        old = earlier.get(block.key)
        change = "new" if old is None else _classify_change(old, block)
        if change is not None:
            of[block.key] = change
        if old is not None and change is not None:
            was[block.key] = old
    return Changes(of, was, _removed_blocks(view.before, kept))


def _removed_blocks(before: Iterable[PlannedBlock], kept: set[str]) -> tuple[PlannedBlock, ...]:
    return tuple(block for block in before if block.key not in kept)


def _classify_change(old: PlannedBlock, new: PlannedBlock) -> Change | None:
    if old.start != new.start:
        return "moved"
    if old.end != new.end:
        return "longer" if new.end > old.end else "shorter"
    return "renamed" if (old.title, old.kind) != (new.title, new.kind) else None


def describe(view: DayView | WeekBars, limit: int | None = None) -> str:
    """Describe a week by its days, or a day: one sentence for it, each block and meeting, and each removed block.

    Blocks and meetings are in time order. With a ``limit`` of characters, sentences at the end are left out and
    counted.
    """
    with speak(view.language):
        return _describe_week(view, limit) if isinstance(view, WeekBars) else _describe(view, limit)


def _describe(view: DayView, limit: int | None) -> str:
    changes = changes_of(view)
    entries: list[tuple[datetime, str]] = [(m.start, _meeting(view, m)) for m in view.meetings]
    entries += [(b.start, _block(view, b, changes)) for b in view.blocks]
    entries.sort(key=lambda entry: entry[0].astimezone(UTC))
    removed = [
        _("Removed: {title}, was {span}.", title=_title(b.title), span=span_words(view, b.start, b.end))
        for b in changes.removed
    ]
    return _fit_to_limit(_day(view), [*(sentence for _, sentence in entries), *removed], limit)


def _describe_week(week: WeekBars, limit: int | None) -> str:
    sentences = [
        _(
            "{day}: {done} done, {moved} moved, {left} left open.",
            day=format_day(day.date),
            done=format_length(day.done),
            moved=format_length(day.moved),
            left=format_length(day.left),
        )
        for day in week.days
    ]
    return _fit_to_limit(_("Your week."), sentences, limit)


def clock_words(view: DayView, moment: datetime) -> str:
    """Return a time like ``09:00``.

    It names the day if it is not the picture's, and the zone's abbreviation in an hour that happens twice.
    """
    clock, weekday = _read_clock(view, moment)
    return _("{time} on {weekday}", time=clock, weekday=weekday) if weekday else clock


def span_words(view: DayView, start: datetime, end: datetime) -> str:
    """Return a span like ``09:00 to 10:30``; another day is named once."""
    first, second = ends_words(view, start, end)
    return _("{start} to {end}", start=first, end=second)


def ends_words(view: DayView, start: datetime, end: datetime) -> tuple[str, str]:
    """Return both clock times; if both are on the same other day, only the second one names it."""
    first = _read_clock(view, start)[0] if _is_one_day(view, start, end) else clock_words(view, start)
    return first, clock_words(view, end)


def short_span(view: DayView, start: datetime, end: datetime) -> str:
    """Return a span like ``09:00–10:30``, with a weekday for another day."""
    ends = [_read_clock(view, moment) for moment in (start, end)]
    if _is_one_day(view, start, end):
        ends[0] = (ends[0][0], "")
    return "–".join(" ".join(filter(None, each)) for each in ends)


def _read_clock(view: DayView, moment: datetime) -> tuple[str, str]:
    """Return the time of day, and the weekday if it is another day than the picture's."""
    local = view.local_time(moment)
    midnight = local.time() == time(0) and (local.date() - view.date).days == 1
    text = "24:00" if midnight else format_clock(local)
    return text, "" if midnight or local.date() == view.date else format_weekday(local.date())


def _is_one_day(view: DayView, start: datetime, end: datetime) -> bool:
    return view.local_time(start).date() == view.local_time(end).date()


def _day(view: DayView) -> str:
    blocks, meetings = len(view.blocks), len(view.meetings)
    counts = join_words((count_blocks(blocks), *((count_meetings(meetings),) if meetings else ())))
    frame = "" if view.start is None or view.end is None else f", {span_words(view, view.start, view.end)}"
    all_day = _("All day: {titles}.", titles=", ".join(map(_title, view.all_day))) if view.all_day else ""
    return join_sentences(label_text(capitalize(format_day(view.date)) + frame, f"{counts}."), all_day)


def _block(view: DayView, block: PlannedBlock, changes: Changes) -> str:
    words = f"{span_words(view, block.start, block.end)} {_title(block.title)}, {block.kind.block_words}"
    changed = change_words(view, block, changes)
    return f"{words}, {changed}." if changed else f"{words}."


def change_words(view: DayView, block: PlannedBlock, changes: Changes) -> str:
    """Describe the change of a block, like ``moved, was 10:00``; empty without one."""
    change, was = changes.of.get(block.key), changes.was.get(block.key)
    if change is None or was is None:
        return _("new") if change else ""
    if change == "moved":
        time = clock_words(view, was.start)
        if was.minutes == block.minutes:
            return _("moved, was {time}", time=time)
        return _("moved, was {time} for {length}", time=time, length=format_length(was.minutes))
    if change == "renamed":
        if was.title != block.title:
            return _("renamed, was {title}", title=_title(was.title))
        return _("other type, was {type}", type=was.kind.block_words)
    if change == "longer":
        return _("longer, was {length}", length=format_length(was.minutes))
    return _("shorter, was {length}", length=format_length(was.minutes))


def _meeting(view: DayView, meeting: Meeting) -> str:
    title = f"{span_words(view, meeting.start, meeting.end)} {_title(meeting.title)}"
    where = "" if meeting.calendar is None else _title(meeting.calendar)
    what = _("meeting in {calendar}", calendar=where) if where else _("meeting")
    free = () if meeting.busy else (_("shown as free"),)
    return ", ".join((title, what, *free)) + "."


def _title(title: str) -> str:
    return flatten(title) or _(NO_TITLE)


def _fit_to_limit(head: str, sentences: list[str], limit: int | None) -> str:
    whole = " ".join((head, *sentences))
    if limit is None or len(whole) <= limit:
        return whole
    for kept in range(len(sentences) - 1, -1, -1):
        rest = ngettext("And {count} more.", "And {count} more.", len(sentences) - kept)
        text = " ".join((head, *sentences[:kept], rest))
        if len(text) <= limit:
            return text
    return truncate(head, limit)

"""What is written in a box: as much as fits, the title first."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.picture.metrics import cut, width
from fateforger.picture.scene import Pill, Rect, Text

TITLE, DETAIL, PILL = 14.0, 11.5, 10.0
LINE = 17.0
LEAST = 22.0
"""Height of a box with one line."""
_SPINE, _MARK, _AIR = 6.0, 13.0, 6.0
_TWO_LINES = 39.0
_NARROW = 60.0
"""With less room than this for letters beside the mark, the title takes its place, word under word."""


def lettered(
    place: Rect, title: str, details: Sequence[str], pill: str = "", *, struck: bool = False
) -> tuple[tuple[Text, ...], Pill | None, tuple[float, float] | None]:
    """The texts, the pill and the middle of the mark. ``details`` are the same in ever fewer words; the longest that
    fits is taken, under the title where the box is high enough, else behind it."""
    left = place.x + _SPINE + _MARK + 2 * _AIR - 2
    right = place.right - _AIR
    tall = place.height >= _TWO_LINES
    first = place.y + (LINE if tall else place.height / 2 + TITLE * 0.36)
    mark = (place.x + _SPINE + _AIR + _MARK / 2 - 1, first - TITLE * 0.36)
    if place.width < _SPINE + _MARK + _AIR:
        return (), None, None
    if right - left < _NARROW:
        return _stacked(place, title), None, None
    badge = _pill(pill, right, first, left)
    if badge is not None:
        right = badge.place.x - _AIR
    room = max(0.0, right - left)
    if not tall:
        return (*_one_line(left, first, room, title, details, struck=struck),), badge, mark
    lines = [title]
    if place.height >= _TWO_LINES + LINE:
        lines = _wrapped(title, room, place.right - _AIR - left)
    texts = [
        _text(left, first + n * LINE, line, TITLE, room if n == 0 else place.right - _AIR - left, struck=struck)
        for n, line in enumerate(lines)
    ]
    under = place.right - _AIR - left
    detail = next((words for words in details if width(words, DETAIL) <= under), details[-1] if details else "")
    texts.append(_text(left, first + len(lines) * LINE - 1, detail, DETAIL, under))
    return tuple(text for text in texts if text.text), badge, mark


def _stacked(place: Rect, title: str) -> tuple[Text, ...]:
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
    """At the end of the first line, where there is room beside a few letters of the title."""
    if not word:
        return None
    wide = width(word, PILL, bold=True) + 12
    if right - wide - left < 40:
        return None
    return Pill(Rect(right - wide, y - 12.5, wide, 16), word)


def _wrapped(title: str, first: float, rest: float) -> list[str]:
    """On two lines, parted between words, when one is not enough."""
    if width(title, TITLE, bold=True) <= first:
        return [title]
    words = title.split(" ")
    taken = 0
    while taken < len(words) and width(" ".join(words[: taken + 1]), TITLE, bold=True) <= first:
        taken += 1
    if not taken:
        return [title]
    return [" ".join(words[:taken]), cut(" ".join(words[taken:]), TITLE, rest, bold=True)]

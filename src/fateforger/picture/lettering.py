"""Fit the text into a box: as much as there is room for, the title first."""

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

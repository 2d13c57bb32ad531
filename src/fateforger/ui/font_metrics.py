"""Text widths in the bundled fonts, read from the tables of the font files."""

from __future__ import annotations

import unicodedata
from functools import cache
from pathlib import Path

from fateforger.text import clean_text

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

"""How wide texts are in the fonts that come along: read from the font files' own tables."""

from __future__ import annotations

import struct
import unicodedata
from functools import cache
from pathlib import Path

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
"""Fonts whose spaces are those of a text. In the one for emoji they are as wide as emoji."""
_UNKNOWN = 1.0
"""Width of a character that no font here has, in ems: those of East Asian scripts are as wide as high."""
_INVISIBLE = frozenset({"Mn", "Me", "Cf", "Cc"})
_LEFTWARD = frozenset({"R", "AL"})
_RIGHT_TO_LEFT_MARK = "\u200f"


def width(text: str, size: float, *, bold: bool = False) -> float:
    """Of one line at a font size, in pixels; a little too much rather than too little."""
    fonts = (BOLD if bold else REGULAR, *OTHERS)
    return size * sum(_advance(char, fonts) for char in text)


def runs(text: str) -> list[tuple[str, str]]:
    """The text in pieces that one font has, each with the name of that font; unnamed where none here has it."""
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


def covered(text: str) -> bool:
    """Whether the fonts here have every character of a text."""
    return all(_is_invisible(char) or _family(char) for char in text)


def flat(text: str) -> str:
    """A text on one line, without what no SVG may hold."""
    return " ".join("".join(char for char in text if _allowed(char)).split())


def cut(text: str, size: float, room: float, *, bold: bool = False) -> str:
    """As much of a text as there is room for, with an ellipsis where something is missing; nothing when there is not
    even room for a character with one."""
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
    # A neutral sign at the end goes to the side on which the text goes on.
    mark = _RIGHT_TO_LEFT_MARK if _leftward(kept) else ""
    return kept.rstrip(" ,.;:-–") + ELLIPSIS + mark


def _clusters(text: str) -> list[str]:
    """The text in pieces that are never parted: a character with its marks, and emoji that are joined into one."""
    pieces: list[str] = []
    for char in text:
        joined = pieces and (_is_invisible(char) or pieces[-1].endswith("\u200d") or 0x1F3FB <= ord(char) <= 0x1F3FF)
        if joined:
            pieces[-1] += char
        else:
            pieces.append(char)
    return pieces


def _leftward(text: str) -> bool:
    strong = [way for char in text if (way := unicodedata.bidirectional(char)) in {"L", "R", "AL"}]
    return bool(strong) and strong[-1] in _LEFTWARD


def _allowed(char: str) -> bool:
    code = ord(char)
    return char in "\t\n\r" or (0x20 <= code <= 0xD7FF) or (0xE000 <= code <= 0xFFFD) or code >= 0x10000


def _is_invisible(char: str) -> bool:
    return unicodedata.category(char) in _INVISIBLE


def _advance(char: str, fonts: tuple[str, ...]) -> float:
    if _is_invisible(char):
        return 0.0
    return next((widths[ord(char)] for name in fonts if ord(char) in (widths := _widths(name))), _UNKNOWN)


@cache
def _widths(name: str) -> dict[int, float]:
    """Advance of each character of a font, in ems."""
    data = (FOLDER / name).read_bytes()
    tables = _tables(data)
    units = struct.unpack_from(">H", data, tables["head"] + 18)[0]
    many = struct.unpack_from(">H", data, tables["hhea"] + 34)[0]
    advances = [pair[0] for pair in struct.iter_unpack(">Hh", data[tables["hmtx"] : tables["hmtx"] + 4 * many])]
    return {code: advances[min(glyph, many - 1)] / units for code, glyph in _glyphs(data, tables["cmap"]).items()}


def _tables(data: bytes) -> dict[str, int]:
    count = struct.unpack_from(">H", data, 4)[0]
    records = (struct.unpack_from(">4sIII", data, 12 + 16 * n) for n in range(count))
    return {tag.decode("ascii"): offset for tag, _, offset, _ in records}


def _glyphs(data: bytes, cmap: int) -> dict[int, int]:
    """The glyph of each character, from the tables of the two usual forms."""
    found: dict[int, int] = {}
    for n in range(struct.unpack_from(">H", data, cmap + 2)[0]):
        at = cmap + struct.unpack_from(">HHI", data, cmap + 4 + 8 * n)[2]
        form = struct.unpack_from(">H", data, at)[0]
        if form == 4:
            found.update(_segments(data, at))
        elif form == 12:
            for group in range(struct.unpack_from(">I", data, at + 12)[0]):
                first, last, glyph = struct.unpack_from(">III", data, at + 16 + 12 * group)
                found.update((code, glyph + code - first) for code in range(first, last + 1))
    return found


def _segments(data: bytes, at: int) -> dict[int, int]:
    count = struct.unpack_from(">H", data, at + 6)[0] // 2
    ends, starts, deltas, offsets = (at + 14 + shift for shift in (0, 2 * count + 2, 4 * count + 2, 6 * count + 2))
    found: dict[int, int] = {}
    for n in range(count):
        end, start, delta, offset = (
            struct.unpack_from(">H", data, table + 2 * n)[0] for table in (ends, starts, deltas, offsets)
        )
        for code in range(start, min(end, 0xFFFE) + 1):
            glyph = code
            if offset:
                glyph = struct.unpack_from(">H", data, offsets + 2 * n + offset + 2 * (code - start))[0]
            if glyph or not offset:
                found[code] = (glyph + delta) & 0xFFFF
    return {code: glyph for code, glyph in found.items() if glyph}

"""Colors of the picture, and a mark for each type, so that types differ by more than color."""

from __future__ import annotations

from functools import cache

from fateforger.plan import COLOR_BY_TYPE, ET

CARD = "#fdfdfc"
EDGE = "#c9cdd6"
INK = "#1d2129"
SOFT = "#4c525e"
LINE = "#e3e5ea"
OUTSIDE = "#f1f2f4"
"""Background of the hours outside the frame."""
NOW = "#c62828"

_EVENTS = {
    "1": "#a4bdfc",
    "2": "#7ae7bf",
    "4": "#ff887c",
    "5": "#fbd75b",
    "6": "#ffb878",
    "7": "#46d6db",
    "8": "#e1e1e1",
    "9": "#5484ed",
    "10": "#51b749",
}
"""Background that Google Calendar uses for each ``colorId``."""

MARKS = {
    ET.DEEP_WORK: "disc",
    ET.SHALLOW_WORK: "ring",
    ET.MEETING: "square",
    ET.COMMUTE: "arrow",
    ET.PLAN_REVIEW: "flag",
    ET.HABIT: "diamond",
    ET.REGENERATION: "cup",
    ET.BUFFER: "bars",
    ET.BACKGROUND: "dots",
}
"""Name of the shape before the title of each type."""


def event_color(kind: ET) -> str:
    """Return the color that the calendar shows for a type."""
    return _EVENTS[COLOR_BY_TYPE[kind]]


@cache
def tint(kind: ET) -> str:
    """Return the fill of a block, light enough for text."""
    return mix_colors(event_color(kind), CARD, 0.30)


@cache
def hatch(kind: ET) -> str:
    """Return the color of a meeting's stripes, light enough for text."""
    return mix_colors(event_color(kind), CARD, 0.55)


@cache
def strong_color(kind: ET) -> str:
    """Return the color of the edge and the mark, dark enough for the card and the block."""
    share = 1.0
    color = event_color(kind)
    while min(contrast(color, CARD), contrast(color, tint(kind))) < 3.4:
        share -= 0.02
        color = mix_colors(event_color(kind), "#101318", share)
    return color


def mix_colors(color: str, other: str, share: float) -> str:
    """Mix ``share`` of a color with the rest of another one."""
    pairs = zip(channels(color), channels(other), strict=True)
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


def channels(color: str) -> tuple[int, int, int]:
    """Return red, green, and blue of ``#rrggbb``, from 0 to 255."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def contrast(one: str, other: str) -> float:
    """Return WCAG's contrast ratio of two colors, from 1 to 21."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: str) -> float:
    red, green, blue = (_to_linear(channel / 255) for channel in channels(color))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _to_linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)

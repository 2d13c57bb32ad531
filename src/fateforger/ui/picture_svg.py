"""Picture of a day as SVG: its colors, marks, and shapes.

It has its own background card, so it looks the same on light and dark pages. The same day yields the same text.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from xml.sax.saxutils import escape, quoteattr

from fateforger.planning.plan import COLOR_BY_TYPE, ET
from fateforger.session.cards import DayView, WeekBars
from fateforger.text import speak
from fateforger.ui.picture_layout import lay_out, lay_out_week
from fateforger.ui.picture_scene import Arrow, Box, Hour, Pill, Rect, Scene, Text
from fateforger.ui.picture_words import describe, split_by_font

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


_PATHS = {
    "disc": '<circle r="5" fill="{c}"/>',
    "ring": '<circle r="4" fill="{p}" stroke="{c}" stroke-width="2"/>',
    "square": '<rect x="-5" y="-5" width="10" height="10" fill="{p}" stroke="{c}" stroke-width="2"/>'
    '<path d="M-4 4L4 -4" stroke="{c}" stroke-width="2"/>',
    "arrow": '<path d="M-6 0H3M0 -4L4.5 0L0 4" fill="none" stroke="{c}" stroke-width="2.2"/>',
    "flag": '<path d="M-4 6V-6H5L2 -2.5L5 1H-4" fill="{c}" stroke="{c}" stroke-width="1.2"/>',
    "diamond": '<path d="M0 -6L6 0L0 6L-6 0Z" fill="{c}"/>',
    "cup": '<path d="M-5 -3H3V1A4 4 0 0 1 -5 1ZM3 -2H5.5V1.5H3" fill="{p}" stroke="{c}" stroke-width="1.8"/>',
    "bars": '<path d="M-3 -5V5M3 -5V5" stroke="{c}" stroke-width="3"/>',
    "dots": '<circle cx="-4" r="1.9" fill="{c}"/><circle cx="0.8" r="1.9" fill="{c}"/>'
    '<circle cx="5.6" r="1.9" fill="{c}"/>',
}


def mark(kind: ET, x: float, y: float) -> str:
    """Return the shape of a type, centered at (x, y)."""
    shape = _PATHS[MARKS[kind]].format(c=strong_color(kind), p=CARD)
    return f'<g data-mark="{MARKS[kind]}" transform="translate({x:.2f} {y:.2f})">{shape}</g>'


PLAIN = "Noto Sans"
FAMILY = f"{PLAIN}, sans-serif"
_STRUCK = ' text-decoration="line-through"'


def draw(view: DayView | WeekBars) -> str:
    """Return the picture as an SVG text; its title is the text alternative."""
    with speak(view.language):
        scene = lay_out_week(view) if isinstance(view, WeekBars) else lay_out(view)
        return render_svg(scene, describe(view))


def render_svg(scene: Scene, words: str) -> str:
    """Render a scene, with its text alternative."""
    return "\n".join((_head(scene, words), *_body(scene), "</svg>")) + "\n"


def _head(scene: Scene, words: str) -> str:
    size = (
        f'width="{_px(scene.width)}" height="{_px(scene.height)}" viewBox="0 0 {_px(scene.width)} {_px(scene.height)}"'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family={quoteattr(FAMILY)}>'
        f"\n<title>{escape(words)}</title>"
    )


def _body(scene: Scene) -> Iterator[str]:
    yield f"<defs>{_stripes()}{_ARROWHEAD}</defs>"
    card = Rect(0.5, 0.5, scene.width - 1, scene.height - 1)
    yield _rect(card, f'rx="14" fill="{CARD}" stroke="{EDGE}"')
    yield from (_rect(part, f'fill="{OUTSIDE}"') for part in scene.outside)
    yield from (_text(text) for text in (*scene.title, *scene.headings))
    yield from (part for hour in scene.hours for part in _hour(hour, scene.day))
    for text in scene.free:  # its background interrupts the hour line
        yield _rect(Rect(text.x - 3, text.y - text.size, text.room + 6, text.size + 3), f'fill="{CARD}"')
        yield _text(text)
    if scene.now is not None:
        yield from _now(scene.now, scene.day)  # behind the boxes, so that it crosses out no text
    yield from (part for box in scene.boxes for part in _box(box))
    yield from (_arrow(arrow) for arrow in scene.arrows)
    for kind, text in scene.legend:
        yield mark(kind, text.x - 10, text.y - 4)
        yield _text(text)


def _hour(hour: Hour, day: Rect) -> Iterator[str]:
    yield f'<path d="M{_px(day.x - 6)} {_px(hour.y)}H{_px(day.right)}" stroke="{LINE}"/>'
    if hour.label:
        yield _text(Text(day.x - 11, hour.y + 4, hour.label, 11.5, 40, soft=True, at_end=True))


def _box(box: Box) -> Iterator[str]:
    yield f"<g data-name={quoteattr(box.name)}>"
    yield from _shape(box)
    if box.mark is not None:
        yield mark(box.kind, *box.mark)
    yield from (_text(text) for text in box.texts)
    if box.pill is not None:
        yield from _pill(box.pill)
    yield "</g>"


def _shape(box: Box) -> Iterator[str]:
    place, color = box.place, strong_color(box.kind)
    round_ = f'rx="{_px(min(5.0, place.height / 4, place.width / 4))}"'
    if box.look in {"ghost", "removed"}:
        yield _rect(_inside(place), f'{round_} fill="{CARD}" stroke="{SOFT}" stroke-dasharray="5 3"')
        return
    width = 2.0 if box.pill is not None else 1.0
    dashes = ' stroke-dasharray="2 3"' if box.look == "free" else ""
    fill = tint(box.kind)
    yield _rect(_inside(place), f'{round_} fill="{fill}" stroke="{color}" stroke-width="{_px(width)}"{dashes}')
    if box.look == "meeting":
        yield _rect(_inside(place), f'{round_} fill="url(#stripes)"')
    if box.look == "block" and place.width > 12:
        spine = Rect(place.x + 0.5, place.y + 0.5, 5.5, place.height - 1)
        yield _rect(spine, f'rx="2.5" fill="{color}"')


def _stripes() -> str:
    """Return the pattern across meetings."""
    line = f'<path d="M0 0V9" stroke="{hatch(ET.MEETING)}" stroke-width="6"/>'
    return (
        '<pattern id="stripes" width="9" height="9" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        f"{line}</pattern>"
    )


_ARROWHEAD = (
    '<marker id="head" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="8" markerHeight="8" orient="auto" '
    f'markerUnits="userSpaceOnUse"><path d="M0 0.5L7 4L0 7.5Z" fill="{INK}"/></marker>'
)


def _arrow(arrow: Arrow) -> str:
    bend = (arrow.x2 - arrow.x1) * 0.55
    return (
        f'<path d="M{_px(arrow.x1)} {_px(arrow.y1)}C{_px(arrow.x1 + bend)} {_px(arrow.y1)} {_px(arrow.x2 - bend)}'
        f' {_px(arrow.y2)} {_px(arrow.x2)} {_px(arrow.y2)}" fill="none" stroke="{INK}" stroke-width="1.5"'
        ' marker-end="url(#head)"/>'
    )


def _pill(pill: Pill) -> Iterator[str]:
    yield _rect(pill.place, f'rx="4" fill="{INK}"')
    middle = pill.place.x + pill.place.width / 2
    yield (
        f'<text x="{_px(middle)}" y="{_px(pill.place.y + 11.6)}" font-size="10" font-weight="700" text-anchor="middle"'
        f' fill="{CARD}">{escape(pill.text)}</text>'
    )


def _now(y: float, day: Rect) -> Iterator[str]:
    yield f'<path d="M{_px(day.x - 6)} {_px(y)}H{_px(day.right)}" stroke="{NOW}" stroke-width="2"/>'
    yield f'<circle cx="{_px(day.x - 6)}" cy="{_px(y)}" r="4" fill="{NOW}"/>'


def _inside(place: Rect) -> Rect:
    return Rect(place.x + 0.5, place.y + 0.5, max(place.width - 1, 0.5), max(place.height - 1, 0.5))


def _rect(place: Rect, style: str) -> str:
    return (
        f'<rect x="{_px(place.x)}" y="{_px(place.y)}" width="{_px(place.width)}" height="{_px(place.height)}" {style}/>'
    )


def _text(text: Text) -> str:
    style = ' font-weight="700"' if text.bold else ""
    style += ' text-anchor="end"' if text.at_end else ""
    style += _STRUCK if text.struck else ""
    color = SOFT if text.soft else INK
    return (
        f'<text x="{_px(text.x)}" y="{_px(text.y)}" font-size="{_px(text.size)}" fill="{color}"{style}>'
        f"{_to_tspans(text.text)}</text>"
    )


def _to_tspans(words: str) -> str:
    """Wrap each piece in the font that has it.

    The renderer does not look for fallback fonts within a line.
    """
    return "".join(
        escape(piece) if family in {"", PLAIN} else f'<tspan font-family="{family}, sans-serif">{escape(piece)}</tspan>'
        for family, piece in split_by_font(words)
    )


def _px(value: float) -> str:
    """Format a length with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")

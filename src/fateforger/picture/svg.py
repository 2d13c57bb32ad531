"""Render a scene as SVG.

It has its own background card, so it looks the same on light and dark pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from fateforger.picture.layout import lay_out
from fateforger.picture.marks import mark
from fateforger.picture.metrics import split_by_font
from fateforger.picture.model import DayView
from fateforger.picture.palette import CARD, EDGE, INK, LINE, NOW, OUTSIDE, SOFT, hatch, strong_color, tint
from fateforger.picture.scene import Arrow, Box, Hour, Pill, Rect, Scene, Text
from fateforger.picture.words import describe
from fateforger.plan import ET

PLAIN = "Noto Sans"
FAMILY = f"{PLAIN}, sans-serif"
_STRUCK = ' text-decoration="line-through"'


def draw(view: DayView) -> str:
    """Return the picture as an SVG text; its title is the text alternative."""
    return render_svg(lay_out(view), describe(view))


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

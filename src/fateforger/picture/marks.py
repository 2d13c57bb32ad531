"""Shapes that mark the types of blocks, each about twelve pixels wide around its center."""

from __future__ import annotations

from fateforger.picture.palette import CARD, MARKS, strong_color
from fateforger.plan import ET

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

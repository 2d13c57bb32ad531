"""Google's color ids and CSS names, the form other CalDAV programs understand (RFC 7986 `COLOR`)."""

from __future__ import annotations

from typing import NamedTuple


class EventColor(NamedTuple):
    """`css` is written to the calendar, `background` and `foreground` are what `list-colors` answers."""

    css: str
    background: str
    foreground: str = "#1d1d1d"


EVENT_COLORS = {
    "1": EventColor("mediumslateblue", "#a4bdfc"),
    "2": EventColor("mediumseagreen", "#7ae7bf"),
    "3": EventColor("darkorchid", "#dbadff"),
    "4": EventColor("lightcoral", "#ff887c"),
    "5": EventColor("gold", "#fbd75b"),
    "6": EventColor("darkorange", "#ffb878"),
    "7": EventColor("deepskyblue", "#46d6db"),
    "8": EventColor("dimgray", "#e1e1e1"),
    "9": EventColor("royalblue", "#5484ed"),
    "10": EventColor("forestgreen", "#51b749"),
    "11": EventColor("crimson", "#dc2127"),
}

_OTHER_NAMES = {
    "lavender": "1", "slateblue": "1", "seagreen": "2", "lightgreen": "2", "purple": "3", "violet": "3", "orchid": "3",
    "salmon": "4", "pink": "4", "yellow": "5", "khaki": "5", "orange": "6", "cyan": "7", "aqua": "7", "turquoise": "7",
    "teal": "7", "gray": "8", "grey": "8", "dimgrey": "8", "black": "8", "blue": "9", "navy": "9", "green": "10",
    "cornflowerblue": "9", "darkgreen": "10", "red": "11", "darkred": "11", "tomato": "11",
}  # fmt: skip

_BY_NAME = _OTHER_NAMES | {color.css: color_id for color_id, color in EVENT_COLORS.items()}


def color_id_of(own: str | None, css: str | None) -> str | None:
    """Return the color id of an event that carries our own property and perhaps a CSS name.

    Another program changes only the CSS name, so that one counts whenever the two disagree.
    """
    if css is None:
        return own
    if own in EVENT_COLORS and EVENT_COLORS[own].css == css.lower():
        return own
    return _BY_NAME.get(css.lower())

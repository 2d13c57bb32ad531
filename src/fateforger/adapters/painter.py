"""PNG images of SVG texts, drawn by resvg in the bundled fonts."""

from __future__ import annotations

import asyncio
import logging
import re
from html import unescape

from fateforger.errors import InternalError
from fateforger.ui.picture_words import FONT_FILES, is_covered

log = logging.getLogger(__name__)

_ZOOM = 2
_TALL = 2400
"""Pictures at least this many pixels high are not enlarged: one of hundreds of blocks needs enough memory as it is."""
_FONTS = [str(path) for path in FONT_FILES]


async def render_in_thread(svg: str) -> bytes:
    """Return the image, drawn in a thread, outside the interpreter lock. Raises ``InternalError``."""
    return await asyncio.to_thread(render_png, svg)


def render_png(svg: str) -> bytes:
    """Return the image: two pixels for each of the picture's own, or one for a very tall picture.

    The machine's fonts are used only for characters that the bundled ones lack, which is logged. Raises
    ``InternalError``.
    """
    import resvg_py  # noqa: PLC0415  a native library that only pictures need

    ours = is_covered(unescape("".join(re.findall(r">([^<]*)<", svg.partition("</title>")[2]))))
    if not ours:
        log.info("a picture has characters that the fonts of this program lack; fonts of the machine are asked")
    height = re.search(r'<svg[^>]* height="(\d+)', svg)
    zoom = 1 if height is not None and int(height[1]) > _TALL else _ZOOM
    try:
        return bytes(resvg_py.svg_to_bytes(svg_string=svg, skip_system_fonts=ours, font_files=_FONTS, zoom=zoom))
    except ValueError as error:
        raise InternalError(f"A picture cannot be drawn: {error}") from error

"""PNG images of SVG texts with resvg, in the fonts that come along."""

from __future__ import annotations

import asyncio
import logging
import re
from html import unescape

from fateforger.errors import InternalError
from fateforger.picture.metrics import FONT_FILES, covered

log = logging.getLogger(__name__)

_ZOOM = 2
_TALL = 2400
"""Pixels of a picture's own height from which on it is not enlarged: one of hundreds of blocks needs memory enough."""
_FONTS = [str(path) for path in FONT_FILES]


class ResvgPainter:
    """:class:`fateforger.ports.Painter`; each picture is drawn in a thread, where it does not hold up Python."""

    async def png(self, svg: str) -> bytes:
        return await asyncio.to_thread(png_of, svg)


def png_of(svg: str) -> bytes:
    """The image. Fonts of the machine are looked at only for characters that ours lack, and that is logged."""
    import resvg_py  # noqa: PLC0415  a native library that only pictures need

    ours = covered(unescape("".join(re.findall(r">([^<]*)<", svg.partition("</title>")[2]))))
    if not ours:
        log.info("a picture has characters that the fonts of this program lack; fonts of the machine are asked")
    height = re.search(r'<svg[^>]* height="(\d+)', svg)
    zoom = 1 if height is not None and int(height[1]) > _TALL else _ZOOM
    try:
        return bytes(resvg_py.svg_to_bytes(svg_string=svg, skip_system_fonts=ours, font_files=_FONTS, zoom=zoom))
    except ValueError as error:
        raise InternalError(f"A picture cannot be drawn: {error}") from error

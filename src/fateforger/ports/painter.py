"""Rendering of pictures."""

from __future__ import annotations

from typing import Protocol


class Rasterizer(Protocol):
    """Renders SVG texts as images, never on the event loop."""

    async def render_png(self, svg: str) -> bytes:
        """Return a PNG with two pixels for each of the picture's own, or one for a very tall picture.

        Raises ``InternalError`` if the text is not a picture.
        """
        ...

"""What makes pixels of a picture."""

from __future__ import annotations

from typing import Protocol


class Painter(Protocol):
    """Turns SVG texts into images, never on the event loop."""

    async def png(self, svg: str) -> bytes:
        """A PNG with two pixels for each of the picture's own, or one where it is very tall. Raises
        ``InternalError`` for what is no picture."""
        ...

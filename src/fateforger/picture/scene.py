"""Scene of the picture, before it is drawn.

Lengths are in pixels; y grows downward.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fateforger.plan import ET

Look = Literal["block", "meeting", "free", "ghost", "removed"]


@dataclass(frozen=True, slots=True)
class Rect:
    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text.

    It begins at ``x``, or ends there if ``at_end``; ``y`` is its baseline and ``room`` its width.
    """

    x: float
    y: float
    text: str
    size: float
    room: float
    bold: bool = False
    soft: bool = False
    struck: bool = False
    at_end: bool = False


@dataclass(frozen=True, slots=True)
class Pill:
    """A word in a dark box."""

    place: Rect
    text: str


@dataclass(frozen=True, slots=True)
class Box:
    """A block, a meeting, or the earlier place of a block.

    ``name`` is ``block:KEY``, ``meeting:N``, or ``before:KEY``.
    """

    name: str
    look: Look
    kind: ET
    place: Rect
    texts: tuple[Text, ...] = ()
    pill: Pill | None = None
    mark: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Hour:
    """A line across at a full hour.

    ``label`` is empty where two would be too close.
    """

    y: float
    label: str


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow from the earlier place of a block to its new one."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class Scene:
    """The whole picture.

    ``day`` is the area of the hours; ``outside`` are its parts outside the frame.
    """

    width: float
    height: float
    day: Rect
    title: tuple[Text, ...]
    headings: tuple[Text, ...]
    outside: tuple[Rect, ...]
    hours: tuple[Hour, ...]
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    now: float | None
    legend: tuple[tuple[ET, Text], ...]

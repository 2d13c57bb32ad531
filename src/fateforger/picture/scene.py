"""What is where in the picture, before anything is drawn. Lengths are in pixels; y counts down from the top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fateforger.plan import ET

Look = Literal["block", "meeting", "free", "ghost", "removed"]


@dataclass(frozen=True, slots=True)
class Rect:
    """A place."""

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
    """One line of text that begins at ``x`` (or ends there) with its foot at ``y``; ``room`` is its width."""

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
    """A block, a meeting, or the place that a block had. ``name`` says which: ``block:KEY``, ``meeting:N``,
    ``before:KEY``."""

    name: str
    look: Look
    kind: ET
    place: Rect
    texts: tuple[Text, ...] = ()
    pill: Pill | None = None
    mark: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Hour:
    """A line across at a full hour; ``label`` is left out where two would stand too close."""

    y: float
    label: str


@dataclass(frozen=True, slots=True)
class Arrow:
    """From where a block was to where it is."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class Scene:
    """The whole picture. ``day`` is the part in which the hours are, ``outside`` are its parts outside of the frame."""

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

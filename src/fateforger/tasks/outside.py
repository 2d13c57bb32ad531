"""What stands on a list of tasks that the person keeps elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class OutsideTask:
    """An open task of another list, as far as a day needs it. ``id`` stays the same from look to look and holds no
    space; a higher ``priority`` is more important (0 for none); ``due`` is a day in the person's time zone."""

    id: str
    title: str
    notes: str = ""
    priority: int = 0
    due: date | None = None

"""Tasks on a list that the person keeps elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class OutsideTask:
    """An open task of another list, as far as a day needs it.

    ``id`` is stable across reads and contains no space. A higher ``priority`` is more important (0 for none). ``due``
    is a day in the person's time zone.
    """

    id: str
    title: str
    notes: str = ""
    priority: int = 0
    due: date | None = None

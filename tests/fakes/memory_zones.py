"""Time zones of people, in memory."""

from __future__ import annotations

from datetime import datetime


class MemoryZones:
    """Implements :class:`fateforger.ports.people.Zones` in a dictionary."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[str, datetime]] = {}

    async def of(self, user_id: str) -> tuple[str, datetime] | None:
        return self._kept.get(user_id)

    async def keep(self, user_id: str, tz: str, *, until: datetime) -> None:
        self._kept[user_id] = (tz, until)

"""Clocks: the machine's, and one that ticks from a given instant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class ShiftedClock:
    """Ticks like the machine's clock, but began at ``start``."""

    def __init__(self, start: datetime) -> None:
        self._shift: timedelta = start.astimezone(UTC) - datetime.now(UTC)

    def now(self) -> datetime:
        return datetime.now(UTC) + self._shift

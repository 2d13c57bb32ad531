"""The system clock, and a clock that starts at a given instant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class ShiftedClock:
    """A clock that runs like the system clock, but started at ``start``."""

    def __init__(self, start: datetime) -> None:
        self._shift: timedelta = start.astimezone(UTC) - datetime.now(UTC)

    def now(self) -> datetime:
        return datetime.now(UTC) + self._shift

"""A clock that is set by hand."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass
class ManualClock:
    """A clock that does not move by itself."""

    at: datetime = datetime(2026, 3, 2, 7, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at

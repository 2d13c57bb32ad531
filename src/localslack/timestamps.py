"""Slack timestamps: unique within the workspace, ordered, and made from the given clock."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Timestamps:
    """Source of `seconds.microseconds` strings that never repeat, even if the clock stops or goes back."""

    def __init__(self, now: Callable[[], datetime], last: str | None) -> None:
        self.now = now
        self._last = 0 if last is None else int(last.replace(".", ""))

    def next(self) -> str:
        self._last = max((self.now() - _EPOCH) // _MICROSECOND, self._last + 1)
        return f"{self._last // 1_000_000}.{self._last % 1_000_000:06d}"

    def seconds(self) -> int:
        """Return the clock's reading in whole seconds since the epoch."""
        return (self.now() - _EPOCH) // timedelta(seconds=1)

"""Newest message of each thread, as far as this process has seen."""

from __future__ import annotations

from collections import OrderedDict

MAX_THREADS = 5_000


class LatestMessages:
    """Newest message of each recently active thread, by the bot or a person."""

    def __init__(self) -> None:
        self._ts: OrderedDict[tuple[str, str], str] = OrderedDict()

    def observe(self, channel: str, thread_ts: str, ts: str) -> None:
        """Record a message of a thread; one older than the newest known changes nothing."""
        key = (channel, thread_ts)
        known = self._ts.get(key)
        if known is None or _order(known) < _order(ts):
            self._ts[key] = ts
        self._ts.move_to_end(key)
        if len(self._ts) > MAX_THREADS:
            self._ts.popitem(last=False)

    def of(self, channel: str, thread_ts: str) -> str | None:
        """Return the newest message known; ``None`` if none of this thread was seen."""
        return self._ts.get((channel, thread_ts))


def _order(ts: str) -> tuple[int, int]:
    seconds, _, fraction = ts.partition(".")
    return int(seconds), int(fraction or 0)

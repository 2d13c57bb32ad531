"""Which message of a thread is the newest, as far as this process has seen."""

from __future__ import annotations

from collections import OrderedDict

MAX_THREADS = 5_000


class Latest:
    """The newest message of each thread that was active lately, by the bot or a person."""

    def __init__(self) -> None:
        self._ts: OrderedDict[tuple[str, str], str] = OrderedDict()

    def saw(self, channel: str, thread_ts: str, ts: str) -> None:
        """A message of a thread; older ones than the newest known change nothing."""
        key = (channel, thread_ts)
        known = self._ts.get(key)
        if known is None or _order(known) < _order(ts):
            self._ts[key] = ts
        self._ts.move_to_end(key)
        if len(self._ts) > MAX_THREADS:
            self._ts.popitem(last=False)

    def of(self, channel: str, thread_ts: str) -> str | None:
        """The newest message known; ``None`` when nothing of this thread was seen yet."""
        return self._ts.get((channel, thread_ts))


def _order(ts: str) -> tuple[int, int]:
    seconds, _, fraction = ts.partition(".")
    return int(seconds), int(fraction or 0)

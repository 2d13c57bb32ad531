"""Observed lengths of tasks without a disk."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.tasks.durations import Observation
from fateforger.tasks.ports import MOST_OBSERVATIONS


class MemoryDurations:
    """:class:`fateforger.tasks.ports.Durations` in a dict."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, Observation]] = {}

    async def of(self, user_id: str) -> tuple[Observation, ...]:
        mine = sorted(self._kept.get(user_id, {}).values(), key=lambda each: (each.day, each.id))
        return tuple(mine[-MOST_OBSERVATIONS:])

    async def keep(self, user_id: str, observations: Sequence[Observation], *, gone: Sequence[str] = ()) -> None:
        there = {name: each for name, each in self._kept.get(user_id, {}).items() if name not in gone}
        self._kept[user_id] = there | {each.id: each for each in observations}

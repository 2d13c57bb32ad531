"""Read a person's constraints for each turn, with a time limit (S4, S21, S102)."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass

from fateforger.constraints import Version
from fateforger.errors import ConstraintUnreadable, StoreError
from fateforger.ports import Clock, Constraints
from fateforger.session.memory import unstored_versions
from fateforger.session.model import Session
from fateforger.session.recall import recall
from fateforger.turn.constants import MEMORY_WAIT
from fateforger.turn.model import MemoryReading

TOO_LONG = "The store of what you told me does not answer."


@dataclass(frozen=True, slots=True)
class _ReadResult:
    """All readable versions of one person's constraints, or ``None``; and the reason if some are missing."""

    versions: tuple[Version, ...] | None
    error: str | None = None


class ConstraintRetriever:
    """Reads the store without a model: ``query_types``, ``query_constraints``, exact filters, newest versions.

    All of these are pure (S14-S20). There is one read per person at a time; concurrent callers share it. A late read
    continues, and the previous result is used meanwhile. ``seconds`` is how long a turn waits.
    """

    def __init__(self, constraints: Constraints, clock: Clock, *, seconds: float = MEMORY_WAIT) -> None:
        self._constraints = constraints
        self._clock = clock
        self._seconds = seconds
        self._reads: dict[str, asyncio.Task[_ReadResult]] = {}
        self._last: dict[str, tuple[Version, ...]] = {}

    def begin(self, user_id: str) -> None:
        """Start a read ahead of a turn. Returns at once."""
        self._begin_read(user_id)

    def refresh_after_write(self, user_id: str) -> None:
        """Discard the previous result after a write to the store, and read again (S7)."""
        self._last.pop(user_id, None)
        self._reads.pop(user_id, None)
        self.begin(user_id)

    async def retrieve(self, session: Session, *, but: Collection[int] = (), whole: bool = False) -> MemoryReading:
        """Return the knowledge for a session, or the reason why it is not available.

        Versions with a ``seq`` in ``but`` are left out. With ``whole`` the result also holds all versions.
        """
        task = self._begin_read(session.user_id)
        await asyncio.wait({task}, timeout=self._seconds)
        found = task.result() if task.done() else _ReadResult(None, TOO_LONG)
        versions = found.versions if found.versions is not None else self._last.get(session.user_id)
        if versions is None:
            return MemoryReading(error=found.error)
        versions = tuple(version for version in versions if version.seq not in but)
        return MemoryReading(
            recalled=recall(session, versions, self._clock.now()),
            said=unstored_versions(session.said, versions),
            versions=versions if whole else (),
            error=found.error,
        )

    async def aclose(self) -> None:
        """Stop reading."""
        tasks = list(self._reads.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._reads.clear()

    def _begin_read(self, user_id: str) -> asyncio.Task[_ReadResult]:
        under_way = self._reads.get(user_id)
        if under_way is not None and not under_way.done():
            return under_way
        task = asyncio.create_task(self._read(user_id), name="a person's constraints")
        self._reads[user_id] = task
        return task

    async def _read(self, user_id: str) -> _ReadResult:
        try:
            found = await self._all(user_id)
        except StoreError as error:
            return _ReadResult(None, error.message)
        if self._reads.get(user_id) is asyncio.current_task() and found.versions is not None:
            self._last[user_id] = found.versions
        return found

    async def _all(self, user_id: str) -> _ReadResult:
        try:
            return _ReadResult(await self._constraints.of(user_id))
        except ConstraintUnreadable as error:
            return _ReadResult(await self._constraints.readable(user_id), error.message)

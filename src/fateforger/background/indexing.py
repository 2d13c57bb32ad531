"""Keep the index of constraints up to date with the store."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from fateforger.errors import MemoryUnavailable, RebuildNeeded, StoreError
from fateforger.ports import Constraints, IndexTask, Memory, MemoryReport, Recollection

log = logging.getLogger(__name__)

_PATIENCE = 3
"""Consecutive failures after which the index as a whole, rather than a single constraint, is considered broken."""

OnProgress = Callable[[int], None]
"""Called with the number of constraints indexed since the last call."""


@dataclass(frozen=True, slots=True)
class IndexingPolicy:
    """Intervals and limits of the indexer.

    ``idle_seconds`` is the longest sleep without a wake-up; ``look_seconds`` is the interval between health checks of
    an idle index.
    """

    batch: int = 100
    idle_seconds: float = 5.0
    look_seconds: float = 300.0
    backoff_seconds: float = 0.5
    longest_backoff_seconds: float = 60.0

    def backoff(self, failures: int) -> float:
        """Return the seconds to wait after this many failures."""
        return min(self.backoff_seconds * 2.0 ** min(failures - 1, 20), self.longest_backoff_seconds)


class Indexer:
    """The only writer of the index; opens it when there is something to index, not before.

    Failures show in :attr:`words` and in the log. No caller waits for the indexer.
    """

    def __init__(self, constraints: Constraints, memory: Memory, *, policy: IndexingPolicy | None = None) -> None:
        self._constraints = constraints
        self._memory = memory
        self._policy = policy or IndexingPolicy()
        self._nudge = asyncio.Event()
        self._report: MemoryReport | None = None
        self._looked_at = 0.0
        self.trouble: str | None = None
        """The reason why the index cannot be used now, in one sentence; ``None`` while it works."""

    @property
    def words(self) -> str:
        """The state of the index, in one sentence."""
        if self.trouble is not None:
            return self.trouble
        if self._report is None:
            return "There is nothing to search yet."
        return f"It works: {self._report.store}, {self._report.embedder}."

    async def search(self, user_id: str, text: str, *, limit: int = 10) -> tuple[Recollection, ...]:
        """Search the index like :meth:`fateforger.ports.Memory.search`. Results may be out of date.

        Raises ``MemoryUnavailable`` until a health check has succeeded, and while the index is broken.
        """
        if self.trouble is not None or self._report is None:
            raise MemoryUnavailable(self.words)
        return await self._memory.search(user_id, text, limit=limit)

    def wake(self) -> None:
        """Wake the indexer. Call this after a write to the store."""
        self._nudge.set()

    async def run(self) -> None:
        """Index changes until cancelled."""
        failures = 0
        while True:
            self._nudge.clear()
            try:
                await self._run_once()
                failures, self.trouble = 0, None
            except (MemoryUnavailable, StoreError) as error:
                failures += 1
                self._report_trouble(error.message)
            await self._pause(self._policy.backoff(failures) if failures else self._policy.idle_seconds)

    async def catch_up(self, progress: OnProgress = lambda _: None) -> None:
        """Index until nothing is missing.

        Raises ``MemoryUnavailable`` or ``StoreError``; the work done by then is kept.
        """
        while tasks := await self._constraints.list_unindexed(limit=self._policy.batch):
            refused = await self._index_all(tasks, progress)
            if len(refused) == len(tasks):
                raise refused[0]

    async def rebuild(self) -> int:
        """Empty the index, mark every constraint as missing from it, and return the number of constraints.

        The constraints are marked first: after an interruption the list is complete.
        """
        count = await self._constraints.reindex()
        await self._memory.wipe()
        return count

    async def _run_once(self) -> None:
        if not await self._is_needed():
            return
        try:
            await self._check_health()
            await self.catch_up()
        except RebuildNeeded as error:
            self._report_trouble(error.message)
            count = await self.rebuild()
            self._report = await self._memory.report()
            await self.catch_up()
            log.info("the index of constraints was made anew: %d constraints", count)

    async def _is_needed(self) -> bool:
        """Check whether there is anything to search or to index; otherwise the index is not even opened."""
        if self._report is not None or await self._constraints.list_unindexed(limit=1):
            return True
        return bool(await self._constraints.people())

    async def _check_health(self) -> None:
        """Check the health of the index from time to time. An index that is unexpectedly empty is indexed again."""
        now = asyncio.get_running_loop().time()
        if self._report is not None and now - self._looked_at < self._policy.look_seconds:
            return
        self._report = await self._memory.report()
        self._looked_at = now
        if not self._report.memories and await self._constraints.people():
            await self._constraints.reindex()

    async def _index_all(self, tasks: tuple[IndexTask, ...], progress: OnProgress) -> list[MemoryUnavailable]:
        """Index the tasks and return the errors of failed ones, which stay on the list and do not block others."""
        shown: list[IndexTask] = []
        refused: list[MemoryUnavailable] = []
        in_a_row = 0
        try:
            for task in tasks:
                try:
                    await self._index_task(task)
                except RebuildNeeded:
                    raise
                except MemoryUnavailable as error:
                    refused.append(error)
                    in_a_row += 1
                    if in_a_row >= _PATIENCE:
                        raise
                else:
                    shown.append(task)
                    in_a_row = 0
        finally:
            await self._mark_indexed(shown)
            progress(len(shown))
        return refused

    async def _mark_indexed(self, tasks: list[IndexTask]) -> None:
        """Take tasks off the list. A deletion stays on it until its data is scrubbed from the index files, too."""
        if any(task.version is None for task in tasks):
            await self._memory.scrub()
        await self._constraints.mark_indexed(tasks)

    async def _index_task(self, task: IndexTask) -> None:
        if task.version is None:
            await self._memory.drop(task.user_id, task.uid)
        else:
            await self._memory.put(task.version)

    def _report_trouble(self, message: str) -> None:
        if message != self.trouble:
            log.warning("%s", message)
        self.trouble = message

    async def _pause(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._nudge.wait(), seconds)
        except TimeoutError:
            return

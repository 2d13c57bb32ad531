"""Brings the index of constraints up to date with what the store says is missing from it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from fateforger.errors import MemoryUnavailable, RebuildNeeded, StoreError
from fateforger.ports import Constraints, IndexTask, Memory, MemoryReport, Recollection

log = logging.getLogger(__name__)

_PATIENCE = 3
"""So many constraints one after another that cannot be shown are the fault of the index, not theirs."""

Progress = Callable[[int], None]
"""Told how many constraints were brought up to date since it was told last."""


@dataclass(frozen=True, slots=True)
class IndexingPolicy:
    """``idle_seconds`` is how long to sleep at most when nobody says that there is work; ``look_seconds`` how often to
    see whether an index that has nothing to do still works."""

    batch: int = 100
    idle_seconds: float = 5.0
    look_seconds: float = 300.0
    backoff_seconds: float = 0.5
    longest_backoff_seconds: float = 60.0

    def backoff(self, failures: int) -> float:
        """Seconds to wait after so many failures."""
        return min(self.backoff_seconds * 2.0 ** min(failures - 1, 20), self.longest_backoff_seconds)


class Indexing:
    """The one that writes to the index, which is opened when there is something to show, not before. Whatever becomes
    of it is told by :attr:`words` and in the log; nobody waits for it."""

    def __init__(self, constraints: Constraints, memory: Memory, *, policy: IndexingPolicy | None = None) -> None:
        self._constraints = constraints
        self._memory = memory
        self._policy = policy or IndexingPolicy()
        self._nudge = asyncio.Event()
        self._report: MemoryReport | None = None
        self._looked_at = 0.0
        self.trouble: str | None = None
        """Why the index cannot be used at the moment, in a sentence."""

    @property
    def words(self) -> str:
        """How the index is."""
        if self.trouble is not None:
            return self.trouble
        if self._report is None:
            return "There is nothing to search yet."
        return f"It works: {self._report.store}, {self._report.embedder}."

    async def search(self, user_id: str, text: str, *, limit: int = 10) -> tuple[Recollection, ...]:
        """As :meth:`fateforger.ports.Memory.search`, from an index that was seen to work. Raises ``MemoryUnavailable``
        before that, and while it does not. What it still shows may be over."""
        if self.trouble is not None or self._report is None:
            raise MemoryUnavailable(self.words)
        return await self._memory.search(user_id, text, limit=limit)

    def wake(self) -> None:
        """Something was written."""
        self._nudge.set()

    async def run(self) -> None:
        """Until it is cancelled."""
        failures = 0
        while True:
            self._nudge.clear()
            try:
                await self._round()
                failures, self.trouble = 0, None
            except (MemoryUnavailable, StoreError) as error:
                failures += 1
                self._tell(error.message)
            await self._pause(self._policy.backoff(failures) if failures else self._policy.idle_seconds)

    async def catch_up(self, progress: Progress = lambda _: None) -> None:
        """Until nothing is missing. Raises ``MemoryUnavailable`` or ``StoreError``; what was done by then is kept."""
        while tasks := await self._constraints.unindexed(limit=self._policy.batch):
            refused = await self._show_all(tasks, progress)
            if len(refused) == len(tasks):
                raise refused[0]

    async def rebuild(self) -> int:
        """Empty the index and put every constraint on the list; how many there are. In this order: when it ends in
        between, the list knows."""
        count = await self._constraints.reindex()
        await self._memory.wipe()
        return count

    async def _round(self) -> None:
        if not await self._needed():
            return
        try:
            await self._look()
            await self.catch_up()
        except RebuildNeeded as error:
            self._tell(error.message)
            count = await self.rebuild()
            self._report = await self._memory.report()
            await self.catch_up()
            log.info("the index of constraints was made anew: %d constraints", count)

    async def _needed(self) -> bool:
        """Whether there is anything to search, or to show; while there is not, nothing is opened."""
        if self._report is not None or await self._constraints.unindexed(limit=1):
            return True
        return bool(await self._constraints.people())

    async def _look(self) -> None:
        """See that the index works, now and then. One that is empty and should not be was lost: all of it is."""
        now = asyncio.get_running_loop().time()
        if self._report is not None and now - self._looked_at < self._policy.look_seconds:
            return
        self._report = await self._memory.report()
        self._looked_at = now
        if not self._report.memories and await self._constraints.people():
            await self._constraints.reindex()

    async def _show_all(self, tasks: tuple[IndexTask, ...], progress: Progress) -> list[MemoryUnavailable]:
        """Those that the index refuses stay on the list and hold nobody up."""
        shown: list[IndexTask] = []
        refused: list[MemoryUnavailable] = []
        in_a_row = 0
        try:
            for task in tasks:
                try:
                    await self._show(task)
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
            await self._shown(shown)
            progress(len(shown))
        return refused

    async def _shown(self, tasks: list[IndexTask]) -> None:
        """Off the list. What was forgotten stays on it until the files hold nothing of it any more."""
        if any(task.version is None for task in tasks):
            await self._memory.scrub()
        await self._constraints.indexed(tasks)

    async def _show(self, task: IndexTask) -> None:
        if task.version is None:
            await self._memory.drop(task.user_id, task.uid)
        else:
            await self._memory.put(task.version)

    def _tell(self, message: str) -> None:
        if message != self.trouble:
            log.warning("%s", message)
        self.trouble = message

    async def _pause(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._nudge.wait(), seconds)
        except TimeoutError:
            return

"""Workers of one lane of durable jobs: claim, perform and finish jobs, renew claims, retry or give up."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from fateforger.errors import InternalError, StoreError, UserError, VersionConflict
from fateforger.ports.clock import Clock
from fateforger.ports.jobs import Job, Jobs

log = logging.getLogger(__name__)


class TryLater(Exception):
    """Raised when a job cannot run now. ``seconds`` is the time to wait, if it is known."""

    def __init__(self, reason: str, seconds: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.seconds = seconds


Perform = Callable[[Job], Awaitable[None]]
"""Perform a job. It may be called again for the same job, so it has to be idempotent.

``TryLater``, ``StoreError`` and unexpected errors lead to a retry; ``UserError`` and ``InternalError`` end the job.
"""

GivenUp = Callable[[Job, str], Awaitable[None]]
"""Called with a job that was given up, and the error message."""


@dataclass(frozen=True, slots=True)
class LanePolicy:
    """Limits and delays of a lane. ``idle_seconds`` is the longest sleep without a wake-up."""

    workers: int = 4
    tries: int = 8
    lease_seconds: float = 6.0
    idle_seconds: float = 1.0
    backoff_seconds: float = 0.25
    longest_backoff_seconds: float = 30.0

    def backoff(self, attempts: int) -> float:
        """Return the seconds to wait after this many tries."""
        return min(self.backoff_seconds * 2.0 ** min(attempts - 1, 20), self.longest_backoff_seconds)


class LaneWorkers:
    """Workers of one lane in this process. Jobs of one key run one at a time and in order, as ``Jobs`` guarantees.

    ``owner`` names this process in its claims: it is unique among running processes and the same after a restart.
    """

    def __init__(
        self,
        jobs: Jobs,
        lane: str,
        perform: Perform,
        given_up: GivenUp,
        *,
        owner: str,
        clock: Clock,
        policy: LanePolicy | None = None,
    ) -> None:
        self._jobs = jobs
        self._lane = lane
        self._perform = perform
        self._given_up = given_up
        self._clock = clock
        self._policy = policy or LanePolicy()
        self._owner = owner
        self._running: set[asyncio.Task[None]] = set()
        self._nudge = asyncio.Event()
        self._stopping = False
        self._claiming: asyncio.Task[None] | None = None

    @property
    def busy(self) -> bool:
        """True while a job is running in this process."""
        return bool(self._running)

    def start(self) -> None:
        """Start to claim jobs. Call this inside a running loop."""
        self._claiming = asyncio.create_task(self._claim_jobs())

    async def stop(self, *, grace_seconds: float = 10.0) -> None:
        """Stop claiming jobs, let running jobs end, and return the late ones to the queue."""
        self._stopping = True
        self._nudge.set()
        if self._claiming is not None:
            await self._claiming
        if self._running:
            _, late = await asyncio.wait(self._running, timeout=grace_seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _claim_jobs(self) -> None:
        failures = 0
        while not self._stopping:
            self._nudge.clear()
            if len(self._running) >= self._policy.workers:
                await self._nudge.wait()
                continue
            try:
                job = await self._jobs.claim(
                    self._lane, self._owner, now=self._clock.now(), lease_seconds=self._policy.lease_seconds
                )
                failures = 0
            except StoreError as error:
                failures += 1
                log.warning("lane %s: no job can be claimed: %s", self._lane, error.message)
                await self._pause(self._policy.backoff(failures))
                continue
            if job is None:
                await self._wait_for_work()
            else:
                task = asyncio.create_task(self._work(job))
                self._running.add(task)
                task.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._nudge.set()

    async def _wait_for_work(self) -> None:
        """Wait until there may be work: a job was enqueued, a local job ended, or some time has passed."""
        waits = {
            asyncio.create_task(self._jobs.wait(self._lane, seconds=self._policy.idle_seconds)),
            asyncio.create_task(self._nudge.wait()),
        }
        done, pending = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in pending:
            wait.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
        for wait in done:
            if isinstance(wait.exception(), StoreError):
                await self._pause(self._policy.backoff_seconds)

    async def _pause(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._nudge.wait(), seconds)
        except TimeoutError:
            return

    async def _work(self, job: Job) -> None:
        performing = asyncio.ensure_future(self._perform(job))
        keeping = asyncio.create_task(self._renew_claim(job, performing))
        try:
            await performing
        except asyncio.CancelledError:
            if self._stopping:
                await self._settle(job, lambda: self._jobs.retry(job, "stopped", run_at=self._clock.now()))
            else:
                log.warning("lane %s: the claim of job %s was lost", self._lane, job.id)
        except (UserError, InternalError) as error:
            await self._bury(job, error.message)
        except TryLater as later:
            await self._retry_or_bury(job, later.reason, later.seconds)
        except StoreError as error:
            await self._retry_or_bury(job, error.message, 0.0 if isinstance(error, VersionConflict) else None)
        except Exception as error:  # outermost edge of a job: no error may end the workers
            log.exception("lane %s: job %s failed", self._lane, job.id)
            await self._retry_or_bury(job, f"{type(error).__name__}: {error}")
        else:
            await self._settle(job, lambda: self._jobs.finish(job))
        finally:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)

    async def _renew_claim(self, job: Job, performing: asyncio.Future[None]) -> None:
        """Renew the claim while the job runs; cancel the job when the claim was lost."""
        while True:
            await asyncio.sleep(self._policy.lease_seconds / 3)
            try:
                kept = await self._jobs.extend(job, now=self._clock.now(), lease_seconds=self._policy.lease_seconds)
            except StoreError as error:
                log.warning("lane %s: the claim of job %s cannot be renewed: %s", self._lane, job.id, error.message)
                continue
            if not kept:
                performing.cancel()
                return

    async def _retry_or_bury(self, job: Job, error: str, wait: float | None = None) -> None:
        if job.attempts >= self._policy.tries:
            await self._bury(job, error)
            return
        seconds = self._policy.backoff(job.attempts) if wait is None else wait
        run_at = self._clock.now() + timedelta(seconds=seconds)
        await self._settle(job, lambda: self._jobs.retry(job, error, run_at=run_at))

    async def _bury(self, job: Job, error: str) -> None:
        log.error("lane %s: job %s was given up: %s", self._lane, job.id, error)
        if await self._settle(job, lambda: self._jobs.bury(job, error)):
            await self._given_up(job, error)

    async def _settle(self, job: Job, record: Callable[[], Awaitable[bool]]) -> bool:
        """Record the end of a job; retry until the lease has run out, because no other worker can claim it before."""
        waited = 0.0
        for attempt in range(1, 20):
            try:
                return await record()
            except StoreError as error:
                wait = self._policy.backoff(attempt)
                waited += wait
                if waited > self._policy.lease_seconds:
                    log.warning("lane %s: the end of job %s is not recorded: %s", self._lane, job.id, error.message)
                    break
                await asyncio.sleep(wait)
        return False

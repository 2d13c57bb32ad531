"""The supervisor of all background work: it starts, wakes, restarts and stops the rows of ``workers.lanes``.

Nothing else in the program runs a loop, claims jobs, or holds a task that is not awaited.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from typing import Any, TypeVar

from fateforger.errors import FateforgerError, InternalError, StoreError, UserError, VersionConflict
from fateforger.metrics import JOBS_GIVEN_UP
from fateforger.ports.clock import Clock
from fateforger.ports.jobs import EVER_AFTER, LONGEST_RETRY, Job, Jobs
from fateforger.ports.traces import caused_by, trace
from fateforger.values import replace
from fateforger.workers.lanes import (
    FOREVER,
    LANES,
    LISTENING,
    MORE_SECONDS,
    TRACE,
    JobHandler,
    Lane,
    PutAside,
    Row,
    Timer,
    TryLater,
)

log = logging.getLogger(__name__)
TRIES_TO_TELL = 5
"""Tries to tell a person that a job is given up, while the database answers: a damaged session cannot be told."""

CLOCK_ERROR = timedelta(seconds=1)
"""Greatest difference to expect between the clock and the time that a program has waited."""

T = TypeVar("T")


class BackgroundTasks:
    """Tasks of one owner that run next to its work and end with it.

    A failure is logged, unless the result is ``awaited``: then it belongs to the caller.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, T], *, name: str, awaited: bool = False) -> asyncio.Task[T]:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard if awaited else self._on_done)
        return task

    async def close(self, *, seconds: float | None = 0.0) -> None:
        """Wait for running tasks, and cancel those that take longer than ``seconds``; ``None`` waits for all."""
        if not self._tasks:
            return
        _, late = await asyncio.wait(self._tasks, timeout=seconds)
        await cancel(late)

    def _on_done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("%s failed", task.get_name(), exc_info=task.exception())


async def cancel(tasks: Iterable[asyncio.Future[Any]]) -> None:
    """Cancel tasks and wait until they have ended."""
    ending = list(tasks)
    for task in ending:
        task.cancel()
    await asyncio.gather(*ending, return_exceptions=True)


async def wait_for(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, for at most ``seconds``."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return


@asynccontextmanager
async def renew_meanwhile(renew: Callable[[], Awaitable[bool]], *, seconds: float) -> AsyncIterator[None]:
    """Call ``renew`` every so many seconds until the block ends or it returns ``False``."""

    async def keep() -> None:
        while True:
            await asyncio.sleep(seconds)
            if not await renew():
                return

    keeping = asyncio.create_task(keep(), name="renewal of a claim")
    try:
        yield
    finally:
        await cancel([keeping])


Round = Callable[[], Awaitable[bool | None]]
"""Does a bounded amount of work; returns ``True`` if something is left over, with which the next round goes on."""


class Repeated:
    """Repeats the rounds of a timer. An error is logged once, until the rounds succeed again or fail otherwise.

    ``repeat`` runs one round; an error only delays the next one. ``seconds`` from the settings take precedence.
    """

    def __init__(self, timer: Timer, repeat: Round, *, seconds: float | None = None) -> None:
        self.name, self._backoff = timer.name, timer.backoff
        self.repeat, self.seconds = repeat, timer.seconds if seconds is None else seconds
        self._awake = asyncio.Event()
        self._halted = False
        self._tasks = BackgroundTasks()

    def start(self) -> None:
        """Start a task that runs the rounds."""
        self._tasks.start(self.run(), name=f"timer {self.name}")

    async def stop(self) -> None:
        """Cancel the task."""
        await self._tasks.close()

    def wake(self) -> None:
        """Begin the next round now, or as soon as the current one has ended."""
        self._awake.set()

    def halt(self) -> None:
        """Begin no more rounds; :meth:`run` returns after the current one."""
        self._halted = True
        self._awake.set()

    def choose_rest(self, *, left_over: bool | None) -> float:
        """Return the seconds between a round that succeeded and the next one."""
        return min(MORE_SECONDS, self.seconds) if left_over else self.seconds

    async def run(self) -> None:
        """Run rounds until halted or cancelled."""
        failures, trouble, rest = 0, "", self.seconds
        while not self._halted:
            self._awake.clear()
            try:
                rest = self.choose_rest(left_over=await self.repeat())
            except FateforgerError as error:
                if error.message != trouble:
                    log.warning("%s: %s", self.name, error.message)
                failures, trouble = failures + 1, error.message
            except Exception:  # the outermost edge of a timer: no error may end it
                log.exception("%s: a round failed", self.name)
                failures += 1
            else:
                failures, trouble = 0, ""
            if not self._halted:
                await wait_for(self._awake, self._backoff.after(failures) if failures else rest)


Check = Callable[[Job], Awaitable[None]]


class LaneWorkers:
    """Workers of one lane in this process. Jobs of one key run one at a time and in order, as ``Jobs`` guarantees.

    ``owner`` names this process in its claims: it is unique among running processes, and with SQLite
    the same after a restart. ``on_end`` is called when a job was performed or given up. ``check`` is called before
    each try, and raises ``PutAside`` or ``TryLater`` for a job that must wait.
    """

    def __init__(
        self,
        lane: Lane[Any],
        handler: JobHandler,
        jobs: Jobs,
        *,
        owner: str,
        clock: Clock,
        on_end: Callable[[], None] = lambda: None,
        check: Check | None = None,
    ) -> None:
        self._name, self._policy = lane.name, lane.policy
        self._handler = handler
        self._jobs = jobs
        self._owner = owner
        self._clock = clock
        self._on_end = on_end
        self._check = check
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
        self._claiming = asyncio.create_task(self._claim_jobs(), name=f"lane {self._name}")

    def wake(self) -> None:
        """Tell a job that never ends that something may be due for it."""
        self._handler.wake()

    def look_again_in(self, seconds: float) -> None:
        """Look for jobs after that time, even if nothing tells of any."""
        asyncio.get_running_loop().call_later(seconds, self._nudge.set)

    async def stop(self) -> None:
        """Stop claiming jobs, let running jobs end, and return the late ones to the queue."""
        self._stopping = True
        self._nudge.set()
        self._handler.halt()
        if self._claiming is not None:
            await self._claiming
        if self._running:
            _, late = await asyncio.wait(self._running, timeout=self._policy.grace_seconds)
            await cancel(late)

    async def _claim_jobs(self) -> None:
        failures = 0
        while not self._stopping:
            self._nudge.clear()
            if len(self._running) >= self._policy.workers:
                await self._nudge.wait()
                continue
            try:
                job = await self._jobs.claim(
                    self._name, self._owner, now=self._clock.now(), lease_seconds=self._policy.lease_seconds
                )
            except Exception as error:  # the outermost edge of a lane: no error may end it
                failures += 1
                if isinstance(error, StoreError):
                    log.warning("lane %s: no job can be claimed: %s", self._name, error.message)
                else:
                    log.exception("lane %s: no job can be claimed", self._name)
                await wait_for(self._nudge, self._policy.backoff.after(failures))
                continue
            failures = 0
            if job is None:
                await self._wait_for_work()
            else:
                task = asyncio.create_task(self._work(job), name=f"job {job.id} of lane {self._name}")
                self._running.add(task)
                task.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._nudge.set()
        if not task.cancelled() and task.exception() is not None:
            log.error("%s failed", task.get_name(), exc_info=task.exception())

    async def _wait_for_work(self) -> None:
        """Wait until there may be work: a job was enqueued, a local job ended, or some time has passed."""
        waits = {
            asyncio.create_task(self._jobs.wait(self._name, seconds=self._policy.poll_seconds)),
            asyncio.create_task(self._nudge.wait()),
        }
        done, pending = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        await cancel(pending)
        for wait in done:
            if isinstance(wait.exception(), StoreError):
                await wait_for(self._nudge, self._policy.backoff.first)

    async def _work(self, job: Job) -> None:
        with caused_by(job.dedupe):
            performing = asyncio.ensure_future(self._perform(job))

        async def renew() -> bool:
            try:
                kept = await self._jobs.extend(job, now=self._clock.now(), lease_seconds=self._policy.lease_seconds)
            except StoreError as error:
                log.warning("lane %s: the claim of job %s cannot be renewed: %s", self._name, job.id, error.message)
                return True
            if not kept:
                performing.cancel()
            return kept

        async with renew_meanwhile(renew, seconds=self._policy.lease_seconds / 3):
            await self._settle_result(job, performing)

    async def _perform(self, job: Job) -> None:
        position = str(job.payload.get(TRACE, ""))
        with trace("job", position=position, lane=self._name, cause=job.dedupe) as span:
            span.set_attribute("attempt", str(job.attempts))
            if self._check is not None:
                await self._check(job)
            await self._handler.perform(job)

    async def _settle_result(self, job: Job, performing: asyncio.Future[None]) -> None:
        """Wait for the result of a job, and record it."""
        try:
            await performing
        except asyncio.CancelledError:
            if self._stopping:
                now = self._clock.now()
                await self._settle(job, lambda: self._jobs.retry(job, "stopped", run_at=now, now=now))
            else:
                log.warning("lane %s: the claim of job %s was lost", self._name, job.id)
        except (UserError, InternalError) as error:
            await self._bury(job, error.message)
        except PutAside as aside:
            await self._put_aside(job, aside.reason)
        except TryLater as later:
            await self._retry_or_bury(job, later.reason, later.seconds)
        except StoreError as error:
            await self._retry_or_bury(job, error.message, 0.0 if isinstance(error, VersionConflict) else None)
        except Exception as error:  # outermost edge of a job: no error may end the workers
            log.exception("lane %s: job %s failed", self._name, job.id)
            await self._retry_or_bury(job, f"{type(error).__name__}: {error}")
        else:
            self._on_end()
            await self._settle(job, lambda: self._jobs.finish(job))

    async def _put_aside(self, job: Job, reason: str) -> None:
        now = self._clock.now()
        await self._settle(job, lambda: self._jobs.retry(job, reason, run_at=EVER_AFTER, now=now))

    async def _retry_or_bury(self, job: Job, error: str, wait: float | None = None) -> None:
        if job.attempts >= self._policy.tries:
            await self._bury(job, error)
            return
        seconds = min(self._policy.backoff.after(job.attempts) if wait is None else wait, LONGEST_RETRY.total_seconds())
        now = self._clock.now()
        run_at = now + timedelta(seconds=seconds)
        if await self._settle(job, lambda: self._jobs.retry(job, error, run_at=run_at, now=now)):
            self.look_again_in(seconds)

    async def _bury(self, job: Job, error: str) -> None:
        """Tell the person before a job is given up, so that they are told even if the program dies in between."""
        log.error("lane %s: job %s was given up: %s", self._name, job.id, error)
        if not await self._settle(job, partial(self._tell_given_up, job, error, count())):
            return
        if await self._settle(job, lambda: self._jobs.bury(job, error)):
            JOBS_GIVEN_UP.labels(self._name).inc()
        self._on_end()

    async def _tell_given_up(self, job: Job, error: str, failures: Iterator[int]) -> bool:
        """Tell the person; return ``False`` if the claim was lost. Raises ``StoreError`` if it is to be tried again."""
        if self._handler.given_up is None:
            return True
        if not await self._jobs.extend(job, now=self._clock.now(), lease_seconds=self._policy.lease_seconds):
            return False
        try:
            await self._handler.given_up(job, error)
        except Exception as problem:  # the outermost edge of a job, which is given up even if its person cannot be told
            # The database answers, as the claim shows, so trying for ever would not help, and would hold this worker.
            if isinstance(problem, StoreError) and next(failures) < TRIES_TO_TELL:
                raise
            log.exception("lane %s: the person cannot be told that job %s is given up", self._name, job.id)
        return True

    async def _settle(self, job: Job, record: Callable[[], Awaitable[bool]]) -> bool:
        """Record the end of a job; retry until the database answers. Return ``False`` if the claim was lost.

        A queue may keep the claim for as long as this process lives, so the job would never be claimed again.
        """
        failures = 0
        while True:
            try:
                return await record()
            except StoreError as error:
                failures += 1
                if failures == 1:
                    log.warning("lane %s: the end of job %s is not recorded yet: %s", self._name, job.id, error.message)
                await asyncio.sleep(self._policy.backoff.after(failures))


class Rounds:
    """Repeats a timer in one program at a time: each round is a job, which asks for the next one before it ends.

    An error is logged once in a program, until its rounds succeed again or fail otherwise.
    """

    def __init__(self, timer: Timer, repeated: Repeated, jobs: Jobs, *, owner: str, clock: Clock) -> None:
        self._backoff, self._repeated = timer.backoff, repeated
        self._jobs, self._clock = jobs, clock
        self._lane = timer.build_lane()
        handler = self._lane.handle(self._perform, wake=self.wake)
        self._workers = LaneWorkers(self._lane, handler, jobs, owner=owner, clock=clock)
        self._tasks = BackgroundTasks()
        self._trouble = ""

    def start(self) -> None:
        """Ask for a round now, and take part in the rounds."""
        self._workers.start()
        self.wake()

    def wake(self) -> None:
        """Begin the next round now, or as soon as the current one has ended."""
        self._tasks.start(self._ask_until_heard(), name=f"a round of {self._lane.name}")

    async def stop(self) -> None:
        """Let a running round end within the grace of its lane."""
        await self._tasks.close()
        await self._workers.stop()

    async def _ask_until_heard(self) -> None:
        for failures in range(1, FOREVER):
            try:
                await self._ask(0.0)
            except StoreError as error:
                log.warning("%s: no round can be asked for: %s", self._lane.name, error.message)
                await asyncio.sleep(self._backoff.after(failures))
            else:
                return

    async def _ask(self, seconds: float) -> None:
        now = self._clock.now()
        run_at = now + timedelta(seconds=seconds)
        job = replace(self._lane.build_job({}, key="round", dedupe="round"), run_at=run_at, recurs=True)
        await self._jobs.enqueue(job, now=now)

    async def _perform(self, _payload: dict[str, Any], job: Job) -> None:
        try:
            rest = self._repeated.choose_rest(left_over=await self._repeated.repeat())
        except FateforgerError as error:
            if error.message != self._trouble:
                log.warning("%s: %s", self._lane.name, error.message)
            self._trouble = error.message
            raise TryLater(error.message, self._backoff.after(job.attempts)) from error
        except Exception as error:  # the outermost edge of a timer: no error may end it
            log.exception("%s: a round failed", self._lane.name)
            raise TryLater(f"{type(error).__name__}: {error}", self._backoff.after(job.attempts)) from error
        self._trouble = ""
        due = self._clock.now() + timedelta(seconds=rest)
        await self._ask(rest)
        self._tasks.start(self._look_again(rest, due), name=f"the next round of {self._lane.name}")

    async def _look_again(self, seconds: float, due: datetime) -> None:
        """Wait for the next round; if the clock was set back meanwhile, ask for the round now."""
        await asyncio.sleep(seconds)
        if self._clock.now() < due - CLOCK_ERROR:
            await self._ask_until_heard()
        self._workers.look_again_in(0.0)


Handler = JobHandler | Repeated


class Supervisor:
    """Runs rows of the table with the handlers of the features. ``lanes`` leaves out those that are switched off.

    ``owner`` names this process in its claims: it is unique among running processes, and with SQLite
    the same after a restart. ``check`` is called before each job, as in :class:`LaneWorkers`. Raises ``InternalError``
    for a row without a handler, and for a handler without a row.
    """

    def __init__(
        self,
        jobs: Jobs,
        handlers: Sequence[Handler],
        *,
        owner: str,
        clock: Clock,
        lanes: Sequence[Row] = LANES,
        check: Check | None = None,
    ) -> None:
        by_name = {handler.name: handler for handler in handlers}
        self._work: dict[str, LaneWorkers | Repeated | Rounds] = {}
        self._last = {row.name for row in lanes if isinstance(row, Lane) and row.last}
        for row in lanes:
            match row, by_name.pop(row.name, None):
                case Lane(), JobHandler() as handler:
                    on_end = partial(self._wake_all, row.wakes)
                    self._work[row.name] = LaneWorkers(
                        row, handler, jobs, owner=owner, clock=clock, on_end=on_end, check=check
                    )
                case Timer(each=True), Repeated() as rounds:
                    self._work[row.name] = rounds
                case Timer(), Repeated() as rounds:
                    self._work[row.name] = Rounds(row, rounds, jobs, owner=owner, clock=clock)
                case _:
                    raise InternalError(f"The background work {row.name!r} has no handler.")
        told = tuple(name for name, work in self._work.items() if not isinstance(work, Repeated))
        self._listening = Repeated(LISTENING, partial(jobs.listen, told, self._on_news))
        if by_name:
            raise InternalError(f"There is no background work of these names: {', '.join(sorted(by_name))}.")

    @property
    def busy(self) -> bool:
        """True while a job is running in this process."""
        return any(isinstance(work, LaneWorkers) and work.busy for work in self._work.values())

    def start(self) -> None:
        """Start all rows in the order of the table. Call this inside a running loop."""
        self._listening.start()
        for work in self._work.values():
            work.start()

    def wake(self, row: Row) -> None:
        """Tell a row that something may be due; one that is switched off ignores that."""
        self._wake_all((row.name,))

    async def stop(self) -> None:
        """Stop everything at once, except the lanes that carry out what the others leave: these stop last."""
        await self._listening.stop()
        await asyncio.gather(*(work.stop() for name, work in self._work.items() if name not in self._last))
        await asyncio.gather(*(work.stop() for name, work in self._work.items() if name in self._last))

    def _on_news(self, lane: str) -> None:
        work = self._work.get(lane)
        if isinstance(work, LaneWorkers):
            work.wake()

    def _wake_all(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self._work:
                self._work[name].wake()

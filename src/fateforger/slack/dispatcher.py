"""Sending of the outbox: each session's messages in order, retried until confirmed, by one program at a time."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from fateforger.errors import FateforgerError, StoreError
from fateforger.metrics import MESSAGES_GIVEN_UP
from fateforger.ports.clock import Clock
from fateforger.ports.jobs import EVER_AFTER, Job
from fateforger.ports.traces import trace
from fateforger.session.messages import Outgoing
from fateforger.session.store import LONGEST_RETRY, Outbox
from fateforger.slack.client import CallRefused, NotInstalled, SlackCallError, SlackLoginError, TransientSlackError
from fateforger.slack.delivery import Delivery
from fateforger.workers.lanes import OUTBOX, SENDING, JobHandler, TryLater, ignore
from fateforger.workers.supervisor import BackgroundTasks, Repeated, wait_for

log = logging.getLogger(__name__)

BATCH = 20
EVERYTHING = 10_000
GRACE_SECONDS = 10.0


@dataclass(slots=True)
class Dispatcher:
    """Sends the outbox. Runs in one process per database at a time.

    :meth:`wake` tells that a message may be due; the messages of other processes are found by polling.
    """

    outbox: Outbox
    delivery: Delivery
    clock: Clock = field(kw_only=True)
    _sending: dict[str, asyncio.Task[None]] = field(init=False, default_factory=dict)
    _failures: dict[str, int] = field(init=False, default_factory=dict)
    _tasks: BackgroundTasks = field(init=False, default_factory=BackgroundTasks)
    _halted: asyncio.Event = field(init=False, default_factory=asyncio.Event)
    _remembered: bool = field(init=False, default=False)
    _rounds: Repeated = field(init=False)

    def __post_init__(self) -> None:
        self._rounds = Repeated(OUTBOX, self._send_due)

    def wake(self) -> None:
        """Look for due messages now."""
        self._rounds.wake()

    def halt(self) -> None:
        """Begin nothing more; :meth:`run` returns once running sends have finished."""
        self._halted.set()
        self._rounds.halt()

    async def run(self) -> None:
        """Send until :meth:`halt`; stop at once if cancelled. No send is running afterwards.

        Messages that an earlier run or another process posted are recognized.
        """
        self._remembered = False
        try:
            await self._rounds.run()
            await self._tasks.close(seconds=GRACE_SECONDS)
        finally:
            await self._tasks.close()
            await self.delivery.close()

    async def _send_due(self) -> None:
        if not self._remembered:
            await self.outbox.release()
            # Anything that waits now may have been sent by a process that died or lost its lease before recording it.
            self.delivery.doubt(item.id for item in await self.outbox.pending(now=EVER_AFTER, limit=EVERYTHING))
            self._remembered = True
        due = await self.outbox.pending(now=self.clock.now(), limit=BATCH + len(self._sending))
        for item in due:
            if item.session_id not in self._sending:
                task = self._tasks.start(self._send(item), name=f"sending {item.id}")
                self._sending[item.session_id] = task
                task.add_done_callback(lambda _task, session_id=item.session_id: self._finish_send(session_id))  # type: ignore[misc]  # mypy cannot infer a lambda with a default

    def _finish_send(self, session_id: str) -> None:
        del self._sending[session_id]
        self._rounds.wake()

    async def _send(self, item: Outgoing) -> None:
        try:
            try:
                with trace("message", position=item.trace):
                    await self.delivery.deliver(item)
            except NotInstalled as trouble:
                log.info("the message %s waits until the app is installed again", item.id)
                await self.outbox.mark_failed(item.id, str(trouble), retry_at=EVER_AFTER)
            except SlackLoginError as trouble:
                log.error("Slack refuses the app's login (%s); the message %s waits", trouble, item.id)  # noqa: TRY400  the sentence says it all
                await self._retry_later(item, trouble)
            except TransientSlackError as trouble:
                log.warning("the message %s waits: %s", item.id, trouble)
                await self._retry_later(item, trouble)
            except SlackCallError as trouble:
                await self._give_up(item, str(trouble), refused=isinstance(trouble, CallRefused))
            else:
                self._failures.pop(item.id, None)
        except StoreError as error:
            # The item stays queued; the post is remembered, so the next try only records it.
            log.warning("the outbox cannot be written to: %s", error.message)
            await wait_for(self._halted, self._next_backoff(item))
        except Exception as error:  # Outermost edge of sending: one message must not end the dispatcher.
            log.exception("the message %s failed", item.id)
            await self._give_up_safely(item, f"{type(error).__name__}: {error}")

    async def _retry_later(self, item: Outgoing, trouble: TransientSlackError) -> None:
        if trouble.unsure:
            self.delivery.doubt([item.id])
        asked = self._next_backoff(item) if trouble.retry_after is None else trouble.retry_after
        seconds = min(asked, LONGEST_RETRY.total_seconds())
        retry_at = self.clock.now() + timedelta(seconds=seconds)
        await self.outbox.mark_failed(item.id, str(trouble), retry_at=retry_at)
        asyncio.get_running_loop().call_later(seconds, self._rounds.wake)

    async def _give_up_safely(self, item: Outgoing, reason: str) -> None:
        try:
            await self._give_up(item, reason, refused=False)
        except StoreError as error:
            log.warning("the outbox cannot be written to: %s", error.message)

    async def _give_up(self, item: Outgoing, reason: str, *, refused: bool) -> None:
        log.error("the message %s of session %s is given up: %s", item.id, item.session_id, reason)
        MESSAGES_GIVEN_UP.inc()
        self._failures.pop(item.id, None)
        await self.outbox.mark_failed(item.id, reason, retry_at=None)
        await self.delivery.give_up(item, refused=refused)

    def _next_backoff(self, item: Outgoing) -> float:
        failures = self._failures[item.id] = self._failures.get(item.id, 0) + 1
        return OUTBOX.backoff.after(failures)


SENDING_JOB = SENDING.build_job({}, key="outbox", dedupe="outbox")
"""Job of sending the outbox.

It is queued once and never ends: the process that holds its lease is the sender. Two senders would post the same
message twice.
"""


def build_sending_handler(
    send: Callable[[], Awaitable[None]],
    *,
    wake: Callable[[], None] = ignore,
    halt: Callable[[], None] = ignore,
) -> JobHandler:
    """Return the handler that calls ``send`` while it holds the job, and cancels it if it loses the job.

    ``send`` returns when the program stops.
    """

    async def perform(_payload: dict[str, Any], _job: Job) -> None:
        try:
            await send()
        except FateforgerError as error:
            raise TryLater(error.message) from error
        raise TryLater("the program stops", 0.0)

    return SENDING.handle(perform, wake=wake, halt=halt)

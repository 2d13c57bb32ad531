"""Send queued messages: each session's in order, each once, retried until confirmed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from fateforger.errors import StoreError
from fateforger.ports import Clock, Outbox
from fateforger.session.model import Outgoing
from fateforger.slack.calling import CallRefused, SlackCallError, SlackLoginError, TransientSlackError
from fateforger.slack.delivery import Delivery

log = logging.getLogger(__name__)

BATCH = 20
EVERYTHING = 10_000
IDLE_SECONDS = 0.5
GRACE_SECONDS = 10.0
LONGEST_BACKOFF_SECONDS = 60.0
_EVER_AFTER = datetime(9999, 1, 1, tzinfo=UTC)

Wait = Callable[[asyncio.Event, float], Awaitable[None]]


async def wait_for(event: asyncio.Event, seconds: float) -> None:
    """Wait for an event, for at most ``seconds``."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return


class Dispatcher:
    """Sends the outbox. Runs in one process per database at a time.

    :meth:`wake` tells that a message may be due; otherwise the outbox is polled twice a second.
    """

    def __init__(self, outbox: Outbox, delivery: Delivery, *, clock: Clock, wait: Wait = wait_for) -> None:
        self._outbox = outbox
        self._delivery = delivery
        self._clock = clock
        self._wait = wait
        self._sending: dict[str, asyncio.Task[None]] = {}
        self._failures: dict[str, int] = {}
        self._awake = asyncio.Event()
        self._halted = asyncio.Event()

    def wake(self) -> None:
        self._awake.set()

    def halt(self) -> None:
        """Begin nothing more; :meth:`run` returns once running sends have finished."""
        self._halted.set()
        self._awake.set()

    async def run(self) -> None:
        """Send until :meth:`halt`; stop at once if cancelled. No send is running afterwards.

        Messages that an earlier run or another process posted are recognized.
        """
        try:
            await self._send_until_halted()
            if self._sending:
                await asyncio.wait(self._sending.values(), timeout=GRACE_SECONDS)
        finally:
            late = list(self._sending.values())
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
            await self._delivery.close()

    async def _send_until_halted(self) -> None:
        failures = 0
        remembered = False
        while not self._halted.is_set():
            self._awake.clear()
            try:
                if not remembered:
                    # Anything that waits now may have been sent by a process that died or lost its lease before
                    # recording it.
                    self._delivery.doubt(
                        item.id for item in await self._outbox.pending(now=_EVER_AFTER, limit=EVERYTHING)
                    )
                    remembered = True
                await self._send_due()
                failures = 0
                await self._wait(self._awake, IDLE_SECONDS)
            except StoreError as error:
                failures += 1
                log.warning("the outbox cannot be read: %s", error.message)
                await self._wait(self._awake, _backoff(failures))

    async def _send_due(self) -> None:
        due = await self._outbox.pending(now=self._clock.now(), limit=BATCH + len(self._sending))
        for item in due:
            if item.session_id not in self._sending:
                task = asyncio.create_task(self._send(item))
                self._sending[item.session_id] = task
                task.add_done_callback(lambda _task, session_id=item.session_id: self._finish_send(session_id))  # type: ignore[misc]  # mypy cannot infer a lambda with a default

    def _finish_send(self, session_id: str) -> None:
        del self._sending[session_id]
        self._awake.set()

    async def _send(self, item: Outgoing) -> None:
        try:
            try:
                await self._delivery.deliver(item)
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
            await self._wait(self._halted, self._next_backoff(item))
        except Exception as error:  # Outermost edge of sending: one message must not end the dispatcher.
            log.exception("the message %s failed", item.id)
            await self._give_up_safely(item, f"{type(error).__name__}: {error}")

    async def _retry_later(self, item: Outgoing, trouble: TransientSlackError) -> None:
        if trouble.unsure:
            self._delivery.doubt([item.id])
        seconds = self._next_backoff(item) if trouble.retry_after is None else trouble.retry_after
        retry_at = self._clock.now() + timedelta(seconds=seconds)
        await self._outbox.mark_failed(item.id, str(trouble), retry_at=retry_at)
        asyncio.get_running_loop().call_later(seconds, self._awake.set)

    async def _give_up_safely(self, item: Outgoing, reason: str) -> None:
        try:
            await self._give_up(item, reason, refused=False)
        except StoreError as error:
            log.warning("the outbox cannot be written to: %s", error.message)

    async def _give_up(self, item: Outgoing, reason: str, *, refused: bool) -> None:
        log.error("the message %s of session %s is given up: %s", item.id, item.session_id, reason)
        self._failures.pop(item.id, None)
        await self._outbox.mark_failed(item.id, reason, retry_at=None)
        await self._delivery.give_up(item, refused=refused)

    def _next_backoff(self, item: Outgoing) -> float:
        failures = self._failures[item.id] = self._failures.get(item.id, 0) + 1
        return _backoff(failures)


def _backoff(failures: int) -> float:
    return min(0.5 * 2.0 ** min(failures - 1, 20), LONGEST_BACKOFF_SECONDS)

"""Delivery of queued messages: each session's in order, each once, retried until confirmed.

Pictures are added once a message is posted; no reply ever waits for one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from weakref import WeakValueDictionary

from fateforger.errors import FateforgerError, StoreError
from fateforger.ports.clock import Clock
from fateforger.ports.jobs import Job
from fateforger.session.cards import Card, Prose
from fateforger.session.messages import MOST_LATER, Outgoing
from fateforger.session.model import Session
from fateforger.session.store import Outbox, Sent, Sessions
from fateforger.slack import phrases
from fateforger.slack.access import People, find_private_place, is_private
from fateforger.slack.agent_threads import AgentThreads
from fateforger.slack.blocks import remove_controls
from fateforger.slack.client import (
    CallRefused,
    MessageGone,
    MessageTooLong,
    SlackCallError,
    SlackLoginError,
    TransientSlackError,
    lacks_scope,
)
from fateforger.slack.payloads import Place
from fateforger.slack.poster import Poster
from fateforger.text import gettext as _
from fateforger.ui.session_cards import root_card
from fateforger.values import replace
from fateforger.workers.lanes import OUTBOX, SENDING, JobHandler, TryLater, ignore
from fateforger.workers.supervisor import BackgroundTasks, Repeated, wait_for


class KeyedLocks:
    """Lock per key. Frames of one conversation arrive in order but run as separate tasks; this keeps their order."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def turn(self, key: str) -> asyncio.Lock:
        """Return the lock of a key. It exists while a task holds it or waits for it."""
        return self._locks.setdefault(key, asyncio.Lock())


log = logging.getLogger(__name__)

PAUSES = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds before each try. Slack needs a moment before a message can show a new file."""
PUT_SECONDS = 3.0
"""Time that a message may delay the next one of its session while its picture is added."""


def reply_id(item: Outgoing) -> str:
    """Return the id under which the reply of a message is posted."""
    return f"{item.id}/reply"


ROOT = "root"
MAX_THREADS = 5_000


def moved_card() -> Card:
    """Return what replaces a message in a place that others can read."""
    return Card(text=_(phrases.MOVED), parts=(Prose(text=_(phrases.MOVED)),))


@dataclass(slots=True)
class Delivery:
    """Delivers messages in steps that can be repeated, so an interrupted try is resumed.

    A message is posted under its id; after a try with an unknown outcome, :meth:`deliver` searches for it in Slack
    before it posts. A session whose thread others can read, which only older versions could begin, continues in direct
    messages (K14).
    """

    outbox: Outbox
    sessions: Sessions
    poster: Poster
    people: People
    agent: AgentThreads
    clock: Clock = field(kw_only=True)
    _turns: KeyedLocks = field(init=False, default_factory=KeyedLocks)
    _tasks: BackgroundTasks = field(init=False, default_factory=BackgroundTasks)
    _adding: dict[str, asyncio.Task[None]] = field(init=False, default_factory=dict)
    _doubtful: set[str] = field(init=False, default_factory=set)
    _placed: dict[str, Sent] = field(init=False, default_factory=dict)
    _threads: dict[str, Place] = field(init=False, default_factory=dict)

    def doubt(self, ids: Iterable[str]) -> None:
        """Mark messages that may have been posted already."""
        self._doubtful.update(ids)

    async def deliver(self, item: Outgoing) -> None:
        """Send a message and record it; its picture and the title of the thread follow later.

        Raises :class:`~fateforger.slack.client.SlackCallError` or ``StoreError``.
        """
        async with self._turns.turn(item.session_id):
            shown = await self._deliver(item)
        self._add_pictures(shown)
        session = await self.sessions.load(item.session_id)
        if session is not None:
            self._tasks.start(self.agent.follow(session), name=f"title of {item.session_id}")

    async def close(self) -> None:
        """Cancel pending pictures and titles; they come with the next card."""
        await self._tasks.close()

    async def _deliver(self, item: Outgoing) -> Outgoing:
        """Send a message and return it as it is shown."""
        queued, item = item, item.after(await self.outbox.find_shown(item.session_id, item.slot))
        place = await self._thread(item)
        if place.thread_ts is None and item.slot != ROOT:
            raise CallRefused("the thread was never opened")
        before = None if item.ephemeral_to else await self._before(item, place)
        where = self._placed.get(item.id)
        if where is None:
            where = self._placed[item.id] = await self._place(item, place, before)
        if place.thread_ts is None:
            await self._attach(item.session_id, where)
        shown = item
        if item.reply is not None and before == where:
            await self._reply(item, item.reply, place)
            shown = item.without_reply()
        # A message with a farewell begins a stage: its slot's last message has already had its own farewell.
        anew = before is not None and before != where
        if anew and item.farewell is None:
            await self._retire(item.session_id, item.slot)
        for slot in item.retire:
            if slot != item.slot or anew:
                await self._retire(item.session_id, slot, item.farewell)
        changed = None if shown is queued else shown
        await self.outbox.mark_sent(item.id, where, now=self.clock.now(), shown=changed)
        self._forget(item)
        return shown

    async def _reply(self, item: Outgoing, reply: Card, place: Place) -> None:
        """Post the reply of a card that was updated in place, once."""
        v, channel = reply_id(item), str(place.channel)
        if v in self._placed:
            return
        found = await self.poster.find(channel, place.thread_ts, v) if item.id in self._doubtful else None
        if found is None:
            found = await self._replace_narration(item.session_id, place.thread_ts, reply, v)
        if found is None:
            found = await self.poster.post(channel, place.thread_ts, reply, session=item.session_id, v=v)
        self._placed[v] = found

    async def _attach(self, session_id: str, root: Sent) -> None:
        await self.sessions.attach_thread(session_id, root.channel, root.ts)
        self._threads[session_id] = Place(root.channel, root.ts)

    async def give_up(self, item: Outgoing, *, refused: bool) -> None:
        """Handle a message that was given up, either ``refused`` by Slack or because of an internal error.

        If it was to begin a plan, its owner is told in direct messages.
        """
        self._forget(item)
        narration = self.agent.take(item.session_id)
        if narration is not None:
            await self.agent.remove(narration)
        session = await self.sessions.load(item.session_id)
        if item.slot == ROOT and session is not None and session.thread_ts is None:
            words = phrases.name_commands(phrases.CANNOT_POST if refused else phrases.NOT_STARTED)
            await self.people.send_ephemeral(session.user_id, Place(None), words)

    async def _before(self, item: Outgoing, place: Place) -> Sent | None:
        """Return the message that the slot showed before.

        A message left behind when the session moved does not count, except that the root of the new thread replaces the
        earlier root.
        """
        before = await self.outbox.slot(item.session_id, item.slot)
        if before is None or before.channel == place.channel:
            return before
        return Sent(str(place.channel), place.thread_ts) if item.slot == ROOT and place.thread_ts else None

    async def _place(self, item: Outgoing, place: Place, before: Sent | None) -> Sent:
        session, v, channel, thread_ts = item.session_id, item.id, str(place.channel), place.thread_ts
        if item.ephemeral_to is not None:
            return await self.poster.show(item.ephemeral_to, channel, thread_ts, item.card, session=session, v=v)
        if item.id in self._doubtful:
            found = await self.poster.find(channel, thread_ts, v)
            if found is not None:
                narration = self.agent.take(item.session_id)
                if narration is not None and narration.where != found:
                    await self.agent.remove(narration)
                return found
        if before is not None and await self._may_change(item, before, thread_ts):
            try:
                card = item.without_reply().card
                await self.poster.change(before, card, session=session, v=v, beside=item.beside)
            except MessageGone as gone:
                log.info("the message %s is posted again: %s", item.id, gone)
            else:
                return before
        narrated = None if item.beside else await self._replace_narration(session, thread_ts, item.card, v)
        if narrated is not None:
            return narrated
        return await self.poster.post(channel, thread_ts, item.card, session=session, v=v, beside=item.beside)

    async def _replace_narration(self, session_id: str, thread_ts: str | None, card: Card, v: str) -> Sent | None:
        """Let a card or reply take the place of the steps of its turn, if they are shown at the end of the thread.

        Only the card marks the message with its id. So after a crash in between the card is posted once more, and what
        is left of the steps is removed.
        """
        narration = None if thread_ts is None else self.agent.take(session_id)
        if narration is None or thread_ts is None:
            return None
        where = narration.where
        try:
            if await self.poster.count_later(where, thread_ts):
                await self.agent.remove(narration)
                return None
            await self.agent.stop_stream(where)
            await self.poster.change(where, card, session=session_id, v=v)
        except MessageGone as gone:
            log.info("the steps of %s are gone: %s", session_id, gone)
            return None
        except SlackCallError:
            self.agent.put_back(session_id, narration)
            raise
        return where

    async def _may_change(self, item: Outgoing, before: Sent, thread_ts: str | None) -> bool:
        """Check whether a message may be changed in place.

        The root may always be changed, and so may messages that stay; one with a reply while few messages follow it;
        any other only while it is the newest of its thread.
        """
        if thread_ts is None or item.slot == ROOT or item.stays:
            return True
        return await self.poster.count_later(before, thread_ts) <= (0 if item.reply is None else MOST_LATER)

    async def _retire(self, session_id: str, slot: str, farewell: Card | None = None) -> None:
        """Replace the message of a slot by its farewell, or remove its controls, which are out of date."""
        where = await self.outbox.slot(session_id, slot)
        shown = await self.outbox.find_shown(session_id, slot)
        if where is None or shown is None:
            return
        if not is_private(where.channel):
            await self._leave(session_id, slot, where)
            return
        try:
            card = farewell or remove_controls(shown.card)
            await self.poster.change(where, card, session=session_id, v=shown.id, beside=shown.beside)
        except (MessageGone, CallRefused) as trouble:
            log.info("the message of slot %s keeps its controls: %s", slot, trouble)
        else:
            # A line under it that goes, or a picture that comes late, must not bring back what it showed.
            await self.outbox.mark_changed(replace(shown, card=card))

    async def _thread(self, item: Outgoing) -> Place:
        """Return the place of a session: its thread, or the channel in which to open it.

        The result only changes for a session whose place others can read.
        """
        known = self._threads.get(item.session_id)
        if known is not None:
            return known
        session = await self.sessions.load(item.session_id)
        if session is None:
            raise CallRefused("the session is gone")
        place = Place(session.channel, session.thread_ts)
        if not is_private(session.channel):
            place = await self._move_to_direct_messages(session)
        if place.thread_ts is not None:
            if len(self._threads) >= MAX_THREADS:
                self._threads.clear()
            self._threads[item.session_id] = place
        return place

    async def _move_to_direct_messages(self, session: Session) -> Place:
        """Move a session to direct messages and return the place there. Its last messages say so."""
        place = await find_private_place(self.people, session.user_id, Place(session.channel, session.thread_ts))
        if session.thread_ts is None:
            return place
        channel, v = str(place.channel), f"{session.id}:moved"
        latest = await self.outbox.latest(session.id)
        for slot in (ROOT,) if latest is None else (ROOT, latest.slot):
            where = await self.outbox.slot(session.id, slot)
            if where is not None and not is_private(where.channel):
                await self._leave(session.id, slot, where)
        root = await self.poster.find(channel, None, v)
        if root is None:
            root = await self.poster.post(channel, None, root_card(session), session=session.id, v=v)
        await self._attach(session.id, root)
        log.warning("the plan %s goes on in direct messages, because others read %s", session.id, session.channel)
        return Place(root.channel, root.ts)

    async def _leave(self, session_id: str, slot: str, where: Sent) -> None:
        """Replace a message that others can read by a note that the session continues in direct messages."""
        try:
            await self.poster.change(
                where, moved_card(), session=session_id, v=f"{session_id}:{slot}:left", for_all=True
            )
        except (MessageGone, CallRefused) as trouble:
            log.info("the message of slot %s stays behind as it was: %s", slot, trouble)

    def _forget(self, item: Outgoing) -> None:
        self._doubtful.discard(item.id)
        self._placed.pop(item.id, None)
        self._placed.pop(reply_id(item), None)

    def _add_pictures(self, item: Outgoing) -> None:
        """Add the picture of a posted message, if it has one that is not uploaded yet.

        Only the latest one of each session is added. A picture that cannot be shown is left out and logged; if Slack
        rejects it, it is not tried again.
        """
        if item.ephemeral_to is not None or not self.poster.pictures.missing(item.card):
            return
        if (earlier := self._adding.get(item.session_id)) is not None:
            earlier.cancel()
        adding = self._tasks.start(self._upload_and_show(item), name=f"picture of {item.id}")
        self._adding = {key: task for key, task in self._adding.items() if not task.done()}
        self._adding[item.session_id] = adding

    async def _upload_and_show(self, item: Outgoing) -> None:
        why = ""
        for pause in PAUSES:
            await asyncio.sleep(pause)
            try:
                for picture in self.poster.pictures.missing(item.card):
                    await self.poster.pictures.upload(picture)
                await self._add_to_message(item)
            except SlackLoginError as trouble:
                if lacks_scope(trouble):
                    self.poster.pictures.switch_off()
                    return
                why = str(trouble)
                break
            except MessageTooLong as trouble:
                why = str(trouble)
            except TransientSlackError as trouble:
                why = str(trouble)
                await asyncio.sleep(trouble.retry_after or 0.0)
            except (SlackCallError, FateforgerError) as trouble:
                self.poster.pictures.give_up(item.card)
                why = str(trouble)
                break
            else:
                return
        log.warning("the message %s stays without its picture: %s", item.id, why)

    async def _add_to_message(self, item: Outgoing) -> None:
        """Put the picture into the message, if it still shows this card."""
        async with self._turns.turn(item.session_id):
            shown = await self.outbox.find_shown(item.session_id, item.slot)
            where = await self.outbox.slot(item.session_id, item.slot)
            if where is None or shown is None or (shown.id, shown.card) != (item.id, item.card):
                return
            try:
                async with asyncio.timeout(PUT_SECONDS):
                    await self.poster.add_pictures(
                        where, item.card, session=item.session_id, v=item.id, beside=item.beside
                    )
            except TimeoutError as error:
                raise TransientSlackError("Slack is slow", unsure=True) from error


BATCH = 20
EVERYTHING = 10_000
GRACE_SECONDS = 10.0
_EVER_AFTER = datetime(9999, 1, 1, tzinfo=UTC)


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
            # Anything that waits now may have been sent by a process that died or lost its lease before recording it.
            self.delivery.doubt(item.id for item in await self.outbox.pending(now=_EVER_AFTER, limit=EVERYTHING))
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
                await self.delivery.deliver(item)
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
        seconds = self._next_backoff(item) if trouble.retry_after is None else trouble.retry_after
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

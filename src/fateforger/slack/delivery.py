"""Delivery of a queued message: posted once or shown in place of an earlier one, which else is retired.

Pictures are added once a message is posted; no reply ever waits for one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from fateforger.errors import FateforgerError, StoreError
from fateforger.ports.clock import Clock
from fateforger.session.cards import Card, Part, Prose
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
from fateforger.slack.ids import get_tenant
from fateforger.slack.limits import cosmetic
from fateforger.slack.payloads import Place
from fateforger.slack.poster import Poster
from fateforger.text import gettext as _
from fateforger.text import name_commands
from fateforger.ui.session_cards import root_card
from fateforger.values import replace
from fateforger.workers.supervisor import BackgroundTasks


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
CHANGE_SECONDS = 3.0
"""Time that a message may delay the next one of its session while its picture or a line below it is added."""


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
    _following: KeyedLocks = field(init=False, default_factory=KeyedLocks)
    _tasks: BackgroundTasks = field(init=False, default_factory=BackgroundTasks)
    _adding: dict[str, asyncio.Task[None]] = field(init=False, default_factory=dict)
    _doubtful: set[str] = field(init=False, default_factory=set)
    _placed: dict[str, Sent] = field(init=False, default_factory=dict)
    _threads: dict[str, Place] = field(init=False, default_factory=dict)
    _owed: dict[Sent, Outgoing] = field(init=False, default_factory=dict)
    _changing: dict[str, asyncio.Task[None]] = field(init=False, default_factory=dict)

    def doubt(self, ids: Iterable[str]) -> None:
        """Mark messages that may have been posted already."""
        self._doubtful.update(ids)

    async def deliver(self, item: Outgoing) -> None:
        """Send a message and record it; its picture and the title of the thread follow later.

        Raises :class:`~fateforger.slack.client.SlackCallError` or ``StoreError``.
        """
        async with self._turns.turn(item.session_id):
            shown, where = await self._deliver(item)
        self._add_pictures(shown, where.channel)
        self._tasks.start(self._follow(item.session_id), name=f"title of {item.session_id}")

    async def close(self) -> None:
        """Cancel pending pictures and titles; they come with the next card."""
        await self._tasks.close()

    async def _follow(self, session_id: str) -> None:
        """Bring title and status of a thread up to date, one after the other, so that the latest ones stay."""
        async with self._following.turn(session_id):
            try:
                session = await self.sessions.load(session_id)
            except StoreError as error:
                log.info("the title of %s comes with the next card: %s", session_id, error.message)
                return
            if session is not None:
                await self.agent.follow(session)

    async def _deliver(self, item: Outgoing) -> tuple[Outgoing, Sent]:
        """Send a message and return it as it is shown, and where."""
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
        if where != before and not item.beside and item.ephemeral_to is None:
            await self.poster.latest.observe(where.channel, place.thread_ts or where.ts, where.ts)
        shown = item
        changed: list[Outgoing] = []
        if item.reply is not None and before == where:
            await self._reply(item, item.reply, place)
            shown = item.without_reply()
        if shown is not queued:
            changed.append(shown)
        # A message with a farewell begins a stage: its slot's last message has already had its own farewell.
        anew = before is not None and before != where
        if anew and item.farewell is None:
            changed += await self._retire(item.session_id, item.slot)
        for slot in item.retire:
            if slot != item.slot or anew:
                changed += await self._retire(item.session_id, slot, item.farewell)
        await self.outbox.mark_sent(item.id, where, now=self.clock.now(), shown=changed)
        self._forget(item)
        return shown, where

    async def redraw(self, session_id: str, slot: str, below: tuple[Part, ...] = ()) -> None:
        """Show the message of a slot as it is recorded, with more parts ``below``.

        Nothing happens while another one is in its place that is not recorded yet, and nothing is added while Slack's
        limits leave no room for it. A newer card that another program records meanwhile is shown as well. Raises
        :class:`~fateforger.slack.client.SlackCallError` or ``StoreError``.
        """
        async with self._turns.turn(session_id):
            drawn: Outgoing | None = None
            while (shown := await self.outbox.find_shown(session_id, slot)) is not None and shown != drawn:
                where = await self.outbox.slot(session_id, slot)
                if where is None or where in self._placed.values():
                    return
                if self._must_wait(where.channel):
                    if drawn is not None or not below:
                        self._change_later(where, shown)
                    return
                card = shown.card if drawn else replace(shown.card, parts=(*shown.card.parts, *below))
                async with _limit_delay():
                    await self.poster.change(where, card, session=session_id, v=shown.id, beside=shown.beside)
                drawn = shown

    async def _reply(self, item: Outgoing, reply: Card, place: Place) -> None:
        """Post the reply of a card that was updated in place, once."""
        v, channel = reply_id(item), str(place.channel)
        found = self._placed.get(v)
        if found is None and item.id in self._doubtful:
            found = await self.poster.find(channel, place.thread_ts, v)
        if found is None:
            found = await self._replace_narration(item.session_id, place.thread_ts, reply, v)
        if found is None:
            found = await self.poster.post(channel, place.thread_ts, reply, session=item.session_id, v=v)
        self._placed[v] = found
        await self.poster.latest.observe(channel, str(place.thread_ts), found.ts)

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
            words = name_commands(phrases.CANNOT_POST if refused else phrases.NOT_STARTED)
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
        if before is not None and item.slot == ROOT and self._must_wait(before.channel):
            self._change_later(before, item.without_reply())
            return before
        if before is not None and await self._may_change(item, before, thread_ts):
            self._owed.pop(before, None)
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
        any other only while it is the newest of its thread. While Slack's limits leave no room for changes, a card is
        posted again instead, because a person waits for it.
        """
        if thread_ts is None or item.slot == ROOT or item.stays:
            return True
        if not self.poster.limit_updates(before.channel).is_free:
            return False
        return await self.poster.count_later(before, thread_ts) <= (0 if item.reply is None else MOST_LATER)

    async def _retire(self, session_id: str, slot: str, farewell: Card | None = None) -> tuple[Outgoing, ...]:
        """Replace the message of a slot by its farewell, or remove its controls, which are out of date.

        Return the message as it is shown then, if there is one.
        """
        where = await self.outbox.slot(session_id, slot)
        shown = await self.outbox.find_shown(session_id, slot)
        if where is None or shown is None:
            return ()
        if not is_private(where.channel):
            await self._leave(session_id, slot, where)
            return ()
        retired = replace(shown, card=farewell or remove_controls(shown.card))
        if self._must_wait(where.channel):
            self._change_later(where, retired)
            return (retired,)
        self._owed.pop(where, None)
        try:
            await self.poster.change(where, retired.card, session=session_id, v=shown.id, beside=shown.beside)
        except (MessageGone, CallRefused) as trouble:
            log.info("the message of slot %s keeps its controls: %s", slot, trouble)
        return (retired,)

    def _must_wait(self, channel: str) -> bool:
        """Check whether a change that no person waits for has to wait for Slack's limits."""
        with cosmetic():
            return not self.poster.limit_updates(channel).is_free

    def _change_later(self, where: Sent, item: Outgoing) -> None:
        """Show ``item`` in a message once Slack's limits leave room for it; of several changes the last one counts.

        A program that dies meanwhile leaves the message as it was. Its buttons say then that they are out of date.
        """
        self._owed[where] = item
        tenant = get_tenant(where.channel)
        changing = self._changing.get(tenant)
        if changing is None or changing.done():
            self._changing[tenant] = self._tasks.start(self._change_owed(tenant), name="changes that can wait")

    async def _change_owed(self, tenant: str) -> None:
        with cosmetic():
            while (where := self._find_owed(tenant)) is not None:
                await self.poster.limit_updates(where.channel).wait_until_free()
                where = self._find_owed(tenant)
                if where is None:
                    return
                item = self._owed[where]
                async with self._turns.turn(item.session_id):
                    owed = self._owed.pop(where, None)
                    try:
                        if owed is not None:
                            owed = await self._find_recorded(where, owed)
                            await self.poster.change(
                                where, owed.card, session=owed.session_id, v=owed.id, beside=owed.beside
                            )
                    except SlackCallError as trouble:
                        log.info("the message of slot %s stays as it was: %s", item.slot, trouble)

    async def _find_recorded(self, where: Sent, owed: Outgoing) -> Outgoing:
        """Return what a message has to show by now: another program may have recorded a newer card for its place."""
        if await self.outbox.slot(owed.session_id, owed.slot) != where:
            return owed
        return await self.outbox.find_shown(owed.session_id, owed.slot) or owed

    def _find_owed(self, tenant: str) -> Sent | None:
        """Return the message of a workspace whose change has waited longest."""
        return next((where for where in self._owed if get_tenant(where.channel) == tenant), None)

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

    def _add_pictures(self, item: Outgoing, channel: str) -> None:
        """Add the picture of a posted message, if it has one that is not uploaded yet.

        Only the latest one of each session is added. A picture that cannot be shown is left out and logged; if Slack
        rejects it, it is not tried again.
        """
        if item.ephemeral_to is not None or not self.poster.pictures.missing(item.card, channel):
            return
        if (earlier := self._adding.get(item.session_id)) is not None:
            earlier.cancel()
        adding = self._tasks.start(self._upload_and_show(item, channel), name=f"picture of {item.id}")
        self._adding = {key: task for key, task in self._adding.items() if not task.done()}
        self._adding[item.session_id] = adding

    async def _upload_and_show(self, item: Outgoing, channel: str) -> None:
        why = ""
        for pause in PAUSES:
            await asyncio.sleep(pause)
            try:
                for picture in self.poster.pictures.missing(item.card, channel):
                    await self.poster.pictures.upload(picture, channel)
                await self._add_to_message(item, channel)
            except SlackLoginError as trouble:
                if lacks_scope(trouble):
                    self.poster.pictures.switch_off(channel)
                    return
                why = str(trouble)
                break
            except MessageTooLong as trouble:
                why = str(trouble)
            except TransientSlackError as trouble:
                why = str(trouble)
                await asyncio.sleep(trouble.retry_after or 0.0)
            except (SlackCallError, FateforgerError) as trouble:
                self.poster.pictures.give_up(item.card, channel)
                why = str(trouble)
                break
            else:
                return
        log.warning("the message %s stays without its picture: %s", item.id, why)

    async def _add_to_message(self, item: Outgoing, channel: str) -> None:
        """Put the picture into the message, if it still shows this card."""
        with cosmetic():
            await self.poster.limit_updates(channel).wait_until_free()
        async with self._turns.turn(item.session_id):
            shown = await self.outbox.find_shown(item.session_id, item.slot)
            where = await self.outbox.slot(item.session_id, item.slot)
            if where is None or shown != item:
                return
            async with _limit_delay():
                self._owed.pop(where, None)
                await self.poster.add_pictures(where, item.card, session=item.session_id, v=item.id, beside=item.beside)


@asynccontextmanager
async def _limit_delay() -> AsyncIterator[None]:
    """Raise ``TransientSlackError`` if a call delays the next message for too long."""
    try:
        async with asyncio.timeout(CHANGE_SECONDS):
            yield
    except TimeoutError as error:
        raise TransientSlackError("Slack is slow", unsure=True) from error

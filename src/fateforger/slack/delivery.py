"""Deliver one message of a session: to its thread, in place of the slot's last message, or as a new one."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from fateforger.ports import Clock, Outbox, Sent, Sessions
from fateforger.session.cards import Card, Prose
from fateforger.session.model import Outgoing, Session
from fateforger.slack import phrases
from fateforger.slack.arrivals import Place
from fateforger.slack.asides import EphemeralMessages
from fateforger.slack.audience import Audience, is_private
from fateforger.slack.calling import CallRefused, MessageGone
from fateforger.slack.gallery import PictureUpdater
from fateforger.slack.pictures import Pictures
from fateforger.slack.poster import Poster
from fateforger.slack.render import remove_controls
from fateforger.slack.turnstile import KeyedLocks
from fateforger.turn.present import root_card

log = logging.getLogger(__name__)

ROOT = "root"
MAX_THREADS = 5_000
MOVED = Card(text=phrases.MOVED, parts=(Prose(text=phrases.MOVED),))
"""Text that replaces messages in places that others can read."""


class Delivery:
    """Delivers messages in steps that can be repeated, so an interrupted try is resumed.

    A message is posted under its id; after a try with an unknown outcome, :meth:`deliver` searches for it in Slack
    before it posts. A session whose thread others can read, which only older versions could begin, continues in direct
    messages (K14).
    """

    def __init__(
        self,
        outbox: Outbox,
        sessions: Sessions,
        poster: Poster,
        ephemeral: EphemeralMessages,
        audience: Audience,
        pictures: Pictures,
        *,
        clock: Clock,
    ) -> None:
        self._outbox = outbox
        self._sessions = sessions
        self._poster = poster
        self._ephemeral = ephemeral
        self._audience = audience
        self._clock = clock
        self._turns = KeyedLocks()
        self._picture_updates = PictureUpdater(pictures, poster, outbox, self._turns)
        self._doubtful: set[str] = set()
        self._placed: dict[str, Sent] = {}
        self._threads: dict[str, Place] = {}

    def doubt(self, ids: Iterable[str]) -> None:
        """Mark messages that may have been posted already."""
        self._doubtful.update(ids)

    async def deliver(self, item: Outgoing) -> None:
        """Send a message and record it; its picture follows later.

        Raises :class:`~fateforger.slack.calling.SlackCallError` or ``StoreError``.
        """
        async with self._turns.turn(item.session_id):
            await self._deliver(item)
        self._picture_updates.add_pictures(item)

    async def close(self) -> None:
        """Cancel pending pictures; messages stay as they are."""
        await self._picture_updates.close()

    async def _deliver(self, item: Outgoing) -> None:
        place = await self._thread(item)
        if place.thread_ts is None and item.slot != ROOT:
            raise CallRefused("the thread was never opened")
        before = None if item.ephemeral_to else await self._before(item, place)
        where = self._placed.get(item.id)
        if where is None:
            where = self._placed[item.id] = await self._place(item, place, before)
        if place.thread_ts is None:
            await self._attach(item.session_id, where)
        # A message with a farewell begins a stage: its slot's last message has already had its own farewell.
        anew = before is not None and before != where
        if anew and item.farewell is None:
            await self._retire(item.session_id, item.slot)
        for slot in item.retire:
            if slot != item.slot or anew:
                await self._retire(item.session_id, slot, item.farewell)
        await self._outbox.mark_sent(item.id, where, now=self._clock.now())
        self._forget(item)

    async def _attach(self, session_id: str, root: Sent) -> None:
        await self._sessions.attach_thread(session_id, root.channel, root.ts)
        self._threads[session_id] = Place(root.channel, root.ts)

    async def give_up(self, item: Outgoing, *, refused: bool) -> None:
        """Handle a message that was given up, either ``refused`` by Slack or because of an internal error.

        If it was to begin a plan, its owner is told in direct messages.
        """
        self._forget(item)
        session = await self._sessions.load(item.session_id)
        if item.slot == ROOT and session is not None and session.thread_ts is None:
            words = phrases.CANNOT_POST if refused else phrases.NOT_STARTED
            await self._ephemeral.send_ephemeral(session.user_id, Place(None), words)

    async def _before(self, item: Outgoing, place: Place) -> Sent | None:
        """Return the message that the slot showed before.

        A message left behind when the session moved does not count, except that the root of the new thread replaces the
        earlier root.
        """
        before = await self._outbox.slot(item.session_id, item.slot)
        if before is None or before.channel == place.channel:
            return before
        return Sent(str(place.channel), place.thread_ts) if item.slot == ROOT and place.thread_ts else None

    async def _place(self, item: Outgoing, place: Place, before: Sent | None) -> Sent:
        session, v, channel, thread_ts = item.session_id, item.id, str(place.channel), place.thread_ts
        if item.ephemeral_to is not None:
            return await self._poster.show(item.ephemeral_to, channel, thread_ts, item.card, session=session, v=v)
        if item.id in self._doubtful:
            found = await self._poster.find(channel, thread_ts, v)
            if found is not None:
                return found
        if before is not None and await self._may_change(item, before, thread_ts):
            try:
                await self._poster.change(before, item.card, session=session, v=v, beside=item.beside)
            except MessageGone as gone:
                log.info("the message %s is posted anew: %s", item.id, gone)
            else:
                return before
        return await self._poster.post(channel, thread_ts, item.card, session=session, v=v, beside=item.beside)

    async def _may_change(self, item: Outgoing, before: Sent, thread_ts: str | None) -> bool:
        """Check whether a message may be changed in place.

        The root may always be changed, and so may messages that stay; any other only while it is the newest of its
        thread.
        """
        return thread_ts is None or item.slot == ROOT or item.stays or await self._poster.is_newest(before, thread_ts)

    async def _retire(self, session_id: str, slot: str, farewell: Card | None = None) -> None:
        """Replace the message of a slot by its farewell, or remove its controls, which are out of date."""
        where = await self._outbox.slot(session_id, slot)
        shown = await self._outbox.find_shown(session_id, slot)
        if where is None or shown is None:
            return
        if not is_private(where.channel):
            await self._leave(session_id, slot, where)
            return
        try:
            card = farewell or remove_controls(shown.card)
            await self._poster.change(where, card, session=session_id, v=shown.id, beside=shown.beside)
        except (MessageGone, CallRefused) as trouble:
            log.info("the message of slot %s keeps its controls: %s", slot, trouble)

    async def _thread(self, item: Outgoing) -> Place:
        """Return the place of a session: its thread, or the channel in which to open it.

        The result only changes for a session whose place others can read.
        """
        known = self._threads.get(item.session_id)
        if known is not None:
            return known
        session = await self._sessions.load(item.session_id)
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
        place = await self._audience.private_place(session.user_id, Place(session.channel, session.thread_ts))
        if session.thread_ts is None:
            return place
        channel, v = str(place.channel), f"{session.id}:moved"
        latest = await self._outbox.latest(session.id)
        for slot in (ROOT,) if latest is None else (ROOT, latest.slot):
            where = await self._outbox.slot(session.id, slot)
            if where is not None and not is_private(where.channel):
                await self._leave(session.id, slot, where)
        root = await self._poster.find(channel, None, v)
        if root is None:
            root = await self._poster.post(channel, None, root_card(session), session=session.id, v=v)
        await self._attach(session.id, root)
        log.warning("the plan %s goes on in direct messages, because others read %s", session.id, session.channel)
        return Place(root.channel, root.ts)

    async def _leave(self, session_id: str, slot: str, where: Sent) -> None:
        """Replace a message that others can read by a note that the session continues in direct messages."""
        try:
            await self._poster.change(where, MOVED, session=session_id, v=f"{session_id}:{slot}:left", for_all=True)
        except (MessageGone, CallRefused) as trouble:
            log.info("the message of slot %s stays behind as it was: %s", slot, trouble)

    def _forget(self, item: Outgoing) -> None:
        self._doubtful.discard(item.id)
        self._placed.pop(item.id, None)

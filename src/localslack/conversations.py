"""Messages in channels: post, change, delete, whisper, and post later; the app and open pages are notified."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from localslack import events
from localslack.blocks.elements import Replaced
from localslack.delivery.event_delivery import EventDelivery
from localslack.directory import BOT_USER_ID, TEAM_ID, Directory
from localslack.live_pages import LivePages
from localslack.store.channels import Channel
from localslack.store.messages import StoredMessage
from localslack.store.store import Store
from localslack.text import compose, is_mentioned

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Timestamps:
    """Source of `seconds.microseconds` strings that never repeat, even if the clock stops or goes back."""

    def __init__(self, now: Callable[[], datetime], last: str | None) -> None:
        self.now = now
        self._last = 0 if last is None else int(last.replace(".", ""))

    def next(self) -> str:
        self._last = max((self.now() - _EPOCH) // _MICROSECOND, self._last + 1)
        return f"{self._last // 1_000_000}.{self._last % 1_000_000:06d}"

    def seconds(self) -> int:
        """Return the clock's reading in whole seconds since the epoch."""
        return (self.now() - _EPOCH) // timedelta(seconds=1)


class Conversations:
    """Every change is one transaction: the message, the event for the app, and then the frames for the pages."""

    def __init__(
        self,
        directory: Directory,
        clock: Timestamps,
        store: Store,
        delivery: EventDelivery,
        pages: LivePages,
        replaced: Replaced,
    ) -> None:
        self._directory = directory
        self._clock = clock
        self._store = store
        self._delivery = delivery
        self._pages = pages
        self._replaced = replaced

    def say(self, user: str, channel: Channel, typed: str, thread_ts: str | None) -> StoredMessage:
        """Post what a person typed."""
        text, blocks = self.compose(typed)
        body = {"user": user, "client_msg_id": str(uuid4()), "team": TEAM_ID, "text": text, "blocks": blocks}
        return self.post(channel, body, thread_ts)

    def compose(self, typed: str) -> tuple[str, list[dict[str, Any]]]:
        """Return the `text` and `blocks` of what was typed, with the names of this workspace as mentions."""
        names = {person.name.lower(): person.id for person in self._directory.people}
        return compose(typed, {**names, self._directory.app.bot_name.lower(): BOT_USER_ID})

    def post(self, channel: Channel, fields: Mapping[str, Any], thread_ts: str | None) -> StoredMessage:
        """Post a message with these fields for all members."""
        with self._store.database.transaction():
            message = self._store_message(channel, fields, thread_ts, only_for=None)
            parent = None if thread_ts is None else self._store.messages.get(channel.id, thread_ts)
            parent_user = None if parent is None else parent.body.get("user")
            self.emit(events.message_posted(channel, message, parent_user), in_channel=channel)
            if not channel.is_im and is_mentioned(message.body["text"], BOT_USER_ID):
                self.emit(events.app_mentioned(channel, message), in_channel=channel)
            self._show(channel, message)
            if parent is not None:
                self._show(channel, parent)
        return message

    def whisper(self, channel: Channel, user: str, fields: Mapping[str, Any], thread_ts: str | None) -> StoredMessage:
        """Post an ephemeral message: only this person sees it, and there is no event for it."""
        with self._store.database.transaction():
            message = self._store_message(channel, fields, thread_ts, only_for=user)
            self._show(channel, message)
        return message

    def change(self, before: StoredMessage, fields: Mapping[str, Any]) -> StoredMessage:
        """Replace fields of a message; those given as None are removed."""
        body = {key: value for key, value in {**before.body, **fields}.items() if value is not None}
        after = replace(before, body=body)
        channel = self._channel(before)
        with self._store.database.transaction():
            self._store.messages.replace(after)
            self._replaced.keep((before.channel, before.ts), before.body.get("blocks") or [])
            if before.only_for is None:
                event = events.message_changed(channel, before, after, self._clock.next())
                self.emit(event, in_channel=channel)
            self._show(channel, after)
        return after

    def delete(self, message: StoredMessage) -> None:
        """Take a message away; a parent with replies leaves a tombstone, as in Slack."""
        channel = self._channel(message)
        with self._store.database.transaction():
            if message.ts in self._store.messages.reply_marks(channel.id, message.ts):
                grave = replace(message, body=_tombstone(message))
                self._store.messages.replace(grave)
                self._show(channel, grave)
                event = events.message_changed(channel, message, grave, self._clock.next())
            else:
                self._store.messages.remove(channel.id, message.ts)
                self._tell(
                    channel,
                    message.only_for,
                    {
                        "type": "message_deleted",
                        "channel": channel.id,
                        "ts": message.ts,
                        "thread_ts": message.thread_ts,
                    },
                )
                event = events.message_deleted(channel, message, self._clock.next())
            if message.only_for is None:
                self.emit(event, in_channel=channel)

    def emit(self, event: events.Event, in_channel: Channel | None = None) -> None:
        """Send the event if the app subscribes to it, may have it, and is where it happened."""
        if in_channel is not None and not self._store.channels.has_member(in_channel.id, BOT_USER_ID):
            return
        if self._directory.app.receives(events.subscription(event)):
            payload = events.event_callback(event, self._clock.seconds())
            self._delivery.add(self._directory.stamp_payload(payload))

    def react(self, message: StoredMessage, name: str, user: str) -> bool:
        """Add a reaction; False when this user had given it already."""
        with self._store.database.transaction():
            added = self._store.messages.react(message.channel, message.ts, name, user)
            return added and self._change_reaction("reaction_added", message, name, user)

    def unreact(self, message: StoredMessage, name: str, user: str) -> bool:
        """Take a reaction back; False when there was none."""
        with self._store.database.transaction():
            removed = self._store.messages.unreact(message.channel, message.ts, name, user)
            return removed and self._change_reaction("reaction_removed", message, name, user)

    def tell_channel(self, channel: Channel, frame: dict[str, Any]) -> None:
        self._tell(channel, None, frame)

    def for_reader(self, message: StoredMessage) -> dict[str, Any]:
        """Return the message object as a page shows it."""
        return self.for_readers([message])[0]

    def for_readers(self, messages: list[StoredMessage]) -> list[dict[str, Any]]:
        """Message objects of one channel with reply marks and reactions."""
        if not messages:
            return []
        channel = messages[0].channel
        marks = self._store.messages.reply_marks(channel, messages[0].root_ts if len(messages) == 1 else None)
        reactions = self._store.messages.reactions(channel)
        return [_with_marks(message, marks, reactions) for message in messages]

    def _store_message(
        self, channel: Channel, fields: Mapping[str, Any], thread_ts: str | None, *, only_for: str | None
    ) -> StoredMessage:
        ts = self._clock.next()
        body = {"type": "message", **fields, "ts": ts}
        if thread_ts is not None:
            body["thread_ts"] = thread_ts
        message = StoredMessage(channel.id, ts, thread_ts, only_for, body)
        self._store.messages.add(message)
        return message

    def _change_reaction(self, kind: str, message: StoredMessage, name: str, user: str) -> bool:
        channel = self._channel(message)
        self.emit(events.reaction(kind, user, name, message, self._clock.next()), in_channel=channel)
        self._show(channel, message)
        return True

    def _show(self, channel: Channel, message: StoredMessage) -> None:
        frame = {"type": "message", "channel": channel.id, "message": self.for_reader(message)}
        self._tell(channel, message.only_for, frame)

    def _tell(self, channel: Channel, only_for: str | None, frame: dict[str, Any]) -> None:
        readers = self._store.channels.members(channel.id) if only_for is None else [only_for]
        self._pages.tell(readers, frame)

    def _channel(self, message: StoredMessage) -> Channel:
        channel = self._store.channels.get(message.channel)
        if channel is None:
            raise LookupError(f"message {message.ts} stands in a channel that is not there: {message.channel}")
        return channel


def _with_marks(
    message: StoredMessage, marks: Mapping[str, Mapping[str, Any]], reactions: Mapping[str, list[dict[str, Any]]]
) -> dict[str, Any]:
    shown = dict(message.body)
    if message.thread_ts is None and message.ts in marks:
        shown |= {**marks[message.ts], "thread_ts": message.ts}
    if message.ts in reactions:
        shown["reactions"] = reactions[message.ts]
    if message.only_for is not None:
        shown["ephemeral"] = True
    return shown


def _tombstone(message: StoredMessage) -> dict[str, Any]:
    return {
        "type": "message",
        "subtype": "tombstone",
        "text": "This message was deleted.",
        "user": "USLACKBOT",
        "hidden": True,
        "ts": message.ts,
    }


LONGEST_NAP_SECONDS = 60.0
"""The clock may jump (a test's, or a laptop that slept), so the box looks at least this often."""


class Postbox:
    """One timer for the soonest message; each posting is one transaction, so none is posted twice."""

    def __init__(self, clock: Timestamps, store: Store, conversations: Conversations) -> None:
        self._clock = clock
        self._store = store
        self._conversations = conversations
        self._timer: asyncio.TimerHandle | None = None

    def wake(self) -> None:
        """Post what is due and set the timer for the rest."""
        # Set first, so that a posting that fails (a full disk) is tried again.
        self._sleep(LONGEST_NAP_SECONDS)
        now = self._clock.seconds()
        for message in self._store.schedule.all():
            if message.post_at > now:
                self._sleep(min(float(message.post_at - now), LONGEST_NAP_SECONDS))
                return
            channel = self._store.channels.get(message.channel)
            with self._store.database.transaction():
                if self._store.schedule.remove(message.id, message.channel) and channel is not None:
                    self._conversations.post(channel, message.body["fields"], message.body["thread_ts"])
        self.close()

    def _sleep(self, seconds: float) -> None:
        self.close()
        self._timer = asyncio.get_running_loop().call_later(seconds, self.wake)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

"""A workspace put together: its people, its store, the app's connection, the open pages."""

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from starlette.applications import Starlette

from localslack.blocks.elements import Replaced
from localslack.config import WorkspaceConfig
from localslack.conversations import Conversations, Postbox, Timestamps
from localslack.delivery.event_delivery import EventDelivery
from localslack.delivery.interactivity import Interactivity
from localslack.delivery.transport import HttpTransport, SocketHub, Transport
from localslack.directory import BOT_USER_ID, GENERAL_ID, Directory, direct_channel_id
from localslack.errors import Faults
from localslack.limits import Limits
from localslack.live_pages import LivePages
from localslack.manifest import read_manifest
from localslack.modals import Modals, Triggers
from localslack.store.channels import Channel
from localslack.store.messages import StoredMessage
from localslack.store.store import ResponseTarget, open_store

ACK_SECONDS = 3.0
STATUS_SECONDS = 120
SESSION_SECONDS = 3600
"""Time after which Slack ends the status of an assistant's thread, and the processing of an agent session."""
STREAMING, STOPPED_BY_USER = "in_progress", "stopped_by_user"
"""States of a streamed message."""


class Workspace:
    """The parts of a running workspace; `app` is the ASGI application that serves them."""

    app: Starlette

    def __init__(self, config: WorkspaceConfig, now: Callable[[], datetime]) -> None:
        self.config = config
        self.directory = Directory(
            config.team_name, config.public_url, read_manifest(config.manifest), config.users, config.organization
        )
        self.store = open_store(config.database)
        self.clock = Timestamps(now, self.store.messages.last_ts())
        self.pages = LivePages(self.store.database)
        urls = self.directory.app.request_urls
        self.http = None if urls is None else HttpTransport(urls, config.signing_secret, ack_seconds=ACK_SECONDS)
        self.hub = SocketHub(config.public_url, enabled=urls is None)
        self.transport: Transport = self.hub if self.http is None else self.http
        self.delivery = EventDelivery(self.store.database, self.transport, ack_seconds=ACK_SECONDS)
        self.interactivity = Interactivity(self.transport, self.directory.stamp_payload, ack_seconds=ACK_SECONDS)
        self.faults = Faults()
        self.limits = Limits(time.monotonic) if config.limits else None
        self.triggers = Triggers(now)
        self.replaced = Replaced()
        self.conversations = Conversations(
            self.directory, self.clock, self.store, self.delivery, self.pages, self.replaced
        )
        self.modals = Modals(self.clock, self.store, self.pages, self.replaced)
        self.postbox = Postbox(self.clock, self.store, self.conversations)
        # An app that schedules messages is there to wait for them; and an app inside another has no start of its own.
        self.transport.on_connections_changed += [self._show_connection, self.postbox.wake]
        self._open_channels()

    def close(self) -> None:
        """Let go of timers, sockets and the file; nothing is lost by not calling it."""
        self.transport.on_connections_changed.clear()
        self.transport.on_acknowledged.clear()
        self.transport.on_failed.clear()
        self.delivery.close()
        self.postbox.close()
        self.hub.drop()
        if self.http is not None:
            self.http.close()
        self.pages.close()
        self.store.database.close()

    def set_ack_seconds(self, seconds: float) -> None:
        """Give the app another time to acknowledge in (Slack's own is 3 s)."""
        self.delivery.ack_seconds = self.interactivity.ack_seconds = seconds
        if self.http is not None:
            self.http.ack_seconds = seconds

    def drop_sockets(self) -> None:
        """Cut every connection of the app without a word."""
        self.hub.drop()

    def response_url(self, target: ResponseTarget) -> str:
        """Return a fresh URL at which the app may answer this interaction."""
        token = secrets.token_urlsafe(18)
        self.store.response_urls.add(token, target, self.clock.seconds())
        return f"{self.config.public_url}/respond/{token}"

    def suggest(self, channel: Channel, thread_ts: str, prompts: Sequence[Mapping[str, Any]]) -> None:
        """Store what a person might say there next, and show it."""
        with self.store.database.transaction():
            self.store.sessions.put(channel.id, thread_ts, prompts=list(prompts))
            frame = {"type": "prompts", "channel": channel.id, "thread_ts": thread_ts, "prompts": list(prompts)}
            self.conversations.tell_channel(channel, frame)

    def set_session_status(self, channel: Channel, thread_ts: str, status: str, **fields: Any) -> None:
        """Set the status of an agent session. Slack words it itself; a reply does not end it, only the app does."""
        shown = "is working…" if status == "processing" else ""
        self.set_status(channel, thread_ts, shown, native=True, status=status, **fields)

    def set_status(
        self,
        channel: Channel,
        thread_ts: str,
        shown: str,
        loading: Sequence[str] = (),
        *,
        native: bool = False,
        **fields: Any,
    ) -> None:
        """Store what an agent session says of itself and show its status line in the thread; the last call counts."""
        with self.store.database.transaction():
            state = {"shown": shown, "loading": list(loading), "since": self.clock.seconds(), "native": native}
            self.store.sessions.put(channel.id, thread_ts, **state, **fields)
            self.tell_session(channel, thread_ts)

    def tell_session(self, channel: Channel, thread_ts: str) -> None:
        """Show the status line and the title of a thread's session."""
        session = self.store.sessions.get(channel.id, thread_ts) or {}
        frame = {
            "type": "session",
            "channel": channel.id,
            "thread_ts": thread_ts,
            "session": self._for_page(session),
        }
        self.conversations.tell_channel(channel, frame)

    def _for_page(self, session: Mapping[str, Any]) -> dict[str, Any]:
        """Return a session as a page shows it: Stop is there if the app wants to know of it."""
        can_stop = self.directory.app.receives("agent_session_stopped")
        shown = {name: value for name, value in session.items() if name not in {"since", "native"}}
        return {**shown, "can_stop": can_stop and session.get("status") == "processing"}

    def session(self, channel: Channel, thread_ts: str) -> dict[str, Any] | None:
        """Return the agent session of a thread as a page shows it, without a status that has expired."""
        found = self.store.sessions.get(channel.id, thread_ts)
        if found is None:
            return None
        lasts = SESSION_SECONDS if found.get("native") else STATUS_SECONDS
        if found.get("shown") and self.clock.seconds() - found["since"] > lasts:
            self.set_status(channel, thread_ts, "", status="active")
        return self._for_page(self.store.sessions.get(channel.id, thread_ts) or {})

    def clear_status(self, channel: Channel, reply: StoredMessage) -> None:
        """Clear the status line that the app set for its reply; an agent session goes on until the app ends it."""
        session = self.store.sessions.get(channel.id, reply.root_ts)
        if session is not None and session.get("shown") and not session.get("native"):
            self.set_status(channel, reply.root_ts, "", status="active")

    def _open_channels(self) -> None:
        created = self.clock.seconds()
        people = [person.id for person in self.config.users]
        with self.store.database.transaction():
            for person in self.config.users:
                direct = Channel(direct_channel_id(person), self.directory.app.name, person.id, True, created)  # noqa: FBT003  a dataclass by its columns
                self.store.channels.ensure(direct, [person.id, BOT_USER_ID])
            general = Channel(GENERAL_ID, "general", None, False, created)  # noqa: FBT003 - a dataclass by its columns
            self.store.channels.ensure(general, [*people, BOT_USER_ID])

    def _show_connection(self) -> None:
        self.pages.tell_all({"type": "connected", "connected": self.transport.connected})

"""Push channels: the subscribers to changes of a calendar, and the notices that are due."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from tests.emulators.google.wire import Json, Refusal
from tests.fakes.google_store import GoogleStore

LONGEST = timedelta(days=7)


@dataclass(frozen=True)
class Notice:
    """A POST without a body, from Google to the address of a channel."""

    address: str
    headers: Mapping[str, str]


@dataclass
class Channel:
    id: str
    resource_id: str
    calendar: str
    address: str
    token: str
    until: datetime
    seen: int
    sent: int = 0

    def notice(self, state: str) -> Notice:
        self.sent += 1
        headers = {
            "X-Goog-Channel-ID": self.id,
            "X-Goog-Resource-ID": self.resource_id,
            "X-Goog-Resource-State": state,
            "X-Goog-Resource-URI": f"https://www.googleapis.com/calendar/v3/calendars/{self.calendar}/events",
            "X-Goog-Message-Number": str(self.sent),
            "X-Goog-Channel-Expiration": f"{self.until:%a, %d %b %Y %H:%M:%S} GMT",
        }
        return Notice(self.address, headers | ({"X-Goog-Channel-Token": self.token} if self.token else {}))


@dataclass
class Channels:
    now: Callable[[], datetime]
    open: dict[str, Channel] = field(default_factory=dict)
    _greetings: list[Notice] = field(default_factory=list)
    _made: int = 0

    def watch(self, calendar: str, store: GoogleStore, body: Json) -> Json:
        """Open a channel. Raises :class:`Refusal`."""
        address, channel_id = str(body.get("address", "")), str(body.get("id", ""))
        if body.get("type") != "web_hook" or not 0 < len(channel_id) <= 64:
            raise Refusal(400, "Required", "required")
        if urlsplit(address).scheme != "https" and urlsplit(address).hostname != "127.0.0.1":
            raise Refusal(400, "WebHook callback must be HTTPS: " + address, "push.webhookUrlNotHttps")
        if channel_id in self.open:
            raise Refusal(400, f"Channel id {channel_id} not unique", "channelIdNotUnique")
        latest = self.now() + LONGEST
        wanted = body.get("expiration")
        until = latest if wanted is None else min(latest, datetime.fromtimestamp(int(wanted) / 1000, latest.tzinfo))
        self._made += 1
        channel = Channel(
            channel_id, f"resource-{calendar}", calendar, address, str(body.get("token", "")), until, store.ticks
        )
        self.open[channel_id] = channel
        self._greetings.append(channel.notice("sync"))
        return {
            "kind": "api#channel",
            "id": channel_id,
            "resourceId": channel.resource_id,
            "token": channel.token,
            "expiration": str(int(until.timestamp() * 1000)),
        }

    def stop(self, body: Json) -> None:
        channel = self.open.get(str(body.get("id", "")))
        if channel is None or channel.resource_id != body.get("resourceId"):
            raise Refusal(404, f"Channel '{body.get('id')}' not found for project", "notFound")
        del self.open[channel.id]

    def collect(self, calendars: Mapping[str, GoogleStore]) -> list[Notice]:
        """Return the notices that are due: a greeting for a new channel, one for a change."""
        due, self._greetings = self._greetings, []
        self.open = {name: c for name, c in self.open.items() if c.until > self.now()}
        for channel in self.open.values():
            store = calendars.get(channel.calendar)
            if store is not None and store.ticks != channel.seen:
                channel.seen = store.ticks
                due.append(channel.notice("exists"))
        return due

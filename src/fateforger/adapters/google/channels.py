"""Push channels: Google tells an address of this program that a calendar changed, so that it need not ask."""

from __future__ import annotations

import hmac
import logging
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from secrets import token_urlsafe

from fateforger.adapters.google.client import GoogleClient, build_path
from fateforger.adapters.google.refusals import Refusal
from fateforger.ports.clock import Clock

log = logging.getLogger(__name__)

LASTS = timedelta(days=1)
"""The life of a channel. One that is left behind by a process that died says nothing to anybody for so long."""
RENEW_BEFORE = timedelta(hours=1)
TRUSTED_FOR = timedelta(minutes=5)
"""A calendar is asked about at least so often: Google does not promise that every change is told."""
RETRY_AFTER = timedelta(minutes=10)
"""A channel that Google refused is asked for again after this time; until then the calendar is polled."""


@dataclass(frozen=True, slots=True)
class Channel:
    """An open channel. Google repeats ``token`` in each notice, which proves that the notice is Google's."""

    id: str
    resource_id: str
    calendar_id: str
    token: str = field(repr=False)
    expires_at: datetime


@dataclass(slots=True)
class _Watched:
    channel: Channel | None = None
    changed: bool = True
    asked_at: datetime | None = None
    refused_at: datetime | None = None


class PushChannels:
    """The channels of one account, which tell whether a calendar has changed (see ``changes.Signals``).

    ``address`` is a public https address whose requests reach :meth:`accept`. A calendar without a channel, because
    Google refused one or it was not opened yet, counts as changed, so it is polled. With several processes behind the
    address, a notice may reach another one than opened the channel; the change is then found by the next request.
    """

    def __init__(self, client: GoogleClient, address: str, clock: Clock) -> None:
        self._client = client
        self._address = address
        self._clock = clock
        self._watched: dict[str, _Watched] = {}

    async def has_changed(self, calendar_id: str) -> bool:
        """Check whether a calendar may have changed since the last call; open or renew its channel if that is due."""
        watched = self._watched.setdefault(calendar_id, _Watched())
        await self._keep_open(calendar_id, watched)
        now = self._clock.now()
        told = watched.channel is not None and now < watched.channel.expires_at
        recent = watched.asked_at is not None and now < watched.asked_at + TRUSTED_FOR
        if told and recent and not watched.changed:
            return False
        watched.changed, watched.asked_at = False, now
        return True

    def accept(self, headers: Mapping[str, str]) -> bool:
        """Take a notice by its headers, whose names are in lower case; return whether it is one of an open channel.

        Anyone can send something to the address: only a notice with the channel's secret counts.
        """
        for watched in self._watched.values():
            channel = watched.channel
            if channel is None or headers.get("x-goog-channel-id") != channel.id:
                continue
            sent = headers.get("x-goog-channel-token", "").encode()
            if not hmac.compare_digest(sent, channel.token.encode()):
                return False
            if headers.get("x-goog-resource-state") != "sync":  # the greeting of a new channel
                watched.changed = True
            return True
        return False

    async def stop(self) -> None:
        """Close all channels. One that Google does not close expires by itself."""
        for watched in self._watched.values():
            if watched.channel is not None:
                await self._close(watched.channel)
        self._watched.clear()

    async def _keep_open(self, calendar_id: str, watched: _Watched) -> None:
        now, old = self._clock.now(), watched.channel
        if old is not None and now < old.expires_at - RENEW_BEFORE:
            return
        if watched.refused_at is not None and now < watched.refused_at + RETRY_AFTER:
            return
        opened = await self._open(calendar_id)
        watched.refused_at = now if opened is None else None
        if opened is None:
            return
        # Neither channel tells what changed between the two, so the calendar counts as changed.
        watched.channel, watched.changed = opened, True
        if old is not None:
            await self._close(old)

    async def _open(self, calendar_id: str) -> Channel | None:
        token, expires = token_urlsafe(32), self._clock.now() + LASTS
        body = {
            "id": uuid.uuid4().hex,
            "type": "web_hook",
            "address": self._address,
            "token": token,
            "expiration": str(int(expires.timestamp() * 1000)),
        }
        answer = await self._client.write("POST", build_path("calendars", calendar_id, "events", "watch"), body=body)
        if isinstance(answer, Refusal):
            log.warning("Google opens no channel for a calendar, so it is polled: %s", answer.words)
            return None
        until = datetime.fromtimestamp(int(answer.get("expiration", body["expiration"])) / 1000, UTC)
        return Channel(body["id"], str(answer.get("resourceId", "")), calendar_id, token, until)

    async def _close(self, channel: Channel) -> None:
        body = {"id": channel.id, "resourceId": channel.resource_id}
        answer = await self._client.write("POST", build_path("channels", "stop"), body=body)
        if isinstance(answer, Refusal):
            log.info("a channel was not closed and expires at %s: %s", channel.expires_at, answer.words)

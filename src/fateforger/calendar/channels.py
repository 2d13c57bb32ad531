"""Push channels: a provider tells this program that a calendar changed, so that it need not ask."""

from __future__ import annotations

import logging
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import token_urlsafe
from typing import Protocol

from fateforger.ports.clock import Clock
from fateforger.values import replace

log = logging.getLogger(__name__)

LASTS = timedelta(days=1)
"""The life of a channel. Those of a calendar that is not read any more end by themselves."""
RENEW_BEFORE = timedelta(hours=1)
TRUSTED_FOR = timedelta(minutes=5)
"""A calendar is asked about at least so often: no provider promises that every change is told."""
RETRY_AFTER = timedelta(minutes=10)
"""A channel that was refused is asked for again after this time; until then the calendar is polled."""


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel of a person's calendar.

    ``remote_id`` is the provider's name of it, empty until the provider has opened it. ``notices`` have arrived so far.
    """

    id: str
    user_id: str
    calendar_id: str
    expires_at: datetime
    remote_id: str = ""
    notices: int = 0


class Channels(Protocol):
    """The channels of all people, shared by all programs. Each call is one commit, and raises ``StoreError``."""

    async def find(self, user_id: str, calendar_id: str) -> Channel | None:
        """Return the channel of a calendar that lasts longest, of those that the provider has opened."""
        ...

    async def of(self, user_id: str) -> tuple[Channel, ...]: ...

    async def add(self, channel: Channel, secret: str, *, now: datetime) -> None:
        """Keep a channel that is about to be opened, and forget those that have expired.

        Of the ``secret`` only a digest is kept.
        """
        ...

    async def keep(self, channel: Channel) -> None:
        """Keep the provider's name of a channel and its end."""
        ...

    async def remove(self, channel_id: str) -> None: ...

    async def count_notice(self, channel_id: str, secret: str) -> str | None:
        """Count a notice, and return the person whose calendar changed.

        ``None`` without effect for an unknown channel or another secret, which are compared in constant time.
        """
        ...


class ChannelApi(Protocol):
    """Channels at a provider, for one account."""

    async def open(self, channel: Channel, secret: str) -> Channel | None:
        """Open a channel, and return it with the provider's name of it; ``None`` if the provider refuses."""
        ...

    async def renew(self, channel: Channel, until: datetime) -> Channel | None:
        """Let a channel last longer; ``None`` if that is refused or impossible, so that a new one is needed."""
        ...

    async def close(self, channel: Channel) -> None:
        """Close a channel. One that is not closed expires by itself."""
        ...


@dataclass(slots=True)
class _Heard:
    """The state of a calendar as of its last read."""

    notice: tuple[str, int] | None = None
    asked_at: datetime | None = None
    refused_at: datetime | None = None


class PushSignals:
    """Implements :class:`fateforger.calendar.ports.Signals` for one person's account, by its channels.

    A calendar without a channel, because the provider refused one or it was not opened yet, counts as changed, so it is
    polled. A channel is kept before it is opened, and outlives this program: any program may receive its notices.
    """

    def __init__(self, api: ChannelApi, channels: Channels, user_id: str, clock: Clock) -> None:
        self._api = api
        self._channels = channels
        self._user_id = user_id
        self._clock = clock
        self._heard: dict[str, _Heard] = {}

    async def has_changed(self, calendar_id: str) -> bool:
        """Check whether a calendar may have changed; open or renew its channel if that is due."""
        heard = self._heard.setdefault(calendar_id, _Heard())
        channel = await self._keep_open(calendar_id, heard)
        now = self._clock.now()
        notice = None if channel is None else (channel.id, channel.notices)
        recent = heard.asked_at is not None and now < heard.asked_at + TRUSTED_FOR
        if notice is not None and notice == heard.notice and recent:
            return False
        heard.notice, heard.asked_at = notice, now
        return True

    async def stop(self) -> None:
        """Close all channels of the person."""
        for channel in await self._channels.of(self._user_id):
            await self._close(channel)

    async def _keep_open(self, calendar_id: str, heard: _Heard) -> Channel | None:
        now, old = self._clock.now(), await self._channels.find(self._user_id, calendar_id)
        if old is not None and now < old.expires_at - RENEW_BEFORE:
            return old
        usable = old if old is not None and now < old.expires_at else None
        if heard.refused_at is not None and now < heard.refused_at + RETRY_AFTER:
            return usable
        if usable is not None and (renewed := await self._api.renew(usable, now + LASTS)) is not None:
            await self._channels.keep(renewed)
            return renewed
        opened = await self._open(calendar_id, now)
        heard.refused_at = now if opened is None else None
        if opened is not None and usable is not None:
            # Neither channel tells what changed between the two; another channel counts as a notice.
            await self._close(usable)
        return opened or usable

    async def _open(self, calendar_id: str, now: datetime) -> Channel | None:
        secret = token_urlsafe(32)
        wanted = Channel(uuid.uuid4().hex, self._user_id, calendar_id, now + LASTS)
        await self._channels.add(wanted, secret, now=now)
        opened = await self._api.open(wanted, secret)
        if opened is None:
            log.warning("no channel is opened for a calendar, so it is polled")
            await self._channels.remove(wanted.id)
            return None
        await self._channels.keep(opened)
        return opened

    async def _close(self, channel: Channel) -> None:
        await self._api.close(channel)
        await self._channels.remove(channel.id)


def extend(channel: Channel, remote_id: str, until: datetime) -> Channel:
    """Return a channel as the provider has opened or renewed it."""
    return replace(channel, remote_id=remote_id, expires_at=until)

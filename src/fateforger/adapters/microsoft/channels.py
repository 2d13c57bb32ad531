"""Push channels at Microsoft: the subscriptions of Graph."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from urllib.parse import quote

from fateforger.adapters.microsoft.client import GraphClient, Json
from fateforger.adapters.microsoft.refusals import Refused
from fateforger.calendar.channels import Channel, extend

log = logging.getLogger(__name__)


class MicrosoftChannels:
    """The subscriptions of one mailbox. Implements :class:`fateforger.calendar.channels.ChannelApi`.

    ``address`` is a public https address of this program, which Graph tries before it opens a subscription. Graph
    chooses the id, so each notice names the channel and its secret in the state that Graph repeats.
    """

    def __init__(self, client: GraphClient, address: str) -> None:
        self._client = client.in_background()
        self._address = address

    async def open(self, channel: Channel, secret: str) -> Channel | None:
        body = {
            "changeType": "created,updated,deleted",
            "notificationUrl": self._address,
            "resource": f"me/calendars/{quote(channel.calendar_id, safe='')}/events",
            "expirationDateTime": _format(channel.expires_at),
            "clientState": f"{channel.id}.{secret}",
        }
        return self._read(channel, await self._client.request("POST", "/subscriptions", body=body))

    async def renew(self, channel: Channel, until: datetime) -> Channel | None:
        path, body = _build_path(channel), {"expirationDateTime": _format(until)}
        return self._read(channel, await self._client.request("PATCH", path, body=body))

    async def close(self, channel: Channel) -> None:
        answer = await self._client.request("DELETE", _build_path(channel))
        if isinstance(answer, Refused):
            log.info("a subscription was not closed and expires at %s: %s", channel.expires_at, answer.reason)

    def _read(self, channel: Channel, answer: Json | Refused) -> Channel | None:
        if isinstance(answer, Refused):
            log.warning("Microsoft opens no subscription: %s", answer.reason)
            return None
        try:
            return extend(channel, str(answer["id"]), datetime.fromisoformat(answer["expirationDateTime"]))
        except (KeyError, TypeError, ValueError):
            log.warning("Microsoft's answer about a subscription cannot be read")
            return None


def _build_path(channel: Channel) -> str:
    return f"/subscriptions/{quote(channel.remote_id, safe='')}"


def _format(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"

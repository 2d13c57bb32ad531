"""Push channels at Google: ``events.watch`` and ``channels.stop``."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from fateforger.adapters.google.client import GoogleClient, build_path
from fateforger.adapters.google.refusals import Refusal
from fateforger.calendar.channels import Channel, extend

log = logging.getLogger(__name__)


class GoogleChannels:
    """The channels of one account. Implements :class:`fateforger.calendar.channels.ChannelApi`.

    ``address`` is a public https address of this program. Google repeats the id and the secret of a channel in each
    notice.
    """

    def __init__(self, client: GoogleClient, address: str) -> None:
        self._client = client.in_background()
        self._address = address

    async def open(self, channel: Channel, secret: str) -> Channel | None:
        body = {
            "id": channel.id,
            "type": "web_hook",
            "address": self._address,
            "token": secret,
            "expiration": str(int(channel.expires_at.timestamp() * 1000)),
        }
        path = build_path("calendars", channel.calendar_id, "events", "watch")
        answer = await self._client.request("POST", path, body=body)
        if isinstance(answer, Refusal):
            log.warning("Google opens no channel: %s", answer.words)
            return None
        until = datetime.fromtimestamp(int(answer.get("expiration", body["expiration"])) / 1000, UTC)
        return extend(channel, str(answer.get("resourceId", "")), until)

    async def renew(self, channel: Channel, until: datetime) -> Channel | None:
        """Return ``None``: a channel of Google ends when it ends."""
        del channel, until
        return None

    async def close(self, channel: Channel) -> None:
        body = {"id": channel.id, "resourceId": channel.remote_id}
        answer = await self._client.request("POST", build_path("channels", "stop"), body=body)
        if isinstance(answer, Refusal):
            log.info("a channel was not closed and expires at %s: %s", channel.expires_at, answer.words)

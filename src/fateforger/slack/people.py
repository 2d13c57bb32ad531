"""Profile data of people in Slack."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from slack_sdk.web.async_client import AsyncWebClient

from fateforger.ports import Clock
from fateforger.slack.calling import SlackCallError, call_slack

log = logging.getLogger(__name__)

KEPT = timedelta(hours=1)
MAX_KEPT = 10_000


class People:
    """Cache of time zones and direct message channels."""

    def __init__(self, client: AsyncWebClient, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._zones: dict[str, tuple[str, datetime]] = {}
        self._channels: dict[str, str] = {}

    async def zone(self, user_id: str) -> str | None:
        """Return a person's IANA zone as set in Slack. If Slack fails, return the last known one or ``None``."""
        known = self._zones.get(user_id)
        now = self._clock.now()
        if known is not None and known[1] > now:
            return known[0]
        try:
            answer = await call_slack(self._client.users_info(user=user_id))
        except SlackCallError as trouble:
            log.warning("users.info failed: %s", trouble)
            return known[0] if known else None
        zone = answer.get("user", {}).get("tz")
        if not isinstance(zone, str) or not zone:
            return None
        if len(self._zones) >= MAX_KEPT:
            self._zones.clear()
        self._zones[user_id] = (zone, now + KEPT)
        return zone

    async def direct_channel(self, user_id: str) -> str:
        """Return the channel of direct messages with a person. Raises ``SlackCallError``."""
        if user_id not in self._channels:
            answer = await call_slack(self._client.conversations_open(users=user_id))
            if len(self._channels) >= MAX_KEPT:
                self._channels.clear()
            self._channels[user_id] = str(answer["channel"]["id"])
        return self._channels[user_id]

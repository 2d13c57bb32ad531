"""Ephemeral messages to one person, outside any session."""

from __future__ import annotations

import logging

from slack_sdk.web.async_client import AsyncWebClient

from fateforger.slack.arrivals import Place
from fateforger.slack.calling import SlackCallError, call_slack
from fateforger.slack.people import People

log = logging.getLogger(__name__)


class EphemeralMessages:
    """Sends short messages to one person. They are not stored; a failure is only logged."""

    def __init__(self, client: AsyncWebClient, people: People) -> None:
        self._client = client
        self._people = people

    async def send_ephemeral(self, user_id: str, place: Place, words: str) -> None:
        """Send an ephemeral message to the thread, or a direct message if there is no channel."""
        try:
            if place.channel is None:
                channel = await self._people.direct_channel(user_id)
                await call_slack(self._client.chat_postMessage(channel=channel, text=words))
            else:
                await call_slack(
                    self._client.chat_postEphemeral(
                        channel=place.channel, user=user_id, thread_ts=place.thread_ts, text=words
                    )
                )
        except SlackCallError as trouble:
            log.warning("a sentence to %s was not delivered: %s", user_id, trouble)

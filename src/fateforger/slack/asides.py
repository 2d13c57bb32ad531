"""Sentences for one person only, outside of any session."""

from __future__ import annotations

import logging

from slack_sdk.web.async_client import AsyncWebClient

from fateforger.slack.arrivals import Place
from fateforger.slack.calling import SlackTrouble, called
from fateforger.slack.people import People

log = logging.getLogger(__name__)


class Asides:
    """Says something to one person where they just were. It is not kept: when it fails, that is logged and no more."""

    def __init__(self, client: AsyncWebClient, people: People) -> None:
        self._client = client
        self._people = people

    async def whisper(self, user_id: str, place: Place, words: str) -> None:
        """An ephemeral message in the thread, or a direct message when the person was in no channel."""
        try:
            if place.channel is None:
                channel = await self._people.direct_channel(user_id)
                await called(self._client.chat_postMessage(channel=channel, text=words))
            else:
                await called(
                    self._client.chat_postEphemeral(
                        channel=place.channel, user=user_id, thread_ts=place.thread_ts, text=words
                    )
                )
        except SlackTrouble as trouble:
            log.warning("a sentence to %s was not delivered: %s", user_id, trouble)

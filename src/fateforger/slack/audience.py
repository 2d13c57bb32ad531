"""Who can read what stands in a place of Slack: the one module that decides what may be shown where (K14)."""

from __future__ import annotations

from fateforger.slack.arrivals import Place
from fateforger.slack.people import People

DIRECT = "D"
"""Slack's ids of conversations between two begin so. The bot can post only to those that it is one of the two in."""


def is_private(channel: str) -> bool:
    """Check whether one person alone reads what the bot posts there. Others read channels and group messages, or can
    join and read them later, also where nobody else is yet."""
    return channel.startswith(DIRECT)


class Audience:
    """Finds the place where what is a person's own may be shown."""

    def __init__(self, people: People) -> None:
        self._people = people

    async def private_place(self, user_id: str, asked: Place) -> Place:
        """Return the place where the person asked if they alone read there, otherwise the top of their direct messages
        with the bot. A conversation of theirs with somebody else is none of these. Raises ``SlackTrouble``."""
        direct = await self._people.direct_channel(user_id)
        return asked if asked.channel == direct else Place(direct)

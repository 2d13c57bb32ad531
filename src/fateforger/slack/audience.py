"""Audience: decide which places only one person can read (K14)."""

from __future__ import annotations

from fateforger.slack.arrivals import Place
from fateforger.slack.people import People

DIRECT = "D"
"""Prefix of Slack's ids of direct messages. The bot can only post to those that it is part of."""


def is_private(channel: str) -> bool:
    """Check whether only one person reads the bot's messages in a channel.

    Channels and group messages count as public even while no one else is in them, because others can join and read them
    later.
    """
    return channel.startswith(DIRECT)


class Audience:
    """Finds the place for content that only its owner may read."""

    def __init__(self, people: People) -> None:
        self._people = people

    async def private_place(self, user_id: str, asked: Place) -> Place:
        """Return the place of the request if only the person reads there, otherwise the top of their direct messages.

        A conversation between the person and someone else does not qualify.
        Raises :class:`~fateforger.slack.calling.SlackCallError`.
        """
        direct = await self._people.direct_channel(user_id)
        return asked if asked.channel == direct else Place(direct)

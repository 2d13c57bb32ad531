"""People in Slack: their profiles, the places only they can read (K14), and whether they may plan."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from slack_sdk.web.async_client import AsyncWebClient

from fateforger.conversation.ports import CoordinatorPort
from fateforger.errors import BadInput
from fateforger.ports.clock import Clock
from fateforger.ports.people import Claim
from fateforger.session.cards import Card, Prose
from fateforger.slack import phrases
from fateforger.slack.blocks import render
from fateforger.slack.client import SlackCallError, call_slack
from fateforger.slack.payloads import Place
from fateforger.text import TIMEBOX, command_name, name_commands
from fateforger.text import gettext as _
from fateforger.ui.connection_cards import connect_card
from fateforger.workers.people import LanguageService, is_code

log = logging.getLogger(__name__)

KEPT = timedelta(hours=1)
MAX_KEPT = 10_000


Said = str | Card
"""An answer to a person: a sentence, or a card without a session."""


def build_message(said: Said) -> dict[str, Any]:
    """Return the arguments of a message that says this."""
    if isinstance(said, str):
        return {"text": said}
    message = render(said, session="", v=uuid4().hex)
    return {"text": message.text, "blocks": message.blocks}


class People:
    """Time zones and direct messages of people in Slack, both cached. The language of a profile is noted."""

    def __init__(self, client: AsyncWebClient, clock: Clock, languages: LanguageService) -> None:
        self._client = client
        self._languages = languages
        self._clock = clock
        self._zones: dict[str, tuple[str, datetime]] = {}
        self._channels: dict[str, str] = {}
        self._team = ""

    async def zone(self, user_id: str) -> str | None:
        """Return a person's IANA zone as set in Slack. If Slack fails, return the last known one or ``None``.

        Raises ``StoreError`` if the language cannot be noted.
        """
        known = self._zones.get(user_id)
        now = self._clock.now()
        if known is not None and known[1] > now:
            return known[0]
        try:
            answer = await call_slack(self._client.users_info(user=user_id, include_locale=True))
        except SlackCallError as trouble:
            log.warning("users.info failed: %s", trouble)
            return known[0] if known else None
        profile = answer.get("user", {})
        await self._languages.note_profile(user_id, profile.get("locale"))
        zone = profile.get("tz")
        if not isinstance(zone, str) or not zone:
            return None
        if len(self._zones) >= MAX_KEPT:
            self._zones.clear()
        self._zones[user_id] = (zone, now + KEPT)
        return zone

    async def address(self, user_id: str) -> str:
        """Return the confirmed mail address of a person of this workspace; empty if Slack does not give one.

        People of other workspaces, whose administrators we do not know, have none.
        """
        try:
            user = (await call_slack(self._client.users_info(user=user_id))).get("user", {})
            self._team = self._team or str((await call_slack(self._client.auth_test())).get("team_id"))
        except SlackCallError as trouble:
            log.warning("users.info failed: %s", trouble)
            return ""
        own = {user.get("team_id"), *user.get("enterprise_user", {}).get("teams", ())}
        foreign = self._team not in own or user.get("is_stranger") or user.get("deleted") or user.get("is_bot")
        if foreign or user.get("is_email_confirmed") is False:
            return ""
        return str(user.get("profile", {}).get("email") or "")

    async def direct_channel(self, user_id: str) -> str:
        """Return the channel of direct messages with a person. Raises ``SlackCallError``."""
        if user_id not in self._channels:
            answer = await call_slack(self._client.conversations_open(users=user_id))
            self.learn_direct(user_id, str(answer["channel"]["id"]))
        return self._channels[user_id]

    def knows_direct(self, user_id: str) -> bool:
        """Check whether the channel of direct messages with a person is known without asking Slack."""
        return user_id in self._channels

    def learn_direct(self, user_id: str, channel: str) -> None:
        """Remember the channel of direct messages with a person, in which they just were."""
        if len(self._channels) >= MAX_KEPT:
            self._channels.clear()
        self._channels[user_id] = channel

    async def send_ephemeral(self, user_id: str, place: Place, said: Said) -> None:
        """Show a message to one person in a thread, or send it directly if there is no channel.

        It is not stored, and a failure is only logged.
        """
        message = build_message(said)
        try:
            if place.channel is None:
                channel = await self.direct_channel(user_id)
                await call_slack(self._client.chat_postMessage(channel=channel, **message))
            else:
                await call_slack(
                    self._client.chat_postEphemeral(
                        channel=place.channel, user=user_id, thread_ts=place.thread_ts, **message
                    )
                )
        except SlackCallError as trouble:
            log.warning("a sentence to %s was not delivered: %s", user_id, trouble)


DIRECT = "D"
"""Prefix of Slack's ids of direct messages. The bot can only post to those that it is part of."""


def is_private(channel: str) -> bool:
    """Check whether only one person reads the bot's messages in a channel.

    Channels and group messages count as public even while no one else is in them, because others can join and read them
    later.
    """
    return channel.startswith(DIRECT)


async def find_private_place(people: People, user_id: str, asked: Place) -> Place:
    """Return the place of the request if only the person reads there, otherwise the top of their direct messages.

    A conversation between the person and someone else does not qualify. Raises
    :class:`~fateforger.slack.client.SlackCallError`.
    """
    direct = await people.direct_channel(user_id)
    return asked if asked.channel == direct else Place(direct)


CLAIM = "claim"
"""Word that precedes a code."""
CONNECT = "connect"
"""Word that asks for the link to connect a calendar."""


class CalendarRefused(BadInput):
    """The person cannot plan here; ``card`` says why, with a remedy."""

    def __init__(self, card: Card) -> None:
        super().__init__(card.text)
        self.card = card


async def calendar_refusal(door: CoordinatorPort, people: People, user_id: str) -> Card | None:
    """Return the reason why a person cannot plan here, with a remedy; ``None`` if they can."""
    if await door.has_calendar(user_id):
        return None
    owner = await door.calendar_owner()
    view = await door.describe_connection(user_id, await people.address(user_id))
    if owner.person is not None or view.link is not None:
        return connect_card(view, user_id)
    words = name_commands(phrases.CALENDAR_CLOSED if owner.closed else phrases.NOBODYS_CALENDAR)
    return Card(text=words, parts=(Prose(text=words),))


async def connect_answer(door: CoordinatorPort, people: People, user_id: str) -> Card:
    """Return how a person connects their calendar, or another one, with what is wrong with the one that they have."""
    return connect_card(await door.describe_connection(user_id, await people.address(user_id)), user_id)


async def claim_answer(door: CoordinatorPort, people: People, user_id: str, code: str) -> Said:
    """Try to claim the calendar with a code, and return the answer for the person."""
    match await door.claim_calendar(user_id, code):
        case Claim.CLAIMED:
            return name_commands(phrases.CLAIMED)
        case Claim.ALREADY_YOURS:
            return name_commands(phrases.ALREADY_YOURS)
        case Claim.WRONG | Claim.WRONG_FOR_THE_LAST_TIME:
            return _(phrases.WRONG_CODE)
        case Claim.TOO_SOON:
            return _(phrases.CODE_TOO_SOON)
        case Claim.NO_CODE:
            return _(phrases.NO_CODE)
        case Claim.TAKEN:
            return await calendar_refusal(door, people, user_id) or name_commands(phrases.ALREADY_YOURS)


def parse_typed_code(typed: str) -> str | None:
    """Parse the typed text ``claim CODE``, and return the code; ``None`` for anything else."""
    word, *code = typed.split() or [""]
    return "".join(code) if word == CLAIM and code else None


def parse_sent_code(message: str) -> str | None:
    """Return the code of a claim sent as a message, with or without the command; ``None`` for any other message.

    The code must have its dash, because ordinary messages may begin with the same word.
    """
    words = message.removeprefix(command_name(TIMEBOX)).strip()
    code = parse_typed_code(words)
    return code if code is not None and is_code(code) else None

"""People in Slack: their profiles and zones, the places only they can read (K14), and whether they may plan.

Zones and links are asked for when a command is carried out, so that no acknowledgement waits for Slack.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar
from uuid import uuid4

from fateforger.conversation.ports import CoordinatorPort
from fateforger.errors import BadInput, InternalError
from fateforger.ports.clock import Clock
from fateforger.ports.people import Claim, Zones
from fateforger.session.cards import Card, Prose
from fateforger.session.commands import InboxCommand
from fateforger.session.commands.rules import RememberConstraint, ReviseConstraint
from fateforger.session.commands.thread import Opening, StartTimeboxing, TimeboxingUserReply
from fateforger.session.queue_commands import EnqueueTask, HomeCommandBase, PlanWeek, QueueCommand, QueueCommandBase
from fateforger.slack import phrases
from fateforger.slack.admission import Admission, Standing, read_standing
from fateforger.slack.blocks import render
from fateforger.slack.client import SlackCallError, SlackLoginError, TransientSlackError, call_slack
from fateforger.slack.ids import get_bare, get_tenant, qualify
from fateforger.slack.limits import LimitedClient
from fateforger.slack.mrkdwn import Mrkdwn, escape, find_mentions, name_mentions
from fateforger.slack.payloads import Place
from fateforger.text import TIMEBOX, clean_text, command_name, name_commands
from fateforger.text import gettext as _
from fateforger.ui.connection_cards import connect_card
from fateforger.values import replace, replace_named
from fateforger.workers.lanes import TryLater
from fateforger.workers.people import LanguageService, is_code

log = logging.getLogger(__name__)
PAUSES = (0.5, 2.0, 8.0)
"""Seconds before each further try of a sentence."""
LONGEST_PAUSE = 30.0
"""The same, if Slack asks for more."""

MOST_MENTIONS = 10
"""Most people of one message whose names Slack is asked for."""
KEPT = timedelta(hours=1)
MAX_KEPT = 10_000


Said = str | Card
"""An answer to a person: a sentence, or a card without a session."""


def build_message(said: Said) -> dict[str, Any]:
    """Return the arguments of a message that says this. Text that a sentence quotes neither pings nor links."""
    if isinstance(said, str):
        return {"text": said if isinstance(said, Mrkdwn) else escape(clean_text(said))}
    message = render(said, session="", v=uuid4().hex)
    return {"text": message.text, "blocks": message.blocks}


class People:
    """Time zones and direct messages of people in Slack, and whether they may plan.

    What Slack says of a person is noted for all programs. Without ``admission`` everybody may plan.
    """

    def __init__(
        self,
        client: LimitedClient,
        clock: Clock,
        languages: LanguageService,
        zones: Zones,
        admission: Admission | None = None,
    ) -> None:
        self._client = client
        self._admission = admission
        self._languages = languages
        self._clock = clock
        self._zones = zones
        self._channels: dict[str, str] = {}
        self._own: dict[str, tuple[str, ...]] = {}

    async def zone(self, user_id: str, *, note: bool = True) -> str | None:
        """Return a person's IANA zone as set in Slack. If Slack fails, return the last known one or ``None``.

        Without ``note``, nothing is noted of what Slack says. Raises ``StoreError``.
        """
        known = await self._zones.of(user_id)
        now = self._clock.now()
        if known is not None and known[1] > now:
            return known[0]
        try:
            answer = await call_slack(self._client.users_info(user=user_id, include_locale=True))
            user = answer.get("user", {})
            if note:
                await self.note_user(user_id, user)
        except SlackCallError as trouble:
            log.warning("users.info failed: %s", trouble)
            return known[0] if known else None
        zone = _read_zone(user)
        if note and zone is not None and known is None:
            await self._zones.keep(user_id, zone, until=now + KEPT)
        return zone

    async def note_user(self, user_id: str, user: Mapping[str, Any]) -> None:
        """Note what Slack says about a person: their language and zone, and if they are member, guest or stranger.

        The zone is only noted if it has been asked for, so that none is kept of a person who was erased. Raises
        ``StoreError``, and ``SlackCallError`` if the workspace is unknown and Slack does not tell it.
        """
        if self._admission is not None:
            await self._admission.standings.keep(user_id, read_standing(user, await self._find_own(user_id)))
        await self._languages.note_profile(user_id, user.get("locale"))
        zone = _read_zone(user)
        if zone is not None and await self._zones.of(user_id) is not None:
            await self._zones.keep(user_id, zone, until=self._clock.now() + KEPT)

    async def find_refusal(self, user_id: str) -> str | None:
        """Return why a person may not plan, as guests and strangers; ``None`` if they may, or are not known yet.

        Only the database is asked. Raises ``StoreError``.
        """
        return None if self._admission is None else await self._admission.find_refusal(user_id)

    async def admit(self, user_id: str) -> str | None:
        """Return why a person may not plan, asking Slack about one who is not known yet.

        Raises ``SlackCallError`` and ``StoreError``.
        """
        if self._admission is None:
            return None
        if await self._admission.standings.of(user_id) is None:
            await self.note_user(user_id, (await call_slack(self._client.users_info(user=user_id))).get("user", {}))
        return await self._admission.find_refusal(user_id)

    async def _find_own(self, user_id: str) -> frozenset[str]:
        """Return the workspace in which a person is known, and its organization if it has one."""
        tenant = get_tenant(user_id)
        if tenant not in self._own:
            who = await call_slack((await self._client.client_of(user_id)).auth_test())
            team = () if who.get("is_enterprise_install") else (str(who.get("team_id") or ""),)
            self._own[tenant] = (*team, str(who.get("enterprise_id") or ""))
        return frozenset(filter(None, self._own[tenant]))

    async def address(self, user_id: str) -> str:
        """Return the confirmed mail address of a person of this workspace; empty if Slack does not give one.

        People of other organizations, whose administrators we do not know, have none.
        """
        try:
            user = (await call_slack(self._client.users_info(user=user_id))).get("user", {})
            standing = read_standing(user, await self._find_own(user_id))
            await self.note_user(user_id, user)
        except SlackCallError as trouble:
            log.warning("users.info failed: %s", trouble)
            return ""
        foreign = standing in {Standing.STRANGER, Standing.DEACTIVATED, Standing.BOT}
        if foreign or user.get("is_email_confirmed") is False:
            return ""
        return str(user.get("profile", {}).get("email") or "")

    async def name_mentioned(self, text: str, user_id: str) -> str:
        """Return a person's text with names for the ids of mentioned people, so that no task is called after an id."""
        mentioned = sorted(find_mentions(text))[:MOST_MENTIONS]
        names = await asyncio.gather(*(self._find_name(qualify(get_tenant(user_id), each)) for each in mentioned))
        return name_mentions(text, {each: name for each, name in zip(mentioned, names, strict=True) if name})

    async def _find_name(self, user_id: str) -> str:
        """Return the name that Slack shows of a person; nothing if it tells none."""
        try:
            user = (await call_slack(self._client.users_info(user=user_id))).get("user", {})
        except SlackCallError as trouble:
            log.warning("users.info failed: %s", trouble)
            return ""
        profile = user.get("profile", {})
        return str(profile.get("display_name") or profile.get("real_name") or user.get("name") or "")

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

        If the place is somebody else's direct messages, it is sent directly as well. It is not stored. After a
        transient failure it is sent again a few times; then the failure is only logged.
        """
        for pause in (*PAUSES, None):
            try:
                await self.show(user_id, place, said)
            except SlackCallError as trouble:
                again = pause if _passes(trouble) else None
                if again is None:
                    log.warning("a sentence to %s was not delivered: %s", user_id, trouble)
                    return
                asked = getattr(trouble, "retry_after", None)
                await asyncio.sleep(again if asked is None else min(asked, LONGEST_PAUSE))
            else:
                return

    async def show(self, user_id: str, place: Place, said: Said) -> None:
        """Try once what :meth:`send_ephemeral` does. Raises ``SlackCallError``."""
        channel, message = place.channel, build_message(said)
        if channel is None or is_private(channel):
            channel = await self.direct_channel(user_id)
        if channel == place.channel:
            shown = self._client.chat_postEphemeral(channel=channel, user=user_id, thread_ts=place.thread_ts, **message)
        else:
            shown = self._client.chat_postMessage(channel=channel, unfurl_links=False, unfurl_media=False, **message)
        await call_slack(shown)


def _read_zone(user: Mapping[str, Any]) -> str | None:
    zone = user.get("tz")
    return zone if isinstance(zone, str) and zone else None


def _passes(trouble: SlackCallError) -> bool:
    """Check whether another try may succeed. A login has to be mended by an administrator first."""
    return isinstance(trouble, TransientSlackError) and not isinstance(trouble, SlackLoginError)


DIRECT = "D"
"""Prefix of Slack's ids of direct messages. The bot can only post to those that it is part of."""


def is_private(channel: str) -> bool:
    """Check whether only one person reads the bot's messages in a channel.

    Channels and group messages count as public even while no one else is in them, because others can join and read them
    later.
    """
    return get_bare(channel).startswith(DIRECT)


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
    words = await people.find_refusal(user_id)
    if words is None:
        if await door.has_calendar(user_id):
            return None
        address = await people.address(user_id)  # with which Slack tells who they are
        words = await people.find_refusal(user_id)
    if words is not None:
        return Card(text=words, parts=(Prose(text=words),))
    owner = await door.calendar_owner()
    view = await door.describe_connection(user_id, address)
    if owner.person is not None or view.link is not None:
        return connect_card(view, user_id)
    words = name_commands(phrases.CALENDAR_CLOSED if owner.closed else phrases.NOBODYS_CALENDAR)
    return Card(text=words, parts=(Prose(text=words),))


async def connect_answer(door: CoordinatorPort, people: People, user_id: str) -> Card:
    """Return how a person connects their calendar, or another one, with what is wrong with the one that they have."""
    address = await people.address(user_id)
    words = await people.find_refusal(user_id)
    if words is not None:
        return Card(text=words, parts=(Prose(text=words),))
    return connect_card(await door.describe_connection(user_id, address), user_id)


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


_PLACES = ("channel", "heard_channel", "message_channel")
_Statement = TypeVar("_Statement", bound=RememberConstraint | ReviseConstraint)


@dataclass(frozen=True, slots=True)
class Places:
    """Completes commands before they are carried out."""

    people: People
    client: LimitedClient

    async def complete(self, command: InboxCommand) -> InboxCommand:
        """Return a command with everything that only Slack knows. Raises ``TryLater`` while Slack does not tell it.

        Raises ``InternalError`` for a command that names a place in a workspace which is not the person's.
        """
        _check_workspace(command)
        try:
            if isinstance(command, QueueCommandBase):
                return await self._complete_queue_command(command)
            if isinstance(command, RememberConstraint | ReviseConstraint) and not command.session_id:
                return await self._complete_statement(command)
            if isinstance(command, Opening | TimeboxingUserReply):
                text = await self.people.name_mentioned(command.text, command.user_id)
                command = replace_named(command, {"text": text})
            if isinstance(command, StartTimeboxing | Opening) and not command.tz:
                return await self._complete_beginning(command)
        except TransientSlackError as trouble:
            raise TryLater(f"Slack does not say where the answer belongs: {trouble}", trouble.retry_after) from trouble
        except SlackCallError as trouble:
            raise TryLater(f"Slack does not say where the answer belongs: {trouble}") from trouble
        return command

    async def admit(self, user_id: str) -> str | None:
        """Return why a person may not plan; ``None`` if they may. Raises ``TryLater`` while Slack does not tell it."""
        try:
            return await self.people.admit(user_id)
        except TransientSlackError as trouble:
            raise TryLater(f"Slack does not say who that is: {trouble}", trouble.retry_after) from trouble
        except SlackCallError as trouble:
            raise TryLater(f"Slack does not say who that is: {trouble}") from trouble

    async def _complete_beginning(self, command: StartTimeboxing | Opening) -> StartTimeboxing | Opening:
        """Add the zone, and the place that only the person reads; the message of an opening may be elsewhere."""
        asked = Place(command.channel or None, command.thread_ts)
        self._check_room(command.user_id)
        zone = await self._find_zone(command.user_id)
        place = await find_private_place(self.people, command.user_id, asked)
        moved = {"tz": zone, "channel": str(place.channel), "thread_ts": place.thread_ts}
        if isinstance(command, Opening):
            heard = {} if place == asked else {"heard_channel": asked.channel, "heard_thread_ts": asked.thread_ts}
            return replace_named(command, moved | heard)
        if place != asked and asked.channel is not None and is_private(asked.channel):
            # Anywhere else, the acknowledgement has said so.
            await self.people.send_ephemeral(command.user_id, asked, _(phrases.PLANNED_ELSEWHERE))
        return replace_named(command, moved)

    async def _complete_queue_command(self, command: QueueCommand) -> QueueCommand:
        """Add zone, place and link; a queue is private, so a request without a card is answered in direct messages."""
        if isinstance(command, HomeCommandBase):
            return command
        changes: dict[str, object] = {}
        if not command.channel:
            self._check_room(command.user_id)
            changes["channel"] = await self.people.direct_channel(command.user_id)
        if not command.tz:
            needs_zone = isinstance(command, PlanWeek)
            zone = await (self._find_zone if needs_zone else self.people.zone)(command.user_id)
            changes["tz"] = zone or ""
        if isinstance(command, EnqueueTask) and command.message_ts and not command.origin.reference:
            link = await self._permalink(command.message_channel, command.message_ts)
            changes["origin"] = replace(command.origin, reference=link)
        return replace_named(command, changes)

    async def _complete_statement(self, command: _Statement) -> _Statement:
        """Add the person's direct messages, where a question about the rule is asked; in the next plan without them."""
        try:
            return replace(command, channel=await self.people.direct_channel(command.user_id))
        except SlackCallError as trouble:
            log.info("questions about a rule wait for the next plan: %s", trouble)
            return command

    def _check_room(self, user_id: str) -> None:
        """Raise ``TryLater`` while Slack's limits leave no room, so that no worker is kept from the turns of others."""
        pause = self.client.limit_of("conversations.open", user_id).pause
        if pause and not self.people.knows_direct(user_id):
            raise TryLater("many people begin just now", pause)

    async def _find_zone(self, user_id: str) -> str:
        zone = await self.people.zone(user_id)
        if zone is None:
            raise TryLater("Slack does not tell the person's time zone")
        return zone

    async def _permalink(self, channel: str, ts: str) -> str:
        try:
            answer = await call_slack(self.client.chat_getPermalink(channel=channel, message_ts=ts))
        except SlackCallError as trouble:
            log.warning("a message has no link: %s", trouble)
            return f"{channel} {ts}"
        return str(answer["permalink"])


def _check_workspace(command: InboxCommand) -> None:
    user_id = getattr(command, "user_id", None)
    named = (getattr(command, name, None) for name in _PLACES)
    if user_id and any(place and get_tenant(place) != get_tenant(user_id) for place in named):
        raise InternalError(f"The command {command.command_id} names a place in another workspace.")

"""Facts about a command that only Slack knows: the zone of the person, the place of the answer, the link to a message.

They are asked for when the command is carried out, so that no acknowledgement waits for Slack.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TypeVar

from fateforger.errors import InternalError
from fateforger.session.commands import InboxCommand
from fateforger.session.commands.rules import RememberConstraint, ReviseConstraint
from fateforger.session.commands.thread import Opening, StartTimeboxing
from fateforger.session.queue_commands import EnqueueTask, HomeCommandBase, PlanWeek, QueueCommand, QueueCommandBase
from fateforger.slack import phrases
from fateforger.slack.access import People, find_private_place, is_private
from fateforger.slack.client import SlackCallError, TransientSlackError, call_slack
from fateforger.slack.ids import get_tenant
from fateforger.slack.limits import LimitedClient
from fateforger.slack.payloads import MessageSaid, Place
from fateforger.text import gettext as _
from fateforger.values import replace, replace_named
from fateforger.workers.lanes import TryLater

_PLACES = ("channel", "heard_channel", "message_channel")
_Statement = TypeVar("_Statement", bound=RememberConstraint | ReviseConstraint)

log = logging.getLogger(__name__)


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


def get_heard_place(said: MessageSaid | Opening) -> tuple[str, str | None]:
    """Return the channel in which a message was written, and the thread; words after a command are in none."""
    if isinstance(said, Opening) and said.heard_channel is not None:
        return said.heard_channel, said.heard_thread_ts
    return said.channel, said.thread_ts

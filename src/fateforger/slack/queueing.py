"""Turn requests about the queue into commands that carry the place of their answer."""

from __future__ import annotations

import logging

from slack_sdk.web.async_client import AsyncWebClient

from fateforger.ports import Clock
from fateforger.session.commands.queue import EnqueueTask, HomeCommandBase, PullTask, QueueCommand, ShowTasks
from fateforger.slack import phrases
from fateforger.slack.addresses import PULL_COMMAND
from fateforger.slack.arrivals import QueueRequested
from fateforger.slack.calling import SlackCallError, call_slack
from fateforger.slack.people import People
from fateforger.tasks import read_task_id
from fateforger.values import replace

log = logging.getLogger(__name__)


class ReplyPlacement:
    """Completes queue commands. A queue is private, so a request without a card is answered in direct messages."""

    def __init__(self, people: People, client: AsyncWebClient) -> None:
        self._people = people
        self._client = client

    async def add_place(self, command: QueueCommand) -> QueueCommand:
        """Add everything that only Slack knows to a command.

        That is the place of the answer, the person's zone, and the link to the message a task was made from. Raises
        ``SlackCallError`` if there is no such place.
        """
        if isinstance(command, HomeCommandBase):
            return command
        changes: dict[str, object] = {}
        if not command.channel:
            changes["channel"] = await self._people.direct_channel(command.user_id)
        if not command.tz:
            changes["tz"] = await self._people.zone(command.user_id) or ""
        if isinstance(command, EnqueueTask) and command.message_ts:
            link = await self._permalink(command.message_channel, command.message_ts)
            changes["origin"] = replace(command.origin, reference=link)
        return command.model_copy(update=changes)

    async def is_answered_elsewhere(self, asked: QueueRequested) -> bool:
        """Check whether the answer to a slash command appears in a different place than the command."""
        return asked.place.channel != await self._people.direct_channel(asked.user_id)

    async def _permalink(self, channel: str, ts: str) -> str:
        try:
            answer = await call_slack(self._client.chat_getPermalink(channel=channel, message_ts=ts))
        except SlackCallError as trouble:
            log.warning("a message has no link: %s", trouble)
            return f"{channel} {ts}"
        return str(answer["permalink"])


def parse_queue_command(asked: QueueRequested, clock: Clock) -> PullTask | ShowTasks | str:
    """Return the command that was typed, or the words of a refusal."""
    about = {"command_id": asked.command_id, "user_id": asked.user_id, "at": clock.now()}
    if asked.command != PULL_COMMAND:
        return ShowTasks.model_validate(about)
    task_id = read_task_id(asked.said) if asked.said else None
    if asked.said and task_id is None:
        return phrases.NOT_A_TASK
    return PullTask.model_validate({**about, "task_id": task_id})

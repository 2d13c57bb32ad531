"""Welcome: the answer if the bot is addressed where no session runs."""

from __future__ import annotations

import logging
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from fateforger.background.lane import LanePolicy, LaneWorkers, TryLater
from fateforger.coordinator.door import CoordinatorPort
from fateforger.ports import Clock, Job, Jobs, NewJob, Sent
from fateforger.session.cards import Button, Card, Controls, Prose
from fateforger.session.commands import Opening
from fateforger.slack import phrases
from fateforger.slack.addresses import SAY, WELCOME
from fateforger.slack.arrivals import MessageSaid, MessagesOpened
from fateforger.slack.calling import SlackCallError, TransientSlackError, call_slack
from fateforger.slack.poster import Poster
from fateforger.slack.render import remove_controls
from fateforger.values import replace

FIRST_WORDS = ("Plan the rest of today", "Plan tomorrow", "Plan tomorrow, 8 to 16:30")
"""Suggested first messages to a model. They stay visible, so they must be valid at any hour."""

log = logging.getLogger(__name__)

GREETING_LANE = "greeting"


def greeting_job(said: MessageSaid | Opening, words: str | None = None) -> NewJob:
    """Return the job that welcomes a person once per message, or tells them ``words`` instead."""
    channel, thread_ts = get_heard_place(said)
    payload = _payload(channel, thread_ts, words)
    return NewJob(lane=GREETING_LANE, key=f"{channel} {thread_ts}", dedupe=said.command_id, payload=payload)


def first_greeting_job(opened: MessagesOpened, words: str | None = None) -> NewJob:
    """Return the job that welcomes a person to their direct messages once ever; the same with ``words``."""
    return NewJob(
        lane=GREETING_LANE,
        key=f"{opened.channel} {opened.user_id}",
        dedupe=f"{'first' if words is None else 'refused'}-{opened.user_id}",
        payload=_payload(opened.channel, None, words),
    )


def _payload(channel: str, thread_ts: str | None, words: str | None) -> dict[str, Any]:
    where = {"channel": channel, "thread_ts": thread_ts}
    return where if words is None else {**where, "words": words}


def get_heard_place(said: MessageSaid | Opening) -> tuple[str, str]:
    """Return the channel and the thread in which a message was written."""
    if isinstance(said, Opening) and said.heard_channel is not None:
        return said.heard_channel, str(said.heard_thread_ts)
    return said.channel, str(said.thread_ts)


def greeting_workers(jobs: Jobs, door: CoordinatorPort, poster: Poster, *, owner: str, clock: Clock) -> LaneWorkers:
    """Return workers that post the welcome card in the person's thread, or at the top of their direct messages."""

    async def perform(job: Job) -> None:
        channel, thread_ts = str(job.payload["channel"]), job.payload["thread_ts"]
        try:
            # An earlier try may have posted it and died before recording it.
            if job.attempts > 1 and await poster.find(channel, thread_ts, WELCOME) is not None:
                return
            words = job.payload.get("words")
            card = welcome(door) if words is None else Card(text=words, parts=(Prose(text=words),))
            await poster.post(channel, thread_ts, card, session="", v=WELCOME, for_all=True)
        except TransientSlackError as trouble:
            raise TryLater(str(trouble), trouble.retry_after) from trouble
        except SlackCallError as trouble:
            log.warning("no welcome in %s: %s", channel, trouble)

    async def given_up(_job: Job, _error: str) -> None:
        return

    return LaneWorkers(jobs, GREETING_LANE, perform, given_up, owner=owner, clock=clock, policy=LanePolicy(workers=2))


def welcome(door: CoordinatorPort) -> Card:
    """Return the welcome card, with suggestions if a model is connected."""
    card = door.welcome()
    if not door.reads_words:
        return card
    words = Controls(items=tuple(Button(label=text, action=SAY, target=text) for text in FIRST_WORDS))
    return replace(card, parts=(*card.parts, words))


async def suggest(client: AsyncWebClient, channel: str) -> None:
    """Suggest first messages at the message box of direct messages.

    If Slack does not support that, the welcome card has them.
    """
    prompts = [{"title": text, "message": text} for text in FIRST_WORDS]
    try:
        await call_slack(
            client.assistant_threads_setSuggestedPrompts(channel_id=channel, prompts=prompts, title=phrases.SUGGESTIONS)
        )
    except SlackCallError as trouble:
        log.info("nothing is suggested in %s: %s", channel, trouble)


async def retire_welcome(poster: Poster, door: CoordinatorPort, where: Sent) -> None:
    """Remove the button of a used welcome card. Cosmetic: a failure is only logged."""
    try:
        await poster.change(where, remove_controls(door.welcome()), session="", v=WELCOME, for_all=True)
    except SlackCallError as trouble:
        log.warning("a welcome card keeps its button: %s", trouble)

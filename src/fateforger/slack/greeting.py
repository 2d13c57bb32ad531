"""The welcome: what the bot answers where it is spoken to and no session runs."""

from __future__ import annotations

import logging

from slack_sdk.web.async_client import AsyncWebClient

from fateforger.background.lane import LanePolicy, LaneWorkers, TryLater
from fateforger.coordinator.door import Door
from fateforger.ports import Clock, Job, Jobs, NewJob, Sent
from fateforger.session.cards import Button, Card, Controls
from fateforger.session.commands import Opening
from fateforger.slack import phrases
from fateforger.slack.addresses import SAY, WELCOME
from fateforger.slack.arrivals import MessagesOpened, Said
from fateforger.slack.calling import Passing, SlackTrouble, called
from fateforger.slack.poster import Poster
from fateforger.slack.render import retired

FIRST_WORDS = ("Plan today", "Plan tomorrow", "Plan today, 8 to 16:30")
"""What one could say first, to a model."""

log = logging.getLogger(__name__)

GREETING_LANE = "greeting"


def greeting(said: Said | Opening) -> NewJob:
    """The job that welcomes a person, once for each of their messages."""
    return NewJob(
        lane=GREETING_LANE,
        key=f"{said.channel} {said.thread_ts}",
        dedupe=said.command_id,
        payload={"channel": said.channel, "thread_ts": said.thread_ts},
    )


def first_greeting(opened: MessagesOpened) -> NewJob:
    """The job that welcomes a person to their direct messages, once and never again."""
    return NewJob(
        lane=GREETING_LANE,
        key=f"{opened.channel} {opened.user_id}",
        dedupe=f"first-{opened.user_id}",
        payload={"channel": opened.channel, "thread_ts": None},
    )


def greeters(jobs: Jobs, door: Door, poster: Poster, *, owner: str, clock: Clock) -> LaneWorkers:
    """Workers that post the welcome card in the person's thread, or at the top of their direct messages."""

    async def perform(job: Job) -> None:
        channel, thread_ts = str(job.payload["channel"]), job.payload["thread_ts"]
        try:
            # An earlier try may have posted it and died before saying so.
            if job.attempts > 1 and await poster.find(channel, thread_ts, WELCOME) is not None:
                return
            await poster.post(channel, thread_ts, welcome(door), session="", v=WELCOME)
        except Passing as trouble:
            raise TryLater(str(trouble), trouble.retry_after) from trouble
        except SlackTrouble as trouble:
            log.warning("no welcome in %s: %s", channel, trouble)

    async def given_up(_job: Job, _error: str) -> None:
        return

    return LaneWorkers(jobs, GREETING_LANE, perform, given_up, owner=owner, clock=clock, policy=LanePolicy(workers=2))


def welcome(door: Door) -> Card:
    """The welcome; where a model reads words, with some to begin with."""
    card = door.welcome()
    if not door.reads_words:
        return card
    words = Controls(items=tuple(Button(label=text, action=SAY, target=text) for text in FIRST_WORDS))
    return card.model_copy(update={"parts": (*card.parts, words)})


async def suggest(client: AsyncWebClient, channel: str) -> None:
    """Offer the same beside the message box of somebody's direct messages. Where Slack cannot, the welcome has them."""
    prompts = [{"title": text, "message": text} for text in FIRST_WORDS]
    try:
        await called(
            client.assistant_threads_setSuggestedPrompts(channel_id=channel, prompts=prompts, title=phrases.SUGGESTIONS)
        )
    except SlackTrouble as trouble:
        log.info("nothing is suggested in %s: %s", channel, trouble)


async def retire_welcome(poster: Poster, door: Door, where: Sent) -> None:
    """Take the button off a welcome card that has done its work. Only for looks: a failure is logged and no more."""
    try:
        await poster.change(where, retired(door.welcome()), session="", v=WELCOME)
    except SlackTrouble as trouble:
        log.warning("a welcome card keeps its button: %s", trouble)

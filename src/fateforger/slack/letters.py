"""Workers that post cards which belong to no session."""

from __future__ import annotations

import logging

from fateforger.background.lane import LanePolicy, LaneWorkers, TryLater
from fateforger.background.letters import NOTIFICATION_LANE
from fateforger.ports import Clock, Job, Jobs, Sent
from fateforger.session.cards import Card
from fateforger.slack.calling import MessageGone, SlackCallError, SlackLoginError, TransientSlackError
from fateforger.slack.poster import Poster

log = logging.getLogger(__name__)

PATIENT = LanePolicy(workers=2, tries=200, longest_backoff_seconds=60.0)


def notification_workers(jobs: Jobs, poster: Poster, *, owner: str, clock: Clock) -> LaneWorkers:
    """Return workers that post each card once, even if the process ended in the middle.

    A card that replaces another one is posted as a new message if that one is gone.
    """

    async def perform(job: Job) -> None:
        try:
            await deliver_notification(job, poster)
        except (TransientSlackError, SlackLoginError) as trouble:
            after = trouble.retry_after if isinstance(trouble, TransientSlackError) else None
            raise TryLater(str(trouble), after) from trouble
        except SlackCallError as trouble:
            log.warning("the card %s was not brought: %s", job.dedupe, trouble)

    async def given_up(job: Job, error: str) -> None:
        log.error("the card %s is given up: %s", job.dedupe, error)

    return LaneWorkers(jobs, NOTIFICATION_LANE, perform, given_up, owner=owner, clock=clock, policy=PATIENT)


async def deliver_notification(job: Job, poster: Poster) -> None:
    """Post or update the card of a job. A retry first looks for the card in Slack. Raises ``SlackCallError``."""
    given = job.payload
    card, v, channel, thread_ts = Card.model_validate(given["card"]), given["v"], given["channel"], given["thread_ts"]
    if given["ts"] is not None:
        try:
            await poster.change(Sent(channel, given["ts"]), card, session="", v=v)
        except MessageGone:
            log.info("the card %s is posted anew", v)
        else:
            return
    if job.attempts > 1 and await poster.find(channel, thread_ts, v) is not None:
        return
    await poster.post(channel, thread_ts, card, session="", v=v, beside=given["beside"])

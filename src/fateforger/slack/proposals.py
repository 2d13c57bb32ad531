"""Agents' proposals: show them to the person and carry out the answers. They run in a lane of their own."""

from __future__ import annotations

import logging
from typing import get_args

from fateforger.agents import Proposal, ProposalState
from fateforger.background.lane import LanePolicy, LaneWorkers, TryLater
from fateforger.coordinator.approving import Answer, Approvals
from fateforger.coordinator.proposals import build_answer_job
from fateforger.errors import InternalError
from fateforger.ports import Clock, Job, Jobs, NewJob, Sent
from fateforger.ports.agents import PROPOSAL_LANE
from fateforger.slack.arrivals import Place, ProposalAnswered
from fateforger.slack.asides import EphemeralMessages
from fateforger.slack.audience import Audience, is_private
from fateforger.slack.calling import MessageGone, SlackCallError, SlackLoginError, TransientSlackError
from fateforger.slack.delivery import MOVED
from fateforger.slack.people import People
from fateforger.slack.poster import Poster
from fateforger.turn.present.proposal import proposal_card

log = logging.getLogger(__name__)


def proposal_answer_job(answered: ProposalAnswered) -> NewJob:
    """Return the job for a click on a proposal. Jobs of one proposal run in order."""
    return build_answer_job(
        answered.proposal_id,
        answered.answer,
        user_id=answered.user_id,
        channel=answered.place.channel,
        thread_ts=answered.place.thread_ts,
        cause=answered.command_id,
    )


class ProposalCards:
    """Cards of proposals: posted once in the plan's thread or in direct messages, then updated in place."""

    def __init__(self, approvals: Approvals, poster: Poster, people: People, audience: Audience) -> None:
        self._approvals = approvals
        self._poster = poster
        self._people = people
        self._audience = audience

    async def show(self, proposal: Proposal, *, again: bool) -> None:
        """Post or update the card of a proposal.

        ``again`` is true if an earlier try may have posted it and died. Raises ``TryLater``.
        """
        try:
            await self._show(proposal, again=again)
        except (TransientSlackError, SlackLoginError) as trouble:
            seconds = trouble.retry_after if isinstance(trouble, TransientSlackError) else None
            raise TryLater(str(trouble), seconds) from trouble
        except SlackCallError as trouble:
            log.error("the proposal %s is not shown: %s", proposal.id, trouble)  # noqa: TRY400  the sentence says it all

    async def _show(self, proposal: Proposal, *, again: bool) -> None:
        card, session, v = proposal_card(proposal), proposal.session_id, proposal.command_id
        if proposal.place is not None:
            where = Sent(*proposal.place)
            public = not is_private(where.channel)
            try:
                await self._poster.change(
                    where, MOVED if public else card, session=session, v=v, beside=True, for_all=public
                )
            except MessageGone as gone:
                log.info("the card of the proposal %s is gone: %s", proposal.id, gone)
            if not public:
                return
        if proposal.state is not ProposalState.PENDING:
            return
        channel, thread_ts = await self._where(proposal)
        posted = await self._poster.find(channel, thread_ts, v) if again else None
        if posted is None:
            posted = await self._poster.post(channel, thread_ts, card, session=session, v=v, beside=True)
        await self._approvals.record_place(proposal, posted.channel, posted.ts)

    async def _where(self, proposal: Proposal) -> tuple[str, str | None]:
        if not proposal.session_id:
            return await self._people.direct_channel(proposal.user_id), None
        found = await self._approvals.thread(proposal)
        if found is None or found[1] is None:
            raise TryLater("the thread of the plan is not there")
        place = await self._audience.private_place(proposal.user_id, Place(*found))
        return str(place.channel), place.thread_ts


def proposal_workers(
    jobs: Jobs, approvals: Approvals, showing: ProposalCards, ephemeral: EphemeralMessages, *, owner: str, clock: Clock
) -> LaneWorkers:
    """Return workers that show proposals, expire old ones, and carry out clicks on them."""

    async def perform(job: Job) -> None:
        proposal_id, do = str(job.payload["proposal"]), job.payload["do"]
        if do == "answer":
            answer, user_id = _answer(job), str(job.payload["user_id"])
            words = await approvals.answer(proposal_id, user_id, answer)
            if words is not None:
                await ephemeral.send_ephemeral(user_id, Place(job.payload["channel"], job.payload["thread_ts"]), words)
        elif do == "expire":
            await approvals.expire(proposal_id)
        elif (proposal := await approvals.get(proposal_id)) is not None:
            await showing.show(proposal, again=job.attempts > 1)

    async def given_up(_job: Job, _error: str) -> None:
        return

    return LaneWorkers(jobs, PROPOSAL_LANE, perform, given_up, owner=owner, clock=clock, policy=LanePolicy(workers=2))


def _answer(job: Job) -> Answer:
    for answer in get_args(Answer):
        if job.payload["answer"] == answer:
            known: Answer = answer
            return known
    raise InternalError(f"job {job.id} holds no answer")

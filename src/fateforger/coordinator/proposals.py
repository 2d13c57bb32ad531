"""What agents propose, as far as it is asked in a thread: answered in words as by its button."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fateforger.ports import Clock, Jobs, NewJob, Proposals
from fateforger.ports.agents import PROPOSAL_LANE
from fateforger.session.model import Session
from fateforger.session.pending import WaitingProposal
from fateforger.turn.model import AnswerAgent

ASKED = "The agent {client} would like to change this plan; its card says how. Shall I apply that?"
"""Without a word of the agent's own: this goes into a prompt, where its words might speak for the person."""


def answer_job(
    proposal_id: str, answer: str, *, user_id: str, channel: str | None, thread_ts: str | None, cause: str
) -> NewJob:
    """Return the job that does what an answer says; it waits its turn among all that is about that proposal."""
    payload = {
        "proposal": proposal_id,
        "do": "answer",
        "answer": answer,
        "user_id": user_id,
        "channel": channel,
        "thread_ts": thread_ts,
    }
    return NewJob(lane=PROPOSAL_LANE, key=proposal_id, dedupe=cause, payload=payload)


@dataclass(frozen=True, slots=True)
class ProposalDesk:
    """The proposals that wait for the person's word in the thread of their plan."""

    proposals: Proposals
    jobs: Jobs
    clock: Clock

    async def waiting(self, session: Session, at: datetime) -> tuple[WaitingProposal, ...]:
        """Return those whose cards stood in the thread before the instant ``at``: what nobody had in view when they
        wrote is not what their yes is about. Raises ``StoreError``."""
        return tuple(
            WaitingProposal(id=each.id, sentence=ASKED.format(client=each.client))
            for each in await self.proposals.waiting(session.user_id)
            if each.session_id == session.id and each.place is not None and each.made_at < at < each.expires_at
        )

    async def answer(self, effect: AnswerAgent, session: Session, cause: str) -> None:
        """Pass on the answer, once for the command ``cause``. Raises ``StoreError``."""
        job = answer_job(
            effect.proposal,
            effect.answer,
            user_id=session.user_id,
            channel=session.channel,
            thread_ts=session.thread_ts,
            cause=cause,
        )
        await self.jobs.enqueue(job, now=self.clock.now())

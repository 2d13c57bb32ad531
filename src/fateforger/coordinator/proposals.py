"""Answer the proposals of agents in a thread: words have the same effect as the buttons."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fateforger.ports import Clock, Jobs, NewJob, Proposals
from fateforger.ports.agents import PROPOSAL_LANE
from fateforger.session.model import Session
from fateforger.session.pending import WaitingProposal
from fateforger.turn.model import AnswerAgent

ASKED = "The agent {client} would like to change this plan; its card says how. Shall I apply that?"
"""It contains no text of the agent, because it enters a prompt, where such text might speak for the person."""


def build_answer_job(
    proposal_id: str, answer: str, *, user_id: str, channel: str | None, thread_ts: str | None, cause: str
) -> NewJob:
    """Return the job that carries out an answer, in order with the other jobs of the proposal."""
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
class ProposalService:
    """The pending proposals in the thread of their plan."""

    proposals: Proposals
    jobs: Jobs
    clock: Clock

    async def waiting(self, session: Session, at: datetime) -> tuple[WaitingProposal, ...]:
        """Return the proposals whose cards were posted before the instant ``at``. Raises ``StoreError``.

        The person cannot mean a card that they had not seen when they wrote.
        """
        return tuple(
            WaitingProposal(id=each.id, sentence=ASKED.format(client=each.client))
            for each in await self.proposals.waiting(session.user_id)
            if each.session_id == session.id and each.place is not None and each.made_at < at < each.expires_at
        )

    async def answer(self, effect: AnswerAgent, session: Session, cause: str) -> None:
        """Queue the answer, once for the command ``cause``. Raises ``StoreError``."""
        job = build_answer_job(
            effect.proposal,
            effect.answer,
            user_id=session.user_id,
            channel=session.channel,
            thread_ts=session.thread_ts,
            cause=cause,
        )
        await self.jobs.enqueue(job, now=self.clock.now())

"""A person's answer to an agent's proposal, by button or in words.

An approved proposal becomes an ordinary command of that person, once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, assert_never

from fateforger.agents.ports import PROPOSAL_LANE, Proposals
from fateforger.agents.proposals import ConstraintChange, PlanChange, Proposal, ProposalState
from fateforger.conversation.turn_values import AnswerAgent
from fateforger.errors import UserError
from fateforger.memory.versions import Version
from fateforger.ports.clock import Clock
from fateforger.ports.jobs import Jobs, NewJob
from fateforger.session.commands import SessionCommand
from fateforger.session.commands.plan import ApplyPatch, ApprovedChange
from fateforger.session.commands.rules import RememberConstraint, UndoMemory
from fateforger.session.model import Session
from fateforger.session.pending import WaitingProposal
from fateforger.session.proposals import describe_constraint, preview_constraint, preview_patch
from fateforger.session.store import Sessions
from fateforger.text import gettext as _
from fateforger.text import mark_message
from fateforger.workers.turns import build_command_job

ASKED = mark_message("The agent {client} would like to change this plan; its card says how. Shall I apply that?")
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
            WaitingProposal(id=each.id, sentence=_(ASKED, client=each.client))
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


Answer = Literal["apply", "deny", "undo"]
UNKNOWN = mark_message("I don't know that proposal any more.")
DECIDED = mark_message("That was decided already; the card says how.")
GONE = mark_message("The plan it was about is not there any more.")
TOO_OLD = mark_message("A day went by without an answer.")
ON_ITS_WAY = mark_message("The card of the plan says what came of it.")
OTHERWISE = mark_message("What you told me has changed since, and now it would do something else, so I did nothing.")
DONE = mark_message("It is done.")

CarryOut = Callable[[SessionCommand], Awaitable[None]]
GetReply = Callable[[str], tuple[str, ...]]
GetVersions = Callable[[str], Awaitable[tuple[Version, ...]]]


class Approvals:
    """Carries out the answers to proposals.

    ``carry_out`` runs a command outside of a session, once, and ``said`` returns its reply. ``versions``
    reads a person's constraints. The caller serializes the answers to one proposal.
    """

    def __init__(
        self,
        *,
        proposals: Proposals,
        sessions: Sessions,
        versions: GetVersions,
        jobs: Jobs,
        clock: Clock,
        carry_out: CarryOut,
        said: GetReply,
        tz: str,
    ) -> None:
        self._proposals = proposals
        self._sessions = sessions
        self._versions = versions
        self._jobs = jobs
        self._clock = clock
        self._carry_out = carry_out
        self._said = said
        self._tz = tz

    async def get(self, proposal_id: str) -> Proposal | None:
        """Return a proposal in its current state. Raises ``StoreError``."""
        return await self._proposals.get(proposal_id)

    async def thread(self, proposal: Proposal) -> tuple[str, str | None] | None:
        """Return the channel and thread of the proposal's session; ``None`` if there is no such session."""
        session = await self._sessions.load(proposal.session_id) if proposal.session_id else None
        return None if session is None else (session.channel, session.thread_ts)

    async def record_place(self, proposal: Proposal, channel: str, ts: str) -> None:
        """Record the place of the proposal's card."""
        await self._proposals.record_place(proposal.id, channel, ts)

    async def expire(self, proposal_id: str) -> None:
        """Expire a proposal that is still undecided; leave any other as it is."""
        await self._settle(proposal_id, ProposalState.EXPIRED, _(TOO_OLD))

    async def answer(self, proposal_id: str, user_id: str, answer: Answer) -> str | None:
        """Carry out a click on a proposal's card. Return a message for the person if nothing was done.

        Repeating the click has no further effect. Raises ``StoreError``; the click can then be repeated.
        """
        proposal = await self._proposals.get(proposal_id)
        if proposal is None:
            return _(UNKNOWN)
        if proposal.user_id != user_id:
            return _("<@{user_id}> is asked here, so only they can answer.", user_id=proposal.user_id)
        match answer:
            case "apply":
                return await self._apply(proposal)
            case "deny":
                denied = await self._settle(proposal_id, ProposalState.DENIED, "")
                return None if denied else _(DECIDED)
            case "undo":
                return await self._undo(proposal)
            case _:
                assert_never(answer)

    async def _apply(self, proposal: Proposal) -> str | None:
        if proposal.state is ProposalState.PENDING:
            if proposal.expires_at <= self._clock.now():
                await self.expire(proposal.id)
                return None
            trouble = await self._trouble(proposal)
            if trouble is not None:
                await self._settle(proposal.id, ProposalState.SUPERSEDED, trouble)
                return None
            await self._settle(proposal.id, ProposalState.APPROVED, "")
            proposal = await self._proposals.get(proposal.id) or proposal
        elif proposal.state is not ProposalState.APPROVED or proposal.outcome:
            return _(DECIDED)
        # It was approved just now, or by an earlier attempt of this click, before the program died.
        if proposal.state is ProposalState.APPROVED:
            await self._run_command(proposal)
        return None

    async def _run_command(self, proposal: Proposal) -> None:
        now = self._clock.now()
        envelope = {"command_id": proposal.command_id, "user_id": proposal.user_id, "at": now}
        match proposal.change:
            case PlanChange() as change:
                approved = ApprovedChange(before=change.before, after=change.after)
                command = ApplyPatch(**envelope, session_id=change.session_id, patch=change.patch, approved=approved)
                await self._jobs.enqueue(build_command_job(command, key=command.session_id), now=now)
                await self._proposals.record_outcome(proposal.id, _(ON_ITS_WAY))
            case ConstraintChange(record=record, replaces=replaces):
                remember = RememberConstraint(**envelope, session_id="", record=record, supersedes=replaces)
                await self._run_alone(proposal, remember)
            case _:
                assert_never(proposal.change)

    async def _undo(self, proposal: Proposal) -> str | None:
        if isinstance(proposal.change, PlanChange):
            return _(UNKNOWN)
        if not await self._settle(proposal.id, ProposalState.UNDONE, ""):
            proposal = await self._proposals.get(proposal.id) or proposal
            if proposal.state is not ProposalState.UNDONE or proposal.outcome:
                return _(DECIDED)
        undo = UndoMemory(
            command_id=f"{proposal.command_id}-undo",
            user_id=proposal.user_id,
            at=self._clock.now(),
            session_id="",
            write=proposal.command_id,
        )
        await self._run_alone(proposal, undo)
        return None

    async def _run_alone(self, proposal: Proposal, command: RememberConstraint | UndoMemory) -> None:
        await self._carry_out(command)
        lines = self._said(command.command_id)
        await self._proposals.record_outcome(proposal.id, " ".join(lines) or _(DONE))

    async def _settle(self, proposal_id: str, state: ProposalState, outcome: str) -> bool:
        settled = await self._proposals.settle(proposal_id, state, outcome=outcome, now=self._clock.now())
        return settled is not None and settled[1]

    async def _trouble(self, proposal: Proposal) -> str | None:
        """Return the reason why the proposal can no longer do what its preview said; ``None`` if it can."""
        try:
            match proposal.change:
                case PlanChange() as change:
                    session = await self._sessions.load(change.session_id)
                    if session is None or session.user_id != proposal.user_id:
                        return _(GONE)
                    approved = ApprovedChange(before=change.before, after=change.after)
                    preview_patch(session, change.patch, at=self._clock.now(), approved=approved)
                case ConstraintChange() as change:
                    if await self._describe_change(proposal, change) != proposal.preview:
                        return _(OTHERWISE)
                case _:
                    assert_never(proposal.change)
        except UserError as error:
            return error.message
        return None

    async def _describe_change(self, proposal: Proposal, change: ConstraintChange) -> tuple[str, ...]:
        sessions = await self._sessions.of_user(proposal.user_id, limit=1)
        taken = preview_constraint(
            change.record,
            change.replaces,
            versions=await self._versions(proposal.user_id),
            user_id=proposal.user_id,
            tz=sessions[0].tz if sessions else self._tz,
            at=self._clock.now(),
        )
        return describe_constraint(taken)

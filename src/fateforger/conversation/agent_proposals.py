"""A person's answer to an agent's proposal, by button or in words, and what came of it.

An approved proposal becomes an ordinary command of that person, once. It counts as applied when the plan shows it, or
when the store has the rule.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, assert_never

from fateforger.agents.access import PROPOSAL_LANE, Calls, Proposals
from fateforger.agents.clients import OPEN, Call, ConstraintChange, PlanChange, Proposal, ProposalState
from fateforger.conversation.memory_service import MemoryService
from fateforger.conversation.turn_values import AnswerAgent
from fateforger.errors import UserError
from fateforger.planning.plan import TBPlan
from fateforger.ports.clock import Clock
from fateforger.ports.jobs import Jobs, NewJob
from fateforger.session.commands import SessionCommand
from fateforger.session.commands.plan import ApplyPatch, ApprovedChange
from fateforger.session.commands.rules import RememberConstraint, UndoMemory
from fateforger.session.commands.thread import LeaveAsIs
from fateforger.session.edits import writes_at_once
from fateforger.session.model import Session
from fateforger.session.pending import WaitingProposal
from fateforger.session.placement import changed_blocks
from fateforger.session.proposals import describe_constraint, preview_constraint, preview_patch
from fateforger.session.store import Sessions
from fateforger.text import gettext as _
from fateforger.text import mark_message
from fateforger.ui.logs import LOOKED_AT
from fateforger.workers.turns import build_command_job

ASKED = mark_message("The agent {client} would like to change this plan; its card says how. Shall I apply that?")
AGAIN = mark_message(
    "What the agent {client} proposed for this plan could not be done; its card says why. Shall I try again?"
)
"""They contain no text of the agent, because they enter a prompt, where such text might speak for the person."""


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
    """The proposals in the thread of their plan, and the log of what agents did for a person."""

    proposals: Proposals
    calls: Calls
    jobs: Jobs
    clock: Clock

    async def list_calls(self, user_id: str) -> tuple[Call, ...]:
        """Return the latest calls for a person, the newest first. Raises ``StoreError``."""
        return await self.calls.latest(limit=LOOKED_AT, user_id=user_id)

    async def waiting(self, session: Session, at: datetime) -> tuple[WaitingProposal, ...]:
        """Return the open proposals whose cards were posted before the instant ``at``. Raises ``StoreError``.

        The person cannot mean a card that they had not seen when they wrote.
        """
        found = []
        for each in await self.proposals.of(session.user_id, OPEN):
            if each.session_id == session.id and each.place is not None and each.made_at < at < each.expires_at:
                again = each.state is ProposalState.REFUSED
                sentence = _(AGAIN if again else ASKED, client=each.client)
                found.append(WaitingProposal(id=each.id, sentence=sentence, again=again))
        return tuple(found)

    async def follow(self, before: Session | None, after: Session, command: SessionCommand) -> None:
        """Record what came of the proposals for a plan that a command may have changed. Raises ``StoreError``.

        It can be repeated. Without ``before``, ``after`` is the session as it is stored.
        """
        if before is not None and (before.planning.plan, before.sync.held) == (after.planning.plan, after.sync.held):
            return
        for proposal in await self.proposals.of(after.user_id, _FOLLOWED):
            found = find_result(proposal, after, command) if proposal.session_id == after.id else None
            if found is not None:
                state, outcome = found
                await self.proposals.settle(proposal.id, state, outcome=outcome, now=self.clock.now())

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


_FOLLOWED = frozenset(
    {ProposalState.APPROVED, ProposalState.HELD, ProposalState.APPLIED, ProposalState.UNDONE},
)
IN_PLAN = mark_message("It is in your plan. Your calendar gets it when you commit.")
ON_CALENDAR = mark_message("It is in your plan and on your calendar.")
NOT_ON_CALENDAR = mark_message("It is in your plan, but not on your calendar yet; the plan's card says why.")
AGAINST_RULE = mark_message("It goes against a rule you want kept, so I did nothing yet; the plan's card asks you.")
LEFT = mark_message("You left the plan as it is.")
DROPPED = mark_message("The plan has changed in the meantime, so that question is gone.")
PLAN_UNDONE = mark_message("Your plan is as it was before.")
NOT_DONE = mark_message("I could not do it, and nothing has changed.")


def find_result(proposal: Proposal, session: Session, command: SessionCommand) -> tuple[ProposalState, str] | None:
    """Return the new state of a proposal for a plan, and a sentence about it; ``None`` if nothing has changed.

    The plan is the evidence: a proposal is applied if its blocks are as the person approved them. ``command`` is the
    last one of the session.
    """
    change = proposal.change
    if not isinstance(change, PlanChange):
        return None
    held = session.sync.held
    is_held = held is not None and held.asked == proposal.command_id and held.writes is None
    done = _shows(session.planning.plan, change, change.after)
    match proposal.state:
        case ProposalState.APPROVED if proposal.command_id not in session.thread.handled:
            return None
        case ProposalState.APPROVED if is_held:
            return ProposalState.HELD, _(AGAINST_RULE)
        case ProposalState.APPROVED if done:
            return ProposalState.APPLIED, _describe_applied(session)
        case ProposalState.APPROVED:
            return _explain_refusal(change, session)
        case ProposalState.HELD | ProposalState.UNDONE if done:
            return ProposalState.APPLIED, _describe_applied(session)
        case ProposalState.HELD if not is_held and isinstance(command, LeaveAsIs):
            return ProposalState.DENIED, _(LEFT)
        case ProposalState.HELD if not is_held:
            return ProposalState.REFUSED, _(DROPPED)
        case ProposalState.APPLIED if _shows(session.planning.plan, change, change.before):
            return ProposalState.UNDONE, _(PLAN_UNDONE)
        case _:
            return None


def _shows(plan: TBPlan | None, change: PlanChange, as_in: TBPlan) -> bool:
    """Check whether the blocks of a change are in the plan as they are in one of its two plans."""
    changed = changed_blocks(change.before, change.after)
    return plan is not None and changed.keys().isdisjoint(changed_blocks(plan, as_in))


def _describe_applied(session: Session) -> str:
    if session.sync.problem is not None or session.sync.held is not None:
        return _(NOT_ON_CALENDAR)
    return _(ON_CALENDAR) if writes_at_once(session) else _(IN_PLAN)


def _explain_refusal(change: PlanChange, session: Session) -> tuple[ProposalState, str]:
    outdated = _find_outdated(change, session, session.touched_at)
    if outdated is not None:
        return ProposalState.OUTDATED, outdated
    notice = session.thread.notice
    refused = notice is not None and notice.refused
    return ProposalState.REFUSED, " ".join(session.notice_lines) if refused else _(NOT_DONE)


def _find_outdated(change: PlanChange, session: Session, at: datetime) -> str | None:
    """Return the reason why a change can no longer do what its preview said; ``None`` if it can."""
    try:
        approved = ApprovedChange(before=change.before, after=change.after)
        preview_patch(session, change.patch, at=at, approved=approved)
    except UserError as error:
        return error.message
    return None


Answer = Literal["apply", "deny", "undo"]
UNKNOWN = mark_message("I don't know that proposal any more.")
DECIDED = mark_message("That was decided already; the card says how.")
GONE = mark_message("The plan it was about is not there any more.")
TOO_OLD = mark_message("A day went by without an answer.")
OTHERWISE = mark_message("What you told me has changed since, and now it would do something else, so I did nothing.")
DONE = mark_message("It is done.")
STILL_THERE = mark_message("I could not take that back.")
GIVEN_UP = mark_message("Something went wrong on my side, so I could not do it.")

CarryOut = Callable[[SessionCommand], Awaitable[None]]
GetReply = Callable[[str], Awaitable[tuple[str, ...]]]


class Approvals:
    """Carries out the answers to proposals.

    ``carry_out`` runs a command outside of a session, once, and ``said`` returns its reply. The caller serializes the
    answers to one proposal.
    """

    def __init__(
        self,
        *,
        proposals: Proposals,
        sessions: Sessions,
        memory: MemoryService,
        jobs: Jobs,
        clock: Clock,
        carry_out: CarryOut,
        said: GetReply,
        tz: str,
    ) -> None:
        self._proposals = proposals
        self._sessions = sessions
        self._memory = memory
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
        await self._proposals.record_place(proposal.id, channel, ts)

    async def expire(self, proposal_id: str) -> None:
        """Expire a proposal that is still undecided; leave any other as it is."""
        proposal = await self._proposals.get(proposal_id)
        if proposal is not None and proposal.state is ProposalState.PENDING:
            await self._settle(proposal_id, ProposalState.EXPIRED, _(TOO_OLD))

    async def fail(self, proposal_id: str) -> None:
        """Record that the command of an approval was given up."""
        await self._settle(proposal_id, ProposalState.REFUSED, _(GIVEN_UP))

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
        if proposal.state is ProposalState.PENDING and proposal.expires_at <= self._clock.now():
            await self.expire(proposal.id)
            return None
        if proposal.state in OPEN:
            trouble = await self._trouble(proposal)
            if trouble is not None:
                await self._settle(proposal.id, ProposalState.OUTDATED, trouble)
                return None
            await self._settle(proposal.id, ProposalState.APPROVED, "")
            proposal = await self._proposals.get(proposal.id) or proposal
        elif proposal.state is not ProposalState.APPROVED:
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
                approved = ApprovedChange(before=change.before, after=change.after, proposal=proposal.id)
                command = ApplyPatch(**envelope, session_id=change.session_id, patch=change.patch, approved=approved)
                await self._jobs.enqueue(build_command_job(command, key=command.session_id), now=now)
            case ConstraintChange(record=record, replaces=replaces):
                remember = RememberConstraint(**envelope, session_id="", record=record, supersedes=replaces)
                reply = await self._carry_out_alone(remember)
                written = await self._memory.has_written(proposal.user_id, remember.command_id)
                state = ProposalState.APPLIED if written else ProposalState.REFUSED
                await self._settle(proposal.id, state, reply or _(DONE if written else NOT_DONE))
            case _:
                assert_never(proposal.change)

    async def _undo(self, proposal: Proposal) -> str | None:
        if isinstance(proposal.change, PlanChange):
            return _(UNKNOWN)
        if proposal.state is not ProposalState.APPLIED:
            return _(DECIDED)
        undo = UndoMemory(
            command_id=f"{proposal.command_id}-undo",
            user_id=proposal.user_id,
            at=self._clock.now(),
            session_id="",
            write=proposal.command_id,
        )
        reply = await self._carry_out_alone(undo)
        if not await self._memory.has_written(proposal.user_id, undo.command_id):
            return reply or _(STILL_THERE)
        await self._settle(proposal.id, ProposalState.UNDONE, reply)
        return None

    async def _carry_out_alone(self, command: RememberConstraint | UndoMemory) -> str:
        """Carry out a command outside of a session, and return its reply or the reason for a refusal."""
        try:
            await self._carry_out(command)
        except UserError as error:
            return error.message
        return " ".join(await self._said(command.command_id))

    async def _settle(self, proposal_id: str, state: ProposalState, outcome: str) -> bool:
        settled = await self._proposals.settle(proposal_id, state, outcome=outcome, now=self._clock.now())
        return settled is not None and settled[1]

    async def _trouble(self, proposal: Proposal) -> str | None:
        """Return the reason why the proposal can no longer do what its preview said; ``None`` if it can."""
        match proposal.change:
            case PlanChange() as change:
                session = await self._sessions.load(change.session_id)
                if session is None or session.user_id != proposal.user_id:
                    return _(GONE)
                return _find_outdated(change, session, self._clock.now())
            case ConstraintChange() as change:
                try:
                    same = await self._describe_change(proposal, change) == proposal.preview
                except UserError as error:
                    return error.message
                return None if same else _(OTHERWISE)
            case _:
                assert_never(proposal.change)

    async def _describe_change(self, proposal: Proposal, change: ConstraintChange) -> tuple[str, ...]:
        sessions = await self._sessions.of_user(proposal.user_id, limit=1)
        taken = preview_constraint(
            change.record,
            change.replaces,
            versions=await self._memory.versions(proposal.user_id),
            user_id=proposal.user_id,
            tz=sessions[0].tz if sessions else self._tz,
            at=self._clock.now(),
        )
        return describe_constraint(taken)

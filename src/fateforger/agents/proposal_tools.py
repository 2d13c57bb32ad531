"""Tools for the plan of a day and for constraints: reading them, and staging proposals."""

from __future__ import annotations

import hashlib
import secrets
from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type  # noqa: N812  as elsewhere
from typing import Annotated, Any

from pydantic import Field, create_model

from fateforger.agents.access import AgentAccess, Caller, Input, Tool, find_day, require_session
from fateforger.agents.clients import PROPOSAL_LIFETIME, ConstraintChange, PlanChange, Proposal, ProposalState, Scope
from fateforger.errors import BadInput
from fateforger.limits import MAX_ID_CHARS, MAX_REASON_CHARS, MAX_UID_CHARS
from fateforger.memory.documents import read_record, write_record
from fateforger.memory.record import ConstraintRecord
from fateforger.memory.versions import Version, select_newest
from fateforger.planning.plan import TBPlan, resolve
from fateforger.planning.wire import TBPatch, read_patch, to_keys
from fateforger.session.day import busy_meetings
from fateforger.session.draft import grade_session
from fateforger.session.gate import describe_stage
from fateforger.session.model import Session, SessionStatus
from fateforger.session.proposals import (
    describe_constraint,
    describe_patch,
    prepare_record,
    preview_constraint,
    preview_patch,
)
from fateforger.session.rulebook import rules_in_force, unsaved_session
from fateforger.values import replace

WAITS = "The person is asked in Slack. Until they approve it, nothing changes; get_proposal says what became of it."
STATES = {
    ProposalState.PENDING: "the person has not answered yet",
    ProposalState.APPROVED: "they said yes, and it is being carried out",
    ProposalState.APPLIED: "it is done",
    ProposalState.HELD: "it goes against a rule of theirs, and they are asked about that",
    ProposalState.REFUSED: "it could not be done; they can have it tried again",
    ProposalState.DENIED: "they said no",
    ProposalState.EXPIRED: "they did not answer in time, or your access has ended",
    ProposalState.OUTDATED: "it would do something else by now, so nothing was done",
    ProposalState.SUPERSEDED: "a newer one of yours took its place",
    ProposalState.UNDONE: "it was done and then taken back",
}


async def stage_proposal(
    change: PlanChange | ConstraintChange,
    subject: str,
    preview: tuple[str, ...],
    reason: str,
    caller: Caller,
    reach: AgentAccess,
) -> dict[str, Any]:
    """Store a proposal; the running program asks the person. Raises ``BadInput`` if too many are pending."""
    proposal = Proposal(
        id=secrets.token_hex(8),
        client=caller.client.name,
        user_id=caller.user_id,
        change=change,
        subject=subject,
        preview=preview,
        reason=reason,
        made_at=caller.at,
        expires_at=caller.at + PROPOSAL_LIFETIME,
    )
    return {"proposal": _write_proposal(await reach.proposals.stage(proposal)), "message": WAITS}


class GetProposal(Input):
    id: Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARS, description="As it was given back")]


async def get_proposal(given: GetProposal, caller: Caller, reach: AgentAccess) -> dict[str, Any]:
    """Return the state of a proposal of this client."""
    proposal = await reach.proposals.get(given.id)
    if proposal is None or (proposal.client, proposal.user_id) != (caller.client.name, caller.user_id):
        raise BadInput("You made no proposal of that id.", where="id")
    return {"proposal": _write_proposal(proposal)}


def _write_proposal(proposal: Proposal) -> dict[str, Any]:
    return {
        "id": proposal.id,
        "kind": proposal.change.kind,
        "state": proposal.state.value,
        "means": STATES[proposal.state],
        "preview": list(proposal.preview),
        "outcome": proposal.outcome,
        "expires_at": proposal.expires_at.isoformat(),
    }


PROPOSAL_TOOLS = (
    Tool("get_proposal", f"What became of a proposal of yours: {', '.join(STATES)}.",
         (Scope.PLAN_PROPOSE, Scope.CONSTRAINTS_PROPOSE), GetProposal, get_proposal),
)  # fmt: skip


class GetPlan(Input):
    date: Date | None = Field(None, description="The day, like 2026-03-05; left out, today")


async def get_plan(given: GetPlan, caller: Caller, reach: AgentAccess) -> dict[str, Any]:
    """Return a day as the person's session has it."""
    day, tz, session = await find_day(reach, caller, given.date)
    if session is None:
        nothing: dict[str, Any] = {"version": None, "blocks": [], "busy": [], "not_placed": [], "quality": None}
        return {"date": day.isoformat(), "tz": tz, "session": None, **nothing}
    quality = grade_session(session)
    return {
        "date": day.isoformat(),
        "tz": session.tz,
        "session": {
            "open": session.status is SessionStatus.ACTIVE,
            "step": session.stage.heading,
            "on_calendar": session.sync.written is not None,
            "state": describe_stage(session).model_dump(mode="json", exclude={"stage"}),
        },
        "version": compute_version(session),
        "blocks": _describe_blocks(session.planning.plan),
        "busy": [{"start": m.start.isoformat(), "end": m.end.isoformat()} for m in busy_meetings(session)],
        "not_placed": [{"title": each.title, "reason": each.reason} for each in session.planning.unplaced],
        "quality": None if quality is None else quality.model_dump(mode="json"),
    }


def compute_version(session: Session) -> str:
    """Return a hash of the session id and the plan: a plan that differs has another version."""
    text = session.id if session.planning.plan is None else f"{session.id}{session.planning.plan.model_dump_json()}"
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _describe_blocks(plan: TBPlan | None) -> list[dict[str, Any]]:
    if plan is None:
        return []
    return [
        {
            "position": block.index,
            "title": block.event.name,
            "notes": block.event.description,
            "type": block.event.type.value,
            "start": block.start.isoformat(),
            "end": block.end.isoformat(),
            "minutes": block.minutes,
        }
        for block in resolve(plan)
    ]


class ProposePatch(Input):
    date: Date = Field(description="The day, like 2026-03-05")
    version: str = Field(
        min_length=1, max_length=MAX_ID_CHARS, description="The version of the plan it is made for (get_plan)"
    )
    patch: dict[str, Any] = Field(description="The changes, with the positions of get_plan")
    reason: str = Field(
        min_length=1, max_length=MAX_REASON_CHARS, description="Why; the person reads it as a quotation"
    )


# Only for the schema; `read_patch` has better error messages.
_PATCH_SHAPE = create_model(
    "ProposePatch",
    __base__=ProposePatch,
    __doc__="The arguments of the tool, with all fields of a patch.",
    patch=(TBPatch, ...),
)


async def propose_patch(given: ProposePatch, caller: Caller, reach: AgentAccess) -> dict[str, Any]:
    """Stage a change of a day's plan for the person to approve."""
    day, _, found = await find_day(reach, caller, given.date)
    session = require_session(day, found)
    if given.version != compute_version(session):
        raise BadInput("The plan has changed since that version; get_plan has the new one.", where="version")
    plan = session.planning.plan or TBPlan(date=session.date, tz=session.tz)
    patch = to_keys(plan, read_patch(given.patch))
    result = preview_patch(session, patch, at=caller.at)
    change = PlanChange(session_id=session.id, patch=patch, before=result.before, after=result.after)
    lines = describe_patch(result.before, result.after)
    return await stage_proposal(change, f"plan {session.id}", lines, given.reason, caller, reach)


PLAN_TOOLS = (
    Tool("get_plan", "A day's plan: its blocks, when the person is busy, how good it is, whether it can still change,"
         " what it lacks, and its version, which propose_patch asks for.", Scope.PLAN_READ, GetPlan, get_plan),
    Tool("propose_patch", "Propose changes of a day's plan. Nothing changes until the person approves it in Slack; a"
         " newer proposal of yours for the same plan takes its place.", Scope.PLAN_PROPOSE, ProposePatch, propose_patch,
         shape=_PATCH_SHAPE, writes=True),
)  # fmt: skip


class ListConstraints(Input):
    date: Date | None = Field(None, description="Only those that apply on this day, like 2026-03-05; left out, all")


async def list_constraints(given: ListConstraints, caller: Caller, reach: AgentAccess) -> dict[str, Any]:
    """Return the constraints in force, the most binding first."""
    versions = await reach.constraints_of(caller.user_id)
    return {
        "constraints": [
            _write_constraint(version) for version in await _select_constraints(given, versions, caller, reach)
        ]
    }


async def _select_constraints(
    given: ListConstraints, versions: tuple[Version, ...], caller: Caller, reach: AgentAccess
) -> list[Version]:
    if given.date is None:
        mine = [version for version in select_newest(versions, caller.user_id).values() if not version.retired]
        return sorted(mine, key=lambda version: (version.record.necessity.weakness, version.seq))
    _, tz, session = await find_day(reach, caller, given.date)
    person = session or replace(unsaved_session(caller.user_id, tz, caller.at), date=given.date)
    return [item.version for item in rules_in_force(person, versions, at_any_stage=True).applicable]


def _write_constraint(version: Version) -> dict[str, Any]:
    said = {"said_at": version.updated_at.isoformat(), "for_one_session_only": version.flat.session_only}
    return {"uid": version.uid, "constraint_record": write_record(version.record), **said}


class ProposeConstraint(Input):
    constraint_record: dict[str, Any] = Field(description="What to remember; scope profile or datespan")
    replaces: str | None = Field(
        None, min_length=1, max_length=MAX_UID_CHARS, description="The uid of the constraint whose place it takes"
    )
    reason: str = Field(
        min_length=1, max_length=MAX_REASON_CHARS, description="Why; the person reads it as a quotation"
    )


_RECORD_SHAPE = create_model(
    "ProposeConstraint",
    __base__=ProposeConstraint,
    __doc__="The arguments of the tool, with all fields of a record.",
    constraint_record=(ConstraintRecord, ...),
)


async def propose_constraint(given: ProposeConstraint, caller: Caller, reach: AgentAccess) -> dict[str, Any]:
    """Stage a constraint for the person to approve."""
    record = prepare_record(_parse_record(given.constraint_record))
    _, tz, _ = await find_day(reach, caller, None)
    versions = await reach.constraints_of(caller.user_id)
    taken = preview_constraint(record, given.replaces, versions=versions, user_id=caller.user_id, tz=tz, at=caller.at)
    change = ConstraintChange(record=record, replaces=given.replaces)
    subject = f"constraint {given.replaces or record.name.casefold()}"
    return await stage_proposal(change, subject, describe_constraint(taken), given.reason, caller, reach)


def _parse_record(document: dict[str, Any]) -> ConstraintRecord:
    try:
        return read_record(document)
    except BadInput as error:
        raise BadInput(error.message, where=f"constraint_record.{error.where}" if error.where else None) from None


CONSTRAINT_TOOLS = (
    Tool("list_constraints", "What the person told the planner about their days, as far as it is in force.",
         Scope.CONSTRAINTS_READ, ListConstraints, list_constraints),
    Tool("propose_constraint", "Propose something to be remembered about the person's days. Nothing changes until they"
         " approve it in Slack.", Scope.CONSTRAINTS_PROPOSE, ProposeConstraint, propose_constraint,
         shape=_RECORD_SHAPE, writes=True),
)  # fmt: skip

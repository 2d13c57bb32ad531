"""Tools for the plan of a day."""

from __future__ import annotations

import hashlib
from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from typing import Any

from pydantic import ConfigDict, Field

from fateforger.agents import PlanChange, Scope
from fateforger.agents.proposals import LONGEST_REASON
from fateforger.errors import BadInput
from fateforger.mcp.reach import AgentAccess, Caller, find_day, require_session
from fateforger.mcp.staging import stage_proposal
from fateforger.mcp.tool import Input, Tool
from fateforger.ops import TBPatch, read_patch
from fateforger.ops.wire import to_keys
from fateforger.plan import TBPlan, resolve
from fateforger.session.meetings import busy_meetings
from fateforger.session.model import Session, SessionStatus
from fateforger.session.proposing import describe_patch, preview_patch


class GetPlan(Input):
    date: Date | None = Field(None, description="The day, like 2026-03-05; left out, today")


async def get_plan(given: GetPlan, caller: Caller, reach: AgentAccess) -> dict[str, Any]:
    """Return a day as the person's session has it."""
    day, tz, session = await find_day(reach, caller, given.date)
    if session is None:
        nothing: dict[str, Any] = {"version": None, "blocks": [], "busy": [], "not_placed": [], "quality": None}
        return {"date": day.isoformat(), "tz": tz, "session": None, **nothing}
    return {
        "date": day.isoformat(),
        "tz": session.tz,
        "session": {
            "open": session.status is SessionStatus.ACTIVE,
            "step": session.stage.heading,
            "on_calendar": session.written is not None,
        },
        "version": compute_version(session),
        "blocks": _describe_blocks(session.plan),
        "busy": [{"start": m.start.isoformat(), "end": m.end.isoformat()} for m in busy_meetings(session)],
        "not_placed": [{"title": each.title, "reason": each.reason} for each in session.unplaced],
        "quality": None if session.quality is None else session.quality.model_dump(mode="json"),
    }


def compute_version(session: Session) -> str:
    """Return a hash of the session id and the plan: a plan that differs has another version."""
    text = session.id if session.plan is None else f"{session.id}{session.plan.model_dump_json()}"
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
    version: str = Field(min_length=1, max_length=64, description="The version of the plan it is made for (get_plan)")
    patch: dict[str, Any] = Field(description="The changes, with the positions of get_plan")
    reason: str = Field(min_length=1, max_length=LONGEST_REASON, description="Why; the person reads it as a quotation")


class _PatchShape(ProposePatch):
    """The arguments of the tool, with all fields of a patch."""

    model_config = ConfigDict(title="ProposePatch")
    patch: TBPatch  # type: ignore[assignment]  # only for the schema; `read_patch` has better error messages


async def propose_patch(given: ProposePatch, caller: Caller, reach: AgentAccess) -> dict[str, Any]:
    """Stage a change of a day's plan for the person to approve."""
    day, _, found = await find_day(reach, caller, given.date)
    session = require_session(day, found)
    if given.version != compute_version(session):
        raise BadInput("The plan has changed since that version; get_plan has the new one.", where="version")
    plan = session.plan or TBPlan(date=session.date, tz=session.tz)
    patch = to_keys(plan, read_patch(given.patch))
    result = preview_patch(session, patch, at=caller.at)
    change = PlanChange(session_id=session.id, patch=patch, before=result.before, after=result.after)
    lines = describe_patch(result.before, result.after)
    return await stage_proposal(change, f"plan {session.id}", lines, given.reason, caller, reach)


PLAN_TOOLS = (
    Tool("get_plan", "A day's plan: its blocks, when the person is busy, how good it is, whether its session is open,"
         " and its version, which propose_patch asks for.", Scope.PLAN_READ, GetPlan, get_plan),
    Tool("propose_patch", "Propose changes of a day's plan. Nothing changes until the person approves it in Slack; a"
         " newer proposal of yours for the same plan takes its place.", Scope.PLAN_PROPOSE, ProposePatch, propose_patch,
         shape=_PatchShape, writes=True),
)  # fmt: skip

"""Tools for the constraints that a person told the planner."""

from __future__ import annotations

from datetime import date as Date  # noqa: N812  as elsewhere
from typing import Any

from pydantic import ConfigDict, Field

from fateforger.agents import ConstraintChange, Scope
from fateforger.agents.proposals import LONGEST_REASON
from fateforger.constraints import (
    ConstraintRecord,
    Context,
    Version,
    decide_applicability,
    read_record,
    select_newest,
    write_record,
)
from fateforger.errors import BadInput
from fateforger.mcp.reach import AgentAccess, Caller, find_day
from fateforger.mcp.staging import stage_proposal
from fateforger.mcp.tool import Input, Tool
from fateforger.session.proposing import describe_constraint, prepare_record, preview_constraint


class ListConstraints(Input):
    date: Date | None = Field(None, description="Only those that apply on this day, like 2026-03-05; left out, all")


async def list_constraints(given: ListConstraints, caller: Caller, reach: AgentAccess) -> dict[str, Any]:
    """Return the constraints in force, the most binding first."""
    versions = await reach.constraints_of(caller.user_id)
    return {
        "constraints": [_to_document(version) for version in await _select_constraints(given, versions, caller, reach)]
    }


async def _select_constraints(
    given: ListConstraints, versions: tuple[Version, ...], caller: Caller, reach: AgentAccess
) -> list[Version]:
    if given.date is None:
        mine = [version for version in select_newest(versions, caller.user_id).values() if not version.retired]
        return sorted(mine, key=lambda version: (version.record.necessity.weakness, version.seq))
    _, tz, session = await find_day(reach, caller, given.date)
    context = Context(
        user_id=caller.user_id,
        as_of=given.date,
        timezone=tz,
        session_id=None if session is None else session.id,
        suppressed_uids=() if session is None else session.set_aside,
    )
    return [item.version for item in decide_applicability(versions, context).applicable]


def _to_document(version: Version) -> dict[str, Any]:
    said = {"said_at": version.updated_at.isoformat(), "for_one_session_only": version.flat.session_only}
    return {"uid": version.uid, "constraint_record": write_record(version.record), **said}


class ProposeConstraint(Input):
    constraint_record: dict[str, Any] = Field(description="What to remember; scope profile or datespan")
    replaces: str | None = Field(
        None, min_length=1, max_length=400, description="The uid of the constraint whose place it takes"
    )
    reason: str = Field(min_length=1, max_length=LONGEST_REASON, description="Why; the person reads it as a quotation")


class _RecordShape(ProposeConstraint):
    """The arguments of the tool, with all fields of a record."""

    model_config = ConfigDict(title="ProposeConstraint")
    constraint_record: ConstraintRecord  # type: ignore[assignment]  # only for the schema


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
         shape=_RecordShape, writes=True),
)  # fmt: skip

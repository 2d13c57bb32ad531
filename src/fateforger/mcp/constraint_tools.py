"""Tools about what the person told the planner once."""

from __future__ import annotations

from datetime import date as Date  # noqa: N812  as elsewhere
from typing import Any

from pydantic import Field

from fateforger.agents import Scope
from fateforger.constraints import (
    Context,
    Version,
    applicability,
    newest,
    write_record,
)
from fateforger.mcp.reach import Caller, Reach, day_of
from fateforger.mcp.tool import Input, Tool


class ListConstraints(Input):
    date: Date | None = Field(None, description="Only those that apply on this day, like 2026-03-05; left out, all")


async def list_constraints(given: ListConstraints, caller: Caller, reach: Reach) -> dict[str, Any]:
    """What is in force, the most binding first."""
    versions = await reach.constraints_of(caller.user_id)
    return {"constraints": [_document(version) for version in await _chosen(given, versions, caller, reach)]}


async def _chosen(given: ListConstraints, versions: tuple[Version, ...], caller: Caller, reach: Reach) -> list[Version]:
    if given.date is None:
        mine = [version for version in newest(versions, caller.user_id).values() if not version.retired]
        return sorted(mine, key=lambda version: (version.record.necessity.weakness, version.seq))
    _, tz, session = await day_of(reach, caller, given.date)
    context = Context(
        user_id=caller.user_id,
        as_of=given.date,
        timezone=tz,
        session_id=None if session is None else session.id,
        suppressed_uids=() if session is None else session.set_aside,
    )
    return [item.version for item in applicability(versions, context).applicable]


def _document(version: Version) -> dict[str, Any]:
    said = {"said_at": version.updated_at.isoformat(), "for_one_session_only": version.flat.session_only}
    return {"uid": version.uid, "constraint_record": write_record(version.record), **said}


CONSTRAINT_TOOLS = (
    Tool("list_constraints", "What the person told the planner about their days, as far as it is in force.",
         Scope.CONSTRAINTS_READ, ListConstraints, list_constraints),
)  # fmt: skip

"""Tools about a day's plan."""

from __future__ import annotations

import hashlib
from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from typing import Any

from pydantic import Field

from fateforger.agents import Scope
from fateforger.mcp.reach import Caller, Reach, day_of
from fateforger.mcp.tool import Input, Tool
from fateforger.plan import TBPlan, resolve
from fateforger.session.meetings import busy_meetings
from fateforger.session.model import Session, SessionStatus


class GetPlan(Input):
    date: Date | None = Field(None, description="The day, like 2026-03-05; left out, today")


async def get_plan(given: GetPlan, caller: Caller, reach: Reach) -> dict[str, Any]:
    """A day as the person's thread has it."""
    day, tz, session = await day_of(reach, caller, given.date)
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
        "version": version_of(session),
        "blocks": _blocks(session.plan),
        "busy": [{"start": m.start.isoformat(), "end": m.end.isoformat()} for m in busy_meetings(session)],
        "not_placed": [{"title": each.title, "reason": each.reason} for each in session.unplaced],
        "quality": None if session.quality is None else session.quality.model_dump(mode="json"),
    }


def version_of(session: Session) -> str:
    """Names a plan by all that it says: another version is another plan."""
    text = session.id if session.plan is None else f"{session.id}{session.plan.model_dump_json()}"
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def _blocks(plan: TBPlan | None) -> list[dict[str, Any]]:
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


PLAN_TOOLS = (
    Tool("get_plan", "A day's plan: its blocks, when the person is busy, how good it is, whether its session is open,"
         " and the version of the plan.", Scope.PLAN_READ, GetPlan, get_plan),
)  # fmt: skip

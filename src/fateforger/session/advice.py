"""Offer fixes for the session's plan, and look up the one that a person picked."""

from __future__ import annotations

from datetime import datetime

from fateforger.drafting.instance import Instance
from fateforger.errors import BadInput
from fateforger.ops import Patch
from fateforger.quality import Fix, find_fixes
from fateforger.session.frame import frame_mistake
from fateforger.session.model import Session, SessionStatus
from fateforger.session.skeleton import grading_instance, unplaced_items
from fateforger.stages import TimeboxingStage
from fateforger.values import replace

STALE = (
    "That suggestion was for the plan as it was before, so I changed nothing."
    " What would help now is on the newest card."
)
_ALL = 20


def with_fixes(session: Session, at: datetime) -> Session:
    """Return the session with the fixes that its card offers, tested on the current plan.

    Blocks that began before the instant ``at`` stay.
    """
    refining = session.status is SessionStatus.ACTIVE and session.stage is TimeboxingStage.REFINE
    if not refining or session.plan is None or frame_mistake(session) is not None:
        return replace(session, fixes=())
    return replace(session, fixes=find_fixes(_from_now(session, at), session.plan, unplaced_items(session)))


def pick_fix(session: Session, fix: str, at: datetime) -> Patch:
    """Return the patch of an offered fix, if it still helps the current plan and calendar.

    Raises ``BadInput`` otherwise; nothing is changed.
    """
    offered: tuple[Fix, ...] = ()
    if session.plan is not None and frame_mistake(session) is None:
        offered = find_fixes(_from_now(session, at), session.plan, unplaced_items(session), most=_ALL)
    patch = next((each.patch for each in offered if each.id == fix), None)
    if patch is None:
        raise BadInput(STALE)
    return patch


def _from_now(session: Session, at: datetime) -> Instance:
    return replace(grading_instance(session), now=at)

"""Check the person's rules over the order of the day against the current plan.

Pure functions.
"""

from __future__ import annotations

from fateforger.constraints import Applicable
from fateforger.constraints.blocks import ConstraintViolation
from fateforger.constraints.day_breaches import find_order_violations
from fateforger.constraints.day_clashes import find_day_clashes
from fateforger.constraints.sections import needs_confirmation
from fateforger.errors import PlanInvalid
from fateforger.plan import ET
from fateforger.session.meetings import busy_meetings
from fateforger.session.memory import MemoryQuestion
from fateforger.session.model import Session
from fateforger.session.recall import followed_constraints
from fateforger.workflow.days import DayBlock


def day_meetings(session: Session) -> tuple[DayBlock, ...]:
    """Return the meetings of the day, as such rules see them."""
    return tuple(DayBlock(ET.MEETING, m.title, m.start, m.end) for m in busy_meetings(session) if m.start < m.end)


def broken_day_rules(session: Session) -> tuple[ConstraintViolation, ...]:
    """Return the rules that the current plan breaks, in order of precedence.

    A plan without times breaks none.
    """
    if session.plan is None:
        return ()
    try:
        return find_order_violations(followed_constraints(session).applicable, session.plan, day_meetings(session))
    except PlanInvalid:
        return ()


def unconfirmed_rules(session: Session) -> tuple[Applicable, ...]:
    """Return the rules extracted from the person's words that they still have to confirm."""
    items = followed_constraints(session).applicable
    return tuple(item for item in items if item.record.payload.day_rule is not None and needs_confirmation(item.record))


def rule_clashes(session: Session) -> tuple[MemoryQuestion, ...]:
    """Return the rules of the day that conflict with each other, as questions."""
    in_order = sorted(
        (item.version for item in followed_constraints(session).applicable), key=lambda v: (v.updated_at, v.seq)
    )
    names = {version.uid: version.record.name for version in in_order}
    return tuple(
        MemoryQuestion(uids=(newer, older), names=(names[newer], names[older]), sentence=finding.sentence)
        for finding in find_day_clashes(in_order)
        for newer, older in [finding.uids[:2]]
    )

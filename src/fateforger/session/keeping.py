"""Find the constraints that a change of the plan breaks.

Checked are the typed fields, as the engine reads them, and rules over the order of the day. Pure functions.
"""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.constraints.blocks import ConstraintViolation, find_block_violations
from fateforger.constraints.day_breaches import find_order_violations
from fateforger.constraints.kinds import Necessity, RuleKind
from fateforger.constraints.reasons import Applicable
from fateforger.constraints.sections import build_reminder
from fateforger.drafting.ground import build_context
from fateforger.drafting.instance import MOST_EVENTS, Frame, Immovable, Instance, Told
from fateforger.drafting.keeping import check_blocks
from fateforger.errors import BadInput
from fateforger.plan import TBPlan, resolve
from fateforger.session.day_rules import day_meetings
from fateforger.session.frame import day_window, whole_frame
from fateforger.session.meetings import busy_meetings
from fateforger.session.model import Session
from fateforger.session.recall import followed_constraints, musts
from fateforger.values import replace

MOST_RULES = 200
"""Most constraints that are passed to the engine at once."""


def new_violations(
    session: Session, before: TBPlan, after: TBPlan, necessity: Necessity
) -> tuple[ConstraintViolation, ...]:
    """Return the constraints of one necessity that a change breaks at new places."""
    items = [item for item in followed_constraints(session, after).applicable if item.record.necessity is necessity]
    known = {breach.item.uid: breach for breach in broken_constraints(session, items, before)}
    found = (
        (breach, _new_places(breach, known.get(breach.item.uid)))
        for breach in broken_constraints(session, items, after)
    )
    return tuple(
        replace(breach, keys=tuple(sorted(set(breach.keys) & fresh))) for breach, fresh in found if fresh is not None
    )


def broken_musts(session: Session) -> tuple[ConstraintViolation, ...]:
    """Return the musts in force that the session's plan breaks, even if it broke them when they were stated.

    Raises ``PlanInvalid`` when the blocks cannot be resolved to instants.
    """
    if session.plan is None:
        return ()
    return tuple(breach for breach in broken_constraints(session, musts(session), session.plan) if breach.keys)


def broken_constraints(session: Session, items: Sequence[Applicable], plan: TBPlan) -> tuple[ConstraintViolation, ...]:
    """Return the constraints that a plan breaks, each once."""
    blocks = resolve(plan)
    found = {breach.item.uid: breach for breach in find_block_violations(items, blocks)}
    by_uid = {item.uid: item for item in items if item.record.payload.day_rule is None}
    for each in check_blocks(build_context(day_with(session, list(by_uid.values()))), blocks) if by_uid else ():
        item = by_uid[each.rule.id]
        keys = (*(found[item.uid].keys if item.uid in found else ()), *each.keys)
        found[item.uid] = ConstraintViolation(item, tuple(dict.fromkeys(keys)))
    order = {item.uid: place for place, item in enumerate(items)}
    ordered = sorted(found.values(), key=lambda breach: order[breach.item.uid])
    return (*ordered, *find_order_violations(items, plan, day_meetings(session)))


def day_with(session: Session, items: Sequence[Applicable]) -> Instance:
    """Return the session's day with its meetings and these constraints, without tasks.

    The frame is the whole day while the session's own is invalid.
    """
    try:
        start, end = whole_frame(session)
    except BadInput:
        start, end = day_window(session.date, session.tz)
    meetings = [m for m in busy_meetings(session) if m.start < m.end][:MOST_EVENTS]
    return Instance(
        date=session.date,
        tz=session.tz,
        frame=Frame(start=start, end=end),
        immovables=tuple(
            Immovable(id=f"meeting-{n}", title=m.title[:300], start=m.start, end=m.end)
            for n, m in enumerate(meetings, 1)
        ),
        constraints=tuple(
            Told(uid=item.uid, constraint_record=item.record, said_on=build_reminder(item).said_on)
            for item in items[:MOST_RULES]
        ),
    )


def _new_places(now: ConstraintViolation, before: ConstraintViolation | None) -> set[str] | None:
    """Return the places where a constraint is newly broken, or ``None``."""
    if before is None:
        return set(now.places)
    payload = now.item.record.payload
    if payload.rule_kind is RuleKind.CAPACITY and payload.scalar_params.duration_min is not None:
        return None  # there was too little of it before: another block of it makes nothing worse
    return set(now.places - before.places) or None

"""Translate a session's day for the drafting engine, and put its draft into the session."""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple
from datetime import datetime
from itertools import islice

from fateforger import quality
from fateforger.constraints.kinds import Necessity
from fateforger.constraints.sections import build_reminder
from fateforger.drafting import Busy, Day, Draft, LunchWish, Told, UnplacedItem, Work, draft
from fateforger.drafting.draft import instance_of, with_loose_lunch
from fateforger.drafting.draft import policy_of as drafting_policy
from fateforger.drafting.instance import MOST_EVENTS, Immovable, Instance
from fateforger.drafting.policy import Policy
from fateforger.drafting.refit import refit_plan
from fateforger.drafting.replan import from_now, keys_before, start_from
from fateforger.drafting.solve import STEPS
from fateforger.errors import BadInput
from fateforger.plan import TBPlan, instant_of, zone
from fateforger.session.fitting import clash_of, to_unplaced, with_offers
from fateforger.session.frame import (
    frame_mistake,
    frame_of,
    is_under_way,
    lunch_start,
    usual_frame,
    whole_frame,
)
from fateforger.session.meetings import busy_meetings
from fateforger.session.model import Depth, Session, SessionStatus, Sketch, Task
from fateforger.session.recall import constraints_for_draft
from fateforger.session.tasks import notes_with_criteria
from fateforger.stages import TimeboxingStage
from fateforger.values import replace


def day_of(session: Session) -> Day:
    """Return all inputs of a draft, with the part of the frame that is left (K11).

    Raises ``BadInput`` when the frame is a mistake, or over.
    """
    start, end = frame_of(session)
    lunch = lunch_start(session)
    return Day(
        date=session.date,
        tz=session.tz,
        start=start,
        end=end,
        busy=tuple(Busy(m.start, m.end) for m in busy_meetings(session)),
        lunch=None if lunch is None else _lunch(session, lunch),
        works=tuple(work_of(t) for t in session.inputs.tasks),
        next_start=usual_frame(session.frame).day_start if is_under_way(session) else None,
    )


def policy_of(session: Session) -> Policy:
    """Return the policy of a session's day for drafting, refitting, and grading (K10).

    Once the plan is on the calendar, the one thing is not asked for any more, because it may be done by then. Raises
    ``BadInput`` as :func:`day_of`.
    """
    policy = drafting_policy(day_of(session))
    if session.written is None or any(task.one_thing for task in session.inputs.tasks):
        return policy
    return replace(policy, one_thing_early=False)


def draft_constraints(session: Session) -> tuple[Told, ...]:
    """Return the constraints that a draft follows, for the engine: all that apply, musts first."""
    items = sorted(
        constraints_for_draft(session).applicable, key=lambda item: item.record.necessity is not Necessity.MUST
    )
    return tuple(
        Told(uid=item.uid, constraint_record=item.record, said_on=build_reminder(item).said_on) for item in items
    )


def own_draft(session: Session, *, steps: int = STEPS) -> Draft:
    """Return the engine's draft of the session's day."""
    return draft(day_of(session), draft_constraints(session), steps=steps)


def instance_in(session: Session) -> Instance:
    """Return the session's day as an instance, with meetings by name and constraints that can be kept.

    Raises ``BadInput`` when the frame is a mistake, or over.
    """
    day = day_of(session)
    gone = () if session.clash is None else session.clash.let_go
    instance = instance_of(day, tuple(each for each in draft_constraints(session) if each.id not in gone))
    meetings = islice((m for m in busy_meetings(session) if m.start < m.end), MOST_EVENTS)
    events = tuple(
        Immovable(id=f"meeting-{n}", title=m.title[:300], start=m.start, end=m.end) for n, m in enumerate(meetings, 1)
    )
    return with_loose_lunch(day, replace(instance, immovables=events, policy=policy_of(session)))


def basis(session: Session) -> str:
    """Return the fingerprint of a draft's inputs (S46, S232).

    These are date, zone, frame, lunch, tasks, busy time, and the constraints that it follows, including those of this
    conversation. The passing of time makes no draft stale. Raises ``BadInput`` when the frame is a mistake.
    """
    start, end = whole_frame(session)
    frame = session.frame
    lunch = None
    if frame.lunch_start is not None and frame.lunch_minutes:
        at = instant_of(datetime.combine(session.date, frame.lunch_start), zone(session.tz))
        lunch = astuple(_lunch(session, at))
    busy = [(m.start, m.end) for m in busy_meetings(session)]
    works = [astuple(work_of(task)) for task in session.inputs.tasks]
    made_from = json.dumps((session.date, session.tz, start, end, busy, lunch, works), default=str)
    rules = "".join(sorted(item.record.model_dump_json() for item in constraints_for_draft(session).applicable))
    return hashlib.sha1(f"{made_from}{rules}".encode(), usedforsecurity=False).hexdigest()


def draft_day(session: Session, sketch: Sketch | None = None) -> Session:
    """Return the session with a fresh draft as its plan: a model's, if there is one, else the engine's.

    A model's draft that was made earlier is moved to begin now.
    """
    session = replace(session, drafted_at=session.now, put_in_past=())
    if sketch is None or sketch.plan is None:
        result = own_draft(session)
        fresh = replace(
            session,
            plan=result.plan,
            unplaced=to_unplaced(session, result.unplaced),
            clash=clash_of(result.conflict, result.relaxed),
        )
    else:
        plan, left = _start_now(session, sketch.plan)
        unplaced = (*sketch.unplaced, *to_unplaced(session, left))
        fresh = replace(session, plan=plan, unplaced=with_offers(unplaced, session.unplaced))
    return grade_session(replace(fresh, draft_basis=basis(session)))


def _start_now(session: Session, plan: TBPlan) -> tuple[TBPlan, tuple[UnplacedItem, ...]]:
    """Return an earlier draft with its past part moved, and the items that lost their place."""
    now = session.now
    late = () if now is None else keys_before(plan, now)
    if now is None or not late:
        return plan, ()
    plan = start_from(plan, late, now)
    result = refit_plan(plan, from_now(instance_in(session), plan, now))
    return result.plan, result.unplaced


def fingerprint(session: Session) -> str | None:
    """Return :func:`basis`, or ``None`` when nothing can be drafted.

    That is so when the session ended, or its frame is a mistake.
    """
    if session.status is SessionStatus.CANCELLED:
        return None
    try:
        return basis(session)
    except BadInput:
        return None


def wants_sketch(session: Session) -> bool:
    """Check whether to draft in advance (S44).

    That is so while the person lists tasks, the calendar is known, and neither a draft nor the plan has the same
    inputs.
    """
    now = None if frame_mistake(session) is not None else fingerprint(session)
    if now is None or session.stage is not TimeboxingStage.CAPTURE_INPUTS or not session.inputs.tasks:
        return False
    if session.snapshot is None or session.snapshot.day != session.date:
        return False
    planned = session.plan is not None and session.draft_basis == now
    return not planned and (session.sketch is None or session.sketch.basis != now)


def without_stale_sketch(session: Session) -> Session:
    """Return the session without a draft whose inputs have changed (S46, S232)."""
    if session.sketch is None or session.sketch.basis == fingerprint(session):
        return session
    return replace(session, sketch=None)


def grade_session(session: Session) -> Session:
    """Return the session with the quality of its current plan."""
    if session.plan is None:
        return replace(session, quality=None)
    result = quality.grade_plan(grading_instance(session), session.plan, unplaced_items(session))
    return replace(session, quality=result)


def grading_instance(session: Session) -> Instance:
    """Return the session's day for grading a plan: as it is drafted, by the same policy (K10).

    Raises ``BadInput`` when the frame is a mistake, or over.
    """
    return instance_in(session)


def unplaced_items(session: Session) -> tuple[UnplacedItem, ...]:
    """Return the tasks that found no place when the day was drafted."""
    return tuple(UnplacedItem(each.task_id, each.title, each.reason) for each in session.unplaced)


def _lunch(session: Session, start: datetime) -> LunchWish:
    return LunchWish(f"lunch-{session.date.isoformat()}", start, session.frame.lunch_minutes)


def work_of(task: Task) -> Work:
    """Return a task as work for the drafting engine."""
    return Work(
        task.id,
        task.title,
        task.minutes,
        task.depth is Depth.DEEP,
        task.one_thing,
        notes_with_criteria(task),
        pieces=task.in_pieces,
    )

"""A session's day as the drafting room takes it, and the draft put into the session."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import astuple
from datetime import datetime

from fateforger.drafting import Busy, Day, Left, LunchWish, Told, Work, draft, grade
from fateforger.plan import instant_of, zone
from fateforger.session.frame import frame_mistake, frame_of
from fateforger.session.meetings import busy_meetings
from fateforger.session.model import Depth, Quality, Session, SessionStatus, Sketch, Task, Unplaced
from fateforger.session.recall import drafting
from fateforger.stages import TimeboxingStage


def day_of(session: Session) -> Day:
    """Everything a draft follows from. Raises ``BadInput`` when the frame is a mistake."""
    start, end = frame_of(session)
    return Day(
        date=session.date,
        tz=session.tz,
        start=start,
        end=end,
        busy=tuple(Busy(m.start, m.end) for m in busy_meetings(session)),
        lunch=_lunch(session),
        works=tuple(_work(t) for t in session.inputs.tasks),
    )


def basis(session: Session) -> str:
    """Fingerprint of what a draft follows from: date, zone, frame, lunch, tasks, busy time, and the constraints that it
    follows, those of this conversation too (S46, S232)."""
    made_from = json.dumps(astuple(day_of(session)), default=str)
    rules = "".join(sorted(item.record.model_dump_json() for item in drafting(session).applicable))
    return hashlib.sha1(f"{made_from}{rules}".encode(), usedforsecurity=False).hexdigest()


def drafted(session: Session, sketch: Sketch | None = None) -> Session:
    """The session with a fresh draft in the place of its plan: a model's, if there is one, else our own."""
    if sketch is None or sketch.plan is None:
        result = draft(day_of(session), told(session))
        plan, unplaced = result.plan, named(result.unplaced)
    else:
        plan, unplaced = sketch.plan, sketch.unplaced
    return graded(session.model_copy(update={"plan": plan, "unplaced": unplaced, "draft_basis": basis(session)}))


def told(session: Session) -> tuple[Told, ...]:
    """The constraints that a draft of this day follows, each with the day it was said."""
    return tuple(
        Told(
            uid=item.uid,
            constraint_record=item.record,
            said_on=item.version.created_at.astimezone(zone(session.tz)).date(),
        )
        for item in drafting(session).applicable
    )


def named(left: Iterable[Left]) -> tuple[Unplaced, ...]:
    """What a draft left out, as the session says it."""
    return tuple(Unplaced(task_id=each.id, title=each.title, reason=each.reason) for each in left)


def fingerprint(session: Session) -> str | None:
    """:func:`basis`, or ``None`` when nothing can be drafted: the session ended, or its frame is a mistake."""
    if session.status is SessionStatus.CANCELLED or frame_mistake(session) is not None:
        return None
    return basis(session)


def wants_sketch(session: Session) -> bool:
    """Whether a draft is worth making before it is asked for: the person says what is to be done, the calendar is
    known, and neither a draft nor the plan was made from the same already (S44)."""
    now = fingerprint(session)
    if now is None or session.stage is not TimeboxingStage.CAPTURE_INPUTS or not session.inputs.tasks:
        return False
    if session.snapshot is None or session.snapshot.day != session.date:
        return False
    planned = session.plan is not None and session.draft_basis == now
    return not planned and (session.sketch is None or session.sketch.basis != now)


def without_stale_sketch(session: Session) -> Session:
    """The session without a draft that was made from something else than it has now (S46, S232)."""
    if session.sketch is None or session.sketch.basis == fingerprint(session):
        return session
    return session.model_copy(update={"sketch": None})


def graded(session: Session) -> Session:
    """The session with the quality of its plan as it is now."""
    if session.plan is None:
        return session.model_copy(update={"quality": None})
    left = tuple(Left(u.task_id, u.title, u.reason) for u in session.unplaced)
    result = grade(day_of(session), session.plan, left)
    quality = Quality(level=result.level, label=result.label, next_step=result.next_step)
    return session.model_copy(update={"quality": quality})


def _lunch(session: Session) -> LunchWish | None:
    frame = session.frame
    if frame.lunch_start is None or not frame.lunch_minutes:
        return None
    start = instant_of(datetime.combine(session.date, frame.lunch_start), zone(session.tz))
    return LunchWish(f"lunch-{session.date.isoformat()}", start, frame.lunch_minutes)


def _work(task: Task) -> Work:
    return Work(task.id, task.title, task.minutes, task.depth is Depth.DEEP, task.one_thing, task.notes)

"""A session's day as the drafting room takes it, and the draft put into the session."""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple
from datetime import datetime

from fateforger.drafting import Busy, Day, Left, LunchWish, Work, draft, grade
from fateforger.plan import instant_of, zone
from fateforger.session.frame import frame_of
from fateforger.session.meetings import busy_meetings
from fateforger.session.model import Depth, Quality, Session, Task, Unplaced


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
    """Fingerprint of what a draft follows from: date, zone, frame, lunch, tasks and busy time (S46)."""
    return hashlib.sha1(json.dumps(astuple(day_of(session)), default=str).encode(), usedforsecurity=False).hexdigest()


def drafted(session: Session) -> Session:
    """The session with a fresh draft in the place of its plan."""
    day = day_of(session)
    result = draft(day)
    return graded(
        session.model_copy(
            update={
                "plan": result.plan,
                "unplaced": tuple(Unplaced(task_id=u.id, title=u.title, reason=u.reason) for u in result.unplaced),
                "draft_basis": basis(session),
            }
        )
    )


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

"""A session's day as the drafting room takes it, with what the person told, and the draft put into the session."""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple
from datetime import datetime
from itertools import islice

from fateforger import quality
from fateforger.constraints.kinds import Necessity
from fateforger.constraints.sections import reminder_of
from fateforger.drafting import Busy, Day, Draft, Left, LunchWish, Told, Work, draft
from fateforger.drafting.draft import instance_of, with_loose_lunch
from fateforger.drafting.instance import MOST_EVENTS, Immovable, Instance
from fateforger.drafting.policy import Policy
from fateforger.plan import instant_of, zone
from fateforger.session.fitting import clash_of, named, with_offers
from fateforger.session.frame import frame_mistake, frame_of
from fateforger.session.meetings import busy_meetings
from fateforger.session.model import Depth, Session, SessionStatus, Sketch, Task
from fateforger.session.recall import drafting
from fateforger.session.tasks import with_success
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
        works=tuple(work_of(t) for t in session.inputs.tasks),
    )


def told(session: Session) -> tuple[Told, ...]:
    """The constraints that a draft follows, as the drafting room takes them: all that apply, musts first."""
    items = sorted(drafting(session).applicable, key=lambda item: item.record.necessity is not Necessity.MUST)
    return tuple(Told(uid=item.uid, constraint_record=item.record, said_on=reminder_of(item).said_on) for item in items)


def own_draft(session: Session) -> Draft:
    """The engine's draft of the session's day."""
    return draft(day_of(session), told(session))


def instance_in(session: Session) -> Instance:
    """The session's day as the engine takes it, by the names of its meetings, with what can be followed of what was
    told. Raises ``BadInput`` when the frame is a mistake."""
    day = day_of(session)
    gone = () if session.clash is None else session.clash.let_go
    instance = instance_of(day, tuple(each for each in told(session) if each.id not in gone))
    meetings = islice((m for m in busy_meetings(session) if m.start < m.end), MOST_EVENTS)
    events = tuple(
        Immovable(id=f"meeting-{n}", title=m.title[:300], start=m.start, end=m.end) for n, m in enumerate(meetings, 1)
    )
    return with_loose_lunch(day, instance.model_copy(update={"immovables": events}))


def basis(session: Session) -> str:
    """Fingerprint of what a draft follows from: date, zone, frame, lunch, tasks, busy time, and the constraints that it
    follows, those of this conversation too (S46, S232)."""
    made_from = json.dumps(astuple(day_of(session)), default=str)
    rules = "".join(sorted(item.record.model_dump_json() for item in drafting(session).applicable))
    return hashlib.sha1(f"{made_from}{rules}".encode(), usedforsecurity=False).hexdigest()


def drafted(session: Session, sketch: Sketch | None = None) -> Session:
    """The session with a fresh draft in the place of its plan: a model's, if there is one, else our own."""
    if sketch is None or sketch.plan is None:
        result = own_draft(session)
        changes = {
            "plan": result.plan,
            "unplaced": named(session, result.unplaced),
            "clash": clash_of(result.conflict, result.relaxed),
        }
    else:
        changes = {"plan": sketch.plan, "unplaced": with_offers(sketch.unplaced, session.unplaced)}
    return graded(session.model_copy(update={**changes, "draft_basis": basis(session)}))


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
    result = quality.graded(measure(session), session.plan, left_of(session))
    return session.model_copy(update={"quality": result})


def measure(session: Session) -> Instance:
    """The session's day as a plan for it is judged: by all that makes a good day, but for a lunch that the person does
    not want. Once the plan is on the calendar nobody is asked to name the one thing, which may be done by then. Raises
    ``BadInput`` when the frame is a mistake."""
    day = instance_in(session)
    one = session.written is None or any(task.one_thing for task in day.tasks)
    return day.model_copy(update={"policy": Policy(lunch=day.policy.lunch, one_thing_early=one)})


def left_of(session: Session) -> tuple[Left, ...]:
    """What found no place when the day was drafted."""
    return tuple(Left(each.task_id, each.title, each.reason) for each in session.unplaced)


def _lunch(session: Session) -> LunchWish | None:
    frame = session.frame
    if frame.lunch_start is None or not frame.lunch_minutes:
        return None
    start = instant_of(datetime.combine(session.date, frame.lunch_start), zone(session.tz))
    return LunchWish(f"lunch-{session.date.isoformat()}", start, frame.lunch_minutes)


def work_of(task: Task) -> Work:
    """A task as the drafting room takes it."""
    return Work(
        task.id,
        task.title,
        task.minutes,
        task.depth is Depth.DEEP,
        task.one_thing,
        with_success(task),
        pieces=task.in_pieces,
    )

"""Picture of a session's day."""

from __future__ import annotations

from fateforger.picture import DayView, Meeting, PlannedBlock, planned_blocks
from fateforger.session.cards import Picture
from fateforger.session.frame import frame_mistake, frame_of
from fateforger.session.meetings import on_calendar
from fateforger.session.model import Session


def picture(session: Session, *, changed: bool = False) -> tuple[Picture, ...]:
    """Return the picture, once there is a plan.

    With ``changed`` it shows the changes of the turn that was just carried out.
    """
    if session.plan is None:
        return ()
    blocks = planned_blocks(session.plan)
    start, end = (None, None) if frame_mistake(session) is not None else frame_of(session)
    seen = on_calendar(session)
    before = _before(session) if changed else None
    day = DayView(
        date=session.date,
        tz=session.tz,
        start=start,
        end=end,
        blocks=blocks,
        meetings=tuple(
            Meeting(title=m.title, start=m.start, end=m.end, busy=m.busy, calendar=m.calendar) for m in seen.timed
        ),
        all_day=seen.all_day,
        before=None if before == blocks else before,
    )
    return (Picture(day=day),)


def _before(session: Session) -> tuple[PlannedBlock, ...] | None:
    """Return the blocks before the last change, while the card still reports it."""
    notice = session.notice
    if notice is None or notice.refused or not session.refine_undo:
        return None
    step = session.refine_undo[-1]
    return planned_blocks(step.plan_before) if step.sentence and step.sentence in notice.lines else None

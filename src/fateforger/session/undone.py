"""Changes of the plan that were undone, and can be made again while the plan is as the undo left it."""

from __future__ import annotations

from fateforger.session.constants import MOST_UNDO
from fateforger.session.model import RefineUpdate, Session, UndoneChange
from fateforger.session.replanning import facts_of
from fateforger.text import mark_message

NONE_UNDONE = mark_message("No change was taken back that I could make again, so I changed nothing.")


def with_undone(session: Session, step: RefineUpdate) -> Session:
    """Return the session with a change remembered that is being undone; its plan still has the change."""
    if session.planning.plan is None:
        return session
    undone = UndoneChange(
        step=step,
        plan_after=session.planning.plan,
        facts_after=None if step.facts_before is None else facts_of(session),
    )
    return session.with_sync(undone=(*session.sync.undone, undone)[-MOST_UNDO:])


def find_undone(session: Session) -> UndoneChange | None:
    """Return the change that was undone last; ``None`` if there is none, or the plan has changed since."""
    if not session.sync.undone:
        return None
    last = session.sync.undone[-1]
    return last if session.planning.plan == last.step.plan_before else None

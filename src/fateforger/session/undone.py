"""Changes of the plan that were undone, and can be made again while the plan is as the undo left it."""

from __future__ import annotations

from fateforger.memory.versions import select_newest
from fateforger.session.memory_changes import COUNTS_AGAIN
from fateforger.session.model import Facts, RefineUpdate, Session, UndoneChange
from fateforger.session.rulebook import known_versions
from fateforger.session.stages import MOST_UNDO
from fateforger.text import gettext as _
from fateforger.text import mark_message, quote_title
from fateforger.values import replace

NONE_UNDONE = mark_message("No change was taken back that I could make again, so I changed nothing.")


def facts_of(session: Session) -> Facts:
    """Return the facts that a refit may change besides the plan."""
    return Facts(
        frame=session.day.frame,
        inputs=session.day.inputs,
        deferred=session.open_work.deferred,
        unplaced=session.planning.unplaced,
        settled=session.open_work.settled,
        sent=session.open_work.sent,
        draft_basis=session.planning.draft_basis,
    )


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


def follow_approvals(before: Session, after: Session) -> Session:
    """Return the session after an undo or redo, with the constraints set aside that its changes need, and no others.

    Those of changes that are undone count again, which is said.
    """
    was, now = (dict.fromkeys(uid for step in s.sync.refine_undo for uid in step.set_aside) for s in (before, after))
    again = [uid for uid in was if uid not in now and uid in after.rules.set_aside]
    aside = dict.fromkeys((*after.rules.set_aside, *(uid for uid in now if uid not in was)))
    writes = (
        replace(write, put_aside=tuple(uid for uid in write.put_aside if uid not in again))
        for write in after.rules.memory_writes
    )
    after = after.with_rules(
        set_aside=tuple(uid for uid in aside if uid not in again),
        memory_writes=tuple(each for each in writes if each.versions or each.put_aside or each.taken_up),
    )
    known = select_newest(known_versions(after), after.user_id)
    names = [known[uid].record.name for uid in again if uid in known]
    return after.say(*(_(COUNTS_AGAIN, name=quote_title(name)) for name in names)) if names else after

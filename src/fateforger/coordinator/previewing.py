"""Preview the next write without writing anything, not even to the journal."""

from __future__ import annotations

from typing import Protocol

from fateforger.coordinator.looking import Looker
from fateforger.coordinator.mirroring import build_reading
from fateforger.errors import CalendarError, UserError
from fateforger.plan import TBPlan
from fateforger.session.model import Session
from fateforger.session.questions import choices_of, settle_questions
from fateforger.session.views import PreviewView
from fateforger.sync import Choices
from fateforger.sync.model import SyncPlan
from fateforger.sync.sentences import describe_plan
from fateforger.turn.constants import REREAD_WAIT
from fateforger.turn.model import Preview
from fateforger.turn.nodes.turn_init import apply_reading
from fateforger.values import replace


class Previewer(Protocol):
    """The part of :class:`fateforger.commit.CalendarSubmitter` that a preview needs."""

    async def preview(self, plan: TBPlan, *, choices: Choices = ...) -> SyncPlan: ...


async def open_preview(effect: Preview, session: Session, submitter: Previewer, looker: Looker) -> Session:
    """Return the session with an open preview. The calendar is read as for a commit.

    Nothing of that read is kept, so that the next one finds the same news.
    """
    look = await looker.wait(session.date, session.tz, seconds=REREAD_WAIT, fresh=True)
    reading = None if look is None else build_reading(session, look)
    looked = (
        session if reading is None or reading.snapshot is None else settle_questions(apply_reading(session, reading))
    )
    noticed = () if reading is None else reading.noticed
    plan = looked.plan or TBPlan(date=session.date, tz=session.tz)
    try:
        planned = await submitter.preview(plan, choices=choices_of(looked))
    except (UserError, CalendarError) as error:
        return _with_preview(session, PreviewView(asked=effect.asked, at=effect.at, problem=error.message))
    words = describe_plan(planned)
    view = PreviewView(
        asked=effect.asked,
        at=effect.at,
        counts=words.counts,
        todo=words.todo,
        left=words.left,
        notes=tuple(dict.fromkeys((*noticed, *words.notes))),
        brakes=words.brakes,
    )
    return _with_preview(session, view)


def mark_stale_preview(before: Session, after: Session) -> Session:
    """Return the session with an earlier preview marked as stale, if the turn changed its subject."""
    view = after.preview
    if view is None or view.stale or before.preview is None or view.asked != before.preview.asked:
        return after
    if _preview_subject(after) == _preview_subject(before):
        return after
    return _with_preview(after, replace(view, stale=True))


def _preview_subject(session: Session) -> tuple[object, ...]:
    return session.plan, session.written, session.snapshot, session.questions


def _with_preview(session: Session, view: PreviewView) -> Session:
    return replace(session, preview=view)

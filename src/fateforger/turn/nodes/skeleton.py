"""Stage 3: a first draft to look at (S45, S46, S48). It cannot fail on validation: drafting makes valid plans only."""

from __future__ import annotations

from fateforger.session.model import Notice, RefineUpdate, Session
from fateforger.session.overview import overview
from fateforger.session.skeleton import basis, drafted
from fateforger.stages import Move
from fateforger.turn.constants import MOST_UNDO
from fateforger.turn.model import StageInput, StageOutput
from fateforger.turn.nodes.facts import told

KEPT = "Nothing that your draft was made from has changed, so I kept your plan as you refined it. Redo drafts it anew."
ANEW = "I drafted the day anew; Undo last update, in Refine, brings the plan back that you had."


def run(stage: StageInput) -> StageOutput:
    """Draft when there is no draft, when what it was made from changed, or when asked to; otherwise keep it."""
    session = stage.session
    if stage.asked in {Move.PROCEED, Move.BACK}:
        return StageOutput(session=session, move=stage.asked)
    after = told(session, stage.command)
    if after is not None:
        session = after
    if stage.asked is Move.REDO or session.plan is None or session.draft_basis != basis(session):
        session = _anew(session)
    elif stage.arrived is not None and session.refine_undo:
        session = session.model_copy(update={"notice": Notice(lines=(KEPT,))})
    return StageOutput(session=session.model_copy(update={"overview": overview(session)}))


def _anew(session: Session) -> Session:
    """A fresh draft. A plan that was refined or written before can be brought back."""
    fresh = drafted(session)
    if session.plan is None or fresh.plan == session.plan or not (session.refine_undo or session.written):
        return fresh
    step = RefineUpdate(plan_before=session.plan, sentence="The day was drafted anew.")
    return fresh.model_copy(
        update={"refine_undo": (*session.refine_undo, step)[-MOST_UNDO:], "notice": Notice(lines=(ANEW,))}
    )

"""Stage 3: a first draft (S45, S46, S48). Validation cannot fail: drafting makes valid plans only.

The node drafts with the solver and requests a model's draft as an effect, so there is always a plan.
"""

from __future__ import annotations

from fateforger.plan import TBPlan
from fateforger.session.arrivals import current_inputs, explain_redraft
from fateforger.session.model import Notice, RefineUpdate, Session, Sketch
from fateforger.session.overview import overview
from fateforger.session.redrafting import option_words, room_words
from fateforger.session.skeleton import basis, draft_day, fingerprint
from fateforger.stages import Move, TimeboxingStage
from fateforger.turn.constants import MOST_UNDO
from fateforger.turn.model import DraftDay, Effect, StageInput, StageOutput
from fateforger.turn.nodes.facts import apply_day_facts
from fateforger.values import replace

KEPT = "Nothing your draft was made from has changed, so I kept your plan as you refined it. Redo step drafts it again."
REDRAFTED = "I redrafted your day{why}."
LOOK_AGAIN = "Please look at it once more; Refine goes on with it."
ANEW = "I redrafted your day. To get your previous plan back, use Undo last update in Refine."


def run(stage: StageInput) -> StageOutput:
    """Draft if there is no draft, if its inputs changed, or on request; otherwise keep the plan."""
    session = stage.session
    if stage.asked is Move.PROCEED:
        return _go_on(session)
    if stage.asked is Move.BACK:
        return StageOutput(session=session, move=stage.asked)
    effects: tuple[Effect, ...] = ()
    after = apply_day_facts(session, stage.command)
    if after is not None:
        session = after
    if stage.asked is Move.REDO or session.plan is None or session.draft_basis != basis(session):
        over = session.plan
        if after is None and stage.asked is not Move.REDO and stage.arrived is None and over is not None:
            session = redraft(session)
            return StageOutput(session=session, effects=(DraftDay(over=over, another=False),))
        effects = (DraftDay(over=over, another=stage.asked is Move.REDO),)
        session = _draft(session, over)
        if over is not None and after is not None:
            session = _add_lines(session, (*option_words(stage.session, after), *room_words(over, session)))
    elif stage.arrived is not None and session.refine_undo:
        session = replace(session, notice=Notice(lines=(KEPT,)))
    return StageOutput(session=replace(session, overview=overview(session)), effects=effects)


def _go_on(session: Session) -> StageOutput:
    """Go on to Refine with a current draft. A changed draft is shown to the person first (S46)."""
    fresh = redraft(session)
    if session.plan is None or fresh.plan == session.plan:
        return StageOutput(session=fresh, move=Move.PROCEED)
    effects = (DraftDay(over=session.plan, another=False),)
    return StageOutput(session=_add_lines(fresh, (LOOK_AGAIN,)), effects=effects)


def renew_draft(output: StageOutput) -> StageOutput:
    """Return the output with the day redrafted if a rule or meeting has changed while its draft is shown (K9, S46)."""
    fresh = redraft(output.session)
    over = output.session.plan
    if over is None or fresh is output.session:
        return output
    effects = () if fresh.plan == over else (DraftDay(over=over, another=False),)
    return replace(output, session=fresh, effects=(*output.effects, *effects))


def redraft(session: Session) -> Session:
    """Return the session with a new solver draft and the reason for it, if the inputs of its draft changed.

    Otherwise the session is returned unchanged. If the new draft is the same plan, no reason is given.
    """
    if session.stage is not TimeboxingStage.SKELETON or session.plan is None:
        return session
    if fingerprint(session) in {None, session.draft_basis}:
        return session
    said = () if session.notice is None else session.notice.lines
    fresh = _draft(replace(session, notice=None), session.plan)
    lines = said
    if fresh.plan != session.plan:
        anew = () if fresh.notice is None else fresh.notice.lines
        why = REDRAFTED.format(why=explain_redraft(session))
        lines = (*said, why, *anew, *room_words(session.plan, fresh))
    notice = Notice(lines=lines) if lines else None
    return replace(fresh, notice=notice, overview=overview(fresh))


def apply_sketch(session: Session, sketch: Sketch, asked: DraftDay) -> Session:
    """Replace the solver's draft by a model's; without one, keep the solver's draft and say why."""
    if session.draft_basis != sketch.basis:
        return session
    lines = () if session.notice is None else session.notice.lines
    if sketch.plan is not None:
        ours = () if asked.over is None else room_words(asked.over, session)
        session = _draft(replace(session, notice=None), asked.over, sketch)
        anew = () if session.notice is None else session.notice.lines
        lines = (*anew, *(line for line in lines if line != ANEW and line not in ours))
    lines = (*lines, *sketch.mended)
    if sketch.trouble is not None:
        lines = (*lines, sketch.trouble)
    session = replace(session, notice=Notice(lines=lines) if lines else None)
    return replace(session, overview=overview(session), sketch=None)


def _add_lines(session: Session, lines: tuple[str, ...]) -> Session:
    said = () if session.notice is None else session.notice.lines
    return replace(session, notice=Notice(lines=(*said, *lines))) if lines else session


def _draft(session: Session, over: TBPlan | None, sketch: Sketch | None = None) -> Session:
    """Return the session with a new draft.

    A plan that was refined or written before can be restored; if the solver's draft replaced it a moment ago, the same
    step is reused.
    """
    fresh = draft_day(session, sketch)
    fresh = replace(fresh, weighed=current_inputs(fresh), overrun=())
    if over is None:
        return fresh
    step = RefineUpdate(plan_before=over, sentence="The day was drafted anew.")
    steps = session.refine_undo[:-1] if session.refine_undo[-1:] == (step,) else session.refine_undo
    if fresh.plan == over or not (steps or session.written):
        return replace(fresh, refine_undo=steps)
    return replace(fresh, refine_undo=(*steps, step)[-MOST_UNDO:], notice=Notice(lines=(ANEW,)))

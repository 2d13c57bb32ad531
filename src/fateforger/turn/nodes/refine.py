"""Stage 4: each change is said, graded, written when so set, and can be taken back (S49-S51, S55, K1)."""

from __future__ import annotations

from fateforger.session.commands import ResolveConflict
from fateforger.session.edits import BlockCommand, edited, told_difference
from fateforger.session.keys import minted
from fateforger.session.model import Notice, RefineUpdate, Session
from fateforger.session.questions import answered_by, reopened, with_answer
from fateforger.session.skeleton import graded
from fateforger.session.wishes import wished
from fateforger.stages import Move
from fateforger.turn.constants import MOST_UNDO
from fateforger.turn.model import StageInput, StageOutput, UndoGroup, UndoUpdate, WriteCalendar
from fateforger.turn.nodes.conflict import resolved


def run(stage: StageInput) -> StageOutput:
    """Carry out a change or a move of this stage. What is written is decided here; it is done by the coordinator."""
    session = stage.session
    if isinstance(stage.command, BlockCommand):
        return _change(stage, stage.command)
    if isinstance(stage.command, ResolveConflict):
        answered = resolved(stage.session, stage.command, at_once=session.calendar_write == "refine")
        return _write(stage, answered.session) if answered.to_write else StageOutput(session=answered.session)
    if Move.UNDO_SYNC in {stage.asked, stage.arrived}:
        group = session.write_group
        return StageOutput(session=session, effects=() if group is None else (UndoGroup(group=group),))
    match stage.asked:
        case Move.PROCEED | Move.BACK:
            return StageOutput(session=session, move=stage.asked)
        case Move.UNDO_LAST_UPDATE:
            return _take_back(session)
        case Move.RETRY:
            return _write(stage, session)
        case Move.REDO:
            looked = "I looked at your calendar again." if session.snapshot_error is None else session.snapshot_error
            lines = (looked, *(session.notice.lines if session.notice else ()))
            return StageOutput(session=graded(session).model_copy(update={"notice": Notice(lines=lines)}))
        case _:
            return StageOutput(session=graded(session))


def _change(stage: StageInput, command: BlockCommand) -> StageOutput:
    session = stage.session
    result = edited(session, command)
    said = (*(session.notice.lines if session.notice else ()), result.sentence)
    session = session.model_copy(update={"notice": Notice(lines=said)})
    if not result.changed:
        return StageOutput(session=session)
    answered = answered_by(session, wished(command, result.before, result.after))
    session = with_answer(session, answered, "plan")
    step = RefineUpdate(plan_before=result.before, sentence=result.sentence, answered=answered)
    named = {e.name.casefold() for e in result.after.events}
    changed = session.model_copy(
        update={
            "plan": result.after,
            "unplaced": tuple(u for u in session.unplaced if u.title.casefold() not in named),
            "refine_undo": (*session.refine_undo, step)[-MOST_UNDO:],
            "last_sync": None,
        }
    )
    return (
        _write(stage, graded(changed)) if session.calendar_write == "refine" else StageOutput(session=graded(changed))
    )


def _write(stage: StageInput, session: Session) -> StageOutput:
    group = session.write_group or minted("g", session.id, stage.cause)
    # Only trying again is a yes to what stopped the last write.
    brakes = session.brakes if stage.asked is Move.RETRY else ()
    session = session.model_copy(update={"write_group": group, "brakes": brakes})
    return StageOutput(session=session, effects=(WriteCalendar(group=group, commit=False),))


def _take_back(session: Session) -> StageOutput:
    last = session.refine_undo[-1]
    if last.transactions:
        return StageOutput(session=session, effects=(UndoUpdate(transactions=last.transactions),))
    return StageOutput(session=taken_back(session))


def taken_back(session: Session) -> Session:
    """The session with the last change gone: the plan as it was before."""
    last = session.refine_undo[-1]
    rest = session.refine_undo[:-1]
    plan = session.plan or last.plan_before
    difference = "" if last.answered and plan == last.plan_before else told_difference(plan, last.plan_before)
    session = reopened(session, last.answered)
    return graded(
        session.model_copy(
            update={
                "plan": last.plan_before,
                "refine_undo": rest,
                "notice": Notice(lines=(f"Your last change is taken back. {difference}".rstrip(),)),
                "problem": session.problem if rest and not rest[-1].transactions else None,
            }
        )
    )

"""Stage 4: each change is said, graded, written when so set, and can be taken back (S49-S51, S55, K1)."""

from __future__ import annotations

from fateforger.constraints.blocks import Breach
from fateforger.constraints.kinds import Necessity
from fateforger.plan import TBPlan
from fateforger.session import commands
from fateforger.session.commands import Replan, ResolveConflict
from fateforger.session.differences import told_difference
from fateforger.session.edits import BlockCommand, edited
from fateforger.session.keeping import against
from fateforger.session.keys import minted
from fateforger.session.model import Held, Notice, RefineUpdate, Session
from fateforger.session.questions import answered_by, reopened, with_answer
from fateforger.session.recall import following
from fateforger.session.refitting import (
    Refit,
    WayOut,
    facts_of,
    once_more,
    replanned,
    with_facts,
    with_put_in_past,
    with_way_out,
)
from fateforger.session.skeleton import graded
from fateforger.session.wishes import wished
from fateforger.session.writing import at_once
from fateforger.stages import Move, TimeboxingStage
from fateforger.turn.constants import MOST_UNDO
from fateforger.turn.model import StageInput, StageOutput, UndoGroup, UndoUpdate, WriteCalendar
from fateforger.turn.nodes.conflict import resolved

NOT_MADE = "I did not do that, because of a rule you want kept."
ANYWAY = "Do it anyway, and that rule does not count for this day; or leave the plan as it is."
BY_ITSELF = "This plan is {label} ({level} of 4), so it goes to your calendar by itself."
GOES_AGAINST = "That goes against something you want."
JUDGEMENTS = (commands.JudgeConstraint, commands.ReviseConstraint, commands.SettleConstraints)


def run(stage: StageInput) -> StageOutput:
    """Carry out a change or a move of this stage. What is written is decided here; it is done by the coordinator."""
    session = stage.session
    if isinstance(stage.command, BlockCommand):
        return _change(stage, stage.command)
    if isinstance(stage.command, ResolveConflict):
        answered = resolved(stage.session, stage.command, at_once=at_once(session))
        return write(stage, answered.session) if answered.to_write else StageOutput(session=answered.session)
    if isinstance(stage.command, Replan):
        return _refitted(stage, replanned(session, stage.command, stage.now))
    if isinstance(stage.command, WayOut):
        return _refitted(stage, with_way_out(session, stage.command, stage.now))
    if Move.UNDO_SYNC in {stage.asked, stage.arrived}:
        group = session.write_group
        return StageOutput(session=session, effects=() if group is None else (UndoGroup(group=group),))
    match stage.asked:
        case Move.PROCEED | Move.BACK:
            return StageOutput(session=session, move=stage.asked)
        case Move.UNDO_LAST_UPDATE:
            return _take_back(session)
        case Move.RETRY:
            return write(stage, session)
        case Move.REDO:
            looked = "I looked at your calendar again." if session.snapshot_error is None else session.snapshot_error
            lines = (looked, *(session.notice.lines if session.notice else ()))
            return StageOutput(session=graded(session).model_copy(update={"notice": Notice(lines=lines)}))
        case _:
            session = graded(session)
            return by_itself(stage, session) if stage.arrived is Move.PROCEED else StageOutput(session=session)


def by_itself(stage: StageInput, session: Session) -> StageOutput:
    """The plan written without a commit, where the person chose that for a plan that is Okay (S210). Not before the
    calendar was read: meetings that nobody knows of make no plan Okay."""
    quality = session.quality
    if session.calendar_write != "okay" or quality is None or session.snapshot is None or not at_once(session):
        return StageOutput(session=session)
    return write(stage, _saying(session, BY_ITSELF.format(level=quality.level, label=quality.label)))


def _change(stage: StageInput, command: BlockCommand) -> StageOutput:
    session = stage.session
    result = edited(session, command)
    if not result.changed:
        return StageOutput(session=_saying(session, result.sentence))
    answered = answered_by(session, wished(command, result.before, result.after))
    step = RefineUpdate(plan_before=result.before, sentence=result.sentence, answered=answered)
    return _made(stage, session, step, result.after)


def _made(stage: StageInput, session: Session, step: RefineUpdate, after: TBPlan) -> StageOutput:
    """The change, unless it goes against what must be followed: then it waits for the person's word."""
    broken = against(session, step.plan_before, after, Necessity.MUST)
    if broken:
        return StageOutput(session=_held(stage, session, step, after, broken[0]))
    explained = against(session, step.plan_before, after, Necessity.SHOULD)
    session = _saying(session, step.sentence, *(f"{GOES_AGAINST} {breach.sentence}" for breach in explained))
    session = with_answer(session, step.answered, "plan")
    named = {e.name.casefold() for e in after.events}
    changed = session.model_copy(
        update={
            "plan": after,
            "unplaced": tuple(u for u in session.unplaced if u.title.casefold() not in named),
            "refine_undo": (*session.refine_undo, step)[-MOST_UNDO:],
            "last_sync": None,
            "held": None,
        }
    )
    changed = graded(with_put_in_past(session, changed, stage.now))
    return write(stage, changed) if at_once(changed) else StageOutput(session=changed)


def _refitted(stage: StageInput, refit: Refit) -> StageOutput:
    """The rest of the day as it fits now: one change, with the facts behind it. On a committed day it is written at
    once, whenever else changes are."""
    before = stage.session
    plan_before = before.plan or TBPlan(date=before.date, tz=before.tz)
    step = RefineUpdate(
        plan_before=plan_before,
        sentence=" ".join(refit.lines),
        local=refit.plan == plan_before,
        facts_before=facts_of(before),
    )
    if step.local and facts_of(refit.session) == step.facts_before:
        return StageOutput(session=_saying(before, *refit.lines))
    changes = {
        "plan": refit.plan,
        "refine_undo": (*before.refine_undo, step)[-MOST_UNDO:],
        "last_sync": None,
        "held": None,
    }
    session = graded(_saying(refit.session, *refit.lines).model_copy(update=changes))
    now = at_once(session) or stage.arrived is Move.BACK
    return write(stage, session) if now and not step.local else StageOutput(session=session)


def _held(stage: StageInput, session: Session, step: RefineUpdate, after: TBPlan, breach: Breach) -> Session:
    version = breach.item.version
    held = Held(asked=stage.cause, uid=version.uid, seq=version.seq, step=step, plan_after=after)
    lines = (f"{NOT_MADE} {breach.sentence}", ANYWAY)
    return session.model_copy(update={"held": held, "notice": Notice(lines=lines, refused=True)})


def resumed(stage: StageInput, output: StageOutput) -> StageOutput:
    """What the person said about their constraints, and the change that waited for it, if it can be made now."""
    session, held = output.session, output.session.held
    if held is None or not isinstance(stage.command, JUDGEMENTS):
        return output
    if session.stage is not TimeboxingStage.REFINE or session.plan != held.step.plan_before:
        return output
    if held.uid in {item.uid for item in following(session, held.plan_after).applicable}:
        return output
    if session.notice is not None and session.notice.refused:
        session = session.model_copy(update={"notice": None})
    made = _made(stage, session, held.step, held.plan_after)
    return made.model_copy(update={"effects": (*output.effects, *made.effects)})


def relaxed(stage: StageInput, output: StageOutput) -> StageOutput:
    """Where the person lets a rule go for the day that left something without a place: the day fitted anew."""
    session = output.session
    if session.stage is not TimeboxingStage.REFINE or not set(session.set_aside) - set(stage.session.set_aside):
        return output
    let_go = {offer.uid for each in session.unplaced for offer in each.offers if offer.way == "set_aside"}
    if let_go.isdisjoint(session.set_aside):
        return output
    refit = _refitted(stage.model_copy(update={"session": session}), once_more(session, stage.now))
    return refit.model_copy(update={"effects": (*output.effects, *refit.effects)})


def _saying(session: Session, *lines: str) -> Session:
    said = () if session.notice is None else session.notice.lines
    return session.model_copy(update={"notice": Notice(lines=(*said, *lines))})


def write(stage: StageInput, session: Session) -> StageOutput:
    """The session with its plan on the way to the calendar."""
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
    beside = last.answered or last.facts_before is not None
    difference = "" if beside and plan == last.plan_before else told_difference(plan, last.plan_before)
    session = with_facts(reopened(session, last.answered), last.facts_before)
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

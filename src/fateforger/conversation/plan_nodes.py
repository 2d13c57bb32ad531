"""Stages 4 and 5: the plan is refined and committed. Each change is graded and can be undone (S49-S55, S85, S201)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fateforger.calendar.conflicts import describe_value
from fateforger.calendar.model import SafetyCheckKind
from fateforger.conversation.consent import ask_first, find_open_musts, find_violations, join_blocks
from fateforger.conversation.turn_values import (
    Effect,
    StageInput,
    StageOutput,
    UndoGroup,
    UndoUpdate,
    WriteCalendar,
)
from fateforger.errors import BadInput, PlanInvalid
from fateforger.memory.violations import ConstraintViolation
from fateforger.memory.vocabulary import Necessity
from fateforger.planning.plan import TBPlan
from fateforger.planning.timing import zone
from fateforger.session.checks import (
    Arrivals,
    broken_musts,
    can_still_move,
    current_inputs,
    find_arrivals,
    new_violations,
    overlaps_with,
    overrun_key,
)
from fateforger.session.commands.base import mint_key
from fateforger.session.commands.plan import BlockCommand, MovePlan, Replan, ResolveConflict, RestoreChange
from fateforger.session.commands.rules import ConfirmKept, JudgeConstraint, ReviseConstraint, SettleConstraints
from fateforger.session.conflicts import (
    answered_questions,
    open_questions,
    question_token,
    reopen_questions,
    subject_of,
    subjects_of_change,
    with_answer,
)
from fateforger.session.draft import grade_session
from fateforger.session.edits import apply_edit, repair_violations, writes_at_once
from fateforger.session.gate import is_committed
from fateforger.session.messages import CHANGE
from fateforger.session.model import HeldChange, Question, RefineUpdate, Session
from fateforger.session.other_days import check_can_return
from fateforger.session.placement import list_differences, summarize_differences
from fateforger.session.recall import followed_constraints
from fateforger.session.replanning import (
    OptionCommand,
    Refit,
    move_plan,
    refit_again,
    replan_day,
    with_facts,
    with_option,
    with_put_in_past,
    with_safe_undo,
)
from fateforger.session.stages import MOST_UNDO, Move, TimeboxingStage
from fateforger.session.undone import NONE_UNDONE, facts_of, find_undone, follow_approvals, with_undone
from fateforger.text import gettext as _
from fateforger.text import join_sentences, mark_message, quote_title
from fateforger.values import replace

NOT_ASKED = mark_message("That question is settled already, so I changed nothing.")
ASKED_ANEW = mark_message("Your calendar or the plan has changed since that card, so I ask again.")


@dataclass(frozen=True, slots=True)
class ResolvedConflict:
    """Session with the answer applied. ``to_write`` tells whether the calendar has to be written."""

    session: Session
    to_write: bool = False


def resolve_conflict(session: Session, command: ResolveConflict, *, at_once: bool) -> ResolvedConflict:
    """Apply an answer, in a way that can be undone.

    ``at_once`` tells whether the plan's side is written now or at the next commit. An answer to a question that has
    changed since it was asked changes nothing.
    """
    waiting = open_questions(session)
    chosen = tuple(q for q in waiting if command.key is None or subject_of(q) == (command.key, command.topic))
    if not chosen:
        return ResolvedConflict(session.say(_(NOT_ASKED)))
    if command.seen is not None and command.seen != question_token(chosen):
        return ResolvedConflict(session.say(_(ASKED_ANEW)))
    if session.planning.plan is None:
        return ResolvedConflict(session)
    lines = tuple(_describe_answer(q, command, session, at_once=at_once) for q in chosen)
    step = RefineUpdate(
        plan_before=session.planning.plan,
        sentence=" ".join(lines),
        answered=chosen,
        local=command.keep == "calendar",
    )
    session = with_answer(session.say(*lines, code=CHANGE), chosen, command.keep)
    session = session.with_sync(refine_undo=(*session.sync.refine_undo, step)[-MOST_UNDO:])
    return ResolvedConflict(session, to_write=at_once and command.keep == "plan")


def _describe_answer(question: Question, command: ResolveConflict, session: Session, *, at_once: bool) -> str:
    conflict, tz = question.conflict, zone(session.tz)
    if command.keep == "plan":
        planned = describe_value(conflict, conflict.plan, session.date, tz)
        if at_once:
            return _("As planned: {planned} Your calendar gets that now.", planned=planned)
        return _("As planned: {planned} Your calendar gets that when you commit.", planned=planned)
    if conflict.calendar is None:
        return _("{title} stays off your calendar, and is out of the plan.", title=quote_title(conflict.title))
    shown = describe_value(conflict, conflict.calendar, session.date, tz)
    return _("As on your calendar: {shown}", shown=shown)


CHANGED = mark_message("{why} So I changed your plan.")
TAKE_BACK = mark_message("Undo last update takes that back.")
UNMENDED = mark_message("Your plan does not fit any more. {why} In the way: {blocks}.")
NO_WAY = mark_message("Moving blocks does not fix that. Change the plan; a commit asks you first.")
SEEN_FIRST = mark_message("Nothing was committed yet: please look at the plan, then commit it.")
NOT_MADE = mark_message("I did not do that, because of a rule you want kept.")
ANYWAY = mark_message("Do it anyway, and that rule does not count for this day; or leave the plan as it is.")
BY_ITSELF = mark_message("This plan is at level {level} of 4 ({label}), so it goes to your calendar by itself.")
GOES_AGAINST = mark_message("That goes against something you want.")
JUDGEMENTS = (JudgeConstraint, ReviseConstraint, SettleConstraints, ConfirmKept)


def run_refine_stage(stage: StageInput) -> StageOutput:
    """Carry out a change or a move of this stage. Writes are decided here and done by the coordinator."""
    session = stage.session
    if isinstance(stage.command, BlockCommand):
        return timebox_patch_and_sync(stage, stage.command)
    if isinstance(stage.command, ResolveConflict):
        answered = resolve_conflict(stage.session, stage.command, at_once=writes_at_once(session))
        followed = follow_arrivals(answered.session, stage.now)
        return write(stage, followed) if answered.to_write else StageOutput(session=followed)
    if isinstance(stage.command, Replan):
        return _apply_refit(stage, replan_day(session, stage.command, stage.now))
    if isinstance(stage.command, OptionCommand):
        output = _apply_refit(stage, with_option(session, stage.command, stage.now))
        return replace(output, session=with_safe_undo(session, output.session, stage.command))
    if isinstance(stage.command, MovePlan):
        return _move_plan(stage, stage.command)
    if isinstance(stage.command, RestoreChange):
        return _restore_change(stage)
    return _apply_move(stage, session)


def _apply_move(stage: StageInput, session: Session) -> StageOutput:
    """Handle a move of this stage, or the arrival here by one."""
    if Move.UNDO_SYNC in {stage.asked, stage.arrived}:
        group = session.sync.write_group
        return StageOutput(session=session, effects=() if group is None else (UndoGroup(group=group),))
    match stage.asked:
        case Move.PROCEED:
            followed = follow_arrivals(session, stage.now)
            if followed.planning.plan != session.planning.plan:
                return StageOutput(session=followed.say(_(SEEN_FIRST)))
            session = followed
            asking = ask_first(stage, session, "commit")
            return StageOutput(session=session, move=Move.PROCEED) if asking is None else StageOutput(session=asking)
        case Move.BACK:
            return StageOutput(session=session, move=stage.asked)
        case Move.UNDO_LAST_UPDATE:
            return _undo_update(session)
        case Move.RETRY:
            return write(stage, follow_arrivals(session, stage.now))
        case Move.REDO:
            looked = (
                _("I looked at your calendar again.")
                if session.day.snapshot_error is None
                else session.day.snapshot_error
            )
            session = session.with_notice(looked, *session.notice_lines)
            return repair_output(stage, StageOutput(session=session))
        case _ if stage.arrived is Move.PROCEED:
            return write_if_okay(stage, follow_arrivals(session, stage.now))
        case _:
            return repair_output(stage, StageOutput(session=session))


def write_if_okay(stage: StageInput, session: Session) -> StageOutput:
    """Write the plan without a commit, if the person chose that for a plan that is Okay (S210).

    Waits for the calendar to be read: without knowledge of the meetings no plan is Okay.
    """
    quality = grade_session(session)
    if (
        session.options.calendar_write != "okay"
        or quality is None
        or session.day.snapshot is None
        or not writes_at_once(session)
    ):
        return StageOutput(session=session)
    return write(stage, session.say(_(BY_ITSELF, level=quality.level, label=quality.label)))


def timebox_patch_and_sync(stage: StageInput, command: BlockCommand) -> StageOutput:
    """Change blocks as a button, a form or a message asks, and write the calendar if changes are written at once (S23).

    A change that breaks a must is held back for the person's answer.
    """
    session = stage.session
    result = apply_edit(session, command)
    if not result.has_changed:
        return repair_output(stage, StageOutput(session=session.say(result.sentence)))
    answered = answered_questions(session, subjects_of_change(command, result.before, result.after))
    placed = tuple(sorted(result.placed))
    step = RefineUpdate(plan_before=result.before, sentence=result.sentence, answered=answered, placed=placed)
    return _apply_change(stage, session, step, result.after)


def _apply_change(stage: StageInput, session: Session, step: RefineUpdate, after: TBPlan) -> StageOutput:
    """Make a change, or hold it for the person's confirmation if it breaks a must."""
    broken = new_violations(session, step.plan_before, after, Necessity.MUST)
    if broken:
        return StageOutput(session=_hold_change(stage, session, step, after, broken[0]))
    explained = new_violations(session, step.plan_before, after, Necessity.SHOULD)
    session = session.say(step.sentence, *(f"{_(GOES_AGAINST)} {breach.sentence}" for breach in explained), code=CHANGE)
    session = with_answer(session, step.answered, "plan")
    named = {e.name.casefold() for e in after.events}
    changed = session.with_planning(
        plan=after, unplaced=tuple(u for u in session.planning.unplaced if u.title.casefold() not in named)
    ).with_sync(refine_undo=(*session.sync.refine_undo, step)[-MOST_UNDO:], last_sync=None, held=None)
    # The person's change applies to the plan they saw; events that arrived meanwhile are then handled as usual.
    changed = follow_arrivals(with_put_in_past(session, changed, stage.now), stage.now)
    return write(stage, changed) if writes_at_once(changed) else StageOutput(session=changed)


def _apply_refit(stage: StageInput, refit: Refit, *, set_aside: tuple[str, ...] = ()) -> StageOutput:
    """Apply a refit of the rest of the day as one change, with the facts and the rules set aside behind it.

    On a committed day it is written at once, regardless of when other changes are.
    """
    before = stage.session
    plan_before = before.planning.plan or TBPlan(date=before.date, tz=before.tz)
    step = RefineUpdate(
        plan_before=plan_before,
        sentence=" ".join(refit.lines),
        local=refit.plan == plan_before,
        facts_before=facts_of(before),
        set_aside=set_aside,
    )
    if step.local and facts_of(refit.session) == step.facts_before:
        return StageOutput(session=before.say(*refit.lines))
    session = (
        refit.session.say(*refit.lines, code=CHANGE)
        .with_planning(plan=refit.plan, weighed=current_inputs(refit.session))
        .with_sync(refine_undo=(*before.sync.refine_undo, step)[-MOST_UNDO:], last_sync=None, held=None)
    )
    now = writes_at_once(session) or stage.arrived is Move.BACK
    return write(stage, session) if now and not step.local else StageOutput(session=session)


def _move_plan(stage: StageInput, command: MovePlan) -> StageOutput:
    """Move the plan to another day. What of it is on the calendar is taken off in the same change."""
    before = stage.session
    session = _apply_refit(stage, move_plan(before, command, stage.now)).session
    if before.sync.written is None:
        return StageOutput(session=session)
    # The person asked for the blocks to go, so the check of mass deletions does not ask again.
    group = session.sync.write_group or mint_key("g", session.id, stage.cause)
    session = session.with_sync(write_group=group, brakes=(SafetyCheckKind.MASS_DELETION.value,))
    return StageOutput(session=session, effects=(WriteCalendar(group=group, commit=False),))


def _hold_change(
    stage: StageInput, session: Session, step: RefineUpdate, after: TBPlan, breach: ConstraintViolation
) -> Session:
    version = breach.item.version
    held = HeldChange(asked=stage.cause, uid=version.uid, seq=version.seq, step=step, plan_after=after)
    return session.with_sync(held=held).refuse(f"{_(NOT_MADE)} {breach.sentence}", _(ANYWAY))


def resume_held(stage: StageInput, output: StageOutput) -> StageOutput:
    """Return the output, continued with the held change or write if the person's answer allows it now."""
    session, held = output.session, output.session.sync.held
    if (
        held is None
        or held.unfinished
        or not isinstance(stage.command, JUDGEMENTS)
        or session.stage is not TimeboxingStage.REFINE
    ):
        return output
    refused = session.thread.notice is not None and session.thread.notice.refused
    unrefused = session.with_thread(notice=None) if refused else session
    if held.writes is not None:
        return _resume_write(stage, output, unrefused, held)
    if session.planning.plan != held.step.plan_before:
        return output
    if held.uid in {item.uid for item in followed_constraints(session, held.plan_after).applicable}:
        return output
    made = _apply_change(stage, unrefused, _with_set_aside(held.step, stage, session), held.plan_after)
    return replace(made, effects=(*output.effects, *made.effects))


def _with_set_aside(step: RefineUpdate, stage: StageInput, session: Session) -> RefineUpdate:
    """Return the change with the rules that the command has just set aside for it."""
    return replace(step, set_aside=(*step.set_aside, *_find_set_aside(stage, session)))


def _find_set_aside(stage: StageInput, session: Session) -> tuple[str, ...]:
    return tuple(uid for uid in session.rules.set_aside if uid not in stage.session.rules.set_aside)


def _resume_write(stage: StageInput, output: StageOutput, session: Session, held: HeldChange) -> StageOutput:
    """Resume the held commit or write if nothing is against it any more; otherwise ask again."""
    command = stage.command
    if session.planning.plan != held.plan_after or held.writes is None:
        return output
    if isinstance(command, JudgeConstraint) and (command.uid, command.verdict) == (held.uid, "set_aside"):
        left = tuple(name for name in session.planning.overrun if name not in held.meetings)
        session = session.with_planning(overrun=left)
    session = session.with_sync(held=None)
    asking = ask_first(stage, session, held.writes)
    if asking is not None:
        return replace(output, session=asking)
    if held.writes == "commit":
        return replace(output, session=session, move=Move.PROCEED)
    *steps, last = session.sync.refine_undo or (None,)
    if last is not None and not last.transactions:
        session = session.with_sync(refine_undo=(*steps, _with_set_aside(last, stage, session)))
    made = write(stage, session)
    return replace(made, effects=(*output.effects, *made.effects))


def refit_relaxed(stage: StageInput, output: StageOutput) -> StageOutput:
    """Refit the day after the person set aside a rule that kept something from being placed."""
    session = output.session
    if output.move is not Move.STAY:
        return output
    aside = _find_set_aside(stage, session)
    if session.stage is not TimeboxingStage.REFINE or not aside:
        return output
    let_go = {offer.uid for each in session.planning.unplaced for offer in each.offers if offer.way == "set_aside"}
    if let_go.isdisjoint(session.rules.set_aside):
        return output
    refit = _apply_refit(replace(stage, session=session), refit_again(session, stage.now), set_aside=aside)
    return replace(refit, effects=(*output.effects, *refit.effects))


def repair_output(stage: StageInput, output: StageOutput) -> StageOutput:
    """Return the output with the plan repaired for a rule that was stated in the same message.

    A plan that is already on the calendar is written at once if changes are.
    """
    if output.session.stage is not TimeboxingStage.REFINE or output.move is not Move.STAY:
        return output
    session, effects = with_arrivals(output.session, stage.now, cause=stage.cause)
    return replace(output, session=session, effects=(*output.effects, *effects))


def with_arrivals(session: Session, at: datetime, *, cause: str) -> tuple[Session, tuple[Effect, ...]]:
    """Return the session as :func:`follow_arrivals` does, and the write that follows.

    Only a plan that is already on the calendar is written, if changes are written at once and nothing has to be asked
    first.
    """
    after = follow_arrivals(session, at)
    if (
        after.planning.plan == session.planning.plan
        or after.sync.written is None
        or not writes_at_once(after)
        or find_violations(after)
        or find_open_musts(after)
    ):
        return after, ()
    after = after.with_sync(write_group=after.sync.write_group or mint_key("g", after.id, cause), brakes=())
    return after, (WriteCalendar(group=after.sync.write_group or "", commit=False),)


def follow_arrivals(session: Session, at: datetime) -> Session:
    """Repair the plan, with the fewest moves, for musts and meetings that arrived since it was made.

    The repair is one change, and the card describes it. If moving blocks is not enough, the card names the obstacles.
    Blocks that began before ``at`` stay (K9).
    """
    if session.planning.plan is None:
        return session
    now = current_inputs(session)
    if session.planning.weighed is None:
        return session.with_planning(weighed=now)
    found = find_arrivals(session)
    session = session.with_planning(weighed=now)
    try:
        return _follow(session, found, at)
    except PlanInvalid:
        return session  # The gates do not let a plan without times be committed.


def _follow(session: Session, found: Arrivals, at: datetime) -> Session:
    fresh = {item.uid for item in found.rules}
    broken = [breach for breach in broken_musts(session) if breach.item.uid in fresh]
    booked = [(block, m) for block, m in overlaps_with(session, found.meetings) if can_still_move(block, at)]
    plan = session.planning.plan
    if plan is None or not (broken or booked):
        return session
    names = tuple(overrun_key(block, meeting) for block, meeting in booked)
    session = session.with_planning(overrun=tuple(dict.fromkeys((*session.planning.overrun, *names))))
    meetings = {meeting.id: meeting for _, meeting in booked}
    why = Arrivals(tuple(breach.item for breach in broken), tuple(meetings.values())).sentences
    after = repair_violations(session, {breach.item.uid for breach in broken}, set(meetings), at)
    if after is None:
        keys = {key for breach in broken for key in breach.keys} | {block.key for block, _ in booked}
        return session.say(_(UNMENDED, why=why, blocks=join_blocks(session, keys)), _(NO_WAY))
    lines = (_(CHANGED, why=why), *list_differences(session, plan, after))
    step = RefineUpdate(plan_before=plan, sentence=" ".join(lines))
    return (
        session.say(*lines, _(TAKE_BACK))
        .with_planning(plan=after)
        .with_sync(refine_undo=(*session.sync.refine_undo, step)[-MOST_UNDO:], last_sync=None, held=None)
    )


def write(stage: StageInput, session: Session) -> StageOutput:
    """Return the session with a write of its plan, or with a question that has to be answered first."""
    asking = ask_first(stage, session, "change")
    if asking is not None:
        return StageOutput(session=asking)
    group = session.sync.write_group or mint_key("g", session.id, stage.cause)
    # Only trying again confirms what the safety checks stopped.
    brakes = session.sync.brakes if stage.asked is Move.RETRY else ()
    session = session.with_sync(write_group=group, brakes=brakes)
    return StageOutput(session=session, effects=(WriteCalendar(group=group, commit=False),))


def _restore_change(stage: StageInput) -> StageOutput:
    """Make the change again that was undone last."""
    session, undone = stage.session, find_undone(stage.session)
    if undone is None:
        raise BadInput(_(NONE_UNDONE))
    facts = None if undone.facts_after is None else facts_of(session)
    step = replace(undone.step, transactions=(), facts_before=facts)
    aside = tuple(uid for uid in step.set_aside if uid not in session.rules.set_aside)
    session = session.with_rules(set_aside=(*session.rules.set_aside, *aside))
    session = with_facts(session, undone.facts_after).with_sync(undone=session.sync.undone[:-1])
    return _apply_change(stage, session, step, undone.plan_after)


def _undo_update(session: Session) -> StageOutput:
    last = session.sync.refine_undo[-1]
    if last.facts_before is not None:
        check_can_return(session, last.facts_before.sent)
    session = with_undone(session, last)
    if last.transactions:
        return StageOutput(session=session, effects=(UndoUpdate(transactions=last.transactions),))
    return StageOutput(session=undo_last_change(session))


def undo_last_change(session: Session) -> Session:
    """Undo the last change: restore the plan from before it."""
    last = session.sync.refine_undo[-1]
    rest = session.sync.refine_undo[:-1]
    plan = session.planning.plan or last.plan_before
    beside = last.answered or last.facts_before is not None
    difference = "" if beside and plan == last.plan_before else summarize_differences(session, plan, last.plan_before)
    before = session
    session = with_facts(reopen_questions(session, last.answered), last.facts_before)
    session = (
        session.with_planning(plan=last.plan_before)
        .with_sync(refine_undo=rest, problem=session.sync.problem if rest and not rest[-1].transactions else None)
        .with_notice(join_sentences(_("Your last change is taken back."), difference), *session.notice_lines)
    )
    return follow_approvals(before, session)


def run_review_stage(stage: StageInput) -> StageOutput:
    """Commit on arrival and on request; send a correction to Refine within the same turn (S52)."""
    session = stage.session
    if isinstance(stage.command, BlockCommand | Replan | MovePlan | RestoreChange | OptionCommand):
        return StageOutput(session=session, move=Move.BACK, command=stage.command)
    if isinstance(stage.command, ResolveConflict):
        # An open question belongs to the commit; its answer completes it.
        answered = resolve_conflict(session, stage.command, at_once=True)
        return _commit(stage, answered.session) if answered.to_write else StageOutput(session=answered.session)
    if stage.asked in {Move.BACK, Move.UNDO_SYNC}:
        return StageOutput(session=session, move=stage.asked)
    if stage.arrived is not None or stage.asked in {Move.RETRY, Move.REDO}:
        return _commit(stage, session)
    return StageOutput(session=session)


def _commit(stage: StageInput, session: Session) -> StageOutput:
    """Commit the plan.

    Goes back to Refine if the plan had to change for something that arrived, or needs the person's consent (K9). A
    committed plan that is only refreshed stays as it is.
    """
    if stage.asked is not Move.REDO or not is_committed(session):
        followed = follow_arrivals(session, stage.now)
        if followed.planning.plan != session.planning.plan:
            return StageOutput(session=followed.say(_(SEEN_FIRST)), move=Move.BACK)
        session = followed
    asking = ask_first(stage, session, "commit")
    if asking is not None:
        return StageOutput(session=asking, move=Move.BACK)
    group = session.sync.write_group or mint_key("g", session.id, stage.cause)
    # Only trying again confirms what the safety checks stopped.
    brakes = session.sync.brakes if stage.asked is Move.RETRY else ()
    session = session.with_sync(write_group=group, brakes=brakes)
    return StageOutput(session=session, effects=(WriteCalendar(group=group, commit=True),))

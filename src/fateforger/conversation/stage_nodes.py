"""The stages of a session before Refine, the commands that every stage accepts, and the dispatch to all stages.

The draft of Stage 3 comes from the solver, and a model's draft is requested as an effect, so there is always a plan.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from fateforger.conversation import memory_node as memory
from fateforger.conversation.plan_nodes import (
    refit_relaxed,
    repair_output,
    resume_held,
    run_refine_stage,
    run_review_stage,
    write_if_okay,
)
from fateforger.conversation.turn_values import (
    AnswerAgent,
    CarryOutRequest,
    DraftDay,
    Effect,
    GoBack,
    Preview,
    ReadCalendar,
    ReadHistory,
    StageInput,
    StageOutput,
    WriteCalendar,
    guard_output,
)
from fateforger.errors import BadInput, PlanInvalid, UserError
from fateforger.limits import MAX_AHEAD
from fateforger.metrics import DRAFT_SECONDS
from fateforger.planning.plan import TBPlan
from fateforger.planning.timing import zone
from fateforger.session.checks import current_inputs, explain_redraft
from fateforger.session.commands import SessionCommand
from fateforger.session.commands.day import (
    AddTasks,
    BringAlong,
    ChooseDate,
    UndoCatchUp,
)
from fateforger.session.commands.plan import (
    ExplainBlock,
    HideHistory,
    HidePreview,
    RedoWrite,
    SetCalendarWrite,
    ShowHistory,
    ShowPreview,
    UndoWrite,
)
from fateforger.session.commands.rules import ConfirmKept
from fateforger.session.commands.thread import AnswerProposal, LeaveAsIs, LeftAsIs, RequestWork
from fateforger.session.day import has_ended, local_today
from fateforger.session.draft import basis_of, draft_day, is_current, option_words, room_words
from fateforger.session.frame import frame_in_force
from fateforger.session.gate import is_offered
from fateforger.session.model import (
    CalendarWrite,
    RefineUpdate,
    Session,
    SessionStatus,
    Sketch,
)
from fateforger.session.open_work import bring_tasks, undo_catch_up
from fateforger.session.other_days import bring_dated
from fateforger.session.overview import describe_reasons, overview, placement_of
from fateforger.session.pending import kept_token
from fateforger.session.replanning import move_from_past
from fateforger.session.stages import MOST_UNDO, Move, TimeboxingStage
from fateforger.text import format_day, mark_message
from fateforger.text import gettext as _
from fateforger.values import replace


def apply_day_facts(session: Session, command: SessionCommand | None) -> Session | None:
    """Apply what a command says about the day; return ``None`` if it says nothing.

    Raises ``UserError``. The gate checks the frame, so that changing one end after the other loses nothing.
    """
    match command:
        case BringAlong():
            return bring_tasks(session, command.task_ids, command.settled)
        case UndoCatchUp():
            return undo_catch_up(session)
        case _:
            return None if command is None else command.apply_to(session)


def run_date_stage(stage: StageInput) -> StageOutput:
    """Change the day or zone, apply what the person says about the day, or go on.

    Each choice starts reading that day in the background.
    """
    session = stage.session
    if stage.asked is Move.PROCEED:
        return StageOutput(session=session, move=Move.PROCEED)
    after = apply_day_facts(session, stage.command)
    if after is not None:
        return StageOutput(session=after)
    if isinstance(stage.command, ChooseDate):
        session = choose_date(session, stage.command)
    return StageOutput(session=session, effects=(ReadCalendar(day=session.date, tz=session.tz, wait=False),))


WRITTEN_DAY = mark_message(
    "Blocks for {day} are on your calendar. Take them off in Refine first, or plan the other day"
    " in a thread of its own."
)
WRITTEN_ZONE = mark_message(
    "Blocks for {day} are on your calendar. Take them off in Refine first, then choose the time zone again."
)


def choose_date(session: Session, command: ChooseDate) -> Session:
    """Move the session to another day or zone. Tasks and frame stay; everything else of the old day is dropped.

    Raises :class:`BadInput`.
    """
    try:
        tz = session.tz if command.tz is None else zone(command.tz).key
    except ValueError as error:
        raise BadInput(f"{error}.") from None
    day = command.date or session.date
    if (day, tz) == (session.date, session.tz):
        return session
    if session.sync.written is not None:
        raise BadInput(_(WRITTEN_ZONE if day == session.date else WRITTEN_DAY, day=format_day(session.date)))
    today = local_today(command.at, tz)
    if day < today and has_ended(day, tz, frame_in_force(session), command.at):
        raise BadInput(_("{day} is over; choose today or a later day.", day=format_day(day)))
    if day > today + MAX_AHEAD:
        raise BadInput(
            _("{day} {year} is more than a year away; choose a nearer day.", day=format_day(day), year=day.year)
        )
    return (
        replace(session, date=day, tz=tz)
        .with_day(snapshot=None, snapshot_error=None)
        .with_planning(
            plan=None,
            unplaced=(),
            draft_basis=None,
            drafted_at=None,
            put_in_past=(),
            sketch=None,
            overview=None,
        )
        .with_sync(refine_undo=(), last_sync=None, problem=None, questions=(), asked_to_finish=False)
        .with_rules(kept=())
    )


def run_constraints_stage(stage: StageInput) -> StageOutput:
    """Apply what the person says about the day, or move on. On entry, read the calendar."""
    session = stage.session
    after = apply_day_facts(session, stage.command)
    if after is not None:
        return StageOutput(session=after)
    if isinstance(stage.command, ChooseDate):
        session = choose_date(session, stage.command)
        return StageOutput(session=session, effects=(ReadCalendar(day=session.date, tz=session.tz, wait=True),))
    if stage.asked is Move.PROCEED:
        frame = replace(session.day.frame, confirmed=True)
        return StageOutput(session=session.with_day(frame=frame), move=Move.PROCEED)
    if stage.asked is Move.BACK:
        return StageOutput(session=session, move=Move.BACK)
    look = ReadCalendar(day=session.date, tz=session.tz, wait=True, fresh=stage.asked is Move.REDO)
    return StageOutput(session=session, effects=(look,))


def run_inputs_stage(stage: StageInput) -> StageOutput:
    """Change the list or move on. Tasks that come with the wish to draft right away do both."""
    session = bring_dated(stage.session)
    after = apply_day_facts(session, stage.command)
    if after is not None:
        on = isinstance(stage.command, AddTasks) and stage.command.proceed and is_offered(after, Move.PROCEED)
        return StageOutput(session=after, move=Move.PROCEED if on else Move.STAY)
    if stage.asked in {Move.PROCEED, Move.BACK}:
        return StageOutput(session=session, move=stage.asked)
    if stage.asked is Move.REDO:
        look = ReadCalendar(day=session.date, tz=session.tz, wait=True, fresh=True)
        return StageOutput(session=session, effects=(look,))
    return StageOutput(session=session)


KEPT = mark_message(
    "Nothing has changed since your draft, so I kept your plan as you refined it. Redo step drafts it again."
)
REDRAFTED = mark_message("{why} So I redrafted your day.")
LOOK_AGAIN = mark_message("Please look at it once more, then press Refine.")
ANEW = mark_message("I redrafted your day. To get your previous plan back, use Undo last update in Refine.")


def run_skeleton_stage(stage: StageInput) -> StageOutput:
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
    over = session.planning.plan
    if stage.asked is Move.REDO or over is None or not is_current(session, session.planning.draft_basis):
        if after is None and stage.asked is not Move.REDO and stage.arrived is None and over is not None:
            session = redraft(session)
            return StageOutput(session=session, effects=(DraftDay(over=over, another=False),))
        effects = (DraftDay(over=over, another=stage.asked is Move.REDO),)
        session = _draft(session, over)
        if over is not None and after is not None:
            session = session.say(*option_words(stage.session, after))
            session = _describe_room(session, over)
    elif stage.arrived is not None and session.sync.refine_undo:
        session = session.with_notice(_(KEPT))
    return StageOutput(session=session.with_planning(overview=overview(session)), effects=effects)


def _go_on(session: Session) -> StageOutput:
    """Go on to Refine with a current draft. A changed draft is shown to the person first (S46)."""
    fresh = redraft(session)
    if session.planning.plan is None or fresh.planning.plan == session.planning.plan:
        return StageOutput(session=fresh, move=Move.PROCEED)
    effects = (DraftDay(over=session.planning.plan, another=False),)
    return StageOutput(session=fresh.say(_(LOOK_AGAIN)), effects=effects)


def renew_draft(output: StageOutput) -> StageOutput:
    """Return the output with the day redrafted if a rule or meeting has changed while its draft is shown (K9, S46)."""
    fresh = redraft(output.session)
    over = output.session.planning.plan
    if over is None or fresh is output.session:
        return output
    effects = () if fresh.planning.plan == over else (DraftDay(over=over, another=False),)
    return replace(output, session=fresh, effects=(*output.effects, *effects))


def redraft(session: Session) -> Session:
    """Return the session with a new solver draft and the reason for it, if the inputs of its draft changed.

    Otherwise the session is returned unchanged. If the new draft is the same plan, no reason is given.
    """
    if session.stage is not TimeboxingStage.SKELETON or session.planning.plan is None:
        return session
    if basis_of(session) is None or is_current(session, session.planning.draft_basis):
        return session
    fresh = _draft(session.with_notice(), session.planning.plan)
    anew = fresh.notice_lines
    fresh = fresh.with_notice(*session.notice_lines)
    if fresh.planning.plan != session.planning.plan:
        why = _(REDRAFTED, why=explain_redraft(session))
        fresh = _describe_room(fresh.with_notice(*session.notice_lines, why, *anew, draft=anew), session.planning.plan)
    return fresh.with_planning(overview=overview(fresh))


def apply_sketch(session: Session, sketch: Sketch, asked: DraftDay) -> Session:
    """Replace the solver's draft by a model's; without one, keep the solver's draft and say why."""
    if not is_current(session, sketch.basis):
        return session
    if sketch.plan is not None:
        ours = () if session.thread.notice is None else session.thread.notice.draft
        others = [line for line in session.notice_lines if line not in ours]
        session = _draft(session.with_notice(), asked.over, sketch)
        session = session.with_notice(*session.notice_lines, *others, draft=session.notice_lines)
    session = session.say(*sketch.mended, *(() if sketch.trouble is None else (sketch.trouble,)))
    return session.with_planning(overview=overview(session), sketch=None)


def _describe_room(session: Session, over: TBPlan) -> Session:
    """Say which tasks gained or lost a place with the new draft, as part of what the notice says about it."""
    words = room_words(over, session)
    session = session.say(*words)
    notice = session.thread.notice
    return session if notice is None else session.with_thread(notice=replace(notice, draft=(*notice.draft, *words)))


def _draft(session: Session, over: TBPlan | None, sketch: Sketch | None = None) -> Session:
    """Return the session with a new draft.

    A plan that was refined or written before can be restored; if the solver's draft replaced it a moment ago, the same
    step is reused.
    """
    begun = time.monotonic()
    fresh = draft_day(session, sketch)
    if sketch is None or sketch.plan is None:
        outcome = "no_solution" if fresh.planning.clash else "left_out" if fresh.planning.unplaced else "found"
        DRAFT_SECONDS.labels("engine", outcome).observe(time.monotonic() - begun)
    fresh = fresh.with_planning(weighed=current_inputs(fresh), overrun=())
    if over is None:
        return fresh
    step = RefineUpdate(plan_before=over, sentence=_("The day was drafted again."))
    steps = session.sync.refine_undo[:-1] if session.sync.refine_undo[-1:] == (step,) else session.sync.refine_undo
    if fresh.planning.plan == over or not (steps or session.sync.written):
        return fresh.with_sync(refine_undo=steps)
    return fresh.with_sync(refine_undo=(*steps, step)[-MOST_UNDO:]).with_notice(_(ANEW), draft=(_(ANEW),))


PLAN_LEFT = mark_message("I left the plan as it is, and your rule counts.")
CALENDAR_LEFT = mark_message("I wrote nothing, and your calendar stays as it is. Try again asks you once more.")
PASSED_ON = mark_message("I took your answer to what the agent proposes; its card says what came of it.")
ANSWERED = mark_message("That is answered already, so I changed nothing.")
_CHOSEN: dict[CalendarWrite, str] = {
    "refine": mark_message("From now on each change goes to your calendar at once, with what is still waiting."),
    "okay": mark_message(
        "From now on a plan goes to your calendar by itself once it is at level 2 of 4 (Okay), and each change after"
        " that."
    ),
    "commit": mark_message("From now on nothing goes to your calendar before you commit; what is there stays."),
}


def handle_common_command(stage: StageInput, command: SessionCommand) -> StageOutput | None:
    """Handle such a command; return ``None`` for any other, which the stage handles."""
    session = stage.session
    match command:
        case ShowHistory(older=older):
            return StageOutput(session=session, effects=(ReadHistory(asked=stage.cause, more=older),))
        case HideHistory():
            return StageOutput(session=session.with_thread(history=None))
        case ShowPreview():
            return StageOutput(session=session, effects=(Preview(asked=stage.cause, at=stage.now),))
        case HidePreview():
            return StageOutput(session=session.with_thread(preview=None))
        case UndoWrite() | RedoWrite():
            return _go_back(stage, command)
        case ExplainBlock(key=key):
            return _explain(session, key)
        case LeaveAsIs() | ConfirmKept():
            return _answer_question(session, command)
        case AnswerProposal() | RequestWork():
            return _hand_on(stage, command)
        case SetCalendarWrite(when=when):
            return _set_calendar_write(stage, when)
        case _:
            return memory.handle_memory_command(stage, command)


def _hand_on(stage: StageInput, command: AnswerProposal | RequestWork) -> StageOutput:
    """Hand on what is not about the plan itself."""
    session = stage.session
    if isinstance(command, RequestWork):
        request = CarryOutRequest(request=command.request, cause=command.command_id, at=stage.now)
        return StageOutput(session=session, effects=(request,))
    answer = AnswerAgent(proposal=command.proposal, answer=command.answer)
    return StageOutput(session=session.with_notice(_(PASSED_ON)), effects=(answer,))


def _explain(session: Session, key: str) -> StageOutput:
    try:
        return StageOutput(session=session.with_notice(*describe_reasons(session, key, placement_of(session, key))))
    except UserError as error:
        return StageOutput(session=session.refuse(error.message))


def _leave_as_is(session: Session, about: LeftAsIs) -> StageOutput:
    """Handle a no to a question. What a write would do is asked again at the next try."""
    match about:
        case "held" if session.sync.held is not None:
            session, line = session.with_sync(held=None), _(PLAN_LEFT)
        case "brakes" if session.sync.brakes:
            session, line = session.with_sync(brakes=()), _(CALENDAR_LEFT)
        case _:
            line = _(ANSWERED)
    return StageOutput(session=session.with_notice(line))


def _answer_question(session: Session, command: LeaveAsIs | ConfirmKept) -> StageOutput:
    """Handle an answer to a question about a change or a write."""
    if isinstance(command, LeaveAsIs):
        return _leave_as_is(session, command.about)
    return _confirm_kept(session, command.seen)


def _confirm_kept(session: Session, seen: str) -> StageOutput:
    """Record that the plan keeps the musts that its held write asks about; the write then goes on."""
    held = session.sync.held
    if held is None or not held.asks or kept_token(held) != seen:
        return StageOutput(session=session.with_notice(_(ANSWERED)))
    return StageOutput(session=session.with_rules(kept=(*session.rules.kept, *held.asks)))


def _go_back(stage: StageInput, command: UndoWrite | RedoWrite) -> StageOutput:
    """Undo or redo a write. A committed day whose commit is undone returns to Refine (S53)."""
    if stage.session.stage is TimeboxingStage.REVIEW_COMMIT:
        return StageOutput(session=stage.session, move=Move.BACK, command=command)
    redo = isinstance(command, RedoWrite)
    effect = GoBack(transaction=command.transaction, newest=command.newest, redo=redo)
    return StageOutput(session=stage.session, effects=(effect,))


def _set_calendar_write(stage: StageInput, when: CalendarWrite) -> StageOutput:
    """Change when plans are written, and apply the choice at once: a plan that is Okay already is written if wished."""
    session = stage.session.with_options(calendar_write=when, calendar_write_chosen=when).with_notice(_(_CHOSEN[when]))
    refining = session.stage is TimeboxingStage.REFINE
    return write_if_okay(stage, session) if refining else StageOutput(session=session)


Stage = Callable[[StageInput], StageOutput]

STAGES: Mapping[TimeboxingStage, Stage] = {
    TimeboxingStage.DATE: run_date_stage,
    TimeboxingStage.COLLECT_CONSTRAINTS: run_constraints_stage,
    TimeboxingStage.CAPTURE_INPUTS: run_inputs_stage,
    TimeboxingStage.SKELETON: run_skeleton_stage,
    TimeboxingStage.REFINE: run_refine_stage,
    TimeboxingStage.REVIEW_COMMIT: run_review_stage,
}


def run_stage(stage: StageInput) -> StageOutput:
    """Run the session's stage.

    Invalid input becomes a notice and changes nothing. Cancel and the rules of the session apply in every stage.
    """
    return guard_output(stage, _move_out_of_past(stage, _dispatch(stage)))


def _move_out_of_past(stage: StageInput, output: StageOutput) -> StageOutput:
    """Move blocks that are not on the calendar and would begin in the past, and say so (K11).

    This happens when a draft is accepted or a plan is written.
    """
    accepted = stage.session.stage is TimeboxingStage.SKELETON and output.move is Move.PROCEED
    if not accepted and not any(isinstance(effect, WriteCalendar) for effect in output.effects):
        return output
    try:
        refit = move_from_past(output.session, stage.now)
    except PlanInvalid:
        return output  # The gates say what is wrong with it.
    except UserError as error:
        return StageOutput(session=stage.session.refuse(error.message))
    if refit is None:
        return output
    return replace(output, session=refit.session.with_planning(plan=refit.plan).say(*refit.lines))


def _dispatch(stage: StageInput) -> StageOutput:
    session = stage.session
    if stage.command is not None and (aside := handle_common_command(stage, stage.command)) is not None:
        if stage.command.is_view:
            return aside
        return repair_output(stage, refit_relaxed(stage, renew_draft(resume_held(stage, aside))))
    if stage.asked is Move.CANCEL:
        return StageOutput(
            session=replace(session, status=SessionStatus.CANCELLED).with_thread(
                history=None, preview=None, memory=None
            )
        )
    try:
        return STAGES[session.stage](stage)
    except UserError as error:
        return StageOutput(session=session.refuse(error.message))

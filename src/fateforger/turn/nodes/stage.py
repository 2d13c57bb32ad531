"""Dispatch to the stages, and what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fateforger.errors import PlanInvalid, UserError
from fateforger.session.model import Notice, Session, SessionStatus
from fateforger.session.refitting import move_from_past
from fateforger.session.skeleton import grade_session
from fateforger.stages import Move, TimeboxingStage
from fateforger.turn.model import StageInput, StageOutput, WriteCalendar
from fateforger.turn.nodes import (
    besides,
    capture_inputs,
    collect_constraints,
    date,
    guarding,
    refine,
    review_commit,
    skeleton,
)
from fateforger.values import replace

Stage = Callable[[StageInput], StageOutput]

STAGES: Mapping[TimeboxingStage, Stage] = {
    TimeboxingStage.DATE: date.run,
    TimeboxingStage.COLLECT_CONSTRAINTS: collect_constraints.run,
    TimeboxingStage.CAPTURE_INPUTS: capture_inputs.run,
    TimeboxingStage.SKELETON: skeleton.run,
    TimeboxingStage.REFINE: refine.run,
    TimeboxingStage.REVIEW_COMMIT: review_commit.run,
}


def run_stage(stage: StageInput) -> StageOutput:
    """Run the session's stage.

    Invalid input becomes a notice and changes nothing. Cancel and the rules of the session apply in every stage.
    """
    return guarding.refuse_forbidden_move(stage) or guarding.guard_output(stage, _move_out_of_past(stage, _run(stage)))


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
        return refuse(stage.session, error.message)
    if refit is None:
        return output
    said = () if refit.session.notice is None else refit.session.notice.lines
    return replace(
        output,
        session=grade_session(replace(refit.session, plan=refit.plan, notice=Notice(lines=(*said, *refit.lines)))),
    )


def _run(stage: StageInput) -> StageOutput:
    session = stage.session
    if stage.command is not None and (aside := besides.run(stage, stage.command)) is not None:
        if isinstance(stage.command, besides.LOOKS):
            return aside
        return refine.repair_output(
            stage, refine.refit_relaxed(stage, skeleton.renew_draft(refine.resume_held(stage, aside)))
        )
    if stage.asked is Move.CANCEL:
        return StageOutput(
            session=replace(session, status=SessionStatus.CANCELLED, history=None, preview=None, memory=None)
        )
    try:
        return STAGES[session.stage](stage)
    except UserError as error:
        return refuse(session, error.message)


def refuse(session: Session, *lines: str) -> StageOutput:
    """Return the session unchanged, with the reason for the refusal."""
    return StageOutput(session=replace(session, notice=Notice(lines=lines, refused=True)))

"""Whether a stage is done: what it has, what is missing, and the one question to ask (S56, S61)."""

from __future__ import annotations

from typing import assert_never

from fateforger.session.days import day_words
from fateforger.session.frame import frame_mistake, frame_words
from fateforger.session.meetings import on_calendar
from fateforger.session.model import Session
from fateforger.stages import StageGateOutput, TimeboxingStage


def gate(session: Session) -> StageGateOutput:
    """How the session's current stage stands."""
    stage = session.stage
    match stage:
        case TimeboxingStage.DATE:
            return StageGateOutput(stage=stage, ready=True, summary=(f"{day_words(session.date)}, {session.tz}",))
        case TimeboxingStage.COLLECT_CONSTRAINTS:
            return _collect(session)
        case TimeboxingStage.CAPTURE_INPUTS:
            return _capture(session)
        case TimeboxingStage.SKELETON:
            return _skeleton(session)
        case TimeboxingStage.REFINE:
            return _refine(session)
        case TimeboxingStage.REVIEW_COMMIT:
            return StageGateOutput(stage=stage, ready=True, summary=(_counts(session),))
        case _:
            assert_never(stage)


def _collect(session: Session) -> StageGateOutput:
    mistake = frame_mistake(session)
    return StageGateOutput(
        stage=session.stage,
        ready=mistake is None,
        summary=(frame_words(session), calendar_words(session)),
        missing=() if mistake is None else (mistake,),
        question=None if mistake is None else "When does your day start, and when does it end?",
    )


def _capture(session: Session) -> StageGateOutput:
    count = len(session.inputs.tasks)
    if not count:
        return StageGateOutput(
            stage=session.stage,
            ready=False,
            summary=("Nothing to do yet",),
            missing=("There is nothing on your list yet, so there is nothing to plan.",),
            question=f"What do you want to get done on {day_words(session.date)}?",
        )
    one = next((t for t in session.inputs.tasks if t.one_thing), None)
    summary = [f"{count} task{'' if count == 1 else 's'}"]
    if one is not None:
        summary.append(f"The one thing: {one.title}")
    return StageGateOutput(stage=session.stage, ready=True, summary=tuple(summary))


def _skeleton(session: Session) -> StageGateOutput:
    if session.plan is None:
        return StageGateOutput(
            stage=session.stage,
            ready=False,
            summary=("No draft yet",),
            missing=("There is no draft of this day yet.",),
            question="Shall I draft it again? Redo does that.",
        )
    summary = [block_words(session)]
    if session.unplaced:
        summary.append(f"{len(session.unplaced)} did not fit")
    return StageGateOutput(stage=session.stage, ready=True, summary=tuple(summary))


def _refine(session: Session) -> StageGateOutput:
    if session.plan is not None and (session.plan.events or session.written):
        return StageGateOutput(stage=session.stage, ready=True, summary=(block_words(session),))
    return StageGateOutput(
        stage=session.stage,
        ready=False,
        summary=("No blocks",),
        missing=("The plan has no blocks, so there is nothing to put on your calendar.",),
        question="Which block shall I add first?",
    )


def block_words(session: Session) -> str:
    """``5 blocks``."""
    count = len(session.plan.events) if session.plan else 0
    return f"{count} block{'' if count == 1 else 's'}"


def calendar_words(session: Session) -> str:
    """What is known of the calendar, in a few words."""
    if session.snapshot_error is not None and session.snapshot is None:
        return "Calendar not read"
    if session.snapshot is None:
        return "Calendar still loading"
    count = len(on_calendar(session).timed)
    return f"{count} meeting{'' if count == 1 else 's'}" if count else "No meetings"


def _counts(session: Session) -> str:
    report = session.last_sync
    if report is None:
        return block_words(session)
    return f"{report.created} created, {report.updated} updated, {report.deleted} deleted"

"""Check whether a stage is complete: its summary, what is missing, and the question to ask (S56, S61)."""

from __future__ import annotations

from typing import NamedTuple, assert_never

from fateforger.session import guard
from fateforger.session.days import day_words
from fateforger.session.frame import frame_mistake, frame_words
from fateforger.session.meetings import on_calendar
from fateforger.session.model import Session
from fateforger.stages import StageGateOutput, TimeboxingStage

_UNFINISHED = frozenset({"partial", "failed", "undone"})


class _Words(NamedTuple):
    """State of a stage, for people."""

    summary: tuple[str, ...]
    missing: tuple[str, ...] = ()
    question: str | None = None


def gate(session: Session) -> StageGateOutput:
    """Return the state of the session's current stage.

    It is ready when no rule keeps it from going on.
    """
    words, forward = _words(session), guard.FORWARD.get(session.stage)
    no = () if forward is None else guard.objections(session, forward)
    if not no:
        return StageGateOutput(stage=session.stage, ready=True, summary=words.summary)
    missing = words.missing or tuple(each.remedy for each in no)
    return StageGateOutput(
        stage=session.stage, ready=False, summary=words.summary, missing=missing, question=words.question
    )


def is_committed(session: Session) -> bool:
    """Check whether the complete plan of a session is on the calendar."""
    report = session.last_sync
    whole = report is None or report.status not in _UNFINISHED
    return session.stage is TimeboxingStage.REVIEW_COMMIT and session.written is not None and whole


def _words(session: Session) -> _Words:
    match session.stage:
        case TimeboxingStage.DATE:
            return _Words((f"{day_words(session.date)}, {session.tz}",))
        case TimeboxingStage.COLLECT_CONSTRAINTS:
            return _collect(session)
        case TimeboxingStage.CAPTURE_INPUTS:
            return _capture(session)
        case TimeboxingStage.SKELETON:
            return _skeleton(session)
        case TimeboxingStage.REFINE:
            return _refine(session)
        case TimeboxingStage.REVIEW_COMMIT:
            return _Words((_counts(session),))
        case _:
            assert_never(session.stage)


def _collect(session: Session) -> _Words:
    summary, mistake = (frame_words(session), calendar_words(session)), frame_mistake(session)
    if mistake is None:
        return _Words(summary)
    return _Words(summary, (mistake,), "When does your day start, and when does it end?")


def _capture(session: Session) -> _Words:
    count = len(session.inputs.tasks)
    if not count:
        return _Words(
            ("Nothing to do yet",),
            ("There is nothing on your list yet, so there is nothing to plan.",),
            f"What do you want to get done on {day_words(session.date)}?",
        )
    one = next((t for t in session.inputs.tasks if t.one_thing), None)
    summary = [f"{count} task{'' if count == 1 else 's'}"]
    if one is not None:
        summary.append(f"The one thing: {one.title}")
    mistake = frame_mistake(session)
    return _Words(tuple(summary), () if mistake is None else (mistake,))


def _skeleton(session: Session) -> _Words:
    if session.plan is None:
        return _Words(
            ("No draft yet",), ("There is no draft of this day yet.",), "Shall I draft it again? Redo step does that."
        )
    summary = [block_words(session)]
    if session.unplaced:
        summary.append(f"{len(session.unplaced)} did not fit")
    return _Words(tuple(summary))


def _refine(session: Session) -> _Words:
    if session.plan is not None and (session.plan.events or session.written):
        return _Words((block_words(session),))
    return _Words(
        ("No blocks",),
        ("The plan has no blocks, so there is nothing to put on your calendar.",),
        "Which block shall I add first?",
    )


def block_words(session: Session) -> str:
    """Return a count like ``5 blocks``."""
    count = len(session.plan.events) if session.plan else 0
    return f"{count} block{'' if count == 1 else 's'}"


def calendar_words(session: Session) -> str:
    """Describe the state of the calendar in a few words."""
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

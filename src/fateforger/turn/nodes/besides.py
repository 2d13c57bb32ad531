"""Commands that are available in every stage: history, preview, calendar write setting, and memory."""

from __future__ import annotations

from fateforger.errors import UserError
from fateforger.session import commands
from fateforger.session.commands import SessionCommand
from fateforger.session.model import CalendarWrite, Notice, Session
from fateforger.session.why import describe_reasons, placement_of
from fateforger.stages import Move, TimeboxingStage
from fateforger.turn.model import AnswerAgent, GoBack, Preview, ReadHistory, StageInput, StageOutput
from fateforger.turn.nodes import memory, refine
from fateforger.values import replace

LOOKS = (
    commands.ShowHistory,
    commands.HideHistory,
    commands.ShowPreview,
    commands.HidePreview,
    commands.ShowMemory,
    commands.HideMemory,
)
"""Commands that only open or close a view."""
PLAN_LEFT = "I left the plan as it is, and your rule counts."
CALENDAR_LEFT = "I wrote nothing, and your calendar stays as it is. Try again asks you once more."
PASSED_ON = "I took your answer to what the agent proposes; its card says what came of it."
ANSWERED = "That is answered already, so I changed nothing."
_CHOSEN: dict[CalendarWrite, str] = {
    "refine": "From now on each change goes to your calendar at once, with what is still waiting.",
    "okay": "From now on a plan goes to your calendar by itself once it is Okay (2 of 4), and each change after that.",
    "commit": "From now on nothing goes to your calendar before you commit; what is there stays.",
}


def run(stage: StageInput, command: SessionCommand) -> StageOutput | None:
    """Handle such a command; return ``None`` for any other, which the stage handles."""
    session = stage.session
    match command:
        case commands.ShowHistory(older=older):
            return StageOutput(session=session, effects=(ReadHistory(asked=stage.cause, more=older),))
        case commands.HideHistory():
            return StageOutput(session=replace(session, history=None))
        case commands.ShowPreview():
            return StageOutput(session=session, effects=(Preview(asked=stage.cause, at=stage.now),))
        case commands.HidePreview():
            return StageOutput(session=replace(session, preview=None))
        case commands.UndoWrite() | commands.RedoWrite():
            return _go_back(stage, command)
        case commands.ExplainBlock(key=key):
            return _explain(session, key)
        case commands.LeaveAsIs(about=about):
            return _leave_as_is(session, about)
        case commands.AnswerProposal(proposal=proposal, answer=answer):
            said = replace(session, notice=Notice(lines=(PASSED_ON,)))
            return StageOutput(session=said, effects=(AnswerAgent(proposal=proposal, answer=answer),))
        case commands.SetCalendarWrite(when=when):
            return _set_calendar_write(stage, when)
        case _:
            return memory.run(stage, command)


def _explain(session: Session, key: str) -> StageOutput:
    try:
        notice = Notice(lines=describe_reasons(session, key, placement_of(session, key)))
    except UserError as error:
        notice = Notice(lines=(error.message,), refused=True)
    return StageOutput(session=replace(session, notice=notice))


def _leave_as_is(session: Session, about: commands.LeftAsIs) -> StageOutput:
    """Handle a no to a question. What a write would do is asked again at the next try."""
    match about:
        case "held" if session.held is not None:
            changes: dict[str, object] = {"held": None, "notice": Notice(lines=(PLAN_LEFT,))}
        case "brakes" if session.brakes:
            changes = {"brakes": (), "notice": Notice(lines=(CALENDAR_LEFT,))}
        case _:
            changes = {"notice": Notice(lines=(ANSWERED,))}
    return StageOutput(session=session.model_copy(update=changes))


def _go_back(stage: StageInput, command: commands.UndoWrite | commands.RedoWrite) -> StageOutput:
    """Undo or redo a write. A committed day whose commit is undone returns to Refine (S53)."""
    if stage.session.stage is TimeboxingStage.REVIEW_COMMIT:
        return StageOutput(session=stage.session, move=Move.BACK, command=command)
    redo = isinstance(command, commands.RedoWrite)
    effect = GoBack(transaction=command.transaction, newest=command.newest, redo=redo)
    return StageOutput(session=stage.session, effects=(effect,))


def _set_calendar_write(stage: StageInput, when: CalendarWrite) -> StageOutput:
    """Change when plans are written, and apply the choice at once: a plan that is Okay already is written if wished."""
    session = replace(
        stage.session, calendar_write=when, calendar_write_chosen=when, notice=Notice(lines=(_CHOSEN[when],))
    )
    refining = session.stage is TimeboxingStage.REFINE
    return refine.write_if_okay(stage, session) if refining else StageOutput(session=session)

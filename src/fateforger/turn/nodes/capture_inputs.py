"""Stage 2: what is to be done, and which of it matters most (S43)."""

from __future__ import annotations

from fateforger.session.commands import AddTasks, MarkOneThing, RemoveTask, UpdateTask
from fateforger.session.gates import gate
from fateforger.session.model import InputFacts, Session
from fateforger.session.tasks import with_one_thing, with_task, with_tasks, without_task
from fateforger.stages import Move
from fateforger.turn.model import ReadCalendar, StageInput, StageOutput


def run(stage: StageInput) -> StageOutput:
    """Change the list, or move on. Tasks that come with the wish to draft right away do both."""
    session = stage.session
    match stage.command:
        case AddTasks(tasks=tasks, proceed=proceed):
            session = _with(session, with_tasks(session.inputs, tasks))
            on = proceed and gate(session).ready
            return StageOutput(session=session, move=Move.PROCEED if on else Move.STAY)
        case UpdateTask(task=task):
            return StageOutput(session=_with(session, with_task(session.inputs, task)))
        case RemoveTask(task_id=task_id):
            return StageOutput(session=_with(session, without_task(session.inputs, task_id)))
        case MarkOneThing(task_id=task_id):
            return StageOutput(session=_with(session, with_one_thing(session.inputs, task_id)))
        case _:
            pass
    if stage.asked in {Move.PROCEED, Move.BACK}:
        return StageOutput(session=session, move=stage.asked)
    if stage.asked is Move.REDO:
        look = ReadCalendar(day=session.date, tz=session.tz, wait=True, fresh=True)
        return StageOutput(session=session, effects=(look,))
    return StageOutput(session=session)


def _with(session: Session, inputs: InputFacts) -> Session:
    return session.model_copy(update={"inputs": inputs})

"""Commands that change the inputs of a day. Every stage before Refine accepts them."""

from __future__ import annotations

from fateforger.session.catching_up import undo_catch_up
from fateforger.session.commands import (
    AddTasks,
    AdjustFrame,
    BringAlong,
    DeferTask,
    MarkOneThing,
    RemoveTask,
    ResizeTask,
    SessionCommand,
    SetFrame,
    SplitTask,
    UndoCatchUp,
    UpdateTask,
)
from fateforger.session.frame import with_start
from fateforger.session.model import InputFacts, Notice, Session, Task
from fateforger.session.offering import bring_tasks
from fateforger.session.tasks import find_task, keep_for_later, with_one_thing, with_task, with_tasks, without_task
from fateforger.stages import TimeboxingStage
from fateforger.turn.nodes.decision import get_home_stage
from fateforger.values import replace

WAITS = "“{title}” waits for another day; I offer it again when you plan one."


def apply_day_facts(session: Session, command: SessionCommand | None) -> Session | None:
    """Apply what a command says about the day; return ``None`` if it says nothing.

    Raises ``UserError``. The gate checks the frame, so that changing one end after the other loses nothing. A change
    that the current card does not show is mentioned in a notice.
    """
    after = _apply(session, command)
    home = None if command is None else get_home_stage(command)
    if after is None or home is None or session.stage in {home, TimeboxingStage.SKELETON}:
        return after
    said = () if session.notice is None else session.notice.lines
    lines = tuple(dict.fromkeys((*said, f"I noted that for the step “{home.heading}”.")))
    return replace(after, notice=Notice(lines=lines))


def _apply(session: Session, command: SessionCommand | None) -> Session | None:
    match command:
        case SetFrame() | AdjustFrame():
            return _apply_frame(session, command)
        case AddTasks(tasks=tasks):
            return _with_inputs(session, with_tasks(session.inputs, tasks))
        case UpdateTask(task=task):
            return _with_inputs(session, with_task(session.inputs, task))
        case ResizeTask(task_id=task_id, minutes=minutes):
            task = replace(find_task(session.inputs, task_id), minutes=minutes)
            return _with_inputs(session, with_task(session.inputs, task))
        case SplitTask(task_id=task_id):
            task = replace(find_task(session.inputs, task_id), in_pieces=True)
            return _with_inputs(session, with_task(session.inputs, task))
        case DeferTask(task_id=task_id):
            return _defer_task(session, find_task(session.inputs, task_id))
        case BringAlong() | UndoCatchUp():
            return _apply_catch_up(session, command)
        case RemoveTask(task_id=task_id):
            return _with_inputs(session, without_task(session.inputs, task_id))
        case MarkOneThing(task_id=task_id):
            return _with_inputs(session, with_one_thing(session.inputs, task_id))
        case _:
            return None


def _apply_frame(session: Session, command: SetFrame | AdjustFrame) -> Session:
    if isinstance(command, SetFrame):
        said = command.frame
        frame = session.frame if said.day_start == session.frame.day_start else with_start(session, said.day_start)
        return replace(
            session, frame=replace(said, day_start=frame.day_start, usual_start=frame.usual_start, confirmed=False)
        )
    frame = session.frame if command.day_start is None else with_start(session, command.day_start)
    if command.day_end is not None:
        frame = replace(frame, day_end=command.day_end)
    return replace(session, frame=frame)


def _apply_catch_up(session: Session, command: BringAlong | UndoCatchUp) -> Session:
    if isinstance(command, UndoCatchUp):
        return undo_catch_up(session)
    return bring_tasks(session, command.task_ids, command.settled)


def _defer_task(session: Session, task: Task) -> Session:
    said = () if session.notice is None else session.notice.lines
    return _with_inputs(
        replace(
            session,
            deferred=(*session.deferred, keep_for_later(task)),
            notice=Notice(lines=(*said, WAITS.format(title=task.title))),
        ),
        without_task(session.inputs, task.id),
    )


def _with_inputs(session: Session, inputs: InputFacts) -> Session:
    return replace(session, inputs=inputs)

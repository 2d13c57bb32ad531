"""Convert a model's reading to the commands that buttons and forms make (S214). List numbers become keys here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from fateforger.errors import BadInput
from fateforger.session.commands import (
    AddTasks,
    AdjustFrame,
    BringAlong,
    ChooseDate,
    DeferTask,
    MarkOneThing,
    RemoveTask,
    SessionCommand,
    SetFrame,
    StageAction,
    TimeboxingCommitDate,
    TimeboxingUserReply,
    UndoCatchUp,
    UpdateTask,
)
from fateforger.session.keys import mint_key
from fateforger.session.model import Depth, FrameFacts, Session, Task
from fateforger.session.moves import offered_moves
from fateforger.stages import Move, TimeboxingStage
from fateforger.turn.reading.values import (
    DayWords,
    FrameWords,
    InputWords,
    Intent,
    PlannedDateResult,
    TaskChange,
    TaskWords,
)
from fateforger.values import replace

MOVES = {
    Intent.PROCEED: Move.PROCEED,
    Intent.BACK: Move.BACK,
    Intent.REDO: Move.REDO,
    Intent.UNDO: Move.UNDO_LAST_UPDATE,
    Intent.UNDO_ALL: Move.UNDO_SYNC,
    Intent.RETRY: Move.RETRY,
    Intent.CANCEL: Move.CANCEL,
}
T = TypeVar("T")


def envelope(reply: TimeboxingUserReply) -> dict[str, Any]:
    """Return the fields common to all commands of a reply: its own id, so that it is carried out once."""
    return reply.model_dump(include={"command_id", "user_id", "at", "session_id"})


def move_of(reply: TimeboxingUserReply, session: Session, intent: Intent) -> SessionCommand:
    """Return the command of a move.

    "Undo" means all if there is no single change to undo, and in Stage 2 it means the last catch-up, if there was one.
    """
    move = MOVES[intent]
    possible = offered_moves(session)
    if intent is Intent.UNDO and session.stage is TimeboxingStage.CAPTURE_INPUTS and session.caught_up is not None:
        return UndoCatchUp(**envelope(reply))
    if move is Move.UNDO_LAST_UPDATE and move not in possible and Move.UNDO_SYNC in possible:
        move = Move.UNDO_SYNC
    if session.stage is TimeboxingStage.DATE and move is Move.PROCEED:
        return TimeboxingCommitDate(**envelope(reply))
    return StageAction(**envelope(reply), move=move)


def day_commands(reply: TimeboxingUserReply, session: Session, words: DayWords) -> tuple[SessionCommand, ...]:
    """Return all commands for what a message says about the day. Raises ``BadInput``.

    The change of the day itself comes last, so the rest is kept whether or not the day can be changed.
    """
    return (
        *frame_commands(reply, session, words.frame),
        *input_commands(reply, session, words.inputs),
        *date_commands(reply, session, words),
    )


def date_commands(reply: TimeboxingUserReply, session: Session, words: PlannedDateResult) -> tuple[SessionCommand, ...]:
    """Return the command for another day or zone, if the message names one."""
    if (words.date or session.date, words.tz or session.tz) == (session.date, session.tz):
        return ()
    return (ChooseDate(**envelope(reply), date=words.date, tz=words.tz),)


def frame_commands(
    reply: TimeboxingUserReply, session: Session, words: FrameWords | None
) -> tuple[SessionCommand, ...]:
    """Return the change of the frame: its ends as the pickers set them, or with lunch as the form sets it.

    Raises ``BadInput``.
    """
    if words is None:
        return ()
    ends = {name: value for name in ("day_start", "day_end") if (value := getattr(words, name)) is not None}
    lunch = {name: value for name in ("lunch_start", "lunch_minutes") if (value := getattr(words, name)) is not None}
    if words.no_lunch:
        lunch["lunch_start"] = None
    if not lunch:
        return (AdjustFrame(**envelope(reply), **ends),) if ends else ()
    if not 0 <= lunch.get("lunch_minutes", 0) <= 240:
        raise BadInput("A lunch break lasts between 0 and 240 minutes.")
    if "lunch_minutes" in lunch and session.frame.lunch_start is None:
        lunch.setdefault("lunch_start", FrameFacts().lunch_start)
    return (SetFrame(**envelope(reply), frame=replace(session.frame, **ends, **lunch, confirmed=False)),)


def input_commands(
    reply: TimeboxingUserReply, session: Session, words: InputWords | None
) -> tuple[SessionCommand, ...]:
    """Return the changes of the task list, removals last. Numbers refer to the list that the person sees.

    Raises ``BadInput``.
    """
    if words is None:
        return ()
    tasks, head = session.inputs.tasks, envelope(reply)
    brought = tuple(get_numbered(session.offered, number).task.id for number in dict.fromkeys(words.bring))
    later = [get_numbered(tasks, number) for number in dict.fromkeys(words.later)]
    gone = [get_numbered(tasks, number) for number in dict.fromkeys(words.remove) if number not in words.later]
    changes = [_change_of(reply, *change) for change in _changes(tasks, words.change)]
    added = tuple(_task(reply, number, task) for number, task in enumerate(words.add, 1))
    return (
        *changes,
        *((AddTasks(**head, tasks=added),) if added else ()),
        *((BringAlong(**head, task_ids=brought),) if brought else ()),
        *(DeferTask(**head, task_id=task.id) for task in later),
        *(RemoveTask(**head, task_id=task.id) for task in gone),
    )


def _task(reply: TimeboxingUserReply, number: int, words: TaskWords) -> Task:
    return Task(
        id=mint_key("t", reply.command_id, number),
        title=words.title,
        minutes=_minutes(words.minutes),
        depth=Depth.SHALLOW if words.depth == "shallow" else Depth.DEEP,
        one_thing=words.one_thing,
        notes=words.notes,
        done_when=words.done_when,
    )


def _changes(tasks: Sequence[Task], words: Sequence[TaskChange]) -> list[tuple[Task, Task]]:
    """Return each changed task, before and after.

    The most important task comes last, because marking it removes the mark from any other.
    """
    after: dict[int, Task] = {}
    for change in words:
        after[change.number] = _change_task(after.get(change.number) or get_numbered(tasks, change.number), change)
    pairs = [(get_numbered(tasks, number), task) for number, task in after.items()]
    return sorted((pair for pair in pairs if pair[0] != pair[1]), key=lambda pair: pair[1].one_thing)


def _change_of(reply: TimeboxingUserReply, before: Task, after: Task) -> SessionCommand:
    if after == replace(before, one_thing=True):
        return MarkOneThing(**envelope(reply), task_id=after.id)
    return UpdateTask(**envelope(reply), task=after)


def _change_task(task: Task, change: TaskChange) -> Task:
    said = {
        "title": change.title,
        "minutes": _minutes(change.minutes),
        "depth": None if change.depth is None else Depth(change.depth),
        "one_thing": change.one_thing,
        "in_pieces": change.in_pieces,
        "notes": change.notes,
        "done_when": change.done_when,
    }
    return task.model_copy(update={name: value for name, value in said.items() if value is not None})


def _minutes(minutes: int | None) -> int | None:
    if minutes is not None and not 1 <= minutes <= 24 * 60:
        raise BadInput(f"A task takes between 1 minute and 24 hours, not {minutes} minutes.")
    return minutes


def get_numbered(items: Sequence[T], number: int) -> T:
    """Return a row of a list that was shown with numbers from 1. Raises ``BadInput``."""
    if not 1 <= number <= len(items):
        there = f"1 to {len(items)}" if items else "none, the list is empty"
        raise BadInput(f"There is no number {number} in the list; the numbers are {there}.")
    return items[number - 1]

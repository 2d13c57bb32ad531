"""Commands about the day, its frame and its tasks."""

from __future__ import annotations

from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from datetime import time
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from fateforger.limits import MAX_GOAL_CHARS, MAX_GOALS, MAX_MINUTES, MAX_TITLE_CHARS
from fateforger.session.boxes import put_together, take_apart, tick_items
from fateforger.session.commands.base import ALL_STAGES, PLANNED, SessionCommandBase, mint_key
from fateforger.session.day import frame_span, with_end, with_start
from fateforger.session.forms import (
    CardAction,
    Click,
    Fields,
    give,
    read_chosen,
    read_target,
)
from fateforger.session.frame import frame_in_force
from fateforger.session.model import BlockPlan, FrameFacts, Session, Task
from fateforger.session.other_days import (
    describe_arrival,
    describe_return,
    find_sent,
    name_day,
    send_task,
    without_sent,
)
from fateforger.session.stages import TimeboxingStage
from fateforger.session.tasks import (
    allow_pieces,
    find_task,
    keep_for_later,
    with_one_thing,
    with_task,
    with_tasks,
    without_task,
)
from fateforger.text import gettext as _
from fateforger.text import mark_message
from fateforger.values import apply_changes, replace

WAITS = mark_message("“{title}” waits for another day; I'll offer it again when you plan one.")
ON_LIST = mark_message("“{title}” is for {day} now.")
BACK_HERE = mark_message("“{title}” is back on this list.")


class ChooseDate(SessionCommandBase):
    """Stage 0: choose another day or zone, not confirmed yet."""

    home = TimeboxingStage.DATE
    accepted = frozenset({TimeboxingStage.DATE, TimeboxingStage.COLLECT_CONSTRAINTS})
    pick: ClassVar = CardAction("choose_date", read=read_chosen("date", Date))
    other_day: ClassVar = CardAction("plan_day", read=read_target("date"))
    forms = ("zone",)
    kind: Literal["choose_date"] = "choose_date"
    date: Date | None = None
    tz: str | None = None


def _read_seen(click: Click) -> Fields:
    return {"seen": click.target or None}


class TimeboxingCommitDate(SessionCommandBase):
    """Stage 0: confirm the day and zone.

    ``seen`` is the token of the button (:func:`fateforger.session.gate.move_token`): a card that shows another day or
    zone confirms nothing.
    """

    home = TimeboxingStage.DATE
    accepted = frozenset({TimeboxingStage.DATE})
    action: ClassVar = CardAction("commit_date", "Plan this day", _read_seen)
    kind: Literal["commit_date"] = "commit_date"
    seen: str | None = None


class SetFrame(SessionCommandBase):
    """Stage 1: set the frame of the day, as the person changed it from ``base`` if that is known."""

    home = TimeboxingStage.COLLECT_CONSTRAINTS
    accepted = ALL_STAGES - PLANNED
    forms = ("frame",)
    kind: Literal["set_frame"] = "set_frame"
    frame: FrameFacts
    base: FrameFacts | None = None

    def apply_to(self, session: Session) -> Session:
        now, shown = session.day.frame, frame_in_force(session)
        said = self.frame if self.base is None else apply_changes(shown, self.base, self.frame)
        begun = now if said.day_start == shown.day_start else with_start(session, said.day_start)
        ended = now if said.day_end == shown.day_end else with_end(session, said.day_end)
        frame = replace(
            said,
            day_start=begun.day_start,
            start_given=begun.start_given,
            usual_start=begun.usual_start,
            day_end=ended.day_end,
            usual_end=ended.usual_end,
            end_given=ended.end_given,
            fills=said.fills or now.fills,
            confirmed=False,
        )
        frame_span(session.date, session.tz, frame)  # it may be none, together with what changed meanwhile
        return session.with_day(frame=frame)


class AdjustFrame(SessionCommandBase):
    """Stage 1: change the start or end of the day, or fill it; ``None`` leaves it as it is."""

    home = TimeboxingStage.COLLECT_CONSTRAINTS
    start: ClassVar = CardAction("set_day_start", read=read_chosen("day_start", time))
    end: ClassVar = CardAction("set_day_end", read=read_chosen("day_end", time))
    until: ClassVar = CardAction("frame.until", read=read_target("day_end"))
    fill: ClassVar = CardAction("frame.fill", "Use the free time", read=give(fills=True))
    rereads = PLANNED
    kind: Literal["adjust_frame"] = "adjust_frame"
    day_start: time | None = None
    day_end: time | None = None
    fills: bool | None = None

    def apply_to(self, session: Session) -> Session:
        if self.day_start is not None:
            session = session.with_day(frame=with_start(session, self.day_start))
        frame = session.day.frame if self.day_end is None else with_end(session, self.day_end)
        return session.with_day(frame=frame if self.fills is None else replace(frame, fills=self.fills))


class TaskCommandBase(SessionCommandBase):
    """A change of the tasks; they are accepted until the plan is refined."""

    home = TimeboxingStage.CAPTURE_INPUTS
    accepted = ALL_STAGES - PLANNED


class UnplacedCommandBase(TaskCommandBase):
    """A change of a task, which may be without room in a plan; it is accepted at any stage."""

    accepted = ALL_STAGES
    rereads = PLANNED


class AddTasks(TaskCommandBase):
    """Stage 2: add tasks.

    ``proceed`` also moves on to the skeleton.
    """

    forms = ("tasks",)
    anywhere = True
    kind: Literal["add_tasks"] = "add_tasks"
    tasks: tuple[Task, ...] = Field(min_length=1)
    proceed: bool = False

    def apply_to(self, session: Session) -> Session:
        return session.with_day(inputs=with_tasks(session.day.inputs, self.tasks))

    def needs_calendar(self, stage: TimeboxingStage) -> bool:
        """See :meth:`SessionCommandBase.needs_calendar`; tasks that are drafted right away need it."""
        return self.proceed and stage is TimeboxingStage.CAPTURE_INPUTS


class SetGoals(TaskCommandBase):
    """Stages 2 and 3: say what the day is for, and how much deep work it takes; ``None`` leaves it as it is."""

    forms = ("goals",)
    kind: Literal["set_goals"] = "set_goals"
    goals: tuple[Annotated[str, Field(min_length=1, max_length=MAX_GOAL_CHARS)], ...] | None = Field(
        None, max_length=MAX_GOALS
    )
    blocks: BlockPlan | None = None

    def apply_to(self, session: Session) -> Session:
        known = session.day.inputs
        goals = known.goals if self.goals is None else self.goals
        blocks = known.blocks if self.blocks is None else self.blocks
        return session.with_day(inputs=replace(known, goals=goals, blocks=blocks))


class UpdateTask(TaskCommandBase):
    """Stage 2: replace the task with the same id, as the person changed it from ``base`` if that is known."""

    forms = ("task",)
    kind: Literal["update_task"] = "update_task"
    task: Task
    base: Task | None = None

    def apply_to(self, session: Session) -> Session:
        task = self.task
        if self.base is not None:
            task = apply_changes(find_task(session.day.inputs, task.id), self.base, task)
        return session.with_day(inputs=with_task(session.day.inputs, task))


def _read_size(click: Click) -> Fields:
    minutes, _, task_id = click.target.partition(" ")
    return {"task_id": task_id, "minutes": minutes}


class ResizeTask(UnplacedCommandBase):
    """Stages 2 and 3: change the minutes of a task."""

    action: ClassVar = CardAction("task.resize", read=_read_size)
    kind: Literal["resize_task"] = "resize_task"
    task_id: str
    minutes: int = Field(gt=0, le=MAX_MINUTES)

    def apply_to(self, session: Session) -> Session:
        task = replace(find_task(session.day.inputs, self.task_id), minutes=self.minutes)
        return session.with_day(inputs=with_task(session.day.inputs, task))


class SettleLength(TaskCommandBase):
    """Stages 2 and 3: answer whether a task should get more minutes, because its kind has taken longer than planned.

    It is not asked again about that task.
    """

    more: ClassVar = CardAction("task.more_time", read=_read_size)
    keep: ClassVar = CardAction("task.keep_time", read=_read_size)
    kind: Literal["settle_length"] = "settle_length"
    task_id: str
    minutes: int = Field(gt=0, le=MAX_MINUTES)

    def apply_to(self, session: Session) -> Session:
        task = find_task(session.day.inputs, self.task_id)
        settled = replace(task, minutes=self.minutes, length_settled=True)
        return session.with_day(inputs=with_task(session.day.inputs, settled))


class RemoveTask(UnplacedCommandBase):
    action: ClassVar = CardAction("task.remove", "Remove", read_target("task_id"))
    kind: Literal["remove_task"] = "remove_task"
    task_id: str

    def apply_to(self, session: Session) -> Session:
        return session.with_day(inputs=without_task(session.day.inputs, self.task_id))


def _read_task(click: Click) -> Fields:
    """Read the task of the row whose menu was used, or the one that was chosen from a list."""
    return {"task_id": click.target or click.value}


class MarkOneThing(UnplacedCommandBase):
    """Mark the one thing."""

    action: ClassVar = CardAction("task.one_thing", "Make it the one thing", _read_task)
    kind: Literal["mark_one_thing"] = "mark_one_thing"
    task_id: str

    def apply_to(self, session: Session) -> Session:
        return session.with_day(inputs=with_one_thing(session.day.inputs, self.task_id))


class DeferTask(UnplacedCommandBase):
    """Stages 2 and 3: leave a task for another day.

    With a ``day`` it goes there at once. Otherwise it is kept, and offered when the person plans another day.
    """

    forms = ("defer",)
    anywhere = True
    kind: Literal["defer_task"] = "defer_task"
    task_id: str
    day: Date | None = None

    def apply_to(self, session: Session) -> Session:
        task = find_task(session.day.inputs, self.task_id)
        session = self.defer(session, task)
        line = self.describe(session, task)
        return session.with_day(inputs=without_task(session.day.inputs, task.id)).say(line)

    def defer(self, session: Session, task: Task) -> Session:
        """Return the session with the task kept for another day, or on its way to it. Raises ``BadInput``."""
        if self.day is None:
            return session.with_open_work(deferred=(*session.open_work.deferred, keep_for_later(task)))
        return send_task(session, task, self.day, self.at)

    def describe(self, session: Session, task: Task) -> str:
        """Return the line that says where the task went."""
        if self.day is None:
            return _(WAITS, title=task.title)
        return _(ON_LIST, title=task.title, day=name_day(self.day, seen_from=session.date))


class TakeBack(UnplacedCommandBase):
    """Take a task back that was given to another day."""

    action: ClassVar = CardAction("task.take_back", "Undo", read_target("task_id"))
    kind: Literal["take_back"] = "take_back"
    task_id: str

    def apply_to(self, session: Session) -> Session:
        task = find_sent(session, self.task_id).task
        inputs = with_tasks(session.day.inputs, (task,))
        return without_sent(session, task.id).with_day(inputs=inputs).say(_(BACK_HERE, title=task.title))


class ReceiveTasks(SessionCommandBase):
    """Put tasks on the list that another day of the person, ``source``, gave to this one."""

    rereads = PLANNED
    kind: Literal["receive_tasks"] = "receive_tasks"
    tasks: tuple[Task, ...] = Field(min_length=1)
    source: Date

    def apply_to(self, session: Session) -> Session:
        known = {task.id for task in session.day.inputs.tasks}
        new = tuple(task for task in self.tasks if task.id not in known)
        return session.with_day(inputs=with_tasks(session.day.inputs, new)).say(
            describe_arrival(self.tasks, self.source)
        )


class ReturnTasks(SessionCommandBase):
    """Take tasks off the list that go back to the day they came from."""

    rereads = PLANNED
    kind: Literal["return_tasks"] = "return_tasks"
    tasks: tuple[Task, ...] = Field(min_length=1)
    source: Date

    def apply_to(self, session: Session) -> Session:
        gone = {task.id for task in self.tasks}
        kept = tuple(task for task in session.day.inputs.tasks if task.id not in gone)
        return session.with_day(inputs=replace(session.day.inputs, tasks=kept)).say(
            describe_return(self.tasks, self.source)
        )


class BringAlong(TaskCommandBase):
    """Stages 2 and 3: take on work that earlier days left open or that was deferred.

    Without ``task_ids`` it takes all that is offered, or nothing if there is ``settled`` work. Work in ``settled`` is
    done, or not wanted any more.
    """

    action: ClassVar = CardAction("task.bring", "Add", lambda click: {"task_ids": tuple(click.target.split())})
    forms = ("bring", "catch_up")
    kind: Literal["bring_along"] = "bring_along"
    task_ids: tuple[str, ...] = ()
    settled: tuple[str, ...] = ()


class UndoCatchUp(TaskCommandBase):
    """Stages 2 and 3: undo the last catch-up with missed days as a whole."""

    action: ClassVar = CardAction("task.undo_catch_up", "Undo")
    kind: Literal["undo_catch_up"] = "undo_catch_up"


class SplitTask(UnplacedCommandBase):
    """Stages 2 and 3: allow a task to be done in pieces."""

    action: ClassVar = CardAction("task.split", "In pieces", read_target("task_id"))
    kind: Literal["split_task"] = "split_task"
    task_id: str

    def apply_to(self, session: Session) -> Session:
        task = allow_pieces(find_task(session.day.inputs, self.task_id))
        return session.with_day(inputs=with_task(session.day.inputs, task))


class PutTogether(UnplacedCommandBase):
    """Put small tasks together into one box; its title is made from their kind if it has none."""

    action: ClassVar = CardAction(
        "task.together", "Put together", lambda click: {"task_ids": tuple(click.target.split())}
    )
    kind: Literal["put_together"] = "put_together"
    task_ids: tuple[str, ...]
    title: str = Field("", max_length=MAX_TITLE_CHARS)

    def apply_to(self, session: Session) -> Session:
        return put_together(session, self.task_ids, self.title, mint_key("t", self.command_id))


class TakeApart(UnplacedCommandBase):
    """Make tasks of their own of what is open in a box."""

    action: ClassVar = CardAction("task.apart", "Take apart", read_target("task_id"))
    kind: Literal["take_apart"] = "take_apart"
    task_id: str

    def apply_to(self, session: Session) -> Session:
        return take_apart(session, self.task_id)


def _read_item(click: Click) -> Fields:
    place, _, task_id = click.target.partition(" ")
    return {"items": ((task_id, place),)}


class TickItems(UnplacedCommandBase):
    """Tick small tasks of boxes off, or open them again."""

    tick: ClassVar = CardAction("item.tick", read=_read_item)
    untick: ClassVar = CardAction("item.untick", read=lambda click: {**_read_item(click), "done": False})
    kind: Literal["tick_items"] = "tick_items"
    items: tuple[tuple[str, int], ...] = Field(min_length=1)
    """Items, each by the id of its box and its place in it."""
    done: bool = True

    def apply_to(self, session: Session) -> Session:
        return tick_items(session, self.items, done=self.done)


DayCommand = (
    ChooseDate
    | TimeboxingCommitDate
    | SetFrame
    | AdjustFrame
    | AddTasks
    | SetGoals
    | UpdateTask
    | ResizeTask
    | SettleLength
    | RemoveTask
    | DeferTask
    | TakeBack
    | ReceiveTasks
    | ReturnTasks
    | BringAlong
    | UndoCatchUp
    | SplitTask
    | MarkOneThing
    | PutTogether
    | TakeApart
    | TickItems
)

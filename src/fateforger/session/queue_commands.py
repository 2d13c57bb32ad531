"""Commands about a person's queue, outside any session.

``channel``, ``thread_ts`` and ``ts`` tell where the answer goes: the card ``ts`` is updated, else a new one is sent.
``tz`` is the person's IANA zone. Where these are empty, the chat side fills them in before the command is recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from datetime import datetime, time
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, AwareDatetime, Field

from fateforger.limits import MAX_CARRIED_CHARS, MAX_MINUTES
from fateforger.memory.vocabulary import Weekday
from fateforger.session.forms import CardAction, Click, Fields, read_target
from fateforger.tasks.parts import Parts
from fateforger.tasks.queue import QueuePlace
from fateforger.tasks.task import Origin, TaskSpec
from fateforger.tasks.transitions import TaskAction
from fateforger.text import list_languages, mark_message
from fateforger.values import Value, apply_changes

TaskReply = Literal["done", "note", "take_back", "put_back", "approve", "retry", "open"]
"""Reply about a task: done, done so far, wait again, try again, or the parts of a goal are right.

``open`` only shows the task.
"""


class QueueCommandBase(Value):
    """Fields of all commands about the queue."""

    command_id: str
    user_id: str
    at: datetime
    channel: str = ""
    thread_ts: str | None = None
    ts: str | None = None
    tz: str = ""


def _read_spec(click: Click) -> Fields:
    spec = TaskSpec.model_validate_json(click.target)
    return {"spec": spec.model_dump(mode="json"), "origin": {"door": "slack"}}


class EnqueueTask(QueueCommandBase):
    """Put a task into the queue.

    ``message_channel`` and ``message_ts`` name the message it was made from, if any. With ``reminds`` the person asked
    to be reminded, and with ``wants_time`` to be given time for it. A button carries the task as JSON.
    """

    keep: ClassVar = CardAction("queue.keep", mark_message("Keep it as a task"), _read_spec)
    keep_for_day: ClassVar = CardAction(
        "queue.keep_time", mark_message("Find time for it"), lambda click: {**_read_spec(click), "wants_time": True}
    )
    kind: Literal["enqueue_task"] = "enqueue_task"
    spec: TaskSpec
    origin: Origin
    reminds: bool = False
    wants_time: bool = False
    message_channel: str = ""
    message_ts: str = ""


class RemindTask(QueueCommandBase):
    """Set the reminder of a task, or cancel it."""

    cancel: ClassVar = CardAction("queue.unremind", mark_message("Cancel the reminder"), read_target("task_id"))
    kind: Literal["remind_task"] = "remind_task"
    task_id: str
    remind_at: AwareDatetime | None = None


class PullTask(QueueCommandBase):
    """Claim a task and carry it out: the one of that id, else the next (S158, S159)."""

    action: ClassVar = CardAction("queue.pull", "Pull", lambda click: {"task_id": click.target or None})
    kind: Literal["pull_task"] = "pull_task"
    task_id: str | None = None


class ShowTasks(QueueCommandBase):
    """List the queue (S157)."""

    action: ClassVar = CardAction("queue.show", "Show my queue")
    kind: Literal["show_tasks"] = "show_tasks"


class RefineTasks(QueueCommandBase):
    """Go through the tasks of the queue that lack something, one at a time (S218).

    ``seen`` is the task that the person is done with; without one they begin. With ``ends`` they have enough.
    """

    action: ClassVar = CardAction("queue.refine", mark_message("Go through my tasks"))
    next: ClassVar = CardAction("queue.refine.next", mark_message("Fine as it is"), read_target("seen"))
    end: ClassVar = CardAction("queue.refine.end", mark_message("That's enough"), read_target("seen", ends=True))
    kind: Literal["refine_tasks"] = "refine_tasks"
    seen: str = ""
    ends: bool = False


class UndoReturn(QueueCommandBase):
    """Take the open work of a missed day out of the queue again; ``session`` is that of the day."""

    action: ClassVar = CardAction("queue.missed.undo", mark_message("Undo"), read_target("session"))
    kind: Literal["undo_return"] = "undo_return"
    session: str


class DoTaskNow(QueueCommandBase):
    """Do a task's work without the queue; complex work only if the person ``insists`` (S163-S165)."""

    action: ClassVar = CardAction("queue.now", "Do it now", read_target("task_id"))
    anyway: ClassVar = CardAction("queue.anyway", "Do it anyway", read_target("task_id", insists=True))
    kind: Literal["do_task_now"] = "do_task_now"
    task_id: str
    insists: bool = False


class SettleTask(QueueCommandBase):
    """Record the person's reply about a task.

    With ``done``, ``met`` are the positions of the criteria that they ticked. With ``done`` and ``note``, ``did`` are
    their steps in order, by the names of the workflow's actions (``a+b`` does two at once), and ``so`` and ``not_so``
    the states that hold and that do not, as they say.
    """

    done: ClassVar = CardAction("queue.done", "Done", read_target("task_id", word="done"))
    take_back: ClassVar = CardAction(
        "queue.note.undo", mark_message("Undo the last note"), read_target("task_id", word="take_back")
    )
    put_back: ClassVar = CardAction("queue.back", "Put it back", read_target("task_id", word="put_back"))
    approve: ClassVar = CardAction("queue.approve", "Approve the parts", read_target("task_id", word="approve"))
    retry: ClassVar = CardAction("queue.retry", "Try again", read_target("task_id", word="retry"))
    open: ClassVar = CardAction("queue.open", "Open", read_target("task_id", word="open"))
    kind: Literal["settle_task"] = "settle_task"
    task_id: str
    word: TaskReply
    met: tuple[int, ...] = ()
    did: tuple[str, ...] = ()
    so: tuple[str, ...] = ()
    not_so: tuple[str, ...] = ()


def _read_item(click: Click) -> Fields:
    place, _, task_id = str(click.target).partition(" ")
    return {"task_id": task_id, "place": place}


class TickTask(QueueCommandBase):
    """Tick a small task of a box off, or open it again; ``place`` is its place in the box."""

    tick: ClassVar = CardAction("queue.tick", read=_read_item)
    untick: ClassVar = CardAction("queue.untick", read=lambda click: {**_read_item(click), "done": False})
    kind: Literal["tick_task"] = "tick_task"
    task_id: str
    place: int
    done: bool = True


class WriteParts(QueueCommandBase):
    """Break a goal into these parts."""

    kind: Literal["write_parts"] = "write_parts"
    task_id: str
    parts: Parts


class BlockTimeFor(QueueCommandBase):
    """Put a block for a task into the plan of a day."""

    kind: Literal["block_time_for"] = "block_time_for"
    task_id: str
    date: Date
    minutes: int = Field(gt=0, le=MAX_MINUTES)
    start: time | None = None


WeekSpan = Literal["coming", "this", "next"]
"""The next five working days, the rest of this week's, or those of the next week."""


class PlanWeek(QueueCommandBase):
    """Draft the open tasks over several working days."""

    action: ClassVar = CardAction(
        "week.plan", mark_message("Plan my week"), lambda click: {"span": click.target or "coming"}
    )
    kind: Literal["plan_week"] = "plan_week"
    span: WeekSpan = "coming"


class DaysTasks(Value):
    """Ids of the tasks that a week has on a day, and whether that day was opened."""

    date: Date
    tasks: tuple[str, ...] = ()
    opened: bool = False


class ShownWeek(Value):
    """A drafted week as its card keeps it, and the day to open; none means all."""

    key: str
    span: WeekSpan
    days: tuple[DaysTasks, ...]
    chosen: Date | None = None


def _read_week(click: Click) -> Fields:
    return ShownWeek.model_validate_json(click.target).model_dump()


class OpenWeek(QueueCommandBase):
    """Open the thread of a day of a drafted week, or of all its days.

    ``key`` names the week: each of its days is opened once. The card itself keeps the week.
    """

    all: ClassVar = CardAction("week.all", mark_message("Open all days"), _read_week)
    one: ClassVar = CardAction("week.open", mark_message("Open"), _read_week)
    kind: Literal["open_week"] = "open_week"
    key: str
    span: WeekSpan
    days: tuple[DaysTasks, ...]
    chosen: Date | None = None


class DropWeek(QueueCommandBase):
    """Drop a drafted week of which no day was opened."""

    action: ClassVar = CardAction("week.drop", mark_message("Drop the week"))
    kind: Literal["drop_week"] = "drop_week"


RitualKind = Literal["morning", "shutdown", "review"]
"""Kinds of messages that the bot sends by itself: one begins the day, one closes it, one looks back on the week."""


class RitualChange(Value):
    """A change of these messages. A field that is ``None`` stays as it is.

    With ``at_end`` the day is closed when its frame ends. ``off`` are kinds that are not wanted any more.
    """

    morning: time | None = None
    shutdown: time | None = None
    at_end: bool | None = None
    review: bool | None = None
    off: tuple[RitualKind, ...] = ()
    days: tuple[Weekday, ...] | None = Field(None, min_length=1)
    quiet_from: time | None = None
    quiet_until: time | None = None


class ChangeRituals(QueueCommandBase):
    """Change which messages the bot sends by itself, and when; without a change the answer shows what is set."""

    stop: ClassVar = CardAction(
        "ritual.stop", mark_message("Stop these messages"), lambda click: {"change": {"off": (click.target,)}}
    )
    anyway: ClassVar = CardAction(
        "ritual.anyway",
        mark_message("Write to me then anyway"),
        lambda click: {"change": RitualChange.model_validate_json(click.target)},
    )
    kind: Literal["change_rituals"] = "change_rituals"
    change: RitualChange = RitualChange()


class AnswerMorning(QueueCommandBase):
    """Begin to plan the day of a morning message in its thread, or leave it for this day."""

    begin: ClassVar = CardAction("ritual.begin", mark_message("Start planning"), read_target("date"))
    not_today: ClassVar = CardAction("ritual.not_today", mark_message("Not today"), read_target("date", begins=False))
    kind: Literal["answer_morning"] = "answer_morning"
    date: Date
    begins: bool = True


DayEnd = Literal["tick", "untick", "close", "close_for_tomorrow", "reopen"]


class PartOfDay(Value):
    """A task of a day, whose session is ``session``."""

    session: str
    task: str


def _tick(done: DayEnd) -> Callable[[Click], Fields]:
    return lambda click: {**PartOfDay.model_validate_json(click.target).model_dump(), "do": done}


class SettleDay(QueueCommandBase):
    """Say how a day went: tick a task, or close the day with what is open in the queue, or kept for the next day.

    ``session`` is that of the day. A day that was closed can be opened again.
    """

    tick: ClassVar = CardAction("ritual.tick", mark_message("Done"), _tick("tick"))
    untick: ClassVar = CardAction("ritual.untick", mark_message("Not done"), _tick("untick"))
    close: ClassVar = CardAction("ritual.close", mark_message("Close the day"), read_target("session", do="close"))
    close_for_tomorrow: ClassVar = CardAction(
        "ritual.close_for_tomorrow",
        mark_message("Close it, the rest tomorrow"),
        read_target("session", do="close_for_tomorrow"),
    )
    reopen: ClassVar = CardAction("ritual.reopen", mark_message("Undo"), read_target("session", do="reopen"))
    kind: Literal["settle_day"] = "settle_day"
    session: str
    do: DayEnd
    task: str = ""


class ReviewWeek(QueueCommandBase):
    """Look back on the person's week."""

    action: ClassVar = CardAction("week.review", mark_message("How was my week?"))
    kind: Literal["review_week"] = "review_week"


class Advice(Value):
    """Time for a task that kept being moved; ``task`` is its id."""

    task: str
    title: str
    minutes: int = Field(gt=0, le=MAX_MINUTES)
    date: Date
    start: time


class FollowAdvice(QueueCommandBase):
    """Follow the suggestion of a review: put time for the task into the plan of a day."""

    action: ClassVar = CardAction(
        "week.advice",
        mark_message("Block that time"),
        lambda click: {"advice": Advice.model_validate_json(click.target)},
    )
    kind: Literal["follow_advice"] = "follow_advice"
    advice: Advice


class HomeCommandBase(QueueCommandBase):
    """Fields of all actions on App Home, whose answer is that page."""


class ReadAgain(QueueCommandBase):
    """Read a first message again, because no model could read it."""

    action: ClassVar = CardAction("opening.again", mark_message("Try again"), read_target("text"))
    kind: Literal["read_again"] = "read_again"
    text: str = Field(min_length=1, max_length=MAX_CARRIED_CHARS)


class MoveTask(HomeCommandBase):
    """Move a task within the queue; ``other`` is the task that it goes before (S167)."""

    up: ClassVar = CardAction("queue.up", "Up", read_target("task_id", where="up"))
    down: ClassVar = CardAction("queue.down", "Down", read_target("task_id", where="down"))
    kind: Literal["move_task"] = "move_task"
    task_id: str
    where: QueuePlace
    other: str | None = None


class ChangeTask(HomeCommandBase):
    """Pause a task, resume it, stop it, or try it again (S167)."""

    actions: ClassVar = {
        "pause": CardAction("queue.do.pause", "Pause", read_target("task_id", deed="pause")),
        "resume": CardAction("queue.do.resume", "Resume", read_target("task_id", deed="resume")),
        "stop": CardAction("queue.do.stop", "Stop", read_target("task_id", deed="stop")),
        "retry": CardAction("queue.do.retry", "Retry", read_target("task_id", deed="retry")),
    }
    kind: Literal["change_task"] = "change_task"
    task_id: str
    deed: TaskAction


class ReviseTask(HomeCommandBase):
    """Replace the spec of a task, as the person changed it from ``base``; older commands have none."""

    kind: Literal["revise_task"] = "revise_task"
    task_id: str
    spec: TaskSpec
    base: TaskSpec | None = None

    def apply_to(self, spec: TaskSpec) -> TaskSpec:
        """Return the spec of the task now with what the person changed; what else has changed since stays."""
        return self.spec if self.base is None else apply_changes(spec, self.base, self.spec)


def _read_page(click: Click) -> Fields:
    """Read the page of a button, or the one chosen from all."""
    return {"page": click.target or click.value}


class TurnQueue(HomeCommandBase):
    """Show another page of a long queue, counted from 1."""

    action: ClassVar = CardAction("queue.page", read=_read_page)
    kind: Literal["turn_queue"] = "turn_queue"
    page: int


class ForgetDuration(HomeCommandBase):
    """Forget how long tasks of one kind take. ``name`` is the kind."""

    action: ClassVar = CardAction("duration.forget", "Forget", read_target("name"))
    kind: Literal["forget_duration"] = "forget_duration"
    name: str


def _read_ratio(click: Click) -> Fields:
    percent, _, name = str(click.value).partition(" ")
    return {"percent": percent, "name": name}


class CorrectDuration(HomeCommandBase):
    """State how long tasks of one kind take, in percent of what is planned; it replaces what was observed."""

    action: ClassVar = CardAction("duration.correct", read=_read_ratio)
    kind: Literal["correct_duration"] = "correct_duration"
    name: str
    percent: int = Field(ge=33, le=300)


def _check_language(code: str) -> str:
    if code not in list_languages():
        raise ValueError("there is no catalogue for this language")
    return code


def _read_language(click: Click) -> Fields:
    return {"language": None if click.value == WRITTEN else click.value}


WRITTEN = "written"
"""Choice of a language: the one that the person writes."""


class ChooseLanguage(HomeCommandBase):
    """Choose the language of everything that the bot says; ``None`` follows what the person writes."""

    action: ClassVar = CardAction("language.choose", read=_read_language)
    kind: Literal["choose_language"] = "choose_language"
    language: Annotated[str, AfterValidator(_check_language)] | None


WeekCommand = PlanWeek | OpenWeek | DropWeek
RitualCommand = ChangeRituals | AnswerMorning | SettleDay | ReviewWeek | FollowAdvice
TaskCommand = (
    EnqueueTask
    | RemindTask
    | PullTask
    | ShowTasks
    | RefineTasks
    | UndoReturn
    | DoTaskNow
    | SettleTask
    | BlockTimeFor
    | WriteParts
    | TickTask
)
CardCommand = TaskCommand | WeekCommand | RitualCommand
"""Commands that are answered with a card."""
HomeCommand = MoveTask | ChangeTask | ReviseTask | TurnQueue | ForgetDuration | CorrectDuration | ChooseLanguage
QueueCommand = CardCommand | HomeCommand | ReadAgain

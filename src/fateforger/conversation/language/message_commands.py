"""Commands of a model's reading: the same that buttons and forms make (S214). List numbers become keys here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeVar

from pydantic import ValidationError

from fateforger.conversation.language.answers import (
    DayWords,
    DetailWords,
    FrameWords,
    InputWords,
    Intent,
    OpenWords,
    PlannedDateResult,
    ReplanWords,
    TaskChange,
    TaskWords,
    Wish,
)
from fateforger.conversation.language.plan_ops import find_block
from fateforger.errors import BadInput
from fateforger.limits import MAX_LATE_MINUTES, MAX_MINUTES
from fateforger.planning.task_details import PLAIN, TaskDetails, change_details, task_of, usual_details
from fateforger.session.boxes import list_items
from fateforger.session.cards import Button
from fateforger.session.commands import SessionCommand, read_click
from fateforger.session.commands.base import SessionCommandBase, mint_key
from fateforger.session.commands.day import (
    AddTasks,
    AdjustFrame,
    BringAlong,
    ChooseDate,
    DeferTask,
    MarkOneThing,
    PutTogether,
    RemoveTask,
    ResizeTask,
    SetFrame,
    SetGoals,
    SplitTask,
    TakeApart,
    TakeBack,
    TickItems,
    TimeboxingCommitDate,
    UndoCatchUp,
    UpdateTask,
)
from fateforger.session.commands.plan import (
    HideHistory,
    HidePreview,
    MovePlan,
    RedoWrite,
    Replan,
    ResolveConflict,
    RestoreChange,
    SetCalendarWrite,
    ShowHistory,
    ShowPreview,
    Side,
    UndoWrite,
)
from fateforger.session.commands.rules import HideMemory
from fateforger.session.commands.thread import StageAction, TimeboxingUserReply
from fateforger.session.conflicts import open_questions, question_token
from fateforger.session.forms import Click
from fateforger.session.frame import frame_in_force
from fateforger.session.gate import is_offered
from fateforger.session.model import BlockPlan, FrameFacts, Session, Task
from fateforger.session.pending import PendingKind, PendingQuestion, fix_button, sole_question
from fateforger.session.queue_commands import QueueCommandBase
from fateforger.session.stages import Move, TimeboxingStage
from fateforger.text import gettext as _
from fateforger.text import mark_message
from fateforger.values import replace, replace_named

INTENT_MOVES = {
    Intent.PROCEED: Move.PROCEED,
    Intent.BACK: Move.BACK,
    Intent.REDO: Move.REDO,
    Intent.UNDO: Move.UNDO_LAST_UPDATE,
    Intent.UNDO_ALL: Move.UNDO_SYNC,
    Intent.RETRY: Move.RETRY,
    Intent.CANCEL: Move.CANCEL,
}
T = TypeVar("T")


def command_fields(reply: TimeboxingUserReply) -> dict[str, Any]:
    """Return the fields common to all commands of a reply: its own id, so that it is carried out once."""
    return reply.model_dump(include={"command_id", "user_id", "at", "session_id"})


def press(button: Button, reply: TimeboxingUserReply) -> SessionCommand:
    """Return the command of a button, as if the reply had pressed it."""
    command = read_click(Click(**command_fields(reply), action=button.action, target=button.target))
    if isinstance(command, QueueCommandBase):
        raise TypeError(f"{button.action} belongs to the queue, not to a session")
    return command


def move_of(reply: TimeboxingUserReply, session: Session, intent: Intent) -> SessionCommand:
    """Return the command of a move.

    "Undo" means all if there is no single change to undo, and in Stage 2 it means the last catch-up, if
    there was one, else before Refine the last task given to another day.
    """
    move = INTENT_MOVES[intent]
    if (
        intent is Intent.UNDO
        and session.stage is TimeboxingStage.CAPTURE_INPUTS
        and session.open_work.caught_up is not None
    ):
        return UndoCatchUp(**command_fields(reply))
    sent = [each for each in session.open_work.sent if not each.settled]
    if intent is Intent.UNDO and sent and not is_offered(session, move):
        return TakeBack(**command_fields(reply), task_id=sent[-1].task.id)
    if move is Move.UNDO_LAST_UPDATE and not is_offered(session, move) and is_offered(session, Move.UNDO_SYNC):
        move = Move.UNDO_SYNC
    if session.stage is TimeboxingStage.DATE and move is Move.PROCEED:
        return TimeboxingCommitDate(**command_fields(reply))
    return StageAction(**command_fields(reply), move=move)


GOALS = {Intent.DRAFT: TimeboxingStage.SKELETON, Intent.COMMIT: TimeboxingStage.REVIEW_COMMIT}


def commands_to(reply: TimeboxingUserReply, session: Session, goal: TimeboxingStage) -> tuple[SessionCommand, ...]:
    """Return the moves through all steps to a stage. There, a commit is tried again, and a draft is left as it is."""
    if session.stage.number >= goal.number:
        move = Move.RETRY if is_offered(session, Move.RETRY) else Move.PROCEED
        again = (StageAction(**command_fields(reply), move=move),)
        return () if goal is TimeboxingStage.SKELETON else again
    first = () if session.stage is not TimeboxingStage.DATE else (TimeboxingCommitDate(**command_fields(reply)),)
    steps = goal.number - session.stage.number - len(first)
    return (*first, *(StageAction(**command_fields(reply), move=Move.PROCEED) for _step in range(steps)))


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
    return (ChooseDate(**command_fields(reply), date=words.date, tz=words.tz),)


def frame_commands(
    reply: TimeboxingUserReply, session: Session, words: FrameWords | None
) -> tuple[SessionCommand, ...]:
    """Return the change of the frame: its ends as the pickers set them, or with lunch as the form sets it.

    Raises ``BadInput``.
    """
    if words is None:
        return ()
    ends = {name: value for name in ("day_start", "day_end") if (value := getattr(words, name)) is not None}
    if words.fills:
        ends["fills"] = True
    lunch = {name: value for name in ("lunch_start", "lunch_minutes") if (value := getattr(words, name)) is not None}
    if words.no_lunch:
        lunch["lunch_start"] = None
    if not lunch:
        return (AdjustFrame(**command_fields(reply), **ends),) if ends else ()
    if not 0 <= lunch.get("lunch_minutes", 0) <= 240:
        raise BadInput(_("A lunch break lasts between 0 and 240 minutes."))
    known = frame_in_force(session)
    if "lunch_minutes" in lunch and known.lunch_start is None:
        lunch.setdefault("lunch_start", FrameFacts().lunch_start)
    frame = replace(known, **ends, **lunch, lunch_given=True, confirmed=False)
    return (SetFrame(**command_fields(reply), frame=frame),)


def input_commands(
    reply: TimeboxingUserReply, session: Session, words: InputWords | None
) -> tuple[SessionCommand, ...]:
    """Return the changes of the task list, removals last. Numbers refer to the list that the person sees.

    Raises ``BadInput``.
    """
    if words is None:
        return ()
    tasks, head = session.day.inputs.tasks, command_fields(reply)
    brought = tuple(get_numbered(session.open_work.offered, number).task.id for number in dict.fromkeys(words.bring))
    later = [get_numbered(tasks, number) for number in dict.fromkeys(words.later)]
    gone = [get_numbered(tasks, number) for number in dict.fromkeys(words.remove) if number not in words.later]
    ids = {task.title.casefold(): task.id for task in tasks}
    ids |= {task.title.casefold(): mint_key("t", reply.command_id, n) for n, task in enumerate(words.add, 1)}
    changes = [_change_of(reply, *change) for change in _changes(tasks, words.change, ids)]
    added = tuple(_task(reply, number, task, ids) for number, task in enumerate(words.add, 1))
    boxed = [get_numbered(tasks, number).id for number in dict.fromkeys(words.together)]
    return (
        *_aims(reply, session, words),
        *changes,
        *((PutTogether(**head, task_ids=boxed, title=words.box or ""),) if boxed else ()),
        *(TakeApart(**head, task_id=get_numbered(tasks, number).id) for number in dict.fromkeys(words.apart)),
        *((AddTasks(**head, tasks=added),) if added else ()),
        *((BringAlong(**head, task_ids=brought),) if brought else ()),
        *(DeferTask(**head, task_id=task.id, day=words.later_day) for task in later),
        *(RemoveTask(**head, task_id=task.id) for task in gone),
    )


def _aims(reply: TimeboxingUserReply, session: Session, words: InputWords) -> tuple[SessionCommand, ...]:
    """Return the change of what the day is for and of its blocks; what is not said stays. Raises ``BadInput``."""
    known, given = session.day.inputs, (words.goals, words.deep_blocks, words.block_minutes)
    if given == (None, None, None):
        return ()
    goals = known.goals if words.goals is None else words.goals
    deep, minutes = words.deep_blocks or known.blocks.deep_blocks, words.block_minutes or known.blocks.minutes
    try:
        blocks = BlockPlan(deep_blocks=deep, minutes=minutes)
    except ValidationError:
        raise BadInput(_("A day has 1 to 12 blocks of deep work, of 30 to 240 minutes each.")) from None
    return (SetGoals(**command_fields(reply), goals=goals, blocks=blocks),)


def _task(reply: TimeboxingUserReply, number: int, words: TaskWords, ids: Mapping[str, str]) -> Task:
    minutes = _minutes(words.minutes)
    usual = PLAIN if words.one_thing else usual_details(minutes)
    return Task(
        id=mint_key("t", reply.command_id, number),
        title=words.title,
        minutes=minutes,
        details=_details(usual, words.depth, words.details, ids),
        one_thing=words.one_thing,
        notes=words.notes,
        done_when=words.done_when,
    )


def _changes(tasks: Sequence[Task], words: Sequence[TaskChange], ids: Mapping[str, str]) -> list[tuple[Task, Task]]:
    """Return each changed task, before and after.

    The most important task comes last, because marking it removes the mark from any other.
    """
    after: dict[int, Task] = {}
    for change in words:
        after[change.number] = _change_task(after.get(change.number) or get_numbered(tasks, change.number), change, ids)
    pairs = [(get_numbered(tasks, number), task) for number, task in after.items()]
    return sorted((pair for pair in pairs if pair[0] != pair[1]), key=lambda pair: pair[1].one_thing)


def _change_of(reply: TimeboxingUserReply, before: Task, after: Task) -> SessionCommand:
    if after == replace(before, one_thing=True):
        return MarkOneThing(**command_fields(reply), task_id=after.id)
    return UpdateTask(**command_fields(reply), task=after)


def _change_task(task: Task, change: TaskChange, ids: Mapping[str, str]) -> Task:
    said = {
        "title": change.title,
        "minutes": _minutes(change.minutes),
        "details": _details(task.details, change.depth, change.details, ids, in_pieces=change.in_pieces),
        "one_thing": change.one_thing,
        "notes": change.notes,
        "done_when": change.done_when,
    }
    return replace_named(task, {name: value for name, value in said.items() if value is not None})


def _details(
    before: TaskDetails,
    depth: str | None,
    words: DetailWords | None,
    ids: Mapping[str, str],
    *,
    in_pieces: bool | None = None,
) -> TaskDetails:
    """Return the details with what the message says; tasks to wait for are given by title. Raises ``BadInput``."""
    said: dict[str, Any] = {"kind": depth, "splittable": in_pieces}
    if words is not None:
        said |= words.model_dump(exclude_none=True)
    if "after" in said:
        said["after"] = tuple(_id_of_title(title, ids) for title in words.after or ()) if words is not None else ()
    return change_details({name: value for name, value in said.items() if value is not None}, before)


def _id_of_title(title: str, ids: Mapping[str, str]) -> str:
    found = ids.get(title.casefold())
    if found is None:
        raise BadInput(
            _("There is no task “{title}” on the list to come after; please name it as the list does.", title=title)
        )
    return found


def _minutes(minutes: int | None) -> int | None:
    if minutes is not None and not 1 <= minutes <= MAX_MINUTES:
        raise BadInput(_("A task takes between 1 minute and 24 hours, not {minutes} minutes.", minutes=minutes))
    return minutes


def get_numbered(items: Sequence[T], number: int) -> T:
    """Return a row of a list that was shown with numbers from 1. Raises ``BadInput``."""
    if not 1 <= number <= len(items):
        if not items:
            raise BadInput(_("There is no number {number} in the list, because it is empty.", number=number))
        raise BadInput(
            _("There is no number {number} in the list; the numbers are 1 to {count}.", number=number, count=len(items))
        )
    return items[number - 1]


NOTHING_PENDING = mark_message("Nothing here waits for a yes or a no just now, so I changed nothing.")
WHICH_QUESTION = mark_message("More than one thing waits for your answer. Which one do you mean?")
WHICH_OPTION = mark_message("Yes to which one? Please name it: {options}.")
ONE_BY_ONE = mark_message(
    "Please say which of these you still want to do on this day, and what is done or not wanted any more."
)
FIRST = mark_message("Please answer this first, with yes or no. Until then I do not go on.")
LEFT = mark_message("All right, I left it as it is.")
STAYS_OPEN = mark_message("All right, I left it open. Nothing changes until you choose.")


@dataclass(frozen=True, slots=True)
class PendingAnswer:
    """Result of a yes or a no: a command, or lines for the person.

    With ``in_words`` it answers the bot's last words, so the message has to be read together with them. With
    ``asks_back`` the person still has to answer. ``question`` is what was answered in words.
    """

    command: SessionCommand | None = None
    lines: tuple[str, ...] = ()
    asks_back: bool = False
    in_words: bool = False
    question: PendingQuestion | None = None


def answer_pending(reply: TimeboxingUserReply, waiting: Sequence[PendingQuestion], wish: Wish) -> PendingAnswer:
    """Return the meaning of a yes or a no. Raises ``BadInput`` for a row that does not exist."""
    if not waiting:
        return PendingAnswer(lines=(_(NOTHING_PENDING),))
    question = sole_question(waiting) if wish.number is None else get_numbered(waiting, wish.number)
    if question is None:
        return PendingAnswer(lines=(_(WHICH_QUESTION), *list_questions(waiting)), asks_back=True)
    if wish.intent is Intent.REFUSE_PENDING:
        return _refuse(reply, question)
    return _accept(reply, question)


def find_unanswered(waiting: Sequence[PendingQuestion], intent: Intent) -> tuple[str, ...]:
    """Return the questions to answer before this intent is carried out; nothing if it may be carried out."""
    match intent:
        case Intent.PROCEED | Intent.DRAFT | Intent.COMMIT:
            unanswered = [question for question in waiting if question.awaits_yes]
        case Intent.RETRY:
            unanswered = [question for question in waiting if question.kind is PendingKind.BRAKE]
        case _:
            unanswered = []
    return (_(FIRST), *(question.sentence for question in unanswered)) if unanswered else ()


def row_of(waiting: Sequence[PendingQuestion], number: int, kind: PendingKind) -> PendingQuestion:
    """Return the row with this number. Raises ``BadInput`` if there is none, or if it has another kind."""
    question = get_numbered(waiting, number)
    if question.kind is not kind:
        raise BadInput(_("Number {number} is another question: {sentence}", number=number, sentence=question.sentence))
    return question


def list_questions(waiting: Sequence[PendingQuestion]) -> tuple[str, ...]:
    """Return a numbered line for each question."""
    return tuple(f"{number}. {question.sentence}" for number, question in enumerate(waiting, 1))


def _accept(reply: TimeboxingUserReply, question: PendingQuestion) -> PendingAnswer:
    if question.yes is not None:
        return PendingAnswer(press(question.yes, reply))
    if question.which:
        options = " / ".join(option.label for option in question.which)
        return PendingAnswer(lines=(question.sentence, _(WHICH_OPTION, options=options)), asks_back=True)
    if question.kind in {PendingKind.WORDS, PendingKind.SAID, PendingKind.QUEUE}:
        return PendingAnswer(in_words=True, question=question)
    return PendingAnswer(lines=(question.sentence, _(ONE_BY_ONE)), asks_back=True)


def _refuse(reply: TimeboxingUserReply, question: PendingQuestion) -> PendingAnswer:
    if question.no is not None:
        return PendingAnswer(press(question.no, reply))
    return PendingAnswer(lines=(_(STAYS_OPEN) if question.which else _(LEFT),))


def course_commands(reply: TimeboxingUserReply, session: Session, words: ReplanWords) -> tuple[SessionCommand, ...]:
    """Return the commands for the progress of the day, and options for tasks without room.

    If the message states neither, the rest of the day is refitted. Raises ``BadInput``.
    """
    head = command_fields(reply)
    if words.late is not None and not 0 <= words.late <= MAX_LATE_MINUTES:
        raise BadInput(
            _("A day can be up to {most} hours late, not {late} minutes.", most=MAX_LATE_MINUTES // 60, late=words.late)
        )
    if words.move_to is not None:
        return (MovePlan(**head, day=words.move_to, join=words.join),)
    boxes = _box_commands(reply, session, words)
    went = {name: _keys(session, getattr(words, name)) for name in ("missed", "done", "not_today")}
    ways = [*boxes, *(_read_option(reply, session, each, words.day) for each in words.open)]
    if words.day_end is not None:
        ways.append(AdjustFrame(**head, day_end=words.day_end))
    if words.day is not None:
        ids = [task.id for task in session.day.inputs.tasks]
        tasks = dict.fromkeys(task_of(key, ids) or key for key in went.pop("not_today"))
        ways = [*(DeferTask(**head, task_id=task_id, day=words.day) for task_id in tasks), *ways]
    if ways and words.late is None and not any(went.values()):
        return tuple(ways)
    return (Replan(**head, late=words.late, **went), *ways)


def _box_commands(
    reply: TimeboxingUserReply, session: Session, words: ReplanWords
) -> tuple[PutTogether | TakeApart | TickItems, ...]:
    """Return the commands for boxes. Raises ``BadInput``."""
    head, ids = command_fields(reply), [task.id for task in session.day.inputs.tasks]
    boxed, apart = (
        tuple(task_of(key, ids) or key for key in _keys(session, names)) for names in (words.together, words.apart)
    )
    ticks = (
        (tuple(get_numbered(list_items(session), number) for number in dict.fromkeys(numbers)), done)
        for numbers, done in ((words.ticked, True), (words.unticked, False))
    )
    return (
        *(TickItems(**head, items=items, done=done) for items, done in ticks if items),
        *((PutTogether(**head, task_ids=tuple(dict.fromkeys(boxed)), title=words.box or ""),) if boxed else ()),
        *(TakeApart(**head, task_id=task_id) for task_id in dict.fromkeys(apart)),
    )


def _keys(session: Session, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_key(session, name) for name in names))


def _key(session: Session, name: str) -> str:
    key = find_block(session.planning.plan, name)
    if key is None:
        raise BadInput(_("I could not tell which block you mean; please choose it on the card."))
    return key


def _read_option(reply: TimeboxingUserReply, session: Session, words: OpenWords, day: date | None) -> SessionCommand:
    head, task_id = command_fields(reply), get_numbered(session.planning.unplaced, words.number).task_id
    match words.way:
        case "later":
            return DeferTask(**head, task_id=task_id, day=day)
        case "drop":
            return RemoveTask(**head, task_id=task_id)
        case "pieces":
            return SplitTask(**head, task_id=task_id)
        case None if words.minutes is not None and 1 <= words.minutes <= MAX_MINUTES:
            return ResizeTask(**head, task_id=task_id, minutes=words.minutes)
        case None:
            raise BadInput(_("I could not tell what you want to do with it. Please use the buttons on the card."))


_PLAIN: Mapping[Intent, tuple[type[SessionCommandBase], Mapping[str, Any]]] = {
    Intent.HISTORY: (ShowHistory, {}),
    Intent.OLDER_HISTORY: (ShowHistory, {"older": True}),
    Intent.CLOSE_HISTORY: (HideHistory, {}),
    Intent.PREVIEW: (ShowPreview, {}),
    Intent.CLOSE_PREVIEW: (HidePreview, {}),
    Intent.CLOSE_MEMORY: (HideMemory, {}),
    Intent.REDO_CHANGE: (RestoreChange, {}),
    Intent.WRITE_AT_ONCE: (SetCalendarWrite, {"when": "refine"}),
    Intent.WRITE_ONCE_OKAY: (SetCalendarWrite, {"when": "okay"}),
    Intent.WRITE_ON_COMMIT: (SetCalendarWrite, {"when": "commit"}),
}
_SIDES: Mapping[Intent, Side] = {Intent.KEEP_CALENDAR: "calendar", Intent.KEEP_PLAN: "plan"}


def read_aside(
    reply: TimeboxingUserReply, session: Session, wish: Wish, waiting: Sequence[PendingQuestion] = ()
) -> SessionCommand | None:
    """Return the command for such a request; ``None`` if the request is about the plan.

    Raises ``BadInput`` for a row that does not exist.
    """
    intent = wish.intent
    if intent is Intent.CLOSE_HISTORY and session.thread.history is None:
        raise BadInput(_("The history is not open, so there is nothing to close."))
    if intent is Intent.CLOSE_PREVIEW and session.thread.preview is None:
        raise BadInput(_("The preview is not open, so there is nothing to close."))
    if intent is Intent.CLOSE_MEMORY and session.thread.memory is None:
        raise BadInput(_("The list of what I know is not open, so there is nothing to close."))
    if intent in _PLAIN:
        kind, values = _PLAIN[intent]
        return kind(**command_fields(reply), **values)  # type: ignore[return-value]  # kinds of SessionCommand only
    if intent in _SIDES:
        return _resolve_conflicts(reply, session, wish, waiting)
    if intent is Intent.FIX:
        return _find_suggestion(reply, session, wish.number, waiting)
    if intent in {Intent.UNDO_WRITE, Intent.REDO_WRITE}:
        return _row_of_history(reply, session, wish)
    return None


def _row_of_history(reply: TimeboxingUserReply, session: Session, wish: Wish) -> SessionCommand:
    """Return the command of a row's button.

    If the history is not in view, it is opened first, so that the person can name a row.
    """
    view, head = session.thread.history, command_fields(reply)
    if view is None or wish.number is None:
        return ShowHistory(**head)
    row = get_numbered(view.rows, wish.number)
    if row.button is None:
        raise BadInput(_("That write is taken back already or wrote nothing, so there is nothing to do about it."))
    kind = UndoWrite if row.button == "undo" else RedoWrite
    if (row.button == "undo") != (wish.intent is Intent.UNDO_WRITE):
        raise BadInput(
            _(
                "What can be done about that write is {word}, so I did nothing.",
                word=_(kind.action.label),
            )
        )
    return kind(**head, transaction=row.transaction, newest=view.newest)


def _find_suggestion(
    reply: TimeboxingUserReply, session: Session, number: int | None, waiting: Sequence[PendingQuestion]
) -> SessionCommand:
    """Return the command of a suggestion. The first suggestion helps most and is the default."""
    if not session.planning.fixes:
        raise BadInput(_("I have no change to suggest just now; say what you would like to be different."))
    if number is None:
        return press(fix_button(session.planning.fixes[0]), reply)
    (fix,) = row_of(waiting, number, PendingKind.FIX).answers
    return press(fix, reply)


def _resolve_conflicts(
    reply: TimeboxingUserReply, session: Session, wish: Wish, waiting: Sequence[PendingQuestion]
) -> SessionCommand:
    """Return the answer to one open question or to all. A question that no card has shown yet is asked first."""
    keep = _SIDES[wish.intent]
    if wish.number is not None:
        calendar, plan = row_of(waiting, wish.number, PendingKind.CALENDAR).answers
        return press(calendar if keep == "calendar" else plan, reply)
    chosen = open_questions(session)
    seen = question_token(chosen) if all(question.shown for question in chosen) else ""
    return ResolveConflict(**command_fields(reply), keep=keep, seen=seen)

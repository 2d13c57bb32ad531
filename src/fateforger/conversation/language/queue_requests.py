"""Requests that are not about the plan of a thread, read from a message: for the queue, a week, a day or a button.

They lead to the commands that buttons, forms and slash commands give (S147-S153, S276).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from pydantic import ValidationError

from fateforger.conversation.language.answers import QueueWords, RitualWords, StartWords, WorkWords
from fateforger.conversation.language.message_commands import command_fields, get_numbered
from fateforger.conversation.language.model_calls import ModelQuestion, Table, ask, prompt_for
from fateforger.conversation.language.tables import (
    LONGEST_TEXT,
    QUEUE_ROWS,
    OutsideContext,
    RuledWork,
    WorkflowUse,
    clock_facts,
    day_facts,
    list_upcoming_days,
)
from fateforger.errors import BadInput
from fateforger.limits import MAX_MINUTES, MAX_NOTES_CHARS, MAX_TITLE_CHARS
from fateforger.planning.task_details import PLAIN, TaskDetails, change_details, usual_details
from fateforger.planning.timing import instant_of, zone
from fateforger.ports.model import Model, Role
from fateforger.session.commands import SessionCommand, read_click
from fateforger.session.commands.thread import TimeboxingUserReply
from fateforger.session.day import local_today
from fateforger.session.forms import Click
from fateforger.session.model import Session
from fateforger.session.queue_commands import (
    BlockTimeFor,
    ChangeRituals,
    ChangeTask,
    ChooseLanguage,
    CorrectDuration,
    DoTaskNow,
    ForgetDuration,
    MoveTask,
    QueueCommand,
    ReviewWeek,
    ReviseTask,
    RitualChange,
    SettleTask,
    TickTask,
)
from fateforger.session.stages import GATE_LIMIT
from fateforger.tasks.durations import format_ratio, name_of
from fateforger.tasks.task import (
    NORMAL,
    BlockTime,
    Decompose,
    Do,
    PlanDay,
    QueuedTask,
    ReviewConstraints,
    TaskSpec,
    Work,
)
from fateforger.tasks.transitions import HydratedMessage, Purpose, path_of
from fateforger.tasks.workflows import DECOMPOSE
from fateforger.text import gettext as _
from fateforger.text import mark_message, match_language, shorten
from fateforger.values import replace
from fateforger.workflow.conformance import word_name

T = TypeVar("T")
WHICH_TASK = mark_message("I could not tell which task of your queue you mean; please name it.")
HOW_TASK = mark_message("I did not understand how that task shall be; please say it once more.")
WHEN_TASK = mark_message("For which day, and for how many minutes, shall I block time?")
NO_SUCH_LANGUAGE = mark_message("I do not speak that language.")
_SETTLED = frozenset({Purpose.PUT_BACK, Purpose.APPROVE, Purpose.RETRY, Purpose.OPEN})
_CHANGED = frozenset({Purpose.PAUSE, Purpose.RESUME, Purpose.STOP})
_MOVED = frozenset({Purpose.UP, Purpose.DOWN, Purpose.FIRST, Purpose.LAST})
_REPORTED = frozenset({Purpose.DONE, Purpose.NOTE})
_OF_FOCUS = _SETTLED | _CHANGED | _MOVED | _REPORTED | {Purpose.EDIT, Purpose.NOW, Purpose.TIME, Purpose.UNREMIND}
"""Wishes about a task that mean the one in focus if they name no other."""


async def ask_queue(reply: TimeboxingUserReply, session: Session, model: Model, context: OutsideContext) -> QueueWords:
    """Ask what a message wants of the queue, the week or the last card. Raises ``ModelError``."""
    tables = (list_upcoming_days(reply.at, session.tz), *list_queue(context))
    facts = (("day", {**day_facts(session, reply.at), **clock_facts(session, reply.at)}),)
    prompt = prompt_for("queue", Role.GATE, QueueWords, reply.text, facts=facts, tables=tables)
    return await ask(model, ModelQuestion(prompt, QueueWords, seconds=GATE_LIMIT))


def read_request(
    reply: TimeboxingUserReply, words: QueueWords, context: OutsideContext, tz: str
) -> HydratedMessage | QueueCommand | SessionCommand | None:
    """Return the request; ``None`` if there is nothing to do and nothing to say. Raises ``BadInput``."""
    if words.number is None and words.wants in _OF_FOCUS:
        words = replace(words, number=context.focus_number)
    match words.wants:
        case Purpose.BUTTON:
            return _press(reply, words.number, context)
        case Purpose.LANGUAGE:
            return _choose_language(reply, words.speak)
        case Purpose.DURATION:
            return _correct_duration(reply, words, context)
        case Purpose.RITUALS:
            return _change_rituals(reply, words.ritual)
        case Purpose.REVIEW:
            return ReviewWeek(**_envelope(reply))
        case Purpose.TICK | Purpose.UNTICK:
            task, place = _get_meant(list(_iter_items(context.tasks)), words.number)
            done = words.wants is Purpose.TICK
            return TickTask(**_envelope(reply), task_id=task.id, place=place, done=done)
        case _:
            return _read_task_request(reply, words, context) or hydrate(reply, words, context, tz)


def _read_task_request(
    reply: TimeboxingUserReply, words: QueueWords, context: OutsideContext
) -> HydratedMessage | QueueCommand | SessionCommand | None:
    """Return what is wanted of a task of the queue; ``None`` if it is something else. Raises ``BadInput``."""
    match words.wants:
        case Purpose.NOW | Purpose.EDIT | Purpose.TIME as wish:
            return _request_of_task(reply, wish, words, _get_meant(context.tasks, words.number))
        case wish if wish in _REPORTED and _find_task_id(words.number, context.tasks) is not None:
            return _report_steps(reply, wish, words, context)
        case wish if wish in _SETTLED | _CHANGED | _MOVED:
            return _act_on_task(reply, wish, _get_meant(context.tasks, words.number).id)
        case _:
            return None


def find_thread(words: StartWords, context: OutsideContext) -> str | None:
    """Return the session whose plan a message is about."""
    if not context.plans:
        return None
    number = words.number or 1
    return context.plans[number - 1].session_id if 1 <= number <= len(context.plans) else None


def list_open_plans(context: OutsideContext) -> tuple[Table, ...]:
    """Return the tables of a first message: the task in focus, the plans with threads, and what was said last."""
    plans = [{"number": n, "date": p.date.isoformat(), "step": p.step} for n, p in enumerate(context.plans, 1)]
    return _drop_empty({"focus": _list_focus(context), "plans": plans, "said": _list_said(context)})


def list_queue(context: OutsideContext) -> tuple[Table, ...]:
    """Return the tables of all that a request may refer to; those without rows are left out, but not the queue."""
    items = [
        {"number": n, "title": task.spec.details.items[place].title, "of": shorten(task.spec.title, LONGEST_TEXT)}
        for n, (task, place) in enumerate(_iter_items(context.tasks), 1)
    ]
    durations = [
        {"number": n, "kind": name_of(each.kind), "takes": format_ratio(each.ratio)}
        for n, each in enumerate(context.estimates, 1)
    ]
    buttons = [
        {"number": n, "label": shorten(button.spoken or button.label, LONGEST_TEXT)}
        for n, button in enumerate(() if context.talk is None else context.talk.buttons, 1)
    ]
    steps = [
        {"number": n, "step": word_name(action), "of": shorten(each.title, LONGEST_TEXT)}
        for n, (each, action) in enumerate(_iter_steps(context), 1)
    ]
    questions = [
        {"number": n, "says": words, "of": shorten(each.title, LONGEST_TEXT)}
        for n, (each, _state, words) in enumerate(_iter_questions(context), 1)
    ]
    more = {
        "focus": _list_focus(context),
        "items": items,
        "steps": steps,
        "questions": questions,
        "durations": durations,
        "said": _list_said(context),
        "buttons": buttons,
    }
    return (queue_table(context.tasks), workflow_table(context.workflows), *_drop_empty(more))


def _list_focus(context: OutsideContext) -> list[dict[str, Any]]:
    number = context.focus_number
    if number is None:
        return []
    return [{"number": number, "title": shorten(context.tasks[number - 1].spec.title, LONGEST_TEXT)}]


def _list_said(context: OutsideContext) -> list[dict[str, Any]]:
    return [] if context.talk is None else [{"person": e.person, "you": e.bot} for e in context.talk.exchanges]


def _drop_empty(tables: Mapping[str, Sequence[dict[str, Any]]]) -> tuple[Table, ...]:
    return tuple((name, list(rows), 0) for name, rows in tables.items() if rows)


def _envelope(reply: TimeboxingUserReply) -> dict[str, Any]:
    return reply.model_dump(include={"command_id", "user_id", "at"})


def _get_meant(rows: Sequence[T], number: int | None) -> T:
    if number is None:
        raise BadInput(_(WHICH_TASK))
    return get_numbered(rows, number)


def _iter_items(tasks: Sequence[QueuedTask]) -> Iterator[tuple[QueuedTask, int]]:
    """Yield the small tasks in the boxes of the queue, each by its box and place."""
    for task in tasks[:QUEUE_ROWS]:
        for place in range(len(task.spec.details.items)):
            yield task, place


def _iter_steps(context: OutsideContext) -> Iterator[tuple[RuledWork, str]]:
    for each in context.ruled:
        for action in each.steps:
            yield each, action


def _iter_questions(context: OutsideContext) -> Iterator[tuple[RuledWork, str, str]]:
    for each in context.ruled:
        for state, words in each.questions:
            yield each, state, words


def _report_steps(reply: TimeboxingUserReply, wish: Purpose, words: QueueWords, context: OutsideContext) -> SettleTask:
    """Return the command of a message that says what was done for a task, and what is so of it."""
    task = _get_meant(context.tasks, words.number)
    steps, questions = list(_iter_steps(context)), list(_iter_questions(context))
    did = [_get_meant(steps, number) for number in words.did]
    so = [_get_meant(questions, number) for number in words.so]
    not_so = [_get_meant(questions, number) for number in words.not_so]
    if not {each[0].task_id for each in did} | {each[0].task_id for each in (*so, *not_so)} <= {task.id}:
        raise BadInput(_(WHICH_TASK))
    return SettleTask(
        **_envelope(reply),
        task_id=task.id,
        word="done" if wish is Purpose.DONE else "note",
        met=tuple(range(len(task.spec.acceptance_criteria))) if words.complete else (),
        did=tuple(action for _work, action in did),
        so=tuple(state for _work, state, _says in so),
        not_so=tuple(state for _work, state, _says in not_so),
    )


def _press(
    reply: TimeboxingUserReply, number: int | None, context: OutsideContext
) -> QueueCommand | SessionCommand | None:
    """Return the command of a button of the last card."""
    buttons = () if context.talk is None else context.talk.buttons
    if not buttons or number is None:
        return None
    button = get_numbered(buttons, number)
    click = Click(**command_fields(reply), action=button.action, target=button.target)
    return read_click(click)


def _choose_language(reply: TimeboxingUserReply, named: str | None) -> ChooseLanguage:
    code = match_language(named)
    if code is None:
        raise BadInput(_(NO_SUCH_LANGUAGE))
    return ChooseLanguage(**_envelope(reply), language=code)


def _change_rituals(reply: TimeboxingUserReply, words: RitualWords | None) -> ChangeRituals:
    said = {} if words is None else words.model_dump()
    given = {name: value for name, value in said.items() if value not in (None, False, ())}
    return ChangeRituals(**_envelope(reply), change=RitualChange(**given))


def _correct_duration(reply: TimeboxingUserReply, words: QueueWords, context: OutsideContext) -> QueueCommand:
    kind = _get_meant(context.estimates, words.number).kind
    if words.percent is None:
        return ForgetDuration(**_envelope(reply), name=kind)
    return CorrectDuration(**_envelope(reply), name=kind, percent=min(max(words.percent, 33), 300))


def _act_on_task(reply: TimeboxingUserReply, wish: Purpose, task_id: str) -> QueueCommand:
    fields = {**_envelope(reply), "task_id": task_id}
    if wish in _SETTLED:
        return SettleTask.model_validate({**fields, "word": wish.value})
    if wish in _CHANGED:
        return ChangeTask.model_validate({**fields, "deed": wish.value})
    return MoveTask.model_validate({**fields, "where": wish.value})


def _request_of_task(reply: TimeboxingUserReply, wish: Purpose, words: QueueWords, task: QueuedTask) -> QueueCommand:
    head = _envelope(reply)
    if wish is Purpose.NOW:
        insists = words.work is not None and words.work.haste == "insists"
        return DoTaskNow(**head, task_id=task.id, insists=insists)
    if words.work is None:
        raise BadInput(_(HOW_TASK))
    if wish is Purpose.EDIT:
        return ReviseTask(**head, task_id=task.id, spec=_revise_spec(task.spec, words.work), base=task.spec)
    known = task.spec.work.minutes if isinstance(task.spec.work, Do) else None
    day, minutes = words.work.date, words.work.minutes or known
    if day is None or minutes is None or not 0 < minutes <= MAX_MINUTES:
        raise BadInput(_(WHEN_TASK))
    return BlockTimeFor(**head, task_id=task.id, date=day, minutes=minutes, start=words.work.start)


def _revise_spec(spec: TaskSpec, words: WorkWords) -> TaskSpec:
    """Return the task with what the message says of it; the rest stays. Raises ``BadInput``."""
    work = replace(spec.work, minutes=words.minutes) if words.minutes and isinstance(spec.work, Do) else spec.work
    details = {} if words.details is None else words.details.model_dump(exclude_none=True, exclude={"after"})
    changes: dict[str, Any] = {
        "title": words.title,
        "work": work,
        "project": words.project,
        "priority": words.priority,
        "tags": words.tags or None,
        "context": words.context,
        "relevant_files": words.files or None,
        "acceptance_criteria": words.criteria or None,
        "details": change_details(details, spec.details) if details else None,
    }
    given = {name: value for name, value in changes.items() if value is not None}
    try:
        return TaskSpec.model_validate({**dict(spec), **given})
    except ValidationError:
        raise BadInput(_(HOW_TASK)) from None


def hydrate(reply: TimeboxingUserReply, words: QueueWords, context: OutsideContext, tz: str) -> HydratedMessage | None:
    """Convert the words into a request; ``None`` if there is nothing to do and nothing to say."""
    queue = context.tasks
    reminds = words.work is not None and words.work.kind == "remind"
    path = path_of(words.wants, changes=words.changes or reminds)
    named = _find_task_id(words.number, queue)
    if words.wants is Purpose.WORK and words.work is not None and path == "enqueue":
        spec = _build_spec(reply, words.work, tz, {each.name for each in context.workflows})
        return HydratedMessage(
            intent=words.wants,
            execution_path=path,
            workflow=spec.workflow,
            spec=spec,
            simple=words.work.simple,
            haste=words.work.haste,
            reminds=reminds,
        )
    if words.wants in _OF_ONE and words.number is not None and named is None:
        # A task that does not exist must not start or end another one: the queue is shown instead (S223).
        return HydratedMessage(intent=Purpose.TASKS, execution_path=path_of(Purpose.TASKS))
    if path == "enqueue" or words.wants in _REPORTED or (words.wants in _TALK and not words.answer):
        return None
    return HydratedMessage(intent=words.wants, execution_path=path, task_id=named, answer=words.answer or "")


_OF_ONE = _REPORTED | {Purpose.PULL, Purpose.UNREMIND}
_TALK = frozenset({Purpose.QUESTION, Purpose.CONVERSATION, Purpose.WORK})


def queue_table(queue: Sequence[QueuedTask]) -> Table:
    """Return a person's queue as a table, numbered from 1."""
    rows = [
        {
            "number": number,
            "title": shorten(task.spec.title, LONGEST_TEXT),
            "state": task.state.value,
            "priority": task.spec.priority,
        }
        for number, task in enumerate(queue[:QUEUE_ROWS], 1)
    ]
    return "queue", rows, len(queue) - len(rows)


def workflow_table(workflows: Sequence[WorkflowUse]) -> Table:
    """Return the workflows whose rules can apply to a task."""
    rows = [
        {
            "name": each.name,
            "is": shorten(each.description, LONGEST_TEXT),
            "for": "; ".join(each.applies_when),
            "not_for": "; ".join(each.not_when),
        }
        for each in workflows
    ]
    return "workflows", rows, 0


def _find_task_id(number: int | None, queue: Sequence[QueuedTask]) -> str | None:
    if number is None or not 1 <= number <= min(len(queue), QUEUE_ROWS):
        return None
    return queue[number - 1].id


def _build_spec(reply: TimeboxingUserReply, words: WorkWords, tz: str, workflows: Collection[str]) -> TaskSpec:
    """Build the task. Values that cannot be used are left out rather than guessed."""
    work = _build_work(words)
    known = words.workflow if words.workflow in workflows else None
    given = {
        "title": words.title,
        "work": work,
        "project": words.project or "",
        "priority": NORMAL if words.priority is None else words.priority,
        "tags": tuple(dict.fromkeys(tag for tag in words.tags if tag))[:20],
        "context": (words.context or reply.text)[:MAX_NOTES_CHARS],
        "relevant_files": tuple(name for name in words.files if name)[:50],
        "acceptance_criteria": tuple(text for text in words.criteria if text)[:50],
        "details": _build_details(words, work),
        "remind_at": _find_reminder(reply, words, tz),
        "workflow": DECOMPOSE if isinstance(work, Decompose) else (known or "") if isinstance(work, Do) else "",
    }
    try:
        return TaskSpec.model_validate(given)
    except ValidationError:
        return TaskSpec(title=words.title[:MAX_TITLE_CHARS], work=work, context=reply.text[:MAX_NOTES_CHARS])


def _find_reminder(reply: TimeboxingUserReply, words: WorkWords, tz: str) -> datetime | None:
    """Return the time of a reminder, today if no day is said; ``None`` if it is not said, or over."""
    if words.kind != "remind" or words.start is None:
        return None
    day = words.date or local_today(reply.at, tz)
    at = instant_of(datetime.combine(day, words.start), zone(tz))
    return at if at > reply.at else None


def _build_details(words: WorkWords, work: Work) -> TaskDetails:
    usual = usual_details(work.minutes) if isinstance(work, Do) else PLAIN
    if words.details is None:
        return usual
    try:
        return change_details(words.details.model_dump(exclude_none=True, exclude={"after"}), usual)
    except BadInput:
        return usual


def _build_work(words: WorkWords) -> Work:
    minutes = words.minutes if words.minutes is not None and 0 < words.minutes <= MAX_MINUTES else None
    match words.kind:
        case "plan_day" if words.date is not None:
            return PlanDay(date=words.date)
        case "block_time" if words.date is not None and minutes is not None:
            return BlockTime(date=words.date, minutes=minutes, start=words.start)
        case "decompose":
            return Decompose()
        case "review_rules":
            return ReviewConstraints()
        case _:
            return Do(minutes=minutes)

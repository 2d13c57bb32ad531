"""Decisions about a task: settled, given a block, or done at once where the program can do it (S162-S166)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, assert_never

from pydantic import ValidationError

from fateforger.conversation.queue.cards import (
    ADD,
    REVIEW_RULES,
    SHOW,
    build_done_button,
    build_missing_reply,
    build_pull_button,
    build_reply,
    build_task_card,
    build_time_button,
    describe_state,
    format_title,
)
from fateforger.conversation.queue.dispatch import read_queue
from fateforger.conversation.queue.forms import WHICH_DAY, TaskRules, build_envelope, build_task_form
from fateforger.conversation.queue.work import Asker, Tools, carry_out_work, mark_handled
from fateforger.errors import BadInput, ModelError
from fateforger.limits import MAX_MINUTES, MAX_NOTES_CHARS, MAX_OUTCOME_CHARS
from fateforger.session.boxes import tick_item
from fateforger.session.cards import Button, Card, plain
from fateforger.session.day import local_today
from fateforger.session.forms import (
    DateField,
    Form,
    FormErrors,
    FormSubmission,
    NumberField,
    TextField,
    TimeField,
)
from fateforger.session.queue_commands import BlockTimeFor, DoTaskNow, EnqueueTask, SettleTask, TickTask, WriteParts
from fateforger.tasks.gate import Report, Seen, complete_task, note_steps, read_steps, take_back_note
from fateforger.tasks.parts import Part, Parts, lay_out_parts
from fateforger.tasks.task import (
    ENDED,
    IN_HAND,
    BlockTime,
    Do,
    QueuedTask,
    ReviewConstraints,
    ReviewParts,
    TaskSpec,
    TaskState,
    Work,
)
from fateforger.tasks.transitions import reopen_task
from fateforger.tasks.workflows import Workflows, reason_for_queue
from fateforger.text import gettext as _
from fateforger.text import mark_message, name_commands, quote_title, truncate
from fateforger.ui.card_parts import fits_button
from fateforger.ui.form_values import Filled
from fateforger.values import replace
from fateforger.workflow.definition import Workflow

UNTRACKED = mark_message("I go ahead right away. Note that this isn't tracked in your queue.")
LOST = mark_message(
    "I go ahead right away. Without the queue that means: no rule is checked, nobody can look up later what was done,"
    " and it cannot be paused or put back."
)
UNABLE = mark_message(
    "I cannot do {title} myself. I plan days, block time, break goals into parts, remind you, answer questions,"
    " and keep what you tell me."
)
STAYS = mark_message("It stays in your queue. Take it in hand, or give it time in a day.")
KEEP = mark_message("Shall I keep it as a task, or find time for it?")
NOT_LOST = mark_message("Shall I keep it as a task, so that it is not lost?")
TAKEN_OUT = mark_message("It was done directly, without the queue.")
_OPEN = frozenset({TaskState.ACTIVE, TaskState.PAUSED, TaskState.FAILED})


def can_do(work: Work) -> bool:
    """Check whether the program carries out this work itself. The rest is the person's."""
    return not isinstance(work, Do | ReviewParts)


async def do_now(tools: Tools, command: DoTaskNow) -> Card:
    """Do a task at once and take it out of the queue, or say why it stays there.

    Raises ``StoreError``.
    """
    task = await tools.tasks.get(command.user_id, command.task_id)
    if task is None:
        return build_missing_reply(command.task_id)
    repeated = command.command_id in task.handled
    if task.state not in _OPEN and not repeated:
        sentence = _(
            "There is nothing to skip: the state of {task} is “{state}”.",
            task=format_title(task),
            state=describe_state(task, ()),
        )
        return build_reply(sentence, SHOW)
    if not can_do(task.spec.work):
        sentence = f"{_explain_unable(task.spec)} {_(STAYS)}"
        return build_reply(sentence, *_build_ways(task), SHOW.localize(), mode="dispositor")
    because = reason_for_queue(task.spec)
    if because is not None and not command.insists:
        return redirect(task, because)
    asker = Asker(command.user_id, command.at, command.channel, command.tz or tools.tz, "direct")
    try:
        card = await _carry_out(tools, task.spec, asker, key=command.command_id)
    except (BadInput, ModelError) as error:
        return build_reply(error.message, *_build_ways(task), mode="dispositor")
    if not repeated:
        await tools.tasks.change(command.user_id, task.id, lambda now: _take_out(now, command), now=tools.clock.now())
    return card


def redirect(task: QueuedTask, why: str) -> Card:
    """Return the card that explains why a task should stay in the queue, with a button to insist (S164)."""
    anyway = DoTaskNow.anyway.button(task.id)
    sentence = name_commands(
        mark_message("{why} I keep {task} there: run `{pull} {id}` to do it with all that."),
        why=why,
        task=format_title(task),
        id=task.id,
    )
    return build_reply(sentence, build_pull_button(task, _("Pull it now")), anyway, mode="dispositor")


async def do_directly(tools: Tools, spec: TaskSpec, asker: Asker, *, key: str, simple: bool = True) -> Card:
    """Do work without a task; anything that it starts is started once per ``key`` (S163, S165).

    What cannot be done is said, and offered as a task.
    """
    if not can_do(spec.work):
        return build_reply(f"{_explain_unable(spec)} {_(KEEP)}", *_build_offers(spec), mode="direct")
    try:
        return await _carry_out(tools, spec, asker, key=key, simple=simple)
    except (BadInput, ModelError) as error:
        return build_reply(f"{error.message} {_(NOT_LOST)}", *_build_offers(spec)[:1], mode="direct")


async def _carry_out(tools: Tools, spec: TaskSpec, asker: Asker, *, key: str, simple: bool = True) -> Card:
    """Carry out work and return the card about it. Raises ``BadInput`` or ``ModelError`` if that is not possible."""
    note = _(UNTRACKED) if simple and reason_for_queue(spec) is None else _(LOST)
    carried = await carry_out_work(tools, spec, asker, key=key)
    waits = isinstance(spec.work, ReviewConstraints) and carried.state is TaskState.WAITING
    return build_reply(f"{note}\n\n{carried.outcome}", *((REVIEW_RULES.localize(),) if waits else ()), mode="direct")


def _explain_unable(spec: TaskSpec) -> str:
    return _(UNABLE, title=quote_title(plain(spec.title, 120), 240))


def _build_ways(task: QueuedTask) -> tuple[Button, ...]:
    """Return the buttons for a task that stays in the queue."""
    pull = (build_pull_button(task, _("Pull it now")),) if task.state is TaskState.ACTIVE else ()
    return (*pull, *((build_time_button(task),) if isinstance(task.spec.work, Do) else ()))


def _build_offers(spec: TaskSpec) -> tuple[Button, ...]:
    """Return the buttons that keep work as a task; where its description is too long, with the beginning of it."""
    described = (replace(spec, context=truncate(spec.context, most)) for most in (MAX_NOTES_CHARS, 1_200, 500))
    bare = TaskSpec(title=spec.title, work=spec.work, priority=spec.priority, workflow=spec.workflow)
    texts = (each.model_dump_json(exclude_defaults=True) for each in (*described, bare))
    target = next(filter(fits_button, texts), None)
    if target is None:
        return (ADD.localize(),)
    return EnqueueTask.keep.button(target, style="primary"), EnqueueTask.keep_for_day.button(target)


def _take_out(task: QueuedTask, command: DoTaskNow) -> QueuedTask:
    taken = replace(task, state=TaskState.STOPPED, outcome=_(TAKEN_OUT), mode="direct")
    return mark_handled(taken, command.command_id)


async def settle(tools: Tools, command: SettleTask | TickTask) -> Card:
    """Apply a person's decision about a task, or a tick in its box, and return its card. Raises ``StoreError``."""
    try:
        seen = await _look(tools, command)
        task = await tools.tasks.change(
            command.user_id,
            command.task_id,
            lambda now: _apply(now, command, tools.workflows, seen),
            now=tools.clock.now(),
        )
    except BadInput as error:
        return await _refuse(tools, command, error)
    if task is None:
        return build_missing_reply(command.task_id)
    return build_task_card(task, await read_queue(tools.tasks, command.user_id), tools.today(command.tz))


async def _look(tools: Tools, command: SettleTask | TickTask) -> Seen:
    """Return what the rules of the task depend on, if the decision is about its steps."""
    task = await tools.tasks.get(command.user_id, command.task_id)
    if task is None or (isinstance(command, SettleTask) and command.word not in {"done", "note"}):
        return {}
    return await tools.look_up(task, tools.workflows.get(task.spec.workflow))


async def _refuse(tools: Tools, command: SettleTask | TickTask, error: BadInput) -> Card:
    """Return the card with the reason, and with the form that can say what is missing."""
    task = await tools.tasks.get(command.user_id, command.task_id)
    ask = error.where in {"did", "stated", "met"} and task is not None and task.state is TaskState.WAITING
    return build_reply(error.message, *((build_done_button(task),) if ask and task else ()), SHOW.localize())


def _apply(task: QueuedTask, command: SettleTask | TickTask, workflows: Workflows, seen: Seen) -> QueuedTask:
    if isinstance(command, TickTask):
        return _tick(task, command, workflows, seen)
    return apply_decision(task, command, workflows, seen)


def apply_decision(task: QueuedTask, command: SettleTask, workflows: Workflows, seen: Seen) -> QueuedTask:
    """Return the task after the person's decision. A repeated decision changes nothing.

    ``seen`` are the states of its workflow that were looked up.

    Raises ``BadInput`` for a decision that makes no sense now, or that a rule forbids.
    """
    if command.command_id in task.handled or command.word == "open":
        return task
    return mark_handled(_decide(task, command, workflows, seen), command.command_id)


def read_report(command: SettleTask) -> Report:
    """Return what a person says of a task."""
    stated = {**dict.fromkeys(command.not_so, False), **dict.fromkeys(command.so, True)}
    return Report(read_steps(command.did), command.met, stated)


def _decide(task: QueuedTask, command: SettleTask, workflows: Workflows, seen: Seen) -> QueuedTask:
    title = task.spec.title
    match command.word:
        case "done":
            return _finish(task, command, workflows, seen)
        case "note":
            return _note(task, command, workflows.of(task.spec), seen)
        case "take_back":
            return _tell(take_back_note(task), _("I took back your last note."))
        case "put_back":
            if task.state is not TaskState.WAITING:
                raise BadInput(_("“{title}” is not in your hands just now.", title=title))
            return replace(task, state=TaskState.ACTIVE, outcome="")
        case "approve":
            return _approve(task)
        case "retry":
            return replace(task, state=TaskState.ACTIVE, outcome="")
        case "open":
            return task
        case _:
            assert_never(command.word)


def _finish(task: QueuedTask, command: SettleTask, workflows: Workflows, seen: Seen) -> QueuedTask:
    title = task.spec.title
    if task.state is TaskState.DONE:
        raise BadInput(_("{title} is done already.", title=quote_title(title)))
    if task.state is not TaskState.WAITING or not isinstance(task.spec.work, Do):
        raise BadInput(_("“{title}” was not pulled, so it cannot be done yet.", title=title))
    return complete_task(task, workflows.of(task.spec), read_report(command), seen)


def _approve(task: QueuedTask) -> QueuedTask:
    if task.state is not TaskState.WAITING or not isinstance(task.spec.work, ReviewParts):
        raise BadInput(_("There is nothing to approve about “{title}” just now.", title=task.spec.title))
    every = tuple(range(len(task.spec.acceptance_criteria)))
    return complete_task(task, None, Report(met=every), {}, _("You approved the parts."))


def _note(task: QueuedTask, command: SettleTask, workflow: Workflow | None, seen: Seen) -> QueuedTask:
    if workflow is None:
        raise BadInput(_("No rules apply to this task, so it has no steps to name."))
    if task.state not in IN_HAND:
        raise BadInput(_("“{title}” was not pulled, so there is nothing to note yet.", title=task.spec.title))
    after = note_steps(task, workflow, read_report(command), seen)
    return _tell(after, _("I noted that. Go on when you like."))


def _tell(task: QueuedTask, line: str) -> QueuedTask:
    """Return a task in the person's hands with that line; that of an executor keeps its own."""
    return task if task.state is TaskState.RUNNING else replace(task, outcome=line)


def _tick(task: QueuedTask, command: TickTask, workflows: Workflows, seen: Seen) -> QueuedTask:
    """Return the task with an item ticked or not. A box of which all is ticked is done."""
    if command.command_id in task.handled:
        return task
    if task.state in ENDED and not (task.state is TaskState.DONE and not command.done):
        title = quote_title(task.spec.title)
        raise BadInput(
            _("{title} is done already.", title=title)
            if task.state is TaskState.DONE
            else _("{title} is stopped already.", title=title)
        )
    details = tick_item(task.spec.details, command.place, done=command.done)
    task = replace(task, spec=replace(task.spec, details=details))
    if command.done and all(item.done for item in details.items):
        task = complete_task(task, workflows.of(task.spec), Report(), seen)
    elif task.state is TaskState.DONE:
        task = reopen_task(task)
    return mark_handled(task, command.command_id)


async def block_for(tools: Tools, command: BlockTimeFor) -> Card:
    """Put a block for a task into the plan of a day, once; the task itself does not change. Raises ``StoreError``."""
    task = await tools.tasks.get(command.user_id, command.task_id)
    if task is None:
        return build_missing_reply(command.task_id)
    work = BlockTime(date=command.date, minutes=command.minutes, start=command.start, task=task.id)
    asker = Asker(command.user_id, command.at, command.channel, command.tz or tools.tz, task.mode)
    spec = TaskSpec(title=task.spec.title, work=work)
    try:
        carried = await carry_out_work(tools, spec, asker, key=command.command_id)
    except BadInput as error:
        return build_reply(error.message, SHOW.localize())
    queue = await read_queue(tools.tasks, command.user_id)
    return build_task_card(replace(task, outcome=carried.outcome), queue, tools.today(command.tz))


_TAGGED: Mapping[str, Literal["TBD", "CLARIFY"]] = {"open": "TBD", "ask": "CLARIFY"}
"""Fields with parts that are open, and their tags."""


def build_parts_form(task: QueuedTask) -> Form:

    def lines(name: str, label: str, hint: str = "") -> TextField:
        return TextField(
            name=name, label=label, hint=hint, multiline=True, optional=name in _TAGGED, max_length=MAX_NOTES_CHARS
        )

    return Form(
        form="queue_parts",
        session_id="",
        target=task.id,
        title=_("The parts of a goal"),
        submit=_("Put into my queue"),
        fields=(
            TextField(
                name="goal",
                label=_("What is the goal?"),
                value=task.spec.title,
                max_length=MAX_OUTCOME_CHARS,
                multiline=True,
            ),
            lines("assumptions", _("What do you assume?"), _("One thing a line, also what seems obvious.")),
            lines("probes", _("How could you check that cheaply?"), _("One thing a line.")),
            lines("parts", _("The parts that you know"), _("One a line; three to seven are enough for a start.")),
            lines("open", _("Parts that are not clear yet"), _("One a line.")),
            lines("ask", _("Parts about which you have to ask somebody first"), _("One a line.")),
        ),
    )


def read_parts(task: QueuedTask, rules: TaskRules, submission: FormSubmission) -> WriteParts | FormErrors:
    """Return the command with the parts of a filled form, or the message of a violated rule."""
    filled = Filled(submission)
    known = [Part(title=line) for line in filled.lines("parts", MAX_NOTES_CHARS)]
    unknown = [
        Part(title=line, tag=tag) for name, tag in _TAGGED.items() for line in filled.lines(name, MAX_NOTES_CHARS)
    ]
    given = {
        "goal": filled.text("goal", 1000),
        "assumptions": filled.lines("assumptions", MAX_NOTES_CHARS),
        "probes": filled.lines("probes", MAX_NOTES_CHARS),
        "parts": (*known, *unknown),
    }
    if not known and not unknown:
        filled.errors["parts"] = _("Which parts does it have? One is enough for a start.")
    if filled.errors:
        return FormErrors(errors=filled.errors)
    try:
        parts = Parts.model_validate(given)
        if rules.final:
            lay_out_parts(task, rules.workflow, parts, rules.seen)
    except ValidationError:
        return FormErrors(
            errors={"parts": _("Please keep it to 20 lines of at most 300 characters each, and 5 ways to find out.")}
        )
    except BadInput as error:
        return FormErrors(errors={"parts": error.message})
    return WriteParts(**build_envelope(submission), task_id=task.id, parts=parts)


def build_time_form(task: QueuedTask) -> Form:
    minutes = task.spec.work.minutes if isinstance(task.spec.work, Do) else None
    return build_task_form(
        "queue_time",
        task,
        DateField(name="date", label=_("Day")),
        NumberField(name="minutes", label=_("Minutes"), value=minutes or 60, minimum=1, maximum=MAX_MINUTES),
        TimeField(
            name="start",
            label=_("Starts at"),
            optional=True,
            hint=_("If you leave it open, I take the first free time."),
        ),
        title=_("Block time"),
        submit=_("Block time"),
    )


def read_time(task: QueuedTask, submission: FormSubmission, tz: str) -> BlockTimeFor | FormErrors:
    """Return the command of a filled form, or the errors per field."""
    filled = Filled(submission)
    day = filled.day("date", needed=_(WHICH_DAY))
    minutes = filled.minutes("minutes", needed=_("How many minutes shall I block?"))
    start = filled.clock("start")
    if day is not None and day < local_today(submission.at, tz):
        filled.errors["date"] = _("That day is over; choose today or a later one.")
    if filled.errors or day is None or minutes is None:
        return FormErrors(errors=filled.errors)
    return BlockTimeFor(**build_envelope(submission), task_id=task.id, date=day, minutes=minutes, start=start)

"""Forms about a task that was pulled: mark it as done, block time for it, or write down its parts."""

from __future__ import annotations

from pydantic import ValidationError

from fateforger.coordinator.executor.settling import complete_task
from fateforger.coordinator.forms.reading import MAX_MINUTES, Filled
from fateforger.errors import BadInput
from fateforger.session.cards import (
    Choice,
    DateField,
    Form,
    FormErrors,
    FormField,
    FormSubmission,
    ManyField,
    NumberField,
    Prose,
    TextField,
    TimeField,
    plain,
)
from fateforger.session.commands.queue import BlockTimeFor, SettleTask, WriteParts
from fateforger.session.days import local_today
from fateforger.tasks import Do, QueuedTask
from fateforger.tasks.model import TEXT_LENGTH
from fateforger.tasks.parts import Part, Parts, lay_out_parts
from fateforger.tasks.ruled import workflow_of


def build_done_form(task: QueuedTask) -> Form:
    """Return the form with the acceptance criteria and, if the task has a workflow, the actions that were done."""
    fields: list[FormField] = [Prose(text=f"**{plain(task.spec.title, 200)}**")]
    criteria = task.spec.acceptance_criteria
    if criteria:
        choices = tuple(Choice(label=text, value=str(place)) for place, text in enumerate(criteria))
        fields.append(
            ManyField(name="met", label="What is so by now?", choices=choices, placeholder="Nothing of it yet")
        )
    workflow = workflow_of(task.spec)
    if workflow is not None:
        actions = tuple(Choice(label=name, value=name) for name in sorted(workflow.actions))
        hint = f"In that order. The rules of {workflow.name} are checked on it."
        fields.append(
            ManyField(name="did", label="What did you do?", choices=actions, placeholder="Nothing of it", hint=hint)
        )
    return Form(
        form="queue_done", session_id="", target=task.id, title="Is it done?", submit="It is done", fields=tuple(fields)
    )


def read_done(task: QueuedTask, submission: FormSubmission) -> SettleTask | FormErrors:
    """Return the command that marks the task as done, or a message about what is missing."""
    filled = Filled(submission)
    met, did = tuple(int(place) for place in filled.many("met")), filled.many("did")
    try:
        complete_task(task, met, did)
    except BadInput as error:
        return FormErrors(errors={"met" if task.spec.acceptance_criteria else "did": error.message})
    return SettleTask(
        command_id=submission.command_id,
        user_id=submission.user_id,
        at=submission.at,
        task_id=task.id,
        word="done",
        met=met,
        did=did,
    )


def build_parts_form(task: QueuedTask) -> Form:
    """Return the form for the parts of a goal."""

    def lines(name: str, label: str, hint: str = "") -> TextField:
        return TextField(
            name=name, label=label, hint=hint, multiline=True, optional=name == "open", max_length=TEXT_LENGTH
        )

    return Form(
        form="queue_parts",
        session_id="",
        target=task.id,
        title="The parts of a goal",
        submit="Put into my queue",
        fields=(
            TextField(name="goal", label="What is the goal?", value=task.spec.title, max_length=1000, multiline=True),
            lines("assumptions", "What do you assume?", "One thing a line, also what seems obvious."),
            lines("probes", "How could you find out cheaply whether that is so?", "One thing a line."),
            lines("parts", "The parts that you know", "One a line; three to seven are enough for a start."),
            lines("open", "Parts that nobody can say yet what they are", "One a line."),
        ),
    )


def read_parts(task: QueuedTask, submission: FormSubmission) -> WriteParts | FormErrors:
    """Return the command with the parts of a filled form, or the message of a violated rule."""
    filled = Filled(submission)
    known = [Part(title=line) for line in _read_lines(filled, "parts")]
    unknown = [Part(title=line, tag="TBD") for line in _read_lines(filled, "open")]
    given = {
        "goal": filled.text("goal", 1000),
        "assumptions": _read_lines(filled, "assumptions"),
        "probes": _read_lines(filled, "probes"),
        "parts": (*known, *unknown),
    }
    if not known and not unknown:
        filled.errors["parts"] = "Which parts does it have? One is enough for a start."
    if filled.errors:
        return FormErrors(errors=filled.errors)
    try:
        parts = Parts.model_validate(given)
        lay_out_parts(task, parts)
    except ValidationError:
        return FormErrors(errors={"parts": "Please keep it to 20 lines of at most 300 characters each, and 5 probes."})
    except BadInput as error:
        return FormErrors(errors={"parts": error.message})
    return WriteParts(
        command_id=submission.command_id, user_id=submission.user_id, at=submission.at, task_id=task.id, parts=parts
    )


def _read_lines(filled: Filled, name: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in filled.text(name, TEXT_LENGTH).splitlines() if line.strip())


def build_time_form(task: QueuedTask) -> Form:
    """Return the form that blocks time for a task."""
    minutes = task.spec.work.minutes if isinstance(task.spec.work, Do) else None
    return Form(
        form="queue_time",
        session_id="",
        target=task.id,
        title="Block time",
        submit="Block time",
        fields=(
            Prose(text=f"**{plain(task.spec.title, 200)}**"),
            DateField(name="date", label="Day"),
            NumberField(name="minutes", label="Minutes", value=minutes or 60, minimum=1, maximum=MAX_MINUTES),
            TimeField(
                name="start", label="Starts at", optional=True, hint="Left open, I take the first time that is free."
            ),
        ),
    )


def read_time(task: QueuedTask, submission: FormSubmission, tz: str) -> BlockTimeFor | FormErrors:
    """Return the command of a filled form, or the errors per field."""
    filled = Filled(submission)
    day, minutes = filled.day("date"), filled.minutes("minutes", needed="How many minutes shall I block?")
    start = filled.clock("start")
    if day is None:
        filled.errors["date"] = "Which day shall it be?"
    elif day < local_today(submission.at, tz):
        filled.errors["date"] = "That day is over; choose today or a later one."
    if filled.errors or day is None or minutes is None:
        return FormErrors(errors=filled.errors)
    return BlockTimeFor(
        command_id=submission.command_id,
        user_id=submission.user_id,
        at=submission.at,
        task_id=task.id,
        date=day,
        minutes=minutes,
        start=start,
    )

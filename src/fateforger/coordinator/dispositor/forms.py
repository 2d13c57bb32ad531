"""The form that adds a task to the queue (S154)."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, ValidationError

from fateforger.coordinator.forms.reading import MAX_MINUTES, MAX_TITLE, Filled
from fateforger.session.cards import (
    Choice,
    ChoiceField,
    DateField,
    Form,
    FormErrors,
    FormField,
    FormRequest,
    FormSubmission,
    NumberField,
    TextField,
    TimeField,
)
from fateforger.session.commands.queue import EnqueueTask
from fateforger.tasks import (
    PRIORITIES,
    BlockTime,
    Decompose,
    Do,
    Origin,
    PlanDay,
    ReviewConstraints,
    TaskSpec,
    Work,
    priority_words,
)
from fateforger.tasks.model import NORMAL, TEXT_LENGTH
from fateforger.tasks.titles import short_title
from fateforger.workflow import list_shipped

KINDS: Mapping[str, str] = {
    "do": "Something that I do",
    "block_time": "Block time for something",
    "plan_day": "Plan a day",
    "decompose": "Break a goal into parts",
    "review_constraints": "Look through my rules",
}
OWN = "timeboxing"
"""The workflow of the program itself; it applies to no task."""
MOST_CRITERIA = 20
LONGEST_LINE = 300


class Message(BaseModel):
    """The message that a task is made from; it is stored in the form."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    channel: str = ""
    ts: str = ""


def build_add_form(request: FormRequest) -> Form:
    """Return the form for a new task; its fields depend on the chosen kind."""
    kind = request.chosen.get("kind", "do")
    return Form(
        form=request.form,
        session_id="",
        target=request.target,
        title="Add a task",
        submit="Add",
        fields=(
            ChoiceField(
                name="kind",
                label="What kind of task is it?",
                choices=tuple(Choice(label=label, value=value) for value, label in KINDS.items()),
                value=kind,
                turns=True,
            ),
            *_build_fields(kind, request),
            ChoiceField(name="priority", label="Priority", choices=list_priorities(), value=str(NORMAL)),
        ),
    )


def _build_fields(kind: str, request: FormRequest) -> tuple[FormField, ...]:
    said = request.chosen.get("text", "")
    title = TextField(
        name="title", label="Task", max_length=MAX_TITLE, value=short_title(said), placeholder="What is to be done?"
    )
    day = DateField(name="date", label="Day")
    minutes = NumberField(
        name="minutes", label="Minutes", optional=kind != "block_time", minimum=1, maximum=MAX_MINUTES
    )
    context = TextField(
        name="context", label="What should I know about it?", optional=True, multiline=True, max_length=TEXT_LENGTH,
        value=said,
    )  # fmt: skip
    if kind == "plan_day":
        return (day,)
    if kind == "review_constraints":
        return ()
    if kind == "block_time":
        return (title, day, minutes, TimeField(name="start", label="Starts at", optional=True))
    if kind == "decompose":
        return (title, context)
    criteria = TextField(
        name="criteria", label="It is done when", optional=True, multiline=True, max_length=TEXT_LENGTH,
        hint="One thing a line. I ask for each of them before it counts as done.",
    )  # fmt: skip
    rules = ChoiceField(name="workflow", label="Rules that apply", optional=True, choices=list_workflows())
    return (title, minutes, context, criteria, rules, TextField(name="project", label="Project", optional=True))


def list_workflows() -> tuple[Choice, ...]:
    """Return the choices of workflows that can apply to a task."""
    return tuple(Choice(label=name, value=name) for name in list_shipped() if name != OWN)


def list_priorities() -> tuple[Choice, ...]:
    """Return the choices of priorities."""
    return tuple(Choice(label=priority_words(priority), value=str(priority)) for priority in PRIORITIES)


def read_added(submission: FormSubmission) -> EnqueueTask | FormErrors:
    """Return the command of a filled form, or the errors per field."""
    filled = Filled(submission)
    work = _read_work(filled)
    title = _read_title(filled, work)
    spec = {
        "title": title,
        "work": work,
        "priority": filled.choice("priority") or NORMAL,
        "project": filled.text("project", 100),
        "context": filled.text("context", TEXT_LENGTH),
        "acceptance_criteria": read_criteria(filled),
        "workflow": filled.choice("workflow") or ("decompose" if isinstance(work, Decompose) else ""),
    }
    if filled.errors or work is None:
        return FormErrors(errors=filled.errors or {"kind": "Please choose what kind of task it is."})
    message = _parse_message(submission.target)
    return EnqueueTask(
        command_id=submission.command_id,
        user_id=submission.user_id,
        at=submission.at,
        spec=TaskSpec.model_validate(spec),
        origin=Origin(door="slack"),
        message_channel=message.channel,
        message_ts=message.ts,
    )


def _read_title(filled: Filled, work: Work | None) -> str:
    match work:
        case PlanDay(date=day):
            return f"Plan {day.isoformat()}"
        case ReviewConstraints():
            return "Look through my rules"
        case _:
            return filled.text("title", MAX_TITLE, needed="What is to be done? A few words will do.")


def _read_work(filled: Filled) -> Work | None:
    kind = filled.choice("kind") or "do"
    if kind == "review_constraints":
        return ReviewConstraints()
    if kind == "decompose":
        return Decompose()
    if kind == "do":
        return Do(minutes=filled.minutes("minutes"))
    day = filled.day("date")
    if day is None:
        filled.errors["date"] = "Which day is it for?"
        return None
    if kind == "plan_day":
        return PlanDay(date=day)
    minutes = filled.minutes("minutes", needed="How many minutes shall I block?")
    return None if minutes is None else BlockTime(date=day, minutes=minutes, start=filled.clock("start"))


def read_criteria(filled: Filled) -> tuple[str, ...]:
    """Return the acceptance criteria, one per line of the field."""
    lines = [line.strip() for line in filled.text("criteria", TEXT_LENGTH).splitlines() if line.strip()]
    if len(lines) > MOST_CRITERIA or any(len(line) > LONGEST_LINE for line in lines):
        filled.errors["criteria"] = f"Please keep it to {MOST_CRITERIA} lines of at most {LONGEST_LINE} characters."
    return tuple(line[:LONGEST_LINE] for line in lines)


def _parse_message(target: str) -> Message:
    try:
        return Message.model_validate_json(target or "{}")
    except ValidationError:
        return Message()

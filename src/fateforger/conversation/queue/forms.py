"""Forms that add a task to the queue, edit one (S154), or say what was done for it (S162)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import time
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from fateforger.errors import BadInput
from fateforger.limits import MAX_FORM_CRITERIA, MAX_LABEL_CHARS, MAX_MINUTES, MAX_NOTES_CHARS, MAX_TITLE_CHARS
from fateforger.planning.task_details import PLAIN, TaskDetails, change_details
from fateforger.session.cards import Choice, Prose, plain
from fateforger.session.forms import (
    ChoiceField,
    DateField,
    Form,
    FormErrors,
    FormField,
    FormRequest,
    FormSubmission,
    ManyField,
    NumberField,
    TextField,
    TimeField,
)
from fateforger.session.queue_commands import EnqueueTask, ReviseTask, SettleTask
from fateforger.tasks.gate import (
    Report,
    Seen,
    complete_task,
    list_questions,
    list_steps,
    read_steps,
    record_steps,
    spell_steps,
)
from fateforger.tasks.task import (
    NORMAL,
    PRIORITIES,
    BlockTime,
    Decompose,
    Do,
    Origin,
    PlanDay,
    QueuedTask,
    ReviewConstraints,
    TaskSpec,
    Work,
    short_title,
)
from fateforger.tasks.workflows import state_words
from fateforger.text import capitalize, format_day, mark_message
from fateforger.text import gettext as _
from fateforger.ui.detail_forms import (
    build_detail_fields,
    build_kind_field,
    build_pieces_field,
    fold_fields,
    read_details,
)
from fateforger.ui.form_values import Filled, TaskLine, parse_task_line
from fateforger.values import replace_named
from fateforger.workflow.conformance import word_name
from fateforger.workflow.definition import Workflow

KINDS: Mapping[str, str] = {
    "do": mark_message("Something that I do"),
    "block_time": mark_message("Block time for something"),
    "plan_day": mark_message("Plan a day"),
    "decompose": mark_message("Break a goal into parts"),
    "review_constraints": mark_message("Look through my rules"),
}
WHICH_DAY = mark_message("Which day shall it be?")


class Message(BaseModel):
    """The message that a task is made from; it is stored in the form."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    channel: str = ""
    ts: str = ""


def build_add_form(request: FormRequest, tasks: Sequence[QueuedTask] = (), names: Sequence[str] = ()) -> Form:
    """Return the form for a new task; its fields depend on the chosen kind.

    ``tasks`` are those of the queue, ``names`` the workflows that can apply.
    """
    kind = request.chosen.get("kind", "do")
    form = Form(
        form=request.form,
        session_id="",
        target=request.target,
        title=_("Add a task"),
        submit=_("Add"),
        fields=(
            ChoiceField(
                name="kind",
                label=_("What kind of task is it?"),
                choices=tuple(Choice(label=_(label), value=value) for value, label in KINDS.items()),
                value=kind,
                turns=True,
            ),
            *_build_fields(kind, request, names),
            ChoiceField(name="priority", label=_("Priority"), choices=list_priorities(), value=str(NORMAL)),
            *(build_detail_fields(PLAIN, list_others(tasks), priority=False) if kind == "do" else ()),
        ),
    )
    return fold_fields(form, request.size)


def list_others(tasks: Sequence[QueuedTask], but: str = "") -> tuple[Choice, ...]:
    """Return the tasks of the queue, besides one, as choices of what comes before."""
    return tuple(Choice(label=task.spec.title[:75], value=task.id) for task in tasks if task.id != but)


def _build_fields(kind: str, request: FormRequest, names: Sequence[str]) -> tuple[FormField, ...]:
    said = request.chosen.get("text") or request.chosen.get("context", "")
    context = said if len(said.strip()) > len(short_title(said)) else ""
    title = TextField(
        name="title",
        label=_("Task"),
        max_length=MAX_TITLE_CHARS,
        value=request.chosen.get("title") or short_title(said),
        placeholder=_("What is to be done?"),
    )
    day = DateField(name="date", label=_("Day"))
    minutes = NumberField(
        name="minutes", label=_("Minutes"), optional=kind != "block_time", minimum=1, maximum=MAX_MINUTES
    )
    if kind == "plan_day":
        return (day,)
    if kind == "review_constraints":
        return ()
    if kind == "block_time":
        return (title, day, minutes, TimeField(name="start", label=_("Starts at"), optional=True))
    if kind == "decompose":
        return (title, _build_context_field(context))
    rules = ChoiceField(name="workflow", label=_("Rules that apply"), optional=True, choices=list_workflows(names))
    project = TextField(name="project", label=_("Project"), optional=True)
    return (
        title,
        minutes,
        _build_nature_field(PLAIN),
        build_pieces_field(PLAIN),
        _build_context_field(context),
        _build_criteria_field(""),
        rules,
        project,
    )


def _build_nature_field(details: TaskDetails) -> ChoiceField:
    return build_kind_field(details, name="nature", label=_("What is it like?"))


def _build_context_field(value: str) -> TextField:
    return TextField(
        name="context",
        label=_("What should I know about it?"),
        optional=True,
        multiline=True,
        value=value,
        max_length=MAX_NOTES_CHARS,
    )


def _build_criteria_field(value: str) -> TextField:
    return TextField(
        name="criteria",
        label=_("It is done when"),
        optional=True,
        multiline=True,
        value=value,
        max_length=MAX_NOTES_CHARS,
        hint=_("One thing a line. I ask for each of them before it counts as done."),
    )


def list_workflows(names: Sequence[str]) -> tuple[Choice, ...]:
    """Return the choices of workflows that can apply to a task."""
    return tuple(Choice(label=name, value=name) for name in names)


def list_priorities() -> tuple[Choice, ...]:
    return tuple(Choice(label=capitalize(_(name)), value=str(priority)) for priority, name in PRIORITIES.items())


def read_added(submission: FormSubmission) -> EnqueueTask | FormErrors:
    """Return the command of a filled form, or the errors per field."""
    filled = Filled(submission)
    work = _read_work(filled)
    title = _read_title(filled, work)
    details = _read_details(PLAIN, filled, **_read_line(filled).times) if isinstance(work, Do) else PLAIN
    spec = {
        "title": title,
        "work": work,
        "priority": filled.choice("priority") or NORMAL,
        "project": filled.text("project", MAX_LABEL_CHARS),
        "context": filled.text("context", MAX_NOTES_CHARS),
        "acceptance_criteria": read_criteria(filled),
        "workflow": filled.choice("workflow") or ("decompose" if isinstance(work, Decompose) else ""),
        "details": details,
    }
    if filled.errors or work is None:
        return FormErrors(errors=filled.errors or {"kind": _("Please choose what kind of task it is.")})
    message = _parse_message(submission.target)
    return EnqueueTask(
        **build_envelope(submission),
        spec=TaskSpec.model_validate(spec),
        origin=Origin(door="slack"),
        message_channel=message.channel,
        message_ts=message.ts,
    )


def _read_details(before: TaskDetails, filled: Filled, **times: time) -> TaskDetails:
    """Return the details as filled in; ``times`` are those that the title gives."""
    try:
        details = read_details(before, filled, kind="nature", priority=False)
        return change_details(
            {name: at for name, at in (times or {}).items() if getattr(details, name) is None}, details
        )
    except BadInput as error:
        filled.errors["nature"] = error.message
        return before


def _read_title(filled: Filled, work: Work | None) -> str:
    match work:
        case PlanDay(date=day):
            return _("Plan {day}", day=format_day(day))
        case ReviewConstraints():
            return _("Look through my rules")
        case _:
            title = filled.text("title", MAX_TITLE_CHARS, needed=_("What is to be done? A few words will do."))
            return _read_line(filled).title if isinstance(work, Do) else title


def _read_work(filled: Filled) -> Work | None:
    kind = filled.choice("kind") or "do"
    if kind == "review_constraints":
        return ReviewConstraints()
    if kind == "decompose":
        return Decompose()
    if kind == "do":
        return Do(minutes=_read_line(filled).minutes)
    day = filled.day("date")
    if day is None:
        filled.errors["date"] = _("Which day is it for?")
        return None
    if kind == "plan_day":
        return PlanDay(date=day)
    minutes = filled.minutes("minutes", needed=_("How many minutes shall I block?"))
    return None if minutes is None else BlockTime(date=day, minutes=minutes, start=filled.clock("start"))


def _read_line(filled: Filled) -> TaskLine:
    """Return the title, which may give a length and a time where the fields leave these open: “Report, 2 h”."""
    return parse_task_line(filled.text("title", MAX_TITLE_CHARS), filled.minutes("minutes"))


def build_envelope(submission: FormSubmission) -> dict[str, Any]:
    """Return the fields that every command of a form has."""
    return {"command_id": submission.command_id, "user_id": submission.user_id, "at": submission.at}


def read_criteria(filled: Filled) -> tuple[str, ...]:
    """Return the acceptance criteria, one per line of the field."""
    lines = filled.lines("criteria", MAX_NOTES_CHARS)
    if len(lines) > MAX_FORM_CRITERIA or any(len(line) > MAX_TITLE_CHARS for line in lines):
        filled.errors["criteria"] = _(
            "Please keep it to {most} lines of at most {longest} characters.",
            most=MAX_FORM_CRITERIA,
            longest=MAX_TITLE_CHARS,
        )
    return tuple(line[:MAX_TITLE_CHARS] for line in lines)


def _parse_message(target: str) -> Message:
    try:
        return Message.model_validate_json(target or "{}")
    except ValidationError:
        return Message()


def build_edit_form(
    task: QueuedTask, tasks: Sequence[QueuedTask] = (), size: int = 0, *, names: Sequence[str] = ()
) -> Form:
    """Return the form with the editable fields of a task: its description, not its kind. ``tasks``: the queue."""
    spec = task.spec
    others = list_others(tasks, task.id)
    form = Form(
        form="queue_edit",
        session_id="",
        target=task.id,
        title=_("Edit task"),
        submit=_("Save"),
        edits=True,
        fields=(
            TextField(name="title", label=_("Task"), value=spec.title, max_length=MAX_TITLE_CHARS),
            *_work_fields(task, names),
            ChoiceField(name="priority", label=_("Priority"), choices=list_priorities(), value=str(spec.priority)),
            TextField(
                name="project", label=_("Project"), optional=True, value=spec.project, max_length=MAX_LABEL_CHARS
            ),
            _build_context_field(spec.context),
            *(build_detail_fields(spec.details, others, priority=False) if isinstance(spec.work, Do) else ()),
        ),
    )
    return fold_fields(form, size)


def build_task_form(form: str, task: QueuedTask, *fields: FormField, title: str, submit: str) -> Form:
    """Return a form about a task of the queue, which it names above its fields."""
    named = Prose(text=f"**{plain(task.spec.title, 200)}**")
    return Form(form=form, session_id="", target=task.id, title=title, submit=submit, fields=(named, *fields))


def _work_fields(task: QueuedTask, names: Sequence[str]) -> tuple[FormField, ...]:
    """Return the fields for work that the person does; none for other work."""
    spec = task.spec
    if not isinstance(spec.work, Do):
        return ()
    known = list_workflows(names)
    criteria = _build_criteria_field("\n".join(spec.acceptance_criteria))
    rules = spec.workflow if any(choice.value == spec.workflow for choice in known) else None
    return (
        NumberField(
            name="minutes", label=_("Minutes"), optional=True, value=spec.work.minutes, minimum=1, maximum=MAX_MINUTES
        ),
        _build_nature_field(spec.details),
        build_pieces_field(spec.details),
        *((criteria,) if _has_room(task) else ()),
        ChoiceField(name="workflow", label=_("Rules that apply"), optional=True, choices=known, value=rules),
    )


def _has_room(task: QueuedTask) -> bool:
    """Check whether the acceptance criteria fit into a field; a program may write more of them than a person."""
    criteria = task.spec.acceptance_criteria
    return len(criteria) <= MAX_FORM_CRITERIA and len("\n".join(criteria)) <= MAX_NOTES_CHARS


def read_edited(task: QueuedTask, submission: FormSubmission) -> ReviseTask | FormErrors:
    """Return the command that saves the task, or the errors per field."""
    filled = Filled(submission)
    changes: dict[str, object] = {
        "title": filled.text("title", MAX_TITLE_CHARS, needed=_("A task needs a title; a few words will do.")),
    }
    if filled.has("priority"):
        changes["priority"] = int(filled.choice("priority") or task.spec.priority)
    if filled.has("project"):
        changes["project"] = filled.text("project", MAX_LABEL_CHARS)
    if filled.has("context"):
        changes["context"] = filled.text("context", MAX_NOTES_CHARS)
    if isinstance(task.spec.work, Do):
        changes |= {
            "work": Do(minutes=filled.minutes("minutes")),
            "details": _read_details(task.spec.details, filled),
        }
        if filled.has("workflow"):
            changes["workflow"] = filled.choice("workflow") or ""
        if filled.has("criteria"):
            changes["acceptance_criteria"] = read_criteria(filled)
    if filled.errors:
        return FormErrors(errors=filled.errors)
    spec = replace_named(task.spec, changes)
    return ReviseTask(**build_envelope(submission), task_id=task.id, spec=spec, base=task.spec)


@dataclass(frozen=True, slots=True)
class TaskRules:
    """The rules of a task: its workflow, and the states that are known without looking anything up.

    ``final`` is true if a look at files and commands would determine no more.
    """

    workflow: Workflow | None
    seen: Seen
    final: bool = True


def build_done_form(task: QueuedTask, rules: TaskRules) -> Form:
    """Return the form with the acceptance criteria and, if the task has a workflow, its steps and open states."""
    criteria = task.spec.acceptance_criteria
    fields = _rule_fields(task, rules)
    if criteria:
        choices = tuple(Choice(label=text, value=str(place)) for place, text in enumerate(criteria))
        label, none = _("Which of these are met?"), _("None of it yet")
        fields = (ManyField(name="met", label=label, choices=choices, placeholder=none), *fields)
    return build_task_form("queue_done", task, *fields, title=_("Is it done?"), submit=_("It is done"))


def build_note_form(task: QueuedTask, rules: TaskRules) -> Form:
    """Return the form that notes steps of a task that goes on."""
    fields = _rule_fields(task, rules)
    return build_task_form("queue_note", task, *fields, title=_("What did you do?"), submit=_("Note it"))


def _rule_fields(task: QueuedTask, rules: TaskRules) -> tuple[FormField, ...]:
    if rules.workflow is None:
        return ()
    return (*_build_step_fields(rules.workflow), *_build_question_field(task, rules.workflow, rules))


def _build_step_fields(workflow: Workflow) -> tuple[FormField, ...]:
    actions = tuple(Choice(label=name_step(name), value=name) for name in list_steps(workflow))
    if not actions:
        return ()
    did = ManyField(
        name="did",
        label=_("What did you do?"),
        choices=actions,
        placeholder=_("Nothing of it"),
        hint=_("In that order. The rules of {name} are checked on it.", name=workflow.name),
    )
    order = TextField(
        name="order",
        label=_("Or write it down, one step a line"),
        hint=_("By the names above, for what you did twice. “+” joins what you did at once."),
        optional=True,
        multiline=True,
        max_length=MAX_NOTES_CHARS,
    )
    return did, order


def _build_question_field(task: QueuedTask, workflow: Workflow, rules: TaskRules) -> tuple[FormField, ...]:
    """Return the field with the states that only the person knows; those that they said before are ticked."""
    questions = list_questions(task, workflow, rules.seen)
    if not questions:
        return ()
    so = ManyField(
        name="so",
        label=_("Which of these are so?"),
        choices=tuple(Choice(label=state_words(each), value=each.name) for each in questions),
        value=tuple(each.name for each in questions if (task.standing or {}).get(each.name)),
        placeholder=_("None of these"),
        hint=_("What you leave out counts as not so. What I can look up myself, I look up."),
        boxes=True,
    )
    return (so,)


def name_step(action: str) -> str:
    """Return the name of a step of some kind of work, as a person reads it."""
    words = word_name(action)
    return words[:1].upper() + words[1:]


def read_done(task: QueuedTask, rules: TaskRules, submission: FormSubmission) -> SettleTask | FormErrors:
    """Return the command that marks the task as done, or a message about what is missing."""
    return _read_steps(task, rules, submission, "done")


def read_note(task: QueuedTask, rules: TaskRules, submission: FormSubmission) -> SettleTask | FormErrors:
    """Return the command that notes steps, or the message of a violated rule."""
    return _read_steps(task, rules, submission, "note")


def _read_steps(
    task: QueuedTask, rules: TaskRules, submission: FormSubmission, word: Literal["done", "note"]
) -> SettleTask | FormErrors:
    filled, workflow = Filled(submission), rules.workflow
    met, so = tuple(int(place) for place in filled.many("met")), filled.many("so")
    asked = () if workflow is None else list_questions(task, workflow, rules.seen)
    not_so = tuple(each.name for each in asked if filled.has("so") and each.name not in so)
    try:
        did = (
            filled.many("did")
            if workflow is None
            else spell_steps(filled.lines("order", MAX_NOTES_CHARS), workflow) or filled.many("did")
        )
        report = Report(read_steps(did), met, dict.fromkeys(so, True) | dict.fromkeys(not_so, False))
        if word == "done":
            _check_criteria_or_rules(task, rules, report)
        elif workflow is not None and rules.final:
            record_steps(task, workflow, report, rules.seen)
    except BadInput as error:
        return FormErrors(errors={_find_field(filled, error.where): error.message})
    return SettleTask(**build_envelope(submission), task_id=task.id, word=word, met=met, did=did, so=so, not_so=not_so)


def _check_criteria_or_rules(task: QueuedTask, rules: TaskRules, report: Report) -> None:
    """Ask the gate for what can be said before a look at files and commands. Raises ``BadInput``."""
    complete_task(
        task, rules.workflow if rules.final else None, report if rules.final else Report(met=report.met), rules.seen
    )


_FIELDS = {"met": "met", "did": "did", "order": "order", "stated": "so"}


def _find_field(filled: Filled, where: str | None) -> str:
    """Return the field of an error: the one that it names, if the form has it."""
    named = _FIELDS.get(where or "", "did")
    return next((name for name in (named, "did", "met") if filled.has(name)), "did")

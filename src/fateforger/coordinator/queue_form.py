"""The form that edits a task of the queue."""

from __future__ import annotations

from fateforger.coordinator.dispositor.forms import MOST_CRITERIA, list_priorities, list_workflows, read_criteria
from fateforger.coordinator.forms.reading import MAX_MINUTES, MAX_TITLE, Filled
from fateforger.session.cards import ChoiceField, Form, FormErrors, FormField, FormSubmission, NumberField, TextField
from fateforger.session.commands.queue import ReviseTask
from fateforger.tasks import Do, QueuedTask
from fateforger.tasks.model import TEXT_LENGTH

PROJECT_LENGTH = 100


def build_edit_form(task: QueuedTask) -> Form:
    """Return the form with the editable fields of a task: its description, not its kind."""
    spec = task.spec
    return Form(
        form="queue_edit",
        session_id="",
        target=task.id,
        title="Edit task",
        submit="Save",
        fields=(
            TextField(name="title", label="Task", value=spec.title, max_length=MAX_TITLE),
            ChoiceField(name="priority", label="Priority", choices=list_priorities(), value=str(spec.priority)),
            *_work_fields(task),
            TextField(name="project", label="Project", optional=True, value=spec.project, max_length=PROJECT_LENGTH),
            TextField(
                name="context",
                label="What should I know about it?",
                optional=True,
                multiline=True,
                value=spec.context,
                max_length=TEXT_LENGTH,
            ),
        ),
    )


def _work_fields(task: QueuedTask) -> tuple[FormField, ...]:
    """Return the fields for work that the person does; none for other work."""
    spec = task.spec
    if not isinstance(spec.work, Do):
        return ()
    known = list_workflows()
    criteria = TextField(
        name="criteria",
        label="It is done when",
        optional=True,
        multiline=True,
        value="\n".join(spec.acceptance_criteria),
        max_length=TEXT_LENGTH,
        hint="One thing a line. I ask for each of them before it counts as done.",
    )
    rules = spec.workflow if any(choice.value == spec.workflow for choice in known) else None
    return (
        NumberField(
            name="minutes", label="Minutes", optional=True, value=spec.work.minutes, minimum=1, maximum=MAX_MINUTES
        ),
        *((criteria,) if _has_room(task) else ()),
        ChoiceField(name="workflow", label="Rules that apply", optional=True, choices=known, value=rules),
    )


def _has_room(task: QueuedTask) -> bool:
    """Check whether the acceptance criteria fit into a field; a program may write more of them than a person."""
    criteria = task.spec.acceptance_criteria
    return len(criteria) <= MOST_CRITERIA and len("\n".join(criteria)) <= TEXT_LENGTH


def read_edited(task: QueuedTask, submission: FormSubmission) -> ReviseTask | FormErrors:
    """Return the command that saves the task, or the errors per field."""
    filled = Filled(submission)
    changes: dict[str, object] = {
        "title": filled.text("title", MAX_TITLE, needed="A task needs a title; a few words will do."),
        "priority": int(filled.choice("priority") or task.spec.priority),
        "project": filled.text("project", PROJECT_LENGTH),
        "context": filled.text("context", TEXT_LENGTH),
    }
    if isinstance(task.spec.work, Do):
        changes |= {
            "work": Do(minutes=filled.minutes("minutes")),
            "workflow": filled.choice("workflow") or "",
        }
        if _has_room(task):
            changes["acceptance_criteria"] = read_criteria(filled)
    if filled.errors:
        return FormErrors(errors=filled.errors)
    return ReviseTask(
        command_id=submission.command_id,
        user_id=submission.user_id,
        at=submission.at,
        task_id=task.id,
        spec=task.spec.model_copy(update=changes),
    )

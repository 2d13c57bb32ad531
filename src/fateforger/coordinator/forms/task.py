"""Stage 2: edit one task in full."""

from __future__ import annotations

from fateforger.coordinator.forms.reading import DEPTHS, MAX_MINUTES, MAX_NOTES, MAX_TITLE, Filled
from fateforger.session.cards import (
    Choice,
    ChoiceField,
    FlagField,
    Form,
    FormErrors,
    FormRequest,
    FormSubmission,
    NumberField,
    TextField,
)
from fateforger.session.commands import RemoveTask, SessionCommand, UpdateTask
from fateforger.session.model import Depth, Session, Task
from fateforger.session.model.facts import MOST_CRITERIA, MOST_CRITERION
from fateforger.session.tasks import find_task


def build_form(session: Session, request: FormRequest) -> Form:
    task = find_task(session.inputs, request.target)
    return Form(
        form="task",
        session_id=session.id,
        target=task.id,
        title="Edit task",
        submit="Save",
        fields=(
            TextField(name="title", label="Task", value=task.title, max_length=MAX_TITLE),
            NumberField(
                name="minutes",
                label="Minutes",
                optional=True,
                value=task.minutes,
                minimum=1,
                maximum=MAX_MINUTES,
                hint="Leave it open if you do not know.",
            ),
            ChoiceField(
                name="depth",
                label="Kind",
                choices=tuple(Choice(label=label, value=value) for value, label in DEPTHS.items()),
                value=task.depth.value,
            ),
            FlagField(name="one_thing", label="This is the one thing that matters", value=task.one_thing),
            TextField(
                name="done_when",
                label="Done when",
                optional=True,
                value="\n".join(task.done_when),
                multiline=True,
                max_length=MOST_CRITERIA * (MOST_CRITERION + 1),
                placeholder="What makes it a success? Two or three things, one a line.",
            ),
            FlagField(name="in_pieces", label="It may be done in pieces", value=task.in_pieces),
            TextField(
                name="notes",
                label="Notes",
                optional=True,
                value=task.notes,
                multiline=True,
                max_length=MAX_NOTES,
                hint="They go into the calendar event.",
            ),
            FlagField(name="remove", label="Take it off the list"),
        ),
    )


def read_submission(session: Session, submission: FormSubmission) -> SessionCommand | FormErrors:
    before = find_task(session.inputs, submission.target)
    filled = Filled(submission)
    if filled.flag("remove"):
        return RemoveTask(**filled.envelope, task_id=before.id)
    title = filled.text("title", MAX_TITLE, needed="A task needs a title.")
    minutes = filled.minutes("minutes")
    notes = filled.text("notes", MAX_NOTES)
    done_when = _read_criteria(filled)
    if filled.errors:
        return FormErrors(errors=filled.errors)
    task = Task(
        id=before.id,
        title=title,
        minutes=minutes,
        depth=Depth.SHALLOW if filled.choice("depth") == "shallow" else Depth.DEEP,
        one_thing=filled.flag("one_thing"),
        in_pieces=filled.flag("in_pieces"),
        notes=notes,
        done_when=done_when,
    )
    return UpdateTask(**filled.envelope, task=task)


def _read_criteria(filled: Filled) -> tuple[str, ...]:
    """Return the criteria, one per line; empty lines are ignored."""
    text = filled.text("done_when", MOST_CRITERIA * (MOST_CRITERION + 1))
    lines = tuple(line.strip() for line in text.splitlines() if line.strip())
    if len(lines) > MOST_CRITERIA:
        filled.errors["done_when"] = f"Keep the {MOST_CRITERIA} lines that matter most; the rest has room in the notes."
    elif any(len(line) > MOST_CRITERION for line in lines):
        filled.errors["done_when"] = f"A line has room for {MOST_CRITERION} characters."
    return lines

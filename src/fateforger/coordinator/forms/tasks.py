"""Stage 2: add several tasks at once, and draft the day if the person wants that."""

from __future__ import annotations

from fateforger.coordinator.forms.reading import DEPTHS, MAX_MINUTES, MAX_TITLE, Filled
from fateforger.session.cards import (
    Choice,
    ChoiceField,
    FlagField,
    Form,
    FormErrors,
    FormField,
    FormRequest,
    FormSubmission,
    NumberField,
    TextField,
)
from fateforger.session.commands import AddTasks, SessionCommand
from fateforger.session.days import day_words
from fateforger.session.keys import mint_key
from fateforger.session.model import Depth, Session, Task

ROWS = 3
MOST_ROWS = 20
"""Slack allows a hundred blocks in a form; a row takes three."""


def build_form(session: Session, request: FormRequest) -> Form:
    rows = min(max(request.size, ROWS), MOST_ROWS)
    return Form(
        form="tasks",
        session_id=session.id,
        title="What to get done",
        submit="Save",
        size=rows,
        more="More rows" if rows < MOST_ROWS else None,
        fields=(
            *(field for row in range(1, rows + 1) for field in _row_fields(row, day_words(session.date))),
            ChoiceField(
                name="one_thing",
                label="The one thing that matters",
                optional=True,
                choices=tuple(Choice(label=f"Task {row}", value=str(row)) for row in range(1, rows + 1)),
                hint="It comes first, and early in the day.",
            ),
            FlagField(name="proceed", label="Draft my day right away", value=True),
        ),
    )


def _row_fields(row: int, day: str) -> tuple[FormField, ...]:
    return (
        TextField(
            name=f"title_{row}",
            label=f"Task {row}",
            optional=True,
            max_length=MAX_TITLE,
            placeholder=f"What do you want to get done on {day}?" if row == 1 else "",
        ),
        NumberField(
            name=f"minutes_{row}",
            label=f"Minutes for task {row}",
            optional=True,
            minimum=1,
            maximum=MAX_MINUTES,
            hint="Leave it open if you do not know." if row == 1 else "",
        ),
        ChoiceField(
            name=f"depth_{row}",
            label=f"Kind of task {row}",
            optional=True,
            choices=tuple(Choice(label=label, value=value) for value, label in DEPTHS.items()),
            value="deep",
        ),
    )


def read_submission(_session: Session, submission: FormSubmission) -> SessionCommand | FormErrors:
    filled = Filled(submission)
    rows = max(submission.size, ROWS)
    chosen = filled.choice("one_thing")
    tasks = [task for row in range(1, rows + 1) if (task := _read_task(filled, row, one_thing=chosen == str(row)))]
    if chosen is not None and not filled.text(f"title_{chosen}", MAX_TITLE):
        filled.errors["one_thing"] = f"Task {chosen} has no title; choose one of the tasks you wrote down."
    if not tasks and not filled.errors:
        filled.errors["title_1"] = "Write down at least one thing to do."
    return filled.or_errors(lambda: AddTasks(**filled.envelope, tasks=tuple(tasks), proceed=filled.flag("proceed")))


def _read_task(filled: Filled, row: int, *, one_thing: bool) -> Task | None:
    title = filled.text(f"title_{row}", MAX_TITLE)
    minutes = filled.minutes(f"minutes_{row}")
    if not title:
        if minutes is not None:
            filled.errors[f"title_{row}"] = f"What are these {minutes} minutes for? Give the task a title."
        return None
    depth = Depth.SHALLOW if filled.choice(f"depth_{row}") == "shallow" else Depth.DEEP
    key = mint_key("t", filled.submission.command_id, row)
    return Task(id=key, title=title, minutes=minutes, depth=depth, one_thing=one_thing)

"""Stage 2: choose among the offered tasks, except those of missed days."""

from __future__ import annotations

from fateforger.coordinator.forms.reading import Filled
from fateforger.errors import BadInput
from fateforger.session.cards import Choice, Form, FormErrors, FormRequest, FormSubmission, ManyField
from fateforger.session.catching_up import open_work_of_missed
from fateforger.session.commands import BringAlong, SessionCommand
from fateforger.session.days import day_words
from fateforger.session.model import Session

_LABEL = 75


def build_form(session: Session, _request: FormRequest) -> Form:
    missed = open_work_of_missed(session)
    offered = [each for each in session.offered if each not in missed]
    if not offered:
        raise BadInput("Nothing of that is open any more.")
    choices = tuple(Choice(label=each.task.title[:_LABEL], value=each.task.id) for each in offered)
    return Form(
        form="bring",
        session_id=session.id,
        title="What else there is",
        submit="Bring along",
        fields=(
            ManyField(
                name="tasks",
                label=f"What of it do you want to do on {day_words(session.date)}?",
                choices=choices,
                value=tuple(choice.value for choice in choices),
                placeholder="Choose some",
                hint="What you leave out here is offered again.",
            ),
        ),
    )


def read_submission(_session: Session, submission: FormSubmission) -> SessionCommand | FormErrors:
    filled = Filled(submission)
    chosen = filled.many("tasks")
    if not chosen:
        return FormErrors(errors={"tasks": "Choose at least one, or close this."})
    return BringAlong(**filled.envelope, task_ids=chosen)

"""Stage 2: decide about everything that missed days left open, day by day."""

from __future__ import annotations

from itertools import groupby

from fateforger.coordinator.forms.reading import Filled
from fateforger.drafting import in_words
from fateforger.errors import BadInput
from fateforger.session.cards import Choice, Form, FormErrors, FormRequest, FormSubmission, ManyField, TextPart
from fateforger.session.catching_up import open_work_of_missed
from fateforger.session.commands import BringAlong, SessionCommand
from fateforger.session.days import day_words
from fateforger.session.model import OfferedInput, Session

_LABEL = 75
_SOURCES = {"deferred": "put off", "unplaced": "did not fit", "planned": "planned"}


def build_form(session: Session, _request: FormRequest) -> Form:
    things = open_work_of_missed(session)
    if not things:
        raise BadInput("Nothing of that is open any more.")
    ask = f"What is ticked goes on your list for {day_words(session.date)}."
    settle = "Untick what you did, or do not want any more; I will not ask about that again."
    days = [(day, list(each)) for day, each in groupby(things, key=lambda each: each.day)]
    return Form(
        form="catch_up",
        session_id=session.id,
        # An unticked item is settled, so the form has to record which items it showed.
        target=" ".join(each.task.id for each in things),
        title="Catch up",
        submit="Catch up",
        fields=(
            TextPart(text=f"{ask} {settle}"),
            *(_day_field(f"day_{n}", day_words(day), each) for n, (day, each) in enumerate(days, 1)),
        ),
    )


def read_submission(_session: Session, submission: FormSubmission) -> SessionCommand | FormErrors:
    filled = Filled(submission)
    shown = submission.target.split()
    ticked = {task_id for name in submission.values for task_id in filled.many(name)}
    return BringAlong(
        **filled.envelope,
        task_ids=tuple(task_id for task_id in shown if task_id in ticked),
        settled=tuple(task_id for task_id in shown if task_id not in ticked),
    )


def _day_field(name: str, label: str, things: list[OfferedInput]) -> ManyField:
    choices = tuple(Choice(label=_format_label(each), value=each.task.id) for each in things)
    return ManyField(
        name=name,
        label=label,
        choices=choices,
        value=tuple(choice.value for choice in choices),
        placeholder="Nothing of it",
        boxes=True,
    )


def _format_label(each: OfferedInput) -> str:
    length = "" if each.task.minutes is None else f"{in_words(each.task.minutes)}, "
    told = f" ({length}{_SOURCES[each.source]})"
    return f"{each.task.title[: _LABEL - len(told)]}{told}"

"""Stages 4 and 5: report the progress of the day in one form."""

from __future__ import annotations

from fateforger.coordinator.forms.reading import Filled
from fateforger.errors import BadInput
from fateforger.session.cards import Choice, Form, FormErrors, FormRequest, FormSubmission, ManyField, NumberField
from fateforger.session.commands import Replan, SessionCommand
from fateforger.session.model import Session
from fateforger.turn.present.replanning import MOST_ASKED, list_own_blocks, to_choice

MOST_LATE = 12 * 60


def build_form(session: Session, _request: FormRequest) -> Form:
    choices = tuple(to_choice(block) for block in list_own_blocks(session)[:MOST_ASKED])
    if not choices:
        raise BadInput("There is no block on the plan that this could be about.")
    return Form(
        form="replan",
        session_id=session.id,
        title="How is it going?",
        submit="Fit the rest anew",
        fields=(
            NumberField(
                name="late",
                label="Minutes late",
                optional=True,
                minimum=0,
                maximum=MOST_LATE,
                hint="What is on now takes so much longer, or the next block begins so much later. 0: it begins now.",
            ),
            _blocks("missed", "Should be done by now, and is not", choices),
            _blocks("done", "Done already", choices),
            _blocks("not_today", "Not today; I offer it again when you plan another day", choices),
        ),
    )


def read_submission(_session: Session, submission: FormSubmission) -> SessionCommand | FormErrors:
    filled = Filled(submission)
    late = filled.minutes("late", least=0, most=MOST_LATE)
    chosen = {name: filled.many(name) for name in ("missed", "done", "not_today")}
    taken: set[str] = set()
    for name, keys in chosen.items():
        if not taken.isdisjoint(keys):
            filled.errors[name] = "A block can be only one of these; take it out here or above."
        taken.update(keys)
    return filled.or_errors(lambda: Replan(**filled.envelope, late=late, **chosen))


def _blocks(name: str, label: str, choices: tuple[Choice, ...]) -> ManyField:
    return ManyField(name=name, label=label, choices=choices, placeholder="None")

"""Stage 0: choose another time zone."""

from __future__ import annotations

from fateforger.coordinator.forms.reading import Filled
from fateforger.plan import zone
from fateforger.session.cards import Form, FormErrors, FormRequest, FormSubmission, TextField
from fateforger.session.commands import ChooseDate, SessionCommand
from fateforger.session.model import Session


def build_form(session: Session, _request: FormRequest) -> Form:
    return Form(
        form="zone",
        session_id=session.id,
        title="Time zone",
        submit="Use it",
        fields=(
            TextField(
                name="tz",
                label="Time zone",
                value=session.tz,
                placeholder="Europe/Amsterdam",
                hint="An IANA name: the continent, a slash and a city, such as Europe/Amsterdam or America/New_York.",
                max_length=60,
            ),
        ),
    )


def read_submission(_session: Session, submission: FormSubmission) -> SessionCommand | FormErrors:
    filled = Filled(submission)
    name = filled.text("tz", 60, needed="Please name a time zone, such as Europe/Amsterdam.")
    if not filled.errors:
        try:
            zone(name)
        except ValueError as error:
            filled.errors["tz"] = f"{error}."
    return filled.or_errors(lambda: ChooseDate(**filled.envelope, tz=name))

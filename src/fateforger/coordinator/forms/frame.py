"""Stage 1: the frame of the day, and lunch."""

from __future__ import annotations

from fateforger.coordinator.forms.reading import Filled
from fateforger.errors import BadInput
from fateforger.session.cards import Form, FormErrors, FormRequest, FormSubmission, NumberField, TextPart, TimeField
from fateforger.session.commands import SessionCommand, SetFrame
from fateforger.session.days import day_words
from fateforger.session.frame import frame_span, visible_start
from fateforger.session.model import FrameFacts, Session

MAX_LUNCH = 240


def build_form(session: Session, _request: FormRequest) -> Form:
    frame = session.frame
    return Form(
        form="frame",
        session_id=session.id,
        title="Frame of your day",
        submit="Save",
        target=f"{visible_start(session):%H:%M}",
        fields=(
            TextPart(text=f"Times are local times on **{day_words(session.date)}**."),
            TimeField(name="day_start", label="Your day starts at", value=visible_start(session)),
            TimeField(
                name="day_end",
                label="Your day ends at",
                value=frame.day_end,
                hint="A time in the night that follows is fine.",
            ),
            TimeField(
                name="lunch_start",
                label="Lunch around",
                optional=True,
                value=frame.lunch_start,
                hint="Lunch gives way to meetings.",
            ),
            NumberField(
                name="lunch_minutes",
                label="Minutes for lunch",
                optional=True,
                value=frame.lunch_minutes,
                minimum=0,
                maximum=MAX_LUNCH,
                hint="0 means no lunch break.",
            ),
        ),
    )


def read_submission(session: Session, submission: FormSubmission) -> SessionCommand | FormErrors:
    filled = Filled(submission)
    start = filled.clock("day_start", needed="Please say when your day starts.")
    end = filled.clock("day_end", needed="Please say when your day ends.")
    lunch = filled.clock("lunch_start")
    minutes = filled.minutes("lunch_minutes", least=0, most=MAX_LUNCH)
    if start is None or end is None or filled.errors:
        return FormErrors(errors=filled.errors)
    if f"{start:%H:%M}" == submission.target:
        # For a day in progress the form showed the clock, which is not a statement of the person.
        start = session.frame.day_start
    frame = FrameFacts(day_start=start, day_end=end, lunch_start=lunch, lunch_minutes=minutes or 0)
    try:
        frame_span(session.date, session.tz, frame)
    except BadInput as error:
        filled.errors["day_end"] = error.message
    return filled.or_errors(lambda: SetFrame(**filled.envelope, frame=frame))

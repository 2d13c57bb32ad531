"""Stage 4: add a block, and edit one in full."""

from __future__ import annotations

from datetime import UTC, time

from fateforger.coordinator.forms.reading import MAX_MINUTES, MAX_NOTES, MAX_TITLE, Filled
from fateforger.drafting import Busy
from fateforger.drafting.free import Stretch, busy_stretches, gaps
from fateforger.drafting.minutes import ceil, floor, instant
from fateforger.errors import BadInput
from fateforger.plan import Resolved, zone
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
    TimeField,
)
from fateforger.session.commands import AddBlock, EditBlock, RemoveBlock, SessionCommand
from fateforger.session.frame import frame_mistake, frame_of
from fateforger.session.meetings import busy_meetings
from fateforger.session.model import Depth, Session
from fateforger.session.placing import by_time, resolved_block

USUAL = 30
KINDS = {"deep": "Deep work", "shallow": "Shallow work", "other": "Something else: an errand, sport, a habit"}


def build_add_form(session: Session, _request: FormRequest) -> Form:
    return Form(
        form="add_block",
        session_id=session.id,
        title="Add a block",
        submit="Add",
        fields=(
            TextField(name="title", label="What", max_length=MAX_TITLE),
            TimeField(name="start", label="Starts at", value=find_first_free(session)),
            NumberField(name="minutes", label="Minutes", value=USUAL, minimum=1, maximum=MAX_MINUTES),
            ChoiceField(
                name="kind",
                label="Kind",
                choices=tuple(Choice(label=label, value=value) for value, label in KINDS.items()),
                value="deep",
            ),
            _notes_field(""),
        ),
    )


def read_added(_session: Session, submission: FormSubmission) -> SessionCommand | FormErrors:
    filled = Filled(submission)
    title = filled.text("title", MAX_TITLE, needed="A block needs a title.")
    start = filled.clock("start", needed="Please say when the block starts.")
    minutes = filled.minutes("minutes", needed="Please say how many minutes the block takes.")
    notes = filled.text("notes", MAX_NOTES)
    if start is None or minutes is None or filled.errors:
        return FormErrors(errors=filled.errors)
    depth = {"deep": Depth.DEEP, "shallow": Depth.SHALLOW}.get(filled.choice("kind") or "")
    return AddBlock(**filled.envelope, title=title, start=start, minutes=minutes, depth=depth, notes=notes)


def build_edit_form(session: Session, request: FormRequest) -> Form:
    if session.plan is None:
        raise BadInput("There is no plan to change yet.")
    block = resolved_block(session.plan, request.target)
    return Form(
        form="edit_block",
        session_id=session.id,
        target=_format_target(block),
        title="Edit block",
        submit="Save",
        fields=(
            TextField(name="title", label="What", value=block.event.name, max_length=MAX_TITLE),
            TimeField(name="start", label="Starts at", value=block.start.time().replace(second=0, microsecond=0)),
            NumberField(name="minutes", label="Minutes", value=block.minutes, minimum=1, maximum=MAX_MINUTES),
            _notes_field(block.event.description),
            FlagField(name="remove", label="Remove this block"),
        ),
    )


def read_edited(session: Session, submission: FormSubmission) -> SessionCommand | FormErrors:
    """Return the command with only the fields that differ from the block as the form showed it.

    A form that was opened before the block moved does not move it back.
    """
    if session.plan is None:
        raise BadInput("There is no plan to change yet.")
    key, opened_start, opened_minutes = submission.target.rsplit(" ", 2)
    block = resolved_block(session.plan, key)
    filled = Filled(submission)
    if filled.flag("remove"):
        return RemoveBlock(**filled.envelope, key=block.key)
    title = filled.text("title", MAX_TITLE, needed="A block needs a title.")
    start = filled.clock("start", needed="Please say when the block starts.")
    minutes = filled.minutes("minutes", needed="Please say how many minutes the block takes.")
    notes = filled.text("notes", MAX_NOTES)
    return filled.or_errors(
        lambda: EditBlock(
            **filled.envelope,
            key=block.key,
            title=None if title == block.event.name else title,
            notes=None if notes == block.event.description[:MAX_NOTES].strip() else notes,
            start=None if start is not None and f"{start:%H:%M}" == opened_start else start,
            minutes=None if str(minutes) == opened_minutes else minutes,
        )
    )


def _format_target(block: Resolved) -> str:
    return f"{block.key} {block.start:%H:%M} {block.minutes}"


def find_first_free(session: Session) -> time | None:
    """Return the first half hour of the frame that is free and not past; ``None`` if there is none."""
    if frame_mistake(session) is not None:
        return None
    start, end = frame_of(session)
    if session.now is not None:
        start = max(start.astimezone(UTC), session.now.astimezone(UTC))
    taken = [Busy(m.start, m.end) for m in busy_meetings(session)]
    taken += [Busy(b.start, b.end) for b in by_time(session.plan)] if session.plan else []
    for gap in gaps(Stretch(ceil(start), floor(end)), busy_stretches(taken)):
        if gap.minutes >= USUAL:
            return instant(gap.start).astimezone(zone(session.tz)).time()
    return None


def _notes_field(value: str) -> TextField:
    return TextField(
        name="notes",
        label="Notes",
        optional=True,
        value=value[:MAX_NOTES],
        multiline=True,
        max_length=MAX_NOTES,
        hint="They go into the calendar event.",
    )

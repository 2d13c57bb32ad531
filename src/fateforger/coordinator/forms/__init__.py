"""Forms: what each asks, and what a filled one means. Pure; one file per form."""

from __future__ import annotations

from collections.abc import Mapping

from fateforger.coordinator.forms import block, frame, task, tasks, zone
from fateforger.coordinator.forms.reading import FormRoom
from fateforger.errors import BadInput, UserError
from fateforger.session.cards import Form, FormErrors, FormRequest, FormSubmission
from fateforger.session.commands import AddBlock, EditBlock, SessionCommand
from fateforger.session.days import day_words
from fateforger.session.edits import edited
from fateforger.session.model import Session, SessionStatus
from fateforger.stages import TimeboxingStage

ROOMS: Mapping[str, FormRoom] = {
    "zone": FormRoom(frozenset({TimeboxingStage.DATE}), zone.form, zone.read),
    "frame": FormRoom(frozenset({TimeboxingStage.COLLECT_CONSTRAINTS}), frame.form, frame.read),
    "tasks": FormRoom(frozenset({TimeboxingStage.CAPTURE_INPUTS}), tasks.form, tasks.read),
    "task": FormRoom(frozenset({TimeboxingStage.CAPTURE_INPUTS}), task.form, task.read),
    "add_block": FormRoom(
        frozenset({TimeboxingStage.REFINE, TimeboxingStage.REVIEW_COMMIT}), block.add_form, block.read_added
    ),
    "edit_block": FormRoom(
        frozenset({TimeboxingStage.REFINE, TimeboxingStage.REVIEW_COMMIT}), block.edit_form, block.read_edited
    ),
}


def open_form(session: Session, request: FormRequest) -> Form:
    """The form that was asked for, filled with what is known. Raises ``UserError`` when it makes no sense now."""
    return _room(session, request.form).form(session, request)


def read_form(session: Session, submission: FormSubmission) -> SessionCommand | FormErrors:
    """What a filled form asks for, or a sentence per field. Raises ``UserError`` when it makes no sense any more."""
    command = _room(session, submission.form).read(session, submission)
    if not isinstance(command, AddBlock | EditBlock):
        return command
    # Tried on the plan right here, so that a block that does not fit is said while the form is still open.
    try:
        edited(session, command)
    except UserError as error:
        return FormErrors(errors={"start": error.message})
    return command


def _room(session: Session, name: str) -> FormRoom:
    room = ROOMS.get(name)
    if room is None:
        raise BadInput("I don't know that form any more; please use the newest card in this thread.")
    if session.status is SessionStatus.CANCELLED:
        raise BadInput(f"The session for {day_words(session.date)} has ended, so there is nothing to change here.")
    if session.stage not in room.stages:
        raise BadInput("That form belongs to another step; please use the newest card in this thread.")
    return room

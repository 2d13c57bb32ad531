"""Forms: their fields, and the commands of filled ones. Pure; one module per form."""

from __future__ import annotations

from collections.abc import Mapping

from fateforger.coordinator.forms import block, bring, catch_up, frame, replan, rule, rules, task, tasks, zone
from fateforger.coordinator.forms.reading import FormRoom, RuleRoom, refuse_values
from fateforger.errors import BadInput, UserError
from fateforger.session.cards import Form, FormErrors, FormRequest, FormSubmission
from fateforger.session.commands import AddBlock, EditBlock, SessionCommand
from fateforger.session.days import day_words
from fateforger.session.edits import edited
from fateforger.session.model import Session, SessionStatus
from fateforger.session.rulebook import RuleBook
from fateforger.stages import TimeboxingStage

ROOMS: Mapping[str, FormRoom] = {
    "zone": FormRoom(frozenset({TimeboxingStage.DATE}), zone.form, zone.read),
    "frame": FormRoom(frozenset({TimeboxingStage.COLLECT_CONSTRAINTS}), frame.form, frame.read),
    "tasks": FormRoom(frozenset({TimeboxingStage.CAPTURE_INPUTS}), tasks.form, tasks.read),
    "bring": FormRoom(frozenset({TimeboxingStage.CAPTURE_INPUTS}), bring.form, bring.read),
    "catch_up": FormRoom(frozenset({TimeboxingStage.CAPTURE_INPUTS}), catch_up.form, catch_up.read),
    "task": FormRoom(frozenset({TimeboxingStage.CAPTURE_INPUTS}), task.form, task.read),
    "add_block": FormRoom(
        frozenset({TimeboxingStage.REFINE, TimeboxingStage.REVIEW_COMMIT}), block.add_form, block.read_added
    ),
    "edit_block": FormRoom(
        frozenset({TimeboxingStage.REFINE, TimeboxingStage.REVIEW_COMMIT}), block.edit_form, block.read_edited
    ),
    "replan": FormRoom(frozenset({TimeboxingStage.REFINE, TimeboxingStage.REVIEW_COMMIT}), replan.form, replan.read),
}

RULES: Mapping[str, RuleRoom] = {
    "rules": RuleRoom(rules.form, rules.read),
    "rule": RuleRoom(rule.edit_form, rule.read_edited),
    "rule_new": RuleRoom(rule.new_form, rule.read_new),
    "rule_day": RuleRoom(rule.day_form, rule.read_new),
}
"""Forms about a person's rules; they are available at every stage, and without a session."""
UNKNOWN = "I don't know that form any more; please use the newest card in this thread."


def open_rules(book: RuleBook, request: FormRequest) -> Form:
    """Return one of the forms in ``RULES``; see :func:`open_form`."""
    return RULES[request.form].form(_open(book), request)


def read_rules(book: RuleBook, submission: FormSubmission) -> SessionCommand | Form | FormErrors:
    """Read one of the forms in ``RULES``; see :func:`read_form`."""
    return refuse_values(submission) or RULES[submission.form].read(_open(book), submission)


def open_form(session: Session, request: FormRequest) -> Form:
    """Return a form, filled with known values. Raises ``UserError`` if it makes no sense now."""
    return _room(session, request.form).form(session, request)


def read_form(session: Session, submission: FormSubmission) -> SessionCommand | FormErrors:
    """Return the command of a filled form, or the errors per field. Raises ``UserError`` if it is out of date."""
    command = _room(session, submission.form).read(session, submission)
    if not isinstance(command, AddBlock | EditBlock):
        return command
    # Try the block on the plan now, so that a block that does not fit is reported while the form is still open.
    try:
        edited(session, command)
    except UserError as error:
        return FormErrors(errors={"start": error.message})
    return command


def _room(session: Session, name: str) -> FormRoom:
    room = ROOMS.get(name)
    if room is None:
        raise BadInput(UNKNOWN)
    if session.status is SessionStatus.CANCELLED:
        raise _ended(session)
    if session.stage not in room.stages:
        raise BadInput("That form belongs to another step; please use the newest card in this thread.")
    return room


def _open(book: RuleBook) -> RuleBook:
    if book.session is not None and book.session.status is SessionStatus.CANCELLED:
        raise _ended(book.session)
    return book


def _ended(session: Session) -> BadInput:
    return BadInput(f"The session for {day_words(session.date)} has ended, so there is nothing to change here.")

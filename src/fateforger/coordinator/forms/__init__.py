"""Forms: their fields, and the commands of filled ones. Pure; one module per form."""

from __future__ import annotations

from collections.abc import Mapping

from fateforger.coordinator.forms import block, bring, catch_up, frame, replan, rule, rules, task, tasks, zone
from fateforger.coordinator.forms.reading import FormSpec, RuleFormSpec, refuse_values
from fateforger.errors import BadInput, UserError
from fateforger.session.cards import Form, FormErrors, FormRequest, FormSubmission
from fateforger.session.commands import AddBlock, EditBlock, SessionCommand
from fateforger.session.days import day_words
from fateforger.session.edits import apply_edit
from fateforger.session.model import Session, SessionStatus
from fateforger.session.rulebook import RuleBook
from fateforger.stages import TimeboxingStage

SESSION_FORMS: Mapping[str, FormSpec] = {
    "zone": FormSpec(frozenset({TimeboxingStage.DATE}), zone.build_form, zone.read_submission),
    "frame": FormSpec(frozenset({TimeboxingStage.COLLECT_CONSTRAINTS}), frame.build_form, frame.read_submission),
    "tasks": FormSpec(frozenset({TimeboxingStage.CAPTURE_INPUTS}), tasks.build_form, tasks.read_submission),
    "bring": FormSpec(frozenset({TimeboxingStage.CAPTURE_INPUTS}), bring.build_form, bring.read_submission),
    "catch_up": FormSpec(frozenset({TimeboxingStage.CAPTURE_INPUTS}), catch_up.build_form, catch_up.read_submission),
    "task": FormSpec(frozenset({TimeboxingStage.CAPTURE_INPUTS}), task.build_form, task.read_submission),
    "add_block": FormSpec(
        frozenset({TimeboxingStage.REFINE, TimeboxingStage.REVIEW_COMMIT}), block.build_add_form, block.read_added
    ),
    "edit_block": FormSpec(
        frozenset({TimeboxingStage.REFINE, TimeboxingStage.REVIEW_COMMIT}), block.build_edit_form, block.read_edited
    ),
    "replan": FormSpec(
        frozenset({TimeboxingStage.REFINE, TimeboxingStage.REVIEW_COMMIT}), replan.build_form, replan.read_submission
    ),
}

RULES: Mapping[str, RuleFormSpec] = {
    "rules": RuleFormSpec(rules.build_form, rules.read_submission),
    "rule": RuleFormSpec(rule.build_edit_form, rule.read_edited),
    "rule_new": RuleFormSpec(rule.build_new_form, rule.read_new),
    "rule_day": RuleFormSpec(rule.build_day_form, rule.read_new),
}
"""Forms about a person's rules; they are available at every stage, and without a session."""
UNKNOWN = "I don't know that form any more; please use the newest card in this thread."


def open_rules(book: RuleBook, request: FormRequest) -> Form:
    """Return one of the forms in ``RULES``; see :func:`open_form`."""
    return RULES[request.form].form(_check_open(book), request)


def read_rules(book: RuleBook, submission: FormSubmission) -> SessionCommand | Form | FormErrors:
    """Read one of the forms in ``RULES``; see :func:`read_form`."""
    return refuse_values(submission) or RULES[submission.form].read(_check_open(book), submission)


def open_form(session: Session, request: FormRequest) -> Form:
    """Return a form, filled with known values. Raises ``UserError`` if it makes no sense now."""
    return _find_form(session, request.form).form(session, request)


def read_form(session: Session, submission: FormSubmission) -> SessionCommand | FormErrors:
    """Return the command of a filled form, or the errors per field. Raises ``UserError`` if it is out of date."""
    command = _find_form(session, submission.form).read(session, submission)
    if not isinstance(command, AddBlock | EditBlock):
        return command
    # Try the block on the plan now, so that a block that does not fit is reported while the form is still open.
    try:
        apply_edit(session, command)
    except UserError as error:
        return FormErrors(errors={"start": error.message})
    return command


def _find_form(session: Session, name: str) -> FormSpec:
    room = SESSION_FORMS.get(name)
    if room is None:
        raise BadInput(UNKNOWN)
    if session.status is SessionStatus.CANCELLED:
        raise _ended_error(session)
    if session.stage not in room.stages:
        raise BadInput("That form belongs to another step; please use the newest card in this thread.")
    return room


def _check_open(book: RuleBook) -> RuleBook:
    if book.session is not None and book.session.status is SessionStatus.CANCELLED:
        raise _ended_error(book.session)
    return book


def _ended_error(session: Session) -> BadInput:
    return BadInput(f"The session for {day_words(session.date)} has ended, so there is nothing to change here.")

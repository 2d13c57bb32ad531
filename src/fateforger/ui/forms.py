"""Forms by name: their fields, and the commands of filled ones. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping

from fateforger.errors import BadInput, UserError
from fateforger.session.commands import FORM_COMMANDS, SessionCommand
from fateforger.session.commands.plan import AddBlock, EditBlock
from fateforger.session.commands.rules import RememberConstraint
from fateforger.session.edits import apply_edit
from fateforger.session.forms import Form, FormErrors, FormRequest, FormSubmission
from fateforger.session.gate import find_refusal
from fateforger.session.model import Session
from fateforger.session.rulebook import RuleBook
from fateforger.text import gettext as _
from fateforger.text import mark_message
from fateforger.ui.form_values import Filled, FormSpec, refuse_values
from fateforger.ui.plan_forms import PLAN_FORMS
from fateforger.ui.policy_forms import POLICY_FORMS
from fateforger.ui.rule_forms import RULE_FORMS
from fateforger.ui.task_forms import TASK_FORMS
from fateforger.values import replace

SESSION_FORMS: Mapping[str, FormSpec[Session]] = {**PLAN_FORMS, **TASK_FORMS}

RULES: Mapping[str, FormSpec[RuleBook]] = {**RULE_FORMS, **POLICY_FORMS}
"""Forms about a person's rules; they are available at every stage, and without a session."""
UNKNOWN = mark_message("I don't know that form any more; please use the newest card in this thread.")


def open_rules(book: RuleBook, request: FormRequest) -> Form:
    """Return one of the forms in ``RULES``; see :func:`open_form`."""
    return _address(RULES[request.form].form(_check_open(book), request), request)


def read_rules(book: RuleBook, submission: FormSubmission) -> SessionCommand | Form | FormErrors:
    """Read one of the forms in ``RULES``; see :func:`read_form`."""
    refused = refuse_values(submission)
    if refused is not None:
        return refused
    read = RULES[submission.form].read(_check_open(book), Filled(submission))
    return _address(read, submission) if isinstance(read, Form) else read


def open_form(session: Session, request: FormRequest) -> Form:
    """Return a form, filled with known values. Raises ``UserError`` if it makes no sense now."""
    return _address(_find_form(session, request.form).form(session, request), request)


def read_form(session: Session, submission: FormSubmission) -> SessionCommand | Form | FormErrors:
    """Return the command of a filled form, or the errors per field. Raises ``UserError`` if it is out of date."""
    command = _find_form(session, submission.form).read(session, Filled(submission))
    if not isinstance(command, AddBlock | EditBlock):
        return command
    # Try the block on the plan now, so that a block that does not fit is reported while the form is still open.
    try:
        apply_edit(session, command)
    except UserError as error:
        return FormErrors(errors={"start": error.message})
    return command


def _address(form: Form, asked: FormRequest | FormSubmission) -> Form:
    """Return the form with its name and session, which its submission sends back."""
    return replace(form, form=asked.form, session_id=asked.session_id)


def _find_form(session: Session, name: str) -> FormSpec[Session]:
    if name not in SESSION_FORMS:
        raise BadInput(_(UNKNOWN))
    no = find_refusal(session, FORM_COMMANDS[name])
    if no is not None:
        raise BadInput(no.sentence)
    return SESSION_FORMS[name]


def _check_open(book: RuleBook) -> RuleBook:
    no = None if book.session is None else find_refusal(book.session, RememberConstraint)
    if no is not None:
        raise BadInput(no.sentence)
    return book

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
from fateforger.ui.form_values import FormSpec, RuleFormSpec, refuse_values
from fateforger.ui.plan_forms import (
    build_add_block_form,
    build_edit_block_form,
    build_frame_form,
    build_replan_form,
    build_zone_form,
    read_added_block,
    read_edited_block,
    read_frame_form,
    read_replan_form,
    read_zone_form,
)
from fateforger.ui.policy_forms import (
    build_policy_form,
    build_routine_form,
    read_policy_form,
    read_routine_form,
)
from fateforger.ui.rule_forms import (
    build_day_rule_form,
    build_edit_rule_form,
    build_new_rule_form,
    build_rules_form,
    build_said_rule_form,
    read_edited_rule,
    read_new_rule,
    read_rules_form,
    read_said_rule,
)
from fateforger.ui.task_forms import (
    build_bring_form,
    build_catch_up_form,
    build_defer_form,
    build_goals_form,
    build_move_form,
    build_task_form,
    build_tasks_form,
    read_bring_form,
    read_catch_up_form,
    read_defer_form,
    read_goals_form,
    read_move_form,
    read_task_form,
    read_tasks_form,
)

SESSION_FORMS: Mapping[str, FormSpec] = {
    "zone": FormSpec(build_zone_form, read_zone_form),
    "frame": FormSpec(build_frame_form, read_frame_form),
    "tasks": FormSpec(build_tasks_form, read_tasks_form),
    "goals": FormSpec(build_goals_form, read_goals_form),
    "bring": FormSpec(build_bring_form, read_bring_form),
    "catch_up": FormSpec(build_catch_up_form, read_catch_up_form),
    "move_plan": FormSpec(build_move_form, read_move_form),
    "defer": FormSpec(build_defer_form, read_defer_form),
    "task": FormSpec(build_task_form, read_task_form),
    "add_block": FormSpec(build_add_block_form, read_added_block),
    "edit_block": FormSpec(build_edit_block_form, read_edited_block),
    "replan": FormSpec(build_replan_form, read_replan_form),
}

RULES: Mapping[str, RuleFormSpec] = {
    "rules": RuleFormSpec(build_rules_form, read_rules_form),
    "rule": RuleFormSpec(build_edit_rule_form, read_edited_rule),
    "rule_new": RuleFormSpec(build_new_rule_form, read_new_rule),
    "rule_said": RuleFormSpec(build_said_rule_form, read_said_rule),
    "rule_day": RuleFormSpec(build_day_rule_form, read_new_rule),
    "policy": RuleFormSpec(build_policy_form, read_policy_form),
    "routine": RuleFormSpec(build_routine_form, read_routine_form),
}
"""Forms about a person's rules; they are available at every stage, and without a session."""
UNKNOWN = mark_message("I don't know that form any more; please use the newest card in this thread.")


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

"""Forms in which a person says what they did for a task: so far, or all of it (S162)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fateforger.conversation.queue.forms import build_envelope, build_task_form
from fateforger.errors import BadInput
from fateforger.limits import MAX_NOTES_CHARS
from fateforger.session.cards import Choice
from fateforger.session.forms import Form, FormErrors, FormField, FormSubmission, ManyField, TextField
from fateforger.session.queue_commands import SettleTask
from fateforger.tasks.gate import (
    Report,
    Seen,
    complete_task,
    list_questions,
    list_steps,
    read_steps,
    record_steps,
    spell_steps,
)
from fateforger.tasks.task import QueuedTask
from fateforger.tasks.workflows import state_words
from fateforger.text import gettext as _
from fateforger.ui.form_values import Filled
from fateforger.workflow.conformance import word_name
from fateforger.workflow.definition import Workflow


@dataclass(frozen=True, slots=True)
class TaskRules:
    """The rules of a task: its workflow, and the states that are known without looking anything up.

    ``final`` is true if a look at files and commands would determine no more.
    """

    workflow: Workflow | None
    seen: Seen
    final: bool = True


def build_done_form(task: QueuedTask, rules: TaskRules) -> Form:
    """Return the form with the acceptance criteria and, if the task has a workflow, its steps and open states."""
    criteria = task.spec.acceptance_criteria
    fields = _rule_fields(task, rules)
    if criteria:
        choices = tuple(Choice(label=text, value=str(place)) for place, text in enumerate(criteria))
        label, none = _("Which of these are met?"), _("None of it yet")
        fields = (ManyField(name="met", label=label, choices=choices, placeholder=none), *fields)
    return build_task_form("queue_done", task, *fields, title=_("Is it done?"), submit=_("It is done"))


def build_note_form(task: QueuedTask, rules: TaskRules) -> Form:
    """Return the form that notes steps of a task that goes on."""
    fields = _rule_fields(task, rules)
    return build_task_form("queue_note", task, *fields, title=_("What did you do?"), submit=_("Note it"))


def _rule_fields(task: QueuedTask, rules: TaskRules) -> tuple[FormField, ...]:
    if rules.workflow is None:
        return ()
    return (*_build_step_fields(rules.workflow), *_build_question_field(task, rules.workflow, rules))


def _build_step_fields(workflow: Workflow) -> tuple[FormField, ...]:
    actions = tuple(Choice(label=name_step(name), value=name) for name in list_steps(workflow))
    if not actions:
        return ()
    did = ManyField(
        name="did",
        label=_("What did you do?"),
        choices=actions,
        placeholder=_("Nothing of it"),
        hint=_("In that order. The rules of {name} are checked on it.", name=workflow.name),
    )
    order = TextField(
        name="order",
        label=_("Or write it down, one step a line"),
        hint=_("By the names above, for what you did twice. “+” joins what you did at once."),
        optional=True,
        multiline=True,
        max_length=MAX_NOTES_CHARS,
    )
    return did, order


def _build_question_field(task: QueuedTask, workflow: Workflow, rules: TaskRules) -> tuple[FormField, ...]:
    """Return the field with the states that only the person knows; those that they said before are ticked."""
    questions = list_questions(task, workflow, rules.seen)
    if not questions:
        return ()
    so = ManyField(
        name="so",
        label=_("Which of these are so?"),
        choices=tuple(Choice(label=state_words(each), value=each.name) for each in questions),
        value=tuple(each.name for each in questions if (task.standing or {}).get(each.name)),
        placeholder=_("None of these"),
        hint=_("What you leave out counts as not so. What I can look up myself, I look up."),
        boxes=True,
    )
    return (so,)


def name_step(action: str) -> str:
    """Return the name of a step of some kind of work, as a person reads it."""
    words = word_name(action)
    return words[:1].upper() + words[1:]


def read_done(task: QueuedTask, rules: TaskRules, submission: FormSubmission) -> SettleTask | FormErrors:
    """Return the command that marks the task as done, or a message about what is missing."""
    return _read_steps(task, rules, submission, "done")


def read_note(task: QueuedTask, rules: TaskRules, submission: FormSubmission) -> SettleTask | FormErrors:
    """Return the command that notes steps, or the message of a violated rule."""
    return _read_steps(task, rules, submission, "note")


def _read_steps(
    task: QueuedTask, rules: TaskRules, submission: FormSubmission, word: Literal["done", "note"]
) -> SettleTask | FormErrors:
    filled, workflow = Filled(submission), rules.workflow
    met, so = tuple(int(place) for place in filled.many("met")), filled.many("so")
    asked = () if workflow is None else list_questions(task, workflow, rules.seen)
    not_so = tuple(each.name for each in asked if filled.has("so") and each.name not in so)
    try:
        did = (
            filled.many("did")
            if workflow is None
            else spell_steps(filled.lines("order", MAX_NOTES_CHARS), workflow) or filled.many("did")
        )
        report = Report(read_steps(did), met, dict.fromkeys(so, True) | dict.fromkeys(not_so, False))
        if word == "done":
            _check_criteria_or_rules(task, rules, report)
        elif workflow is not None and rules.final:
            record_steps(task, workflow, report, rules.seen)
    except BadInput as error:
        return FormErrors(errors={_find_field(filled, error.where): error.message})
    return SettleTask(**build_envelope(submission), task_id=task.id, word=word, met=met, did=did, so=so, not_so=not_so)


def _check_criteria_or_rules(task: QueuedTask, rules: TaskRules, report: Report) -> None:
    """Ask the gate for what can be said before a look at files and commands. Raises ``BadInput``."""
    complete_task(
        task, rules.workflow if rules.final else None, report if rules.final else Report(met=report.met), rules.seen
    )


_FIELDS = {"met": "met", "did": "did", "order": "order", "stated": "so"}


def _find_field(filled: Filled, where: str | None) -> str:
    """Return the field of an error: the one that it names, if the form has it."""
    named = _FIELDS.get(where or "", "did")
    return next((name for name in (named, "did", "met") if filled.has(name)), "did")

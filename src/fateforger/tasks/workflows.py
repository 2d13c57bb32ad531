"""Workflows whose rules can apply to a task: those that ship, and those of the person's own folder (S135, S140)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fateforger.errors import BadInput
from fateforger.tasks.task import Decompose, Do, TaskSpec
from fateforger.text import gettext as _
from fateforger.text import join_words, mark_message
from fateforger.workflow.conformance import describe_rule, word_name
from fateforger.workflow.definition import Parents, Workflow, list_shipped, load_shipped, read_shipped, read_workflow
from fateforger.workflow.rules import is_name
from fateforger.workflow.trace import Predicate

OF_THE_PROGRAM = "timeboxing"
"""The workflow of the program itself; it applies to no task."""
DECOMPOSE = "decompose"


@dataclass(frozen=True, slots=True)
class Workflows:
    """The workflows that tasks can have, by name. ``own`` are those of the person's folder."""

    own: Mapping[str, Workflow] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all of them, sorted."""
        return tuple(sorted({*list_shipped(), *self.own} - {OF_THE_PROGRAM}))

    def get(self, name: str) -> Workflow | None:
        if name == OF_THE_PROGRAM:
            return None
        return self.own.get(name) or (load_shipped(name) if name in list_shipped() else None)

    def of(self, spec: TaskSpec) -> Workflow | None:
        """Return the workflow whose rules apply to a task, or ``None`` if none do.

        Rules are about work that is done step by step; other work has a condition of its own. Raises ``BadInput`` if
        the workflow is not there (any more).
        """
        if not spec.workflow or not isinstance(spec.work, Do | Decompose):
            return None
        workflow = self.get(spec.workflow)
        if workflow is None:
            raise BadInput(
                _(
                    "The rules of “{name}” are not there, so I cannot check them."
                    " Put their file back, or choose other rules for this task.",
                    name=spec.workflow,
                ),
                where="workflow",
            )
        return workflow

    def check_spec(self, spec: TaskSpec) -> None:
        """Refuse a new task whose workflow is unknown or cannot apply to it. Raises ``BadInput``."""
        if not spec.workflow:
            return
        workflow = self.get(spec.workflow)
        if workflow is None:
            known = join_words(self.names)
            raise BadInput(
                _("There is no workflow “{name}”; there are {known}.", name=spec.workflow, known=known),
                where="workflow",
            )
        if not isinstance(spec.work, Do | Decompose):
            raise BadInput(_(NOT_STEP_BY_STEP), where="workflow")
        if isinstance(spec.work, Decompose) and not set(load_shipped(DECOMPOSE).actions) <= set(workflow.actions):
            raise BadInput(_(NO_PARTS, name=spec.workflow), where="workflow")


NOT_STEP_BY_STEP = mark_message("Only work that somebody does step by step can have the rules of a workflow.")
NO_PARTS = mark_message(
    "A goal that is broken into parts follows the rules of “decompose”, or of a workflow that extends them;"
    " “{name}” does not."
)


def read_own(texts: Mapping[str, str]) -> Workflows:
    """Return the workflows of a folder, from the texts of its files by their names without ``.yaml``.

    Each may extend another one of them, or one that ships. Raises ``BadInput`` with the file and the place in it.
    """

    def find_parent(name: str) -> str | None:
        return texts.get(name) or read_shipped(name)

    return Workflows({name: _read_one(name, text, find_parent) for name, text in texts.items()})


def _read_one(name: str, text: str, find_parent: Parents) -> Workflow:
    if name in list_shipped() or not is_name(name):
        raise BadInput(
            f"“{name}” cannot be the name of a workflow of yours; give the file another one.", where=f"{name}.yaml"
        )
    try:
        workflow = read_workflow(text, find_parent)
    except BadInput as error:
        raise BadInput(error.message, where=f"{name}.yaml, {error.where}" if error.where else f"{name}.yaml") from None
    if workflow.name != name:
        raise BadInput(
            f"This workflow is called “{workflow.name}”, and its file “{name}”; they need the same name.",
            where=f"{name}.yaml",
        )
    return workflow


def list_rules(workflow: Workflow) -> tuple[str, ...]:
    """Return all rules of a workflow, in plain words."""
    return tuple(_(each.title) if each.title else describe_rule(each.rule) for each in workflow.rules)


def state_words(predicate: Predicate) -> str:
    """Return what a state means, for a person: its title, the sentence of its check, or its name as words."""
    if predicate.title is not None:
        return _(predicate.title)
    sentence = next((check.about for check in predicate.checks if check.kind == "judged"), None)
    return sentence or word_name(predicate.name)


SEVERAL_STEPS = mark_message("This takes several steps, and the queue keeps track of which are done.")


def reason_for_queue(spec: TaskSpec) -> str | None:
    """Return a sentence on why the work needs the queue, or ``None`` if it is simple."""
    if isinstance(spec.work, Decompose):
        return _("This has several parts, and somebody has to look at them before they are worked on.")
    if spec.workflow:
        return _("The rules of {workflow} apply to this, and only the queue checks them.", workflow=spec.workflow)
    if len(spec.acceptance_criteria) > 1:
        count = len(spec.acceptance_criteria)
        return _("This is done when {count} things are so, and only the queue asks for them.", count=count)
    return None

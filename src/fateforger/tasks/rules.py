"""Rules of a task's workflow, checked against its steps and the next actions (S162-S164)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fateforger.errors import BadInput
from fateforger.tasks.task import Decompose, QueuedTask, TaskSpec, TaskState
from fateforger.text import gettext, mark_message
from fateforger.text import gettext as _
from fateforger.values import replace
from fateforger.workflow.conformance import CheckedRule, Verdict, check, explain_refusal, suggest_remedy
from fateforger.workflow.definition import Workflow, list_shipped, load_shipped
from fateforger.workflow.predicates import plan_steps
from fateforger.workflow.trace import Step

NONE: Mapping[str, bool] = {}
OF_THE_QUEUE = {"one_task_in_progress": True, "changes_tracked_in_task": True, "at_least_one_actionable_task": True}
"""States that the queue guarantees: one claim at a time, and each step stored with its task."""


def workflow_of(spec: TaskSpec) -> Workflow | None:
    """Return the workflow whose rules apply, or ``None`` if no shipped one has that name."""
    return load_shipped(spec.workflow) if spec.workflow in list_shipped() else None


def list_rules(spec: TaskSpec) -> tuple[str, ...]:
    """Return all rules that will apply, in plain words."""
    workflow = workflow_of(spec)
    if workflow is None:
        return ()
    return tuple(_(each.title or each.remedy or suggest_remedy(each.rule)) for each in workflow.rules)


def next_step(task: QueuedTask, *actions: str, facts: Mapping[str, bool] = NONE) -> Step:
    """Return the next step, with the states as it begins.

    ``facts`` are states that no action of the workflow sets; those not given are false.
    """
    workflow = workflow_of(task.spec)
    if workflow is None:
        return Step(do=actions)
    unset = {name: False for name, predicate in workflow.predicates.items() if not predicate.set_by}
    before = [step.do for step in task.steps]
    steps = plan_steps(
        tuple(workflow.predicates.values()), [*before, actions], given={**unset, **OF_THE_QUEUE, **facts}
    )
    return steps[-1]


def with_steps(task: QueuedTask, *actions: Sequence[str], facts: Mapping[str, bool] = NONE) -> QueuedTask:
    """Return the task with these steps done, in order."""
    for do in actions:
        task = replace(task, steps=(*task.steps, next_step(task, *do, facts=facts)))
    return task


def objections(task: QueuedTask, *actions: str, facts: Mapping[str, bool] = NONE) -> tuple[CheckedRule, ...]:
    """Return the rules that forbid these actions now."""
    workflow = workflow_of(task.spec)
    if workflow is None:
        return ()
    checked = check(
        workflow.rules, (*task.steps, next_step(task, *actions, facts=facts)), workflow.vocabulary, closed=False
    )
    return tuple(each for each in checked if each.blocks and _is_late(each, len(task.steps)))


def unfinished_rules(task: QueuedTask) -> tuple[CheckedRule, ...]:
    """Return the rules that fail if nothing more is done.

    While there are any, the task is not done.
    """
    workflow = workflow_of(task.spec)
    if workflow is None or not task.steps:
        return ()
    return tuple(each for each in check(workflow.rules, task.steps, workflow.vocabulary) if each.blocks)


def _is_late(checked: CheckedRule, first: int) -> bool:
    steps = checked.violations if checked.verdict is Verdict.VIOLATED else checked.unknown
    return any(at >= first for at in steps)


SEVERAL_STEPS = mark_message("This takes several steps, and the queue keeps track of which are done.")


def reason_for_queue(spec: TaskSpec) -> str | None:
    """Return a sentence on why the work needs the queue, or ``None`` if it is simple."""
    if isinstance(spec.work, Decompose):
        return _("This has several parts, and somebody has to look at them before they are worked on.")
    if workflow_of(spec) is not None:
        return _("The rules of {workflow} apply to this, and only the queue checks them.", workflow=spec.workflow)
    if len(spec.acceptance_criteria) > 1:
        count = len(spec.acceptance_criteria)
        return _("This is done when {count} things are so, and only the queue asks for them.", count=count)
    return None


def reopen_task(task: QueuedTask) -> QueuedTask:
    """Return a task that is not done after all: it is in the person's hands again."""
    return replace(task, state=TaskState.WAITING, outcome=gettext("It is open again. Say here when it is done."))


def complete_task(task: QueuedTask, met: tuple[int, ...], did: tuple[str, ...]) -> QueuedTask:
    """Return the task as done, if every criterion is met and no rule objects to the actions in ``did``, in order.

    Raises ``BadInput`` with what is missing.
    """
    criteria = task.spec.acceptance_criteria
    missing = [text for place, text in enumerate(criteria) if place not in met]
    if missing:
        raise BadInput(gettext("It is not done yet. Still open: {missing}.", missing="; ".join(missing)))
    workflow = workflow_of(task.spec)
    if workflow is not None:
        for action in did:
            if action not in workflow.actions:
                raise BadInput(
                    gettext(
                        "“{action}” is nothing that the workflow “{name}” knows.", action=action, name=workflow.name
                    )
                )
            against = objections(task, action)
            if against:
                raise BadInput(" ".join(explain_refusal(against)))
            task = with_steps(task, (action,))
        against = unfinished_rules(task)
        if against:
            raise BadInput(" ".join(explain_refusal(against)))
    return replace(task, state=TaskState.DONE, outcome=gettext("You said that it is done."))

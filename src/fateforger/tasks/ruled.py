"""The rules of a task's workflow, held against what was done for it and what is about to be done (S162). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fateforger.tasks.model import QueuedTask, TaskSpec
from fateforger.workflow import Checked, Step, Verdict, Workflow, check, shipped, shipped_names
from fateforger.workflow.predicates import planned

NONE: Mapping[str, bool] = {}
OF_THE_QUEUE = {"one_task_in_progress": True, "changes_tracked_in_task": True, "at_least_one_actionable_task": True}
"""States that are so because work goes through a queue: one claim at a time, and each step kept with its task."""
MOST_NAMED = 4


def workflow_of(spec: TaskSpec) -> Workflow | None:
    """The workflow whose rules apply; ``None`` when none of that name is known here."""
    return shipped(spec.workflow) if spec.workflow in shipped_names() else None


def rules_named(spec: TaskSpec) -> tuple[str, ...]:
    """The rules that will apply, as a person reads them; what is left out is counted."""
    workflow = workflow_of(spec)
    if workflow is None:
        return ()
    named = [each.title or each.text for each in workflow.rules]
    named.sort(key=lambda name: name not in {each.title for each in workflow.rules})
    more = len(named) - MOST_NAMED
    return (*named[:MOST_NAMED], *((f"and {more} more",) if more > 0 else ()))


def stepped(task: QueuedTask, *actions: str, facts: Mapping[str, bool] = NONE) -> Step:
    """What is done now, with the states as it begins. ``facts`` are those that no action of the workflow sets; what
    nobody says of these is not so."""
    workflow = workflow_of(task.spec)
    if workflow is None:
        return Step(do=actions)
    unset = {name: False for name, predicate in workflow.predicates.items() if not predicate.set_by}
    before = [step.do for step in task.steps]
    steps = planned(tuple(workflow.predicates.values()), [*before, actions], given={**unset, **OF_THE_QUEUE, **facts})
    return steps[-1]


def with_steps(task: QueuedTask, *actions: Sequence[str], facts: Mapping[str, bool] = NONE) -> QueuedTask:
    """The task with these steps done, one after the other."""
    for do in actions:
        task = task.model_copy(update={"steps": (*task.steps, stepped(task, *do, facts=facts))})
    return task


def objections(task: QueuedTask, *actions: str, facts: Mapping[str, bool] = NONE) -> tuple[Checked, ...]:
    """The rules that keep these actions from being done now."""
    workflow = workflow_of(task.spec)
    if workflow is None:
        return ()
    report = check(
        workflow.rules, (*task.steps, stepped(task, *actions, facts=facts)), workflow.vocabulary, closed=False
    )
    return tuple(each for each in report.rules if each.blocks and _late(each, len(task.steps)))


def unfinished(task: QueuedTask) -> tuple[Checked, ...]:
    """The rules that are not kept if nothing more is done: while there are any, the task is not done."""
    workflow = workflow_of(task.spec)
    if workflow is None or not task.steps:
        return ()
    return tuple(each for each in check(workflow.rules, task.steps, workflow.vocabulary).rules if each.blocks)


def refusal(checked: Sequence[Checked]) -> tuple[str, ...]:
    """What to do instead, and which rule says so."""
    remedies = dict.fromkeys(each.remedy for each in checked)
    return (*remedies, *(f"Rule: {each.stated.title or each.stated.text}." for each in checked))


def _late(checked: Checked, first: int) -> bool:
    steps = checked.judgement.violations if checked.verdict is Verdict.VIOLATED else checked.judgement.unknown
    return any(at >= first for at in steps)

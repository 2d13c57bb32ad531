"""Decide whether a task is done: check its rules against the reported steps, and look up facts.

If neither decides, the task waits for the person.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Literal, assert_never

from fateforger.agents import format_executor
from fateforger.constraints import select_newest
from fateforger.constraints.kinds import Status
from fateforger.errors import BadInput
from fateforger.mcp.reach import AgentAccess, Caller, find_day
from fateforger.ports.tasks import Change
from fateforger.session.gates import is_committed
from fateforger.tasks import QueuedTask, TaskState, Work
from fateforger.tasks.model import BlockTime, Decompose, Do, PlanDay, ReviewConstraints, ReviewParts
from fateforger.values import replace
from fateforger.workflow import Step, Workflow, check, list_shipped, load_shipped, read_step
from fateforger.workflow.predicates import CommandOutput, Described, FileContent, Predicate
from fateforger.workflow.predicates import TaskState as TaskFact

_LONGEST_OUTCOME = 1_000


async def judge_outcome(
    task: QueuedTask,
    outcome: Literal["done", "failed"],
    evidence: str,
    steps: Sequence[Step],
    caller: Caller,
    reach: AgentAccess,
) -> Change:
    """Return the change for a task that its executor ends.

    Raises ``BadInput`` with the remedy if the task is reported as done although a rule of its workflow is violated.
    """
    told = f"{format_executor(caller.client)}: {' '.join(evidence.split())}"[:_LONGEST_OUTCOME]
    if outcome == "failed":
        return _build_change(TaskState.FAILED, told, steps)
    believed = _check_steps(task, steps)
    work = task.spec.work
    if await _is_done(work, task, caller, reach):
        return _build_change(TaskState.DONE, told, believed)
    place = await _find_session_id(work.date, caller, reach) if isinstance(work, PlanDay) else task.place
    return _build_change(TaskState.WAITING, told, believed, place=place)


def _build_change(state: TaskState, outcome: str, steps: Sequence[Step], *, place: str = "") -> Change:
    def change(task: QueuedTask) -> QueuedTask:
        return replace(task, state=state, outcome=outcome, steps=(*task.steps, *steps), place=place)

    return change


def _check_steps(task: QueuedTask, steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return the steps, reduced to what an agent can vouch for. Raises ``BadInput`` if they break a rule."""
    if task.spec.workflow not in list_shipped():
        if steps:
            raise BadInput("This task has no workflow, so there are no names for steps; leave them out.", where="steps")
        return ()
    workflow = load_shipped(task.spec.workflow)
    read = [
        read_step(step.model_dump(mode="json"), workflow.vocabulary, f"steps[{at}]") for at, step in enumerate(steps)
    ]
    believed = tuple(_filter_states(step, workflow, task) for step in read)
    report = check(workflow.rules, (*task.steps, *believed), workflow.vocabulary)
    stops = [each for each in report.rules if each.blocks]
    if stops:
        said = " ".join(f"{each.stated.id} is {each.verdict.value}: {each.remedy}" for each in stops[:5])
        raise BadInput(f"By the rules of {workflow.name} this is not done yet. {said}", where="steps")
    return believed


def _filter_states(step: Step, workflow: Workflow, task: QueuedTask) -> Step:
    """Return a step with only credible states.

    Facts of the task itself decide. States that only the person or the session can confirm stay unknown, whoever claims
    them.
    """
    true, unknown = set[str](), set(step.unknown)
    for name in {
        *step.true,
        *step.unknown,
        *(n for n, p in workflow.predicates.items() if _is_confirmed_by_task(p, task)),
    }:
        predicate = workflow.predicates[name]
        if _is_confirmed_by_task(predicate, task) or (name in step.true and _can_agent_know(predicate)):
            true.add(name)
        elif name in step.true:
            unknown.add(name)
    return Step(do=step.do, true=tuple(sorted(true)), unknown=tuple(sorted(unknown - true)))


def _is_confirmed_by_task(predicate: Predicate, task: QueuedTask) -> bool:
    return any(isinstance(check, TaskFact) and _holds(check, task) for check in predicate.checks)


def _holds(fact: TaskFact, task: QueuedTask) -> bool:
    fields = {
        "body": _body(task),
        "state": task.state.value,
        "status": task.state.value,
        "title": task.spec.title,
        "project": task.spec.project,
        "priority": str(task.spec.priority),
    }
    if fact.field == "tags":
        return fact.contains in task.spec.tags
    text = fields.get(fact.field)
    if text is None:
        return False
    return text == fact.equals if fact.equals is not None else fact.contains is not None and fact.contains in text


def _body(task: QueuedTask) -> str:
    spec = task.spec
    return "\n".join((spec.context, *spec.relevant_files, *spec.acceptance_criteria, spec.workflow))


def _can_agent_know(predicate: Predicate) -> bool:
    """Check whether an agent can know this state: from a file, a command, or a predicate that names no other judge."""
    checks = predicate.checks
    return not checks or any(isinstance(check, FileContent | CommandOutput | Described) for check in checks)


async def _is_done(work: Work, task: QueuedTask, caller: Caller, reach: AgentAccess) -> bool:
    match work:
        case PlanDay(date=day):
            return await _is_committed(day, caller, reach)
        case BlockTime(date=day):
            return await _has_block(day, task.spec.title, caller, reach)
        case ReviewConstraints():
            versions = await reach.constraints_of(caller.user_id)
            now = select_newest(versions, caller.user_id).values()
            return not any(v.record.status is Status.PROPOSED and not v.retired for v in now)
        case Decompose() | ReviewParts() | Do():
            return False
        case _:
            assert_never(work)


async def _is_committed(day: date, caller: Caller, reach: AgentAccess) -> bool:
    _, _, session = await find_day(reach, caller, day)
    return session is not None and is_committed(session)


async def _find_session_id(day: date, caller: Caller, reach: AgentAccess) -> str:
    """Return the id of the session that plans that day, in which the commit will be noticed; empty if there is none."""
    _, _, session = await find_day(reach, caller, day)
    return "" if session is None else session.id


async def _has_block(day: date, title: str, caller: Caller, reach: AgentAccess) -> bool:
    _, _, session = await find_day(reach, caller, day)
    if session is None or session.plan is None or session.written is None:
        return False
    return title.casefold() in {event.name.casefold() for event in session.plan.events}

"""Tools of the queue: creating, listing, claiming and finishing tasks.

A task is done when its rules agree with the reported steps, or a look-up of facts proves it. If neither decides, the
task waits for the person.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Annotated, Any, Literal, assert_never

from pydantic import Field

from fateforger.agents.access import AgentAccess, Caller, Input, Tool, find_day
from fateforger.agents.clients import Scope, format_executor
from fateforger.errors import BadInput
from fateforger.memory.versions import select_newest
from fateforger.memory.vocabulary import Status
from fateforger.planning.task_details import PLAIN, TaskDetails
from fateforger.session.gate import is_committed
from fateforger.tasks.ports import Change
from fateforger.tasks.queue import NewTask
from fateforger.tasks.task import (
    NORMAL,
    TEXT_LENGTH,
    TITLE_LENGTH,
    BlockTime,
    Decompose,
    Do,
    Origin,
    PlanDay,
    Priority,
    QueuedTask,
    ReviewConstraints,
    ReviewParts,
    TaskSpec,
    TaskState,
    Work,
)
from fateforger.values import replace
from fateforger.workflow.conformance import check
from fateforger.workflow.definition import Workflow, list_shipped, load_shipped
from fateforger.workflow.predicates import Check, Predicate
from fateforger.workflow.trace import Step, read_step


def describe_task(task: QueuedTask) -> dict[str, Any]:
    """Return the fields and the state of a task."""
    claim = task.claim
    return {
        "id": task.id,
        "state": task.state.value,
        **task.spec.model_dump(mode="json"),
        "from": task.origin.model_dump(mode="json"),
        "goal": task.goal,
        "blocked_by": list(task.blocked_by),
        "claimed_by": None if claim is None else claim.executor,
        "claimed_until": None if claim is None else claim.until.isoformat(),
        "outcome": task.outcome,
        "created_at": task.created_at.isoformat(),
    }


def describe_task_with_rules(task: QueuedTask) -> dict[str, Any]:
    """Return the document with the task's rules, the names they use, and the condition for its completion."""
    document = describe_task(task) | {"completes": describe_completion(task.spec.work), "rules": [], "names": None}
    if task.spec.workflow not in list_shipped():
        return document
    workflow = load_shipped(task.spec.workflow)
    rules = [
        {"id": each.id, "rule": each.text, "title": each.title, "necessity": each.necessity} for each in workflow.rules
    ]
    names = {"actions": sorted(workflow.actions), "states": sorted(workflow.predicates)}
    return document | {"rules": rules, "names": names}


def describe_completion(work: Work) -> str:
    """Return a sentence about what completes the task."""
    match work:
        case PlanDay(date=day):
            return f"It is done when the plan of {day} was committed."
        case ReviewConstraints():
            return "It is done when no constraint waits for the person's word any more."
        case BlockTime(date=day):
            return f"It is done when the plan of {day} holds a block for it."
        case Decompose() | ReviewParts():
            return "It is done when the person approved the parts."
        case Do():
            return "It is done by the person's word; until then it waits for them."


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
    checked = check(workflow.rules, (*task.steps, *believed), workflow.vocabulary)
    stops = [each for each in checked if each.blocks]
    if stops:
        said = " ".join(f"{each.stated.id} is {each.verdict.value}: {each.remedy}" for each in stops[:5])
        raise BadInput(f"By the rules of {workflow.name} this is not done yet. {said}", where="steps")
    return believed


def _filter_states(step: Step, workflow: Workflow, task: QueuedTask) -> Step:
    """Return a step with only credible states.

    Facts of the task itself decide. States that only the person or the session can confirm stay unknown, even if
    claimed.
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
    return any(check.kind == "task" and _holds(check, task) for check in predicate.checks)


def _holds(fact: Check, task: QueuedTask) -> bool:
    fields = {
        "body": _body(task),
        "state": task.state.value,
        "status": task.state.value,
        "title": task.spec.title,
        "project": task.spec.project,
        "priority": str(task.spec.priority),
    }
    if fact.about == "tags":
        return fact.contains in task.spec.tags
    text = fields.get(fact.about)
    if text is None:
        return False
    return text == fact.equals if fact.equals is not None else fact.contains is not None and fact.contains in text


def _body(task: QueuedTask) -> str:
    spec = task.spec
    return "\n".join((spec.context, *spec.relevant_files, *spec.acceptance_criteria, spec.workflow))


def _can_agent_know(predicate: Predicate) -> bool:
    """Check whether an agent can know this state: from a file, a command, or a predicate that names no other judge."""
    checks = predicate.checks
    return not checks or any(check.kind in {"file", "command", "judged"} for check in checks)


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
    if session is None or session.planning.plan is None or session.sync.written is None:
        return False
    return title.casefold() in {event.name.casefold() for event in session.planning.plan.events}


LEASE_MINUTES = 60
GONE = "There is no task {} in this queue; list_tasks shows those that are there."

Id = Annotated[str, Field(min_length=1, max_length=100)]
Line = Annotated[str, Field(min_length=1, max_length=TITLE_LENGTH)]


class CreateTask(Input):
    title: str = Field(min_length=1, max_length=TITLE_LENGTH, description="What is to be done, in one line")
    work: Work = Field(Do(), description="The kind of work; left out, something to do")
    project: str = Field("", max_length=100)
    priority: Priority = Field(NORMAL, description="0 urgent, 1 high, 2 normal, 3 low, 4 some day")
    tags: tuple[Annotated[str, Field(min_length=1, max_length=60)], ...] = Field((), max_length=20)
    context: str = Field("", max_length=TEXT_LENGTH, description="What one has to know to do it")
    relevant_files: tuple[Line, ...] = Field((), max_length=50)
    acceptance_criteria: tuple[Line, ...] = Field((), max_length=50, description="When it is done")
    workflow: str = Field("", max_length=100, description=f"Whose rules apply: {', '.join(list_shipped())}, or none")
    details: TaskDetails = Field(PLAIN, description="Its kind, time, due day, place and the like, for the day's plan")
    blocked_by: tuple[Id, ...] = Field((), max_length=50, description="Ids of tasks that have to be done before")
    once: str = Field("", max_length=100, description="A name of yours: a second call with the same one adds nothing")


class ListTasks(Input):
    ended: bool = Field(default=False, description="Also those that are done or stopped")


class Pull(Input):
    task_id: Id | None = Field(None, description="That one; left out, the next of the queue")
    minutes: int = Field(LEASE_MINUTES, ge=1, le=480, description="How long you claim it for")


class FinishTask(Input):
    task_id: Id
    outcome: Literal["done", "failed"]
    evidence: str = Field(min_length=1, max_length=TEXT_LENGTH, description="What was done, or why it failed")
    steps: tuple[Step, ...] = Field(
        (), max_length=500, description="What was done, step by step, in the names of the task's workflow"
    )


async def create_task(given: CreateTask, caller: Caller, reach: AgentAccess) -> dict[str, Any]:
    """Add a task to the end of the person's queue."""
    if given.workflow and given.workflow not in list_shipped():
        known = ", ".join(list_shipped())
        raise BadInput(f"There is no workflow “{given.workflow}”. Workflows are {known}.", where="workflow")
    spec = TaskSpec.model_validate(given.model_dump(exclude={"blocked_by", "once"}))
    origin = Origin(door="mcp", reference=caller.client.name)
    cause = f"{format_executor(caller.client)} {given.once or f'#{caller.number}'}"
    new = NewTask(spec=spec, origin=origin, blocked_by=given.blocked_by)
    (task,) = await reach.tasks.add(caller.user_id, [new], cause=cause, now=caller.at)
    return {"task": describe_task(task)}


async def list_tasks(given: ListTasks, caller: Caller, reach: AgentAccess) -> dict[str, Any]:
    """Return the tasks in queue order."""
    tasks = await reach.tasks.of(caller.user_id, ended=given.ended)
    return {"tasks": [describe_task(task) for task in tasks]}


async def pull(given: Pull, caller: Caller, reach: AgentAccess) -> dict[str, Any]:
    """Claim a task for this client until it is finished or the time is up."""
    task = await reach.tasks.claim(
        caller.user_id,
        format_executor(caller.client),
        now=caller.at,
        lease_seconds=timedelta(minutes=given.minutes).total_seconds(),
        task_id=given.task_id,
    )
    if task is None:
        return {"task": None, "message": await _explain_nothing(given, caller, reach)}
    return {"task": describe_task_with_rules(task)}


async def finish_task(given: FinishTask, caller: Caller, reach: AgentAccess) -> dict[str, Any]:
    """End a claim. A task that is reported as done is checked against its rules and against known facts."""
    task = await reach.tasks.get(caller.user_id, given.task_id)
    if task is None:
        raise BadInput(GONE.format(given.task_id), where="task_id")
    _check_claim(task, caller)
    change = await judge_outcome(task, given.outcome, given.evidence, given.steps, caller, reach)
    settled = await reach.tasks.settle(task, change, now=caller.at)
    if settled is None:
        raise BadInput("The claim on this task was lost meanwhile, so nothing was changed; pull it again.")
    return {"task": describe_task(settled)}


async def _explain_nothing(given: Pull, caller: Caller, reach: AgentAccess) -> str:
    if given.task_id is None:
        return "There is nothing to pull: the queue is empty, or all that is in it waits for something."
    task = await reach.tasks.get(caller.user_id, given.task_id)
    if task is None:
        raise BadInput(GONE.format(given.task_id), where="task_id")
    blocked = task.state is TaskState.ACTIVE and task.blocked_by
    return f"This task cannot be pulled now: it is {'blocked by another one' if blocked else task.state.value}."


def _check_claim(task: QueuedTask, caller: Caller) -> None:
    claim = task.claim
    if claim is None or claim.executor != format_executor(caller.client) or claim.until <= caller.at:
        raise BadInput(
            "You have not claimed this task, or the time is up; pull it first, then finish it.", where="task_id"
        )


TASK_TOOLS = (
    Tool("create_task", "Put a task at the end of the person's queue.", Scope.TASKS_WRITE, CreateTask, create_task,
         writes=True),
    Tool("list_tasks", "The person's queue, in the order in which tasks are pulled.", Scope.TASKS_READ, ListTasks,
         list_tasks),
    Tool("pull", "Claim a task to carry it out, the next one or that of an id. It comes with the rules of its workflow;"
         " finish_task ends the claim.", Scope.TASKS_WRITE, Pull, pull, writes=True),
    Tool("finish_task", "Say that a task you claimed is done or failed, with evidence. The rules of its workflow are"
         " checked; what only the person can confirm waits for them.", Scope.TASKS_WRITE, FinishTask, finish_task,
         writes=True),
)  # fmt: skip

"""Tools of the queue: create, list, claim and finish tasks."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from fateforger.agents import Scope, format_executor
from fateforger.errors import BadInput
from fateforger.mcp.completion import judge_outcome
from fateforger.mcp.reach import AgentAccess, Caller
from fateforger.mcp.task_words import describe_task, describe_task_with_rules
from fateforger.mcp.tool import Input, Tool
from fateforger.tasks import NewTask, Origin, QueuedTask, TaskSpec, TaskState, Work
from fateforger.tasks.model import NORMAL, TEXT_LENGTH, TITLE_LENGTH, Do, Priority
from fateforger.workflow import Step, list_shipped

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

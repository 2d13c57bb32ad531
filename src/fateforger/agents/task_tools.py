"""Tools of the queue: creating, listing, claiming and finishing tasks.

An agent reports steps; the gate of the queue (:mod:`fateforger.tasks.gate`) judges them. A task is done when a look at
the facts proves it. Otherwise it waits for the person, with what they have to say of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Annotated, Any, Literal, assert_never

from pydantic import Field

from fateforger.agents.access import AgentAccess, Caller, Input, Tool, find_day
from fateforger.agents.clients import Scope, format_executor
from fateforger.errors import BadInput
from fateforger.limits import (
    MAX_LABEL_CHARS,
    MAX_NOTES_CHARS,
    MAX_OUTCOME_CHARS,
    MAX_PARTS,
    MAX_STEP_ACTIONS,
    MAX_STEPS,
    MAX_TAG_CHARS,
    MAX_TASK_ID_CHARS,
    MAX_TASK_LINKS,
    MAX_TASK_TAGS,
    MAX_TITLE_CHARS,
)
from fateforger.memory.versions import select_newest
from fateforger.memory.vocabulary import Status
from fateforger.planning.task_details import PLAIN, TaskDetails, usual_details
from fateforger.session.gate import is_committed
from fateforger.tasks.gate import (
    Report,
    Seen,
    ask_person,
    begin_task,
    judge_report,
    keep_progress,
    look_up,
    record_steps,
    refuse_broken,
)
from fateforger.tasks.parts import Part, Parts, lay_out_parts, recall_parts
from fateforger.tasks.ports import Change
from fateforger.tasks.queue import NewTask
from fateforger.tasks.task import (
    NORMAL,
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
from fateforger.text import join_sentences
from fateforger.values import replace
from fateforger.workflow.definition import Workflow


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


def describe_task_with_rules(task: QueuedTask, workflow: Workflow | None) -> dict[str, Any]:
    """Return the document with the task's rules, the names they use, and the condition for its completion."""
    document = describe_task(task) | {"completes": describe_completion(task.spec.work), "rules": [], "names": None}
    if workflow is None:
        return document
    rules = [
        {"id": each.id, "rule": each.text, "title": each.title, "necessity": each.necessity} for each in workflow.rules
    ]
    names = {"actions": list(workflow.actions), "states": sorted(workflow.predicates)}
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


async def judge_outcome(
    task: QueuedTask,
    outcome: Literal["done", "failed"],
    evidence: str,
    steps: Sequence[ReportedStep],
    caller: Caller,
    reach: AgentAccess,
) -> Change:
    """Return the change for a task that its executor ends. The steps of a failed attempt are not kept.

    Raises ``BadInput`` with the remedy if the task is reported as done although a rule of its workflow is violated.
    """
    told = f"{format_executor(caller.client)}: {' '.join(evidence.split())}"[:MAX_OUTCOME_CHARS]
    if outcome == "failed":
        return _build_change(task, TaskState.FAILED, told)
    believed, question = await _judge_steps(task, steps, reach)
    work = task.spec.work
    if await _is_done(work, task, caller, reach):
        return _build_change(believed, TaskState.DONE, told)
    place = await _find_session_id(work.date, caller, reach) if isinstance(work, PlanDay) else task.place
    return _build_change(believed, TaskState.WAITING, join_sentences(told, question), place=place)


def _build_change(believed: QueuedTask, state: TaskState, outcome: str, *, place: str = "") -> Change:
    def change(task: QueuedTask) -> QueuedTask:
        return replace(keep_progress(task, believed), state=state, outcome=outcome, place=place)

    return change


async def _judge_steps(task: QueuedTask, steps: Sequence[ReportedStep], reach: AgentAccess) -> tuple[QueuedTask, str]:
    """Return the task with an agent's steps, and what the person has to answer before it is done; empty for nothing.

    Raises ``BadInput`` if a rule is violated.
    """
    workflow = reach.workflows.of(task.spec)
    if workflow is None:
        if steps:
            raise BadInput("This task has no workflow, so there are no names for steps; leave them out.", where="steps")
        return task, ""
    judged = judge_report(task, workflow, _build_report(steps), await _look_up(task, workflow, reach), closes=True)
    refuse_broken(judged)
    return judged.task, ask_person(judged.questions) if judged.open else ""


def _build_report(steps: Sequence[ReportedStep]) -> Report:
    return Report(tuple(step.do for step in steps), by_agent=True)


async def _look_up(task: QueuedTask, workflow: Workflow | None, reach: AgentAccess, *, at_once: bool = False) -> Seen:
    everything = await reach.tasks.of(task.user_id, ended=True)
    return await look_up(task, workflow, everything, reach.facts, at_once=at_once)


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

Id = Annotated[str, Field(min_length=1, max_length=MAX_TASK_ID_CHARS)]
Line = Annotated[str, Field(min_length=1, max_length=MAX_TITLE_CHARS)]


class CreateTask(Input):
    title: str = Field(min_length=1, max_length=MAX_TITLE_CHARS, description="What is to be done, in one line")
    work: Work = Field(Do(), description="The kind of work; left out, something to do")
    project: str = Field("", max_length=MAX_LABEL_CHARS)
    priority: Priority = Field(NORMAL, description="0 urgent, 1 high, 2 normal, 3 low, 4 some day")
    tags: tuple[Annotated[str, Field(min_length=1, max_length=MAX_TAG_CHARS)], ...] = Field(
        (), max_length=MAX_TASK_TAGS
    )
    context: str = Field("", max_length=MAX_NOTES_CHARS, description="What one has to know to do it")
    relevant_files: tuple[Line, ...] = Field((), max_length=MAX_TASK_LINKS)
    acceptance_criteria: tuple[Line, ...] = Field((), max_length=MAX_TASK_LINKS, description="When it is done")
    workflow: str = Field(
        "", max_length=MAX_LABEL_CHARS, description="Whose rules apply: the name of a workflow, or none"
    )
    details: TaskDetails = Field(PLAIN, description="Its kind, time, due day, place and the like, for the day's plan")
    blocked_by: tuple[Id, ...] = Field(
        (), max_length=MAX_TASK_LINKS, description="Ids of tasks that have to be done before"
    )
    once: str = Field(
        "", max_length=MAX_TASK_ID_CHARS, description="A name of yours: a second call with the same one adds nothing"
    )


class ListTasks(Input):
    ended: bool = Field(default=False, description="Also those that are done or stopped")


class Pull(Input):
    task_id: Id | None = Field(None, description="That one; left out, the next of the queue")
    minutes: int = Field(LEASE_MINUTES, ge=1, le=480, description="How long you claim it for")


class ReportedStep(Input):
    """A step. States cannot be reported: they are looked up, or the person is asked."""

    do: tuple[Line, ...] = Field(max_length=MAX_STEP_ACTIONS, description="The actions of this step")


Steps = Annotated[
    tuple[ReportedStep, ...],
    Field(max_length=MAX_STEPS, description="What was done, step by step, in the names of the task's workflow"),
]


class RecordSteps(Input):
    task_id: Id
    steps: Steps = Field(min_length=1)


class LayOutParts(Input, Parts):
    task_id: Id
    parts: tuple[Part, ...] = Field(min_length=1, max_length=MAX_PARTS, description="Three to seven are enough")


class FinishTask(Input):
    task_id: Id
    outcome: Literal["done", "failed"]
    evidence: str = Field(min_length=1, max_length=MAX_NOTES_CHARS, description="What was done, or why it failed")
    steps: Steps = ()


async def create_task(given: CreateTask, caller: Caller, reach: AgentAccess) -> dict[str, Any]:
    """Add a task to the end of the person's queue."""
    spec = TaskSpec.model_validate(given.model_dump(exclude={"blocked_by", "once"}))
    if isinstance(spec.work, Do) and "kind" not in given.details.model_fields_set:
        spec = replace(spec, details=replace(spec.details, kind=usual_details(spec.work.minutes).kind))
    reach.workflows.check_spec(spec)
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
    today, _tz, _session = await find_day(reach, caller, None)
    task = await reach.tasks.claim(
        caller.user_id,
        format_executor(caller.client),
        now=caller.at,
        lease_seconds=timedelta(minutes=given.minutes).total_seconds(),
        task_id=given.task_id,
        today=today,
    )
    if task is None:
        return {"task": None, "message": await _explain_nothing(given, caller, reach)}
    try:
        workflow = reach.workflows.of(task.spec)
        claimed = begin_task(task, workflow, await _look_up(task, workflow, reach, at_once=True), by_agent=True)
    except BadInput:
        await reach.tasks.settle(task, lambda now: replace(now, state=TaskState.ACTIVE), now=caller.at)
        raise
    await reach.tasks.settle(task, lambda now: keep_progress(now, claimed), now=caller.at)
    return {"task": describe_task_with_rules(task, workflow)}


async def record_agent_steps(given: RecordSteps, caller: Caller, reach: AgentAccess) -> dict[str, Any]:
    """Record steps of a claimed task as they are done, so that what they depend on is looked up at that time."""
    task = await _find_claimed(given.task_id, caller, reach)
    workflow = reach.workflows.of(task.spec)
    if workflow is None:
        raise BadInput("This task has no workflow, so there are no names for steps.", where="steps")
    seen = await _look_up(task, workflow, reach)
    recorded = record_steps(task, workflow, _build_report(given.steps), seen)
    settled = await reach.tasks.settle(task, lambda now: keep_progress(now, recorded), now=caller.at)
    return {"task": describe_task(_require_claim(settled))}


async def add_parts(given: LayOutParts, caller: Caller, reach: AgentAccess) -> dict[str, Any]:
    """Add the parts of a claimed goal, and their review, to the person's queue, once."""
    goal = await _find_claimed(given.task_id, caller, reach)
    if not isinstance(goal.spec.work, Decompose):
        raise BadInput("This task is no goal to break into parts.", where="task_id")
    workflow = reach.workflows.of(goal.spec)
    added = tuple(each for each in await reach.tasks.of(caller.user_id, ended=True) if each.goal == goal.id)
    if not added:
        parts = Parts.model_validate(given.model_dump(exclude={"task_id"}))
        seen = await _look_up(goal, workflow, reach)
        after, new = lay_out_parts(goal, workflow, parts, seen, by_agent=True)
        added = await reach.tasks.add(caller.user_id, new, cause=f"parts of {goal.id}", now=caller.at)
    elif workflow is None or len(goal.steps) > 1:
        raise BadInput("This goal has its parts already. Call finish_task; they wait until the person approves them.")
    else:  # an earlier attempt added all of them
        after = recall_parts(goal, workflow)

    def change(now: QueuedTask) -> QueuedTask:
        return replace(keep_progress(now, after), spec=replace(now.spec, context=after.spec.context))

    _require_claim(await reach.tasks.settle(goal, change, now=caller.at))
    return {"tasks": [describe_task(task) for task in added]}


async def finish_task(given: FinishTask, caller: Caller, reach: AgentAccess) -> dict[str, Any]:
    """End a claim. A task that is reported as done is checked against its rules and against known facts."""
    task = await _find_claimed(given.task_id, caller, reach)
    change = await judge_outcome(task, given.outcome, given.evidence, given.steps, caller, reach)
    settled = await reach.tasks.settle(task, change, now=caller.at)
    return {"task": describe_task(_require_claim(settled))}


async def _find_claimed(task_id: str, caller: Caller, reach: AgentAccess) -> QueuedTask:
    task = await reach.tasks.get(caller.user_id, task_id)
    if task is None:
        raise BadInput(GONE.format(task_id), where="task_id")
    _check_claim(task, caller)
    return task


def _require_claim(settled: QueuedTask | None) -> QueuedTask:
    if settled is None:
        raise BadInput("The claim on this task was lost meanwhile, so nothing was changed; pull it again.")
    return settled


async def _explain_nothing(given: Pull, caller: Caller, reach: AgentAccess) -> str:
    if given.task_id is None:
        return "There is nothing to pull: the queue is empty, or all that is in it waits, or is for a later day."
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
    Tool("record_steps", "Record steps of a task you claimed as you do them, in the names of its workflow: a rule that"
         " forbids one is named at once, and what it depends on is looked up at that time.", Scope.TASKS_WRITE,
         RecordSteps, record_agent_steps, writes=True),
    Tool("lay_out_parts", "Put the parts of a goal you claimed into the queue, with what you assume and how to check"
         " that. They wait until the person approves them.", Scope.TASKS_WRITE, LayOutParts, add_parts, writes=True),
    Tool("finish_task", "Say that a task you claimed is done or failed, with evidence. The rules of its workflow are"
         " checked; what only the person can confirm waits for them.", Scope.TASKS_WRITE, FinishTask, finish_task,
         writes=True),
)  # fmt: skip

"""Break a goal into parts, by a model or by the person, and have them approved (S168)."""

from __future__ import annotations

import logging

from fateforger.coordinator.dispositor.cards import SHOW, build_reply, build_task_card
from fateforger.coordinator.dispositor.known import read_queue
from fateforger.coordinator.executor.carried import MOST_HANDLED, TaskResult, Tools
from fateforger.errors import BadInput, ModelError
from fateforger.session.cards import Card
from fateforger.session.commands.queue import WriteParts
from fateforger.tasks import Decompose, QueuedTask, ReviewParts, TaskSpec, TaskState
from fateforger.tasks.parts import lay_out_parts
from fateforger.tasks.ruled import with_steps
from fateforger.turn.decomposing import decompose_goal

_WHOLE = (
    ("articulate_goal",),
    ("document_assumptions",),
    ("identify_probes",),
    ("create_components", "create_placeholder", "create_probe"),
    ("create_review_task",),
)
log = logging.getLogger(__name__)

BY_HAND = "Which parts does it have? Write them down, with what you assume; I put them into your queue."
PROPOSED = "These are the parts that I propose. They wait until you approve them in the review."
APPROVED = "You approved the parts."
NO_MODEL = "Without a language model I cannot propose parts at once; pull the goal from your queue and write them down."


async def propose_parts(tools: Tools, task: QueuedTask, key: str) -> TaskResult:
    """Propose parts and put them into the queue, once per ``key``; without a model, ask the person for them."""
    there = [each for each in await tools.tasks.of(task.user_id, ended=True) if each.goal == task.id]
    if there:  # an earlier attempt added all of them
        after = with_steps(task, *() if task.steps[1:] else _WHOLE)
        return TaskResult(TaskState.WAITING, PROPOSED, steps=after.steps[len(task.steps) :])
    if tools.model is None:
        return TaskResult(TaskState.WAITING, BY_HAND)
    try:
        parts = await decompose_goal(task.spec, tools.model, now=tools.clock.now(), tz=tools.tz)
        after, new = lay_out_parts(task, parts)
    except (ModelError, BadInput) as error:
        log.warning("no parts are proposed for %s: %s", task.id, error.message)
        return TaskResult(TaskState.WAITING, BY_HAND)
    await tools.tasks.add(task.user_id, new, cause=f"{key}/parts", now=tools.clock.now())
    steps = after.steps[len(task.steps) :]
    return TaskResult(TaskState.WAITING, PROPOSED, steps=steps, context=after.spec.context)


async def list_parts(tools: Tools, spec: TaskSpec) -> TaskResult:
    """Return the parts as text, without adding tasks. Raises ``ModelError`` and ``BadInput``."""
    if tools.model is None:
        raise BadInput(NO_MODEL)
    parts = await decompose_goal(spec, tools.model, now=tools.clock.now(), tz=tools.tz)
    listed = "\n".join(f"- {f'[{part.tag}] ' if part.tag else ''}{part.title}" for part in parts.parts)
    return TaskResult(TaskState.DONE, f"{parts.goal}\n{listed}")


async def write_parts(tools: Tools, command: WriteParts) -> Card:
    """Put the parts that the person wrote down into the queue, once. Raises ``StoreError``."""
    task = await tools.tasks.get(command.user_id, command.task_id)
    if task is None or not isinstance(task.spec.work, Decompose):
        return build_reply(f"There is no goal `{command.task_id}` in your queue.", SHOW)
    if command.command_id not in task.handled:
        if task.state is not TaskState.WAITING:
            return build_reply(f"“{task.spec.title}” was not pulled, so it has no parts yet.", SHOW)
        try:
            after, new = lay_out_parts(task, command.parts)
        except BadInput as error:
            return build_reply(error.message, SHOW)
        await tools.tasks.add(command.user_id, new, cause=command.command_id, now=command.at)
        changes = {
            "spec": after.spec,
            "steps": after.steps,
            "outcome": PROPOSED,
            "handled": (*task.handled, command.command_id)[-MOST_HANDLED:],
        }
        changed = await tools.tasks.change(
            command.user_id, task.id, lambda now: now.model_copy(update=changes), now=tools.clock.now()
        )
        task = changed or task
    return build_task_card(task, await read_queue(tools.tasks, command.user_id))


async def check_approval(tools: Tools, goal: QueuedTask) -> TaskResult | None:
    """Return the result of a goal whose parts have to be approved; ``None`` until they are."""
    parts = [each for each in await tools.tasks.of(goal.user_id, ended=True) if each.goal == goal.id]
    reviews = [each for each in parts if isinstance(each.spec.work, ReviewParts)]
    if not any(review.state is TaskState.DONE for review in reviews):
        return None
    after = with_steps(goal, ("approve_review",))
    return TaskResult(TaskState.DONE, APPROVED, steps=after.steps[len(goal.steps) :])

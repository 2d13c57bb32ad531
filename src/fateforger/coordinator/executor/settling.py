"""Apply a person's decision about a task: verify it, then store it, once (S162)."""

from __future__ import annotations

from typing import assert_never

from fateforger.coordinator.dispositor.cards import SHOW, build_reply, build_task_card
from fateforger.coordinator.dispositor.known import read_queue
from fateforger.coordinator.executor.carried import MOST_HANDLED, Tools
from fateforger.errors import BadInput
from fateforger.session.cards import Card
from fateforger.session.commands.queue import SettleTask
from fateforger.tasks import Do, QueuedTask, ReviewParts, TaskState
from fateforger.tasks.ruled import objections, refusal, unfinished_rules, with_steps, workflow_of
from fateforger.values import replace


async def settle(tools: Tools, command: SettleTask) -> Card:
    """Apply a person's decision about a task and return its card. Raises ``StoreError``."""
    try:
        task = await tools.tasks.change(
            command.user_id, command.task_id, lambda now: apply_decision(now, command), now=tools.clock.now()
        )
    except BadInput as error:
        return build_reply(error.message, SHOW)
    if task is None:
        return build_reply(f"There is no task `{command.task_id}` in your queue.", SHOW)
    return build_task_card(task, await read_queue(tools.tasks, command.user_id))


def apply_decision(task: QueuedTask, command: SettleTask) -> QueuedTask:
    """Return the task after the person's decision. A repeated decision changes nothing.

    Raises ``BadInput`` for a decision that makes no sense now, or that a rule forbids.
    """
    if command.command_id in task.handled or command.word == "open":
        return task
    after = _decide(task, command)
    return replace(after, handled=(*task.handled, command.command_id)[-MOST_HANDLED:])


def _decide(task: QueuedTask, command: SettleTask) -> QueuedTask:
    title = task.spec.title
    match command.word:
        case "done":
            if task.state is TaskState.DONE:
                raise BadInput(f"“{title}” is done already.")
            if task.state is not TaskState.WAITING or not isinstance(task.spec.work, Do):
                raise BadInput(f"“{title}” was not pulled, so it cannot be done yet.")
            return complete_task(task, command.met, command.did)
        case "put_back":
            if task.state is not TaskState.WAITING:
                raise BadInput(f"“{title}” is not in your hands just now.")
            return replace(task, state=TaskState.ACTIVE, outcome="")
        case "approve":
            if task.state is not TaskState.WAITING or not isinstance(task.spec.work, ReviewParts):
                raise BadInput(f"There is nothing to approve about “{title}” just now.")
            return replace(task, state=TaskState.DONE, outcome="You approved the parts.")
        case "retry":
            return replace(task, state=TaskState.ACTIVE, outcome="")
        case "open":
            return task
        case _:
            assert_never(command.word)


def complete_task(task: QueuedTask, met: tuple[int, ...], did: tuple[str, ...]) -> QueuedTask:
    """Return the task as done, if every criterion is met and no rule objects to the actions in ``did``, in order.

    Raises ``BadInput`` with what is missing.
    """
    criteria = task.spec.acceptance_criteria
    missing = [text for place, text in enumerate(criteria) if place not in met]
    if missing:
        raise BadInput(f"It is not done yet. Still open: {'; '.join(missing)}.")
    workflow = workflow_of(task.spec)
    if workflow is not None:
        for action in did:
            if action not in workflow.actions:
                raise BadInput(f"“{action}” is nothing that the workflow “{workflow.name}” knows.")
            against = objections(task, action)
            if against:
                raise BadInput(" ".join(refusal(against)))
            task = with_steps(task, (action,))
        against = unfinished_rules(task)
        if against:
            raise BadInput(" ".join(refusal(against)))
    return replace(task, state=TaskState.DONE, outcome="You said that it is done.")

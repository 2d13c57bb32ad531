"""``fateforger tasks pull`` and ``done``: take the next task, and complete it, checked by its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

import click

from fateforger.cli.documents import write_json
from fateforger.cli.tasks_looking import describe_task, iter_rules
from fateforger.cli.tasks_store import (
    Queue,
    add_queue_options,
    add_task_argument,
    build_document,
    build_unknown_task_error,
    print_answer,
    read_id,
    run_with_queue,
)
from fateforger.errors import BadInput
from fateforger.values import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fateforger.tasks import QueuedTask

LEASE_SECONDS = 60.0
"""More than enough to record that the task waits for the person."""


@click.command("pull")
@click.argument("task_id", metavar="[TASK]", required=False, callback=read_id)
@add_queue_options
def pull_command(
    ctx: click.Context, task_id: str | None, user_id: str | None, as_json: bool, **where: str | None
) -> None:
    """Take the next task in hand, or that one: it is nobody else's then, and waits until you say that it is done.

    What opens a thread, or changes a day's plan, is carried out in Slack only.
    """

    async def pull(queue: Queue) -> tuple[QueuedTask, Sequence[QueuedTask]]:
        return await _pull_task(queue, task_id), await queue.tasks.of(queue.user_id, ended=True)

    task, tasks = run_with_queue(ctx, user_id, where, pull)
    sentence = f"Say that it is done with: fateforger tasks done {task.id}"
    if as_json:
        write_json({"message": sentence, "task": build_document(task, tasks), "rules": list(iter_rules(task))})
        return
    for text in (*describe_task(task, tasks), sentence):
        click.echo(text)


async def _pull_task(queue: Queue, task_id: str | None) -> QueuedTask:
    """Claim a task and let it wait for the person. Raises ``BadInput`` when there is none available."""
    claimed = await queue.tasks.claim(
        queue.user_id, f"door-{uuid4().hex}", now=queue.now, lease_seconds=LEASE_SECONDS, task_id=task_id
    )
    if claimed is None:
        raise await _explain_nothing(queue, task_id)
    settled = await queue.tasks.settle(claimed, _hand_over, now=queue.now)
    if settled is None:
        raise BadInput("Somebody stopped that task just now.", where="id")
    if settled.state.value == "active":
        raise BadInput(
            f"“{settled.spec.title}” ({settled.id}) is carried out in Slack: write /pull {settled.id} there. Or name"
            " another task here.",
            where="id",
        )
    return settled


def _hand_over(task: QueuedTask) -> QueuedTask:
    """Return the task waiting for the person if it is theirs to do, or back in the queue otherwise."""
    from fateforger.tasks import Do, ReviewParts, TaskState  # noqa: PLC0415  the help text needs none of it

    if not isinstance(task.spec.work, Do | ReviewParts):
        return replace(task, state=TaskState.ACTIVE)
    return replace(task, state=TaskState.WAITING, outcome="It was pulled at the command line.")


async def _explain_nothing(queue: Queue, task_id: str | None) -> BadInput:
    """Return the reason nothing could be pulled (S160)."""
    from fateforger.tasks import STATES, blockers, quote_task  # noqa: PLC0415  the help text needs none of it

    tasks = await queue.tasks.of(queue.user_id, ended=True)
    if task_id is None:
        left = [task for task in tasks if task.state.value not in {"done", "stopped"}]
        if not left:
            return BadInput("The queue is empty, so there is nothing to pull.")
        return BadInput("Nothing can be pulled now: what is in the queue is paused, in hand, or waits for other tasks.")
    task = next((task for task in tasks if task.id == task_id), None)
    if task is None:
        return build_unknown_task_error(task_id)
    first = blockers(task, tasks)
    if task.state.value == "active" and first:
        named = " and ".join(f"{quote_task(t)} ({t.id})" for t in first[:2])
        return BadInput(f"{quote_task(task)} has to wait for {named}.", where="id")
    return BadInput(f"{quote_task(task)} is {STATES[task.state]}, so it cannot be pulled.", where="id")


@click.command("done")
@add_task_argument
@click.option("--met", type=int, multiple=True, metavar="N", help="This acceptance criterion is met (1 is the first).")
@click.option("--all-met", is_flag=True, help="Every acceptance criterion is met.")
@click.option("--did", multiple=True, metavar="ACTION", help="What was done, in order, by the workflow's names.")
@add_queue_options
def done_command(
    ctx: click.Context,
    task_id: str,
    met: tuple[int, ...],
    all_met: bool,
    did: tuple[str, ...],
    user_id: str | None,
    as_json: bool,
    **where: str | None,
) -> None:
    """Say that a task that was pulled is done. Each acceptance criterion has to be met, and no rule of its workflow may
    object to what was done for it."""

    async def end(queue: Queue) -> tuple[QueuedTask, Sequence[QueuedTask]]:
        command_id = f"door-{uuid4().hex}"

        def change(task: QueuedTask) -> QueuedTask:
            return _end_task(task, command_id, queue, met, did, all_met=all_met)

        task = await queue.tasks.change(queue.user_id, task_id, change, now=queue.now)
        if task is None:
            raise build_unknown_task_error(task_id)
        return task, await queue.tasks.of(queue.user_id, ended=True)

    task, tasks = run_with_queue(ctx, user_id, where, end)
    print_answer(f"“{task.spec.title}” is done.", task, tasks, as_json=as_json)


def _end_task(
    task: QueuedTask, command_id: str, queue: Queue, met: Sequence[int], did: tuple[str, ...], *, all_met: bool
) -> QueuedTask:
    """Return the task after the same command as in Slack. Raises ``BadInput`` with what is missing."""
    from fateforger.coordinator.executor.settling import apply_decision  # noqa: PLC0415  heavy
    from fateforger.session.commands.queue import SettleTask  # noqa: PLC0415  heavy
    from fateforger.tasks import ReviewParts  # noqa: PLC0415  the help text needs none of it

    every = range(len(task.spec.acceptance_criteria))
    word = SettleTask(
        command_id=command_id,
        user_id=queue.user_id,
        at=queue.now,
        task_id=task.id,
        word="approve" if isinstance(task.spec.work, ReviewParts) else "done",
        met=tuple(every) if all_met else tuple(number - 1 for number in met),
        did=did,
    )
    return apply_decision(task, word)

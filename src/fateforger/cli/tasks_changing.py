"""``fateforger tasks move``, ``pause`` and so on: actions, each refused with a sentence where it makes no sense."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fateforger.cli.tasks_store import (
    Queue,
    add_queue_options,
    add_task_argument,
    build_unknown_task_error,
    print_answer,
    read_id,
    run_with_queue,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from fateforger.tasks import QueuedTask

    Answer = tuple[str, QueuedTask, Sequence[QueuedTask]]

_PLACES = ("first", "last", "up", "down")


@click.command("move")
@add_task_argument
@click.argument("place", type=click.Choice(_PLACES), required=False)
@click.option("--before", "other", metavar="TASK", callback=read_id, help="Right before that task.")
@add_queue_options
def move_command(
    ctx: click.Context,
    task_id: str,
    place: str | None,
    other: str | None,
    user_id: str | None,
    as_json: bool,
    **where: str | None,
) -> None:
    """Put a task elsewhere in the queue. Among tasks of another priority it takes that priority on."""
    if (place is None) == (other is None):
        raise click.UsageError("Say where: first, last, up, down, or --before TASK.")

    async def do(queue: Queue) -> Answer:
        from fateforger.tasks import QueuePlace, describe_move, move_task  # noqa: PLC0415  the help text needs none of it

        before = await queue.task(task_id)
        to = QueuePlace(place or "before")
        tasks = await queue.tasks.rearrange(
            queue.user_id, lambda there: move_task(there, task_id, to, before=other), now=queue.now
        )
        return describe_move(before, tasks), await queue.task(task_id), tasks

    _run_change(ctx, user_id, where, do, as_json=as_json)


@click.command("priority")
@add_task_argument
@click.argument("priority", type=int)
@add_queue_options
def priority_command(
    ctx: click.Context, task_id: str, priority: int, user_id: str | None, as_json: bool, **where: str | None
) -> None:
    """Give a task another priority: 0 urgent, 1 high, 2 normal, 3 low, 4 some day."""

    async def do(queue: Queue) -> Answer:
        from fateforger.tasks import priority_words, quote_task, set_priority  # noqa: PLC0415  the help text needs none

        task, tasks = await _change_task(queue, task_id, lambda task: set_priority(task, priority))
        return f"{quote_task(task)} has priority {priority_words(priority)} now.", task, tasks

    _run_change(ctx, user_id, where, do, as_json=as_json)


@click.command("rename")
@add_task_argument
@click.argument("title")
@add_queue_options
def rename_command(
    ctx: click.Context, task_id: str, title: str, user_id: str | None, as_json: bool, **where: str | None
) -> None:
    """Give a task another title."""

    async def do(queue: Queue) -> Answer:
        from fateforger.tasks import quote_task, rename_task  # noqa: PLC0415  the help text needs none of it

        task, tasks = await _change_task(queue, task_id, lambda task: rename_task(task, title))
        return f"It is called {quote_task(task)} now.", task, tasks

    _run_change(ctx, user_id, where, do, as_json=as_json)


def _build_action_command(name: str, text: str) -> click.Command:
    @click.command(name, help=text)
    @add_task_argument
    @add_queue_options
    def door(ctx: click.Context, task_id: str, user_id: str | None, as_json: bool, **where: str | None) -> None:
        async def do(queue: Queue) -> Answer:
            from fateforger.tasks import TaskAction, apply_action, describe_action  # noqa: PLC0415  the help text needs none of it

            deed = TaskAction(name)
            task, tasks = await _change_task(queue, task_id, lambda task: apply_action(task, deed))
            return describe_action(task, deed, tasks), task, tasks

        _run_change(ctx, user_id, where, do, as_json=as_json)

    return door


pause_command = _build_action_command("pause", "Keep a task from being pulled, without losing its place.")
resume_command = _build_action_command("resume", "Let a paused task be pulled again.")
stop_command = _build_action_command("stop", "Stop a task, also while it is being done.")
retry_command = _build_action_command("retry", "Put a task that failed or was stopped back into the queue.")


async def _change_task(
    queue: Queue, task_id: str, change: Callable[[QueuedTask], QueuedTask]
) -> tuple[QueuedTask, Sequence[QueuedTask]]:
    task = await queue.tasks.change(queue.user_id, task_id, change, now=queue.now)
    if task is None:
        raise build_unknown_task_error(task_id)
    return task, await queue.tasks.of(queue.user_id, ended=True)


def _run_change(
    ctx: click.Context,
    user_id: str | None,
    where: Mapping[str, str | None],
    do: Callable[[Queue], Awaitable[Answer]],
    *,
    as_json: bool,
) -> None:
    sentence, task, tasks = run_with_queue(ctx, user_id, where, do)
    print_answer(sentence, task, tasks, as_json=as_json)

"""``fateforger tasks move``, ``pause`` and so on: actions, each refused with a sentence where it makes no sense."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fateforger.cli.tasks_store import Queue, in_queue, not_there, of_task, read_id, tell, with_queue

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from fateforger.tasks import QueuedTask

    Answer = tuple[str, QueuedTask, Sequence[QueuedTask]]

_PLACES = ("first", "last", "up", "down")


@click.command("move")
@of_task
@click.argument("place", type=click.Choice(_PLACES), required=False)
@click.option("--before", "other", metavar="TASK", callback=read_id, help="Right before that task.")
@in_queue
def move_door(
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
        from fateforger.tasks import Where, moved, moved_words  # noqa: PLC0415  the help text needs none of it

        before = await queue.task(task_id)
        to = Where(place or "before")
        tasks = await queue.tasks.rearrange(
            queue.user_id, lambda there: moved(there, task_id, to, before=other), now=queue.now
        )
        return moved_words(before, tasks), await queue.task(task_id), tasks

    _answer(ctx, user_id, where, do, as_json=as_json)


@click.command("priority")
@of_task
@click.argument("priority", type=int)
@in_queue
def priority_door(
    ctx: click.Context, task_id: str, priority: int, user_id: str | None, as_json: bool, **where: str | None
) -> None:
    """Give a task another priority: 0 urgent, 1 high, 2 normal, 3 low, 4 some day."""

    async def do(queue: Queue) -> Answer:
        from fateforger.tasks import prioritized, quoted, spoken_priority  # noqa: PLC0415  the help text needs none

        task, tasks = await _changed(queue, task_id, lambda task: prioritized(task, priority))
        return f"{quoted(task)} has priority {spoken_priority(priority)} now.", task, tasks

    _answer(ctx, user_id, where, do, as_json=as_json)


@click.command("rename")
@of_task
@click.argument("title")
@in_queue
def rename_door(
    ctx: click.Context, task_id: str, title: str, user_id: str | None, as_json: bool, **where: str | None
) -> None:
    """Give a task another title."""

    async def do(queue: Queue) -> Answer:
        from fateforger.tasks import quoted, renamed  # noqa: PLC0415  the help text needs none of it

        task, tasks = await _changed(queue, task_id, lambda task: renamed(task, title))
        return f"It is called {quoted(task)} now.", task, tasks

    _answer(ctx, user_id, where, do, as_json=as_json)


def _deed_door(name: str, text: str) -> click.Command:
    @click.command(name, help=text)
    @of_task
    @in_queue
    def door(ctx: click.Context, task_id: str, user_id: str | None, as_json: bool, **where: str | None) -> None:
        async def do(queue: Queue) -> Answer:
            from fateforger.tasks import Deed, deed_words, done_to  # noqa: PLC0415  the help text needs none of it

            deed = Deed(name)
            task, tasks = await _changed(queue, task_id, lambda task: done_to(task, deed))
            return deed_words(task, deed, tasks), task, tasks

        _answer(ctx, user_id, where, do, as_json=as_json)

    return door


pause_door = _deed_door("pause", "Keep a task from being pulled, without losing its place.")
resume_door = _deed_door("resume", "Let a paused task be pulled again.")
stop_door = _deed_door("stop", "Stop a task, also while it is being done.")
retry_door = _deed_door("retry", "Put a task that failed or was stopped back into the queue.")


async def _changed(
    queue: Queue, task_id: str, change: Callable[[QueuedTask], QueuedTask]
) -> tuple[QueuedTask, Sequence[QueuedTask]]:
    task = await queue.tasks.change(queue.user_id, task_id, change, now=queue.now)
    if task is None:
        raise not_there(task_id)
    return task, await queue.tasks.of(queue.user_id, ended=True)


def _answer(
    ctx: click.Context,
    user_id: str | None,
    where: Mapping[str, str | None],
    do: Callable[[Queue], Awaitable[Answer]],
    *,
    as_json: bool,
) -> None:
    sentence, task, tasks = with_queue(ctx, user_id, where, do)
    tell(sentence, task, tasks, as_json=as_json)

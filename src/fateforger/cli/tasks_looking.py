"""``fateforger tasks list`` and ``show``: list the queue, and show one task in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fateforger.cli.documents import write_json
from fateforger.cli.tasks_store import Queue, document, in_queue, of_task, with_queue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fateforger.tasks import QueuedTask


@click.command("list")
@click.option("--all", "everything", is_flag=True, help="Also what is done or stopped.")
@in_queue
def list_door(ctx: click.Context, user_id: str | None, everything: bool, as_json: bool, **where: str | None) -> None:
    """The queue, the next task first, each with its state and what it waits for."""

    async def ask(queue: Queue) -> Sequence[QueuedTask]:
        return await queue.tasks.of(queue.user_id, ended=True)

    tasks = with_queue(ctx, user_id, where, ask)
    shown = [task for task in tasks if everything or task.state.value not in {"done", "stopped"}]
    if as_json:
        write_json({"tasks": [document(task, tasks) for task in shown]})
        return
    if not shown:
        click.echo("The queue is empty.")
    for task in shown:
        click.echo(line(task, tasks))


@click.command("show")
@of_task
@in_queue
def show_door(ctx: click.Context, task_id: str, user_id: str | None, as_json: bool, **where: str | None) -> None:
    """One task with all that is known of it, and the rules of its workflow."""

    async def ask(queue: Queue) -> tuple[QueuedTask, Sequence[QueuedTask]]:
        return await queue.task(task_id), await queue.tasks.of(queue.user_id, ended=True)

    task, tasks = with_queue(ctx, user_id, where, ask)
    if as_json:
        write_json({"task": document(task, tasks), "rules": list(rules(task))})
        return
    for text in told(task, tasks):
        click.echo(text)


def line(task: QueuedTask, tasks: Sequence[QueuedTask]) -> str:
    """Return a task as one line."""
    from fateforger.tasks import STATES, blockers, spoken_priority  # noqa: PLC0415  the help text needs none of it

    first = blockers(task, tasks)
    after = f", after {', '.join(t.id for t in first)}" if first else ""
    where = f"{spoken_priority(task.spec.priority)}, {STATES[task.state]}{after}"
    return f"{task.id}  {' '.join(task.spec.title.split())}\n           {where}"


def told(task: QueuedTask, tasks: Sequence[QueuedTask]) -> Iterator[str]:
    """Yield the lines of a task in full, without its empty fields."""
    spec = task.spec
    yield line(task, tasks)
    for label, text in (
        ("Kind", spec.work.kind.replace("_", " ")),
        ("Project", spec.project),
        ("Tags", ", ".join(spec.tags)),
        ("Part of", task.goal or ""),
        ("Context", spec.context),
        ("Relevant files", "\n  ".join(spec.relevant_files)),
        ("Acceptance criteria", "\n  ".join(f"{n}. {text}" for n, text in enumerate(spec.acceptance_criteria, 1))),
        ("Workflow", spec.workflow),
        ("Rules", "\n  ".join(rules(task))),
        ("Done so far", "; ".join(", ".join(step.do) for step in task.steps if step.do)),
        ("Outcome", task.outcome),
        ("From", f"{task.origin.door} {task.origin.reference}".strip()),
    ):
        if text:
            yield f"{label}:\n  {text}" if "\n" in text else f"{label}: {text}"


def rules(task: QueuedTask) -> Iterator[str]:
    """Yield the texts of the rules of a task's workflow."""
    from fateforger.workflow import shipped, shipped_names  # noqa: PLC0415  the help text needs none of it

    if task.spec.workflow in shipped_names():
        yield from (rule.text for rule in shipped(task.spec.workflow).rules)

"""``fateforger tasks list`` and ``show``: list the queue, and show one task in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fateforger.cli.documents import write_json
from fateforger.cli.tasks_store import Queue, add_queue_options, add_task_argument, build_document, run_with_queue

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fateforger.tasks import QueuedTask


@click.command("list")
@click.option("--all", "everything", is_flag=True, help="Also what is done or stopped.")
@add_queue_options
def list_command(ctx: click.Context, user_id: str | None, everything: bool, as_json: bool, **where: str | None) -> None:
    """The queue, the next task first, each with its state and what it waits for."""

    async def ask(queue: Queue) -> Sequence[QueuedTask]:
        return await queue.tasks.of(queue.user_id, ended=True)

    tasks = run_with_queue(ctx, user_id, where, ask)
    shown = [task for task in tasks if everything or task.state.value not in {"done", "stopped"}]
    if as_json:
        write_json({"tasks": [build_document(task, tasks) for task in shown]})
        return
    if not shown:
        click.echo("The queue is empty.")
    for task in shown:
        click.echo(format_task(task, tasks))


@click.command("show")
@add_task_argument
@add_queue_options
def show_command(ctx: click.Context, task_id: str, user_id: str | None, as_json: bool, **where: str | None) -> None:
    """One task with all that is known of it, and the rules of its workflow."""

    async def ask(queue: Queue) -> tuple[QueuedTask, Sequence[QueuedTask]]:
        return await queue.task(task_id), await queue.tasks.of(queue.user_id, ended=True)

    task, tasks = run_with_queue(ctx, user_id, where, ask)
    if as_json:
        write_json({"task": build_document(task, tasks), "rules": list(iter_rules(task))})
        return
    for text in describe_task(task, tasks):
        click.echo(text)


def format_task(task: QueuedTask, tasks: Sequence[QueuedTask]) -> str:
    """Return a task as one line."""
    from fateforger.tasks import STATES, blockers, priority_words  # noqa: PLC0415  the help text needs none of it

    first = blockers(task, tasks)
    after = f", after {', '.join(t.id for t in first)}" if first else ""
    where = f"{priority_words(task.spec.priority)}, {STATES[task.state]}{after}"
    return f"{task.id}  {' '.join(task.spec.title.split())}\n           {where}"


def describe_task(task: QueuedTask, tasks: Sequence[QueuedTask]) -> Iterator[str]:
    """Yield the lines of a task in full, without its empty fields."""
    spec = task.spec
    yield format_task(task, tasks)
    for label, text in (
        ("Kind", spec.work.kind.replace("_", " ")),
        ("Project", spec.project),
        ("Tags", ", ".join(spec.tags)),
        ("Part of", task.goal or ""),
        ("Context", spec.context),
        ("Relevant files", "\n  ".join(spec.relevant_files)),
        ("Acceptance criteria", "\n  ".join(f"{n}. {text}" for n, text in enumerate(spec.acceptance_criteria, 1))),
        ("Workflow", spec.workflow),
        ("Rules", "\n  ".join(iter_rules(task))),
        ("Done so far", "; ".join(", ".join(step.do) for step in task.steps if step.do)),
        ("Outcome", task.outcome),
        ("From", f"{task.origin.door} {task.origin.reference}".strip()),
    ):
        if text:
            yield f"{label}:\n  {text}" if "\n" in text else f"{label}: {text}"


def iter_rules(task: QueuedTask) -> Iterator[str]:
    """Yield the texts of the rules of a task's workflow."""
    from fateforger.workflow import list_shipped, load_shipped  # noqa: PLC0415  the help text needs none of it

    if task.spec.workflow in list_shipped():
        yield from (rule.text for rule in load_shipped(task.spec.workflow).rules)

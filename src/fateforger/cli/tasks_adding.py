"""``fateforger tasks add``: add a task to the queue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import click

from fateforger.cli.tasks_store import Queue, add_queue_options, print_answer, read_ids, run_with_queue
from fateforger.errors import BadInput

if TYPE_CHECKING:
    from fateforger.tasks import QueuedTask, TaskSpec

_KINDS = ("do", "plan_day", "block_time", "decompose", "review_constraints")


@click.command("add")
@click.argument("title")
@click.option("--kind", type=click.Choice(_KINDS), default="do", help="What is to be done; do: the person does it.")
@click.option("--date", metavar="DAY", help="With plan_day and block_time: which day (YYYY-MM-DD).")
@click.option("--minutes", type=int, help="How long it takes, or how much time to block.")
@click.option("--start", metavar="HH:MM", help="With block_time: when it begins.")
@click.option("--priority", type=int, default=2, show_default=True, help="0 urgent to 4 some day.")
@click.option("--project", default="", metavar="NAME")
@click.option("--tag", "tags", multiple=True, metavar="TAG")
@click.option("--context", default="", metavar="TEXT", help="What whoever does it should know.")
@click.option("--file", "relevant_files", multiple=True, metavar="PATH", help="A relevant file.")
@click.option("--criterion", "acceptance_criteria", multiple=True, metavar="TEXT", help="It is done when this is so.")
@click.option("--workflow", default="", metavar="NAME", help="Whose rules apply.")
@click.option(
    "--after", "first", multiple=True, metavar="TASK", callback=read_ids, help="A task that has to be done first."
)
@click.option("--paused", is_flag=True, help="Not to be pulled yet.")
@add_queue_options
def add_command(
    ctx: click.Context,
    user_id: str | None,
    first: tuple[str, ...],
    paused: bool,
    as_json: bool,
    now: str | None,
    data_dir: str | None,
    **said: Any,
) -> None:
    """Put a task into the queue, behind the others of its priority."""
    spec = _build_spec(said)

    async def add(queue: Queue) -> tuple[QueuedTask, Sequence[QueuedTask]]:
        from fateforger.tasks import NewTask, Origin, TaskState  # noqa: PLC0415  the help text needs none of it

        state = TaskState.PAUSED if paused else TaskState.ACTIVE
        new = NewTask(spec, Origin(door="cli"), blocked_by=first, state=state)
        (task,) = await queue.tasks.add(queue.user_id, (new,), cause=f"door-{uuid4().hex}", now=queue.now)
        return task, await queue.tasks.of(queue.user_id, ended=True)

    task, tasks = run_with_queue(ctx, user_id, {"now": now, "data_dir": data_dir}, add)
    print_answer(_describe_added(task), task, tasks, as_json=as_json)


def _build_spec(said: dict[str, Any]) -> TaskSpec:
    """Return the options as a task specification. Raises ``BadInput``."""
    from pydantic import ValidationError  # noqa: PLC0415  the help text needs none of it

    from fateforger.plan.mistakes import first_mistake  # noqa: PLC0415  the help text needs none of it
    from fateforger.tasks import TaskSpec  # noqa: PLC0415  the help text needs none of it

    _check_workflow(said["workflow"])
    work = {"kind": said.pop("kind")}
    needs = {"plan_day": ("date",), "block_time": ("date", "minutes")}.get(work["kind"], ())
    takes = {"do": ("minutes",), "block_time": ("start",)}.get(work["kind"], ())
    for name in ("date", "minutes", "start"):
        value = said.pop(name)
        if value is None and name in needs:
            raise BadInput(f"A task of kind {work['kind']} needs --{name}.", where=name)
        if value is not None and name not in (*needs, *takes):
            raise BadInput(f"A task of kind {work['kind']} has no --{name}.", where=name)
        if value is not None:
            work[name] = value
    try:
        return TaskSpec.model_validate({**said, "work": work})
    except ValidationError as error:
        mistake = first_mistake(error)
        raise BadInput(mistake.sentence, where=mistake.where) from None


def _check_workflow(name: str) -> None:
    from fateforger.workflow import list_shipped  # noqa: PLC0415  the help text needs none of it

    if name and name not in list_shipped():
        raise BadInput(f"There is no workflow “{name}”; there are {', '.join(list_shipped())}.", where="workflow")


def _describe_added(task: QueuedTask) -> str:
    """Return the confirmation (S155)."""
    from fateforger.cli.tasks_looking import iter_rules  # noqa: PLC0415  only needed here
    from fateforger.tasks import priority_words, quote_task  # noqa: PLC0415  the help text needs none of it

    lines = [f"Added {task.id} {quote_task(task)}.", f"Priority: {priority_words(task.spec.priority)}"]
    if task.spec.workflow:
        lines += [f"Workflow: {task.spec.workflow}", *(f"  {rule}" for rule in iter_rules(task))]
    return "\n".join((*lines, f"Next: fateforger tasks pull {task.id}, or /pull {task.id} in Slack."))

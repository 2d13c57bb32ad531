"""``fateforger tasks``: view, reorder and work off a person's queue."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

import click
from pydantic import ValidationError

from fateforger.cli.documents import write_json
from fateforger.cli.durations import durations_command
from fateforger.cli.task_details import add_detail_options, take_details
from fateforger.cli.task_queue import (
    Queue,
    add_queue_options,
    add_task_argument,
    build_unknown_task_error,
    read_id,
    read_ids,
    run_with_queue,
)
from fateforger.errors import BadInput
from fateforger.planning.task_details import PLAIN, list_facts
from fateforger.planning.validation import first_mistake
from fateforger.tasks.queue import NewTask, QueuePlace, blockers, describe_move, move_task
from fateforger.tasks.task import (
    ENDED,
    STATES,
    Do,
    Origin,
    QueuedTask,
    ReviewParts,
    TaskSpec,
    TaskState,
    priority_words,
)
from fateforger.tasks.transitions import TaskAction, apply_action, describe_action, rename_task, set_priority
from fateforger.text import join_words, quote_title
from fateforger.values import replace
from fateforger.workflow.definition import list_shipped, load_shipped

if TYPE_CHECKING:
    pass


def build_task_document(task: QueuedTask, tasks: Sequence[QueuedTask]) -> dict[str, Any]:
    """Return a task for output; ``waits_for`` are those of ``tasks`` (all of the person's) that come first."""
    return {**task.model_dump(mode="json"), "waits_for": [first.id for first in blockers(task, tasks)]}


def print_answer(sentence: str, task: QueuedTask, tasks: Sequence[QueuedTask], *, as_json: bool) -> None:
    """Print the answer of a command that changed a task."""
    if as_json:
        write_json({"message": sentence, "task": build_task_document(task, tasks)})
    else:
        click.echo(sentence)


Answer = tuple[str, QueuedTask, Sequence[QueuedTask]]
"""Sentence for the person, the changed task, and all tasks of the queue."""


@click.command("list")
@click.option("--all", "everything", is_flag=True, help="Also what is done or stopped.")
@add_queue_options
def list_command(ctx: click.Context, user_id: str | None, everything: bool, as_json: bool, **where: str | None) -> None:
    """The queue, the next task first, each with its state and what it waits for."""

    async def ask(queue: Queue) -> Sequence[QueuedTask]:
        return await queue.tasks.of(queue.user_id, ended=True)

    tasks = run_with_queue(ctx, user_id, where, ask)
    shown = [task for task in tasks if everything or task.state not in ENDED]
    if as_json:
        write_json({"tasks": [build_task_document(task, tasks) for task in shown]})
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
        write_json({"task": build_task_document(task, tasks), "rules": list(iter_rules(task))})
        return
    for text in describe_task(task, tasks):
        click.echo(text)


def format_task(task: QueuedTask, tasks: Sequence[QueuedTask]) -> str:
    """Return a task as one line."""
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
        ("Details", "" if spec.details == PLAIN else "; ".join((spec.details.kind.value, *list_facts(spec.details)))),
        ("Items", "\n  ".join(f"[{'x' if item.done else ' '}] {item.title}" for item in spec.details.items)),
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
    if task.spec.workflow in list_shipped():
        yield from (rule.text for rule in load_shipped(task.spec.workflow).rules)


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
@add_detail_options
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
        state = TaskState.PAUSED if paused else TaskState.ACTIVE
        new = NewTask(spec, Origin(door="cli"), blocked_by=first, state=state)
        (task,) = await queue.tasks.add(queue.user_id, (new,), cause=f"door-{uuid4().hex}", now=queue.now)
        return task, await queue.tasks.of(queue.user_id, ended=True)

    task, tasks = run_with_queue(ctx, user_id, {"now": now, "data_dir": data_dir}, add)
    print_answer(_describe_added(task), task, tasks, as_json=as_json)


def _build_spec(said: dict[str, Any]) -> TaskSpec:
    """Return the options as a task specification. Raises ``BadInput``."""
    _check_workflow(said["workflow"])
    details = take_details(said)
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
        return TaskSpec.model_validate({**said, "work": work, "details": details})
    except ValidationError as error:
        mistake = first_mistake(error)
        raise BadInput(mistake.sentence, where=mistake.where) from None


def _check_workflow(name: str) -> None:
    if name and name not in list_shipped():
        raise BadInput(f"There is no workflow “{name}”; there are {', '.join(list_shipped())}.", where="workflow")


def _describe_added(task: QueuedTask) -> str:
    """Return the confirmation (S155)."""
    lines = [f"Added {task.id} {quote_title(task.spec.title)}.", f"Priority: {priority_words(task.spec.priority)}"]
    if task.spec.workflow:
        lines += [f"Workflow: {task.spec.workflow}", *(f"  {rule}" for rule in iter_rules(task))]
    return "\n".join((*lines, f"Next: fateforger tasks pull {task.id}, or /pull {task.id} in Slack."))


_PLACES = ("first", "last", "up", "down")


@click.command("move")
@add_task_argument
@click.argument("place", type=click.Choice(_PLACES), required=False)
@click.option("--before", "other", metavar="TASK", callback=read_id, help="Right before that task.")
@add_queue_options
def move_command(
    ctx: click.Context,
    task_id: str,
    place: Literal["first", "last", "up", "down"] | None,
    other: str | None,
    user_id: str | None,
    as_json: bool,
    **where: str | None,
) -> None:
    """Put a task elsewhere in the queue. Among tasks of another priority it takes that priority on."""
    if (place is None) == (other is None):
        raise click.UsageError("Say where: first, last, up, down, or --before TASK.")

    async def do(queue: Queue) -> Answer:
        before = await queue.task(task_id)
        to: QueuePlace = place or "before"
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
        task, tasks = await _change_task(queue, task_id, lambda task: set_priority(task, priority))
        return f"{quote_title(task.spec.title)} has priority {priority_words(priority)} now.", task, tasks

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
        task, tasks = await _change_task(queue, task_id, lambda task: rename_task(task, title))
        return f"It is called {quote_title(task.spec.title)} now.", task, tasks

    _run_change(ctx, user_id, where, do, as_json=as_json)


def _build_action_command(name: TaskAction, text: str) -> click.Command:
    @click.command(name, help=text)
    @add_task_argument
    @add_queue_options
    def door(ctx: click.Context, task_id: str, user_id: str | None, as_json: bool, **where: str | None) -> None:
        async def do(queue: Queue) -> Answer:
            task, tasks = await _change_task(queue, task_id, lambda task: apply_action(task, name))
            return describe_action(task, name, tasks), task, tasks

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


LEASE_SECONDS = 60.0
"""More than enough to record that the task waits for the person."""


@click.command("pull")
@click.argument("task_id", metavar="[TASK]", required=False, callback=read_id)
@add_queue_options
def pull_command(
    ctx: click.Context, task_id: str | None, user_id: str | None, as_json: bool, **where: str | None
) -> None:
    """Take the next task in hand, or that one: it is yours alone then, and waits until you say that it is done.

    What opens a thread, or changes a day's plan, is carried out in Slack only.
    """

    async def pull(queue: Queue) -> tuple[QueuedTask, Sequence[QueuedTask]]:
        return await _pull_task(queue, task_id), await queue.tasks.of(queue.user_id, ended=True)

    task, tasks = run_with_queue(ctx, user_id, where, pull)
    sentence = f"Say that it is done with: fateforger tasks done {task.id}"
    if as_json:
        write_json({"message": sentence, "task": build_task_document(task, tasks), "rules": list(iter_rules(task))})
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
    if settled.state is TaskState.ACTIVE:
        raise BadInput(
            f"“{settled.spec.title}” ({settled.id}) is carried out in Slack: write /pull {settled.id} there. Or name"
            " another task here.",
            where="id",
        )
    return settled


def _hand_over(task: QueuedTask) -> QueuedTask:
    """Return the task waiting for the person if it is theirs to do, or back in the queue otherwise."""
    if not isinstance(task.spec.work, Do | ReviewParts):
        return replace(task, state=TaskState.ACTIVE)
    return replace(task, state=TaskState.WAITING, outcome="It was pulled at the command line.")


async def _explain_nothing(queue: Queue, task_id: str | None) -> BadInput:
    """Return the reason nothing could be pulled (S160)."""
    tasks = await queue.tasks.of(queue.user_id, ended=True)
    if task_id is None:
        left = [task for task in tasks if task.state not in ENDED]
        if not left:
            return BadInput("The queue is empty, so there is nothing to pull.")
        return BadInput("Nothing can be pulled now: what is in the queue is paused, in hand, or waits for other tasks.")
    task = next((task for task in tasks if task.id == task_id), None)
    if task is None:
        return build_unknown_task_error(task_id)
    first = blockers(task, tasks)
    if task.state is TaskState.ACTIVE and first:
        named = join_words(f"{quote_title(t.spec.title)} ({t.id})" for t in first[:2])
        return BadInput(f"{quote_title(task.spec.title)} has to wait for {named}.", where="id")
    return BadInput(f"{quote_title(task.spec.title)} is {STATES[task.state]}, so it cannot be pulled.", where="id")


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
    object to what was done for it.
    """

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
    from fateforger.conversation.queue.decisions import apply_decision  # noqa: PLC0415  heavy
    from fateforger.session.queue_commands import SettleTask  # noqa: PLC0415  heavy

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


@click.group("tasks")
def tasks_command() -> None:
    """The queue: what there is to do, which of it is next, and what becomes of it.

    A task is named by its id, with or without the “ff-”. Without --user it is the queue of the person whose calendar
    plans are written to.
    """


for door in (
    add_command,
    list_command,
    show_command,
    move_command,
    priority_command,
    rename_command,
    pause_command,
    resume_command,
    stop_command,
    retry_command,
    pull_command,
    done_command,
    durations_command,
):
    tasks_command.add_command(door)

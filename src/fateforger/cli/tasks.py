"""``fateforger tasks``: view, reorder and work off a person's queue."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import date
from typing import Any, Literal
from uuid import uuid4

import click

from fateforger.cli.documents import echo, write_json
from fateforger.cli.options import CommandCall, Group
from fateforger.cli.task_work import (
    Queue,
    add_queue_options,
    add_task_argument,
    build_task_document,
    build_unknown_task_error,
    describe_task,
    done_command,
    format_task,
    list_rule_texts,
    note_command,
    print_answer,
    pull_command,
    read_id,
    read_ids,
    run_with_queue,
)
from fateforger.errors import BadInput, validate
from fateforger.planning.task_details import PLAIN, BestTime, TaskDetails, TaskKind, change_details, usual_details
from fateforger.tasks.durations import Estimate, estimate_kinds, find_named, format_ratio
from fateforger.tasks.queue import NewTask, QueuePlace, describe_facts, describe_move, move_task
from fateforger.tasks.task import (
    ENDED,
    PRIORITIES,
    Origin,
    QueuedTask,
    TaskSpec,
    TaskState,
)
from fateforger.tasks.transitions import TaskAction, apply_action, describe_action, rename_task, set_priority
from fateforger.text import PULL, command_name, format_count, join_words, quote_title
from fateforger.workflow.definition import Workflow

_DETAILS = ("nature", "at", "due", "from", "best", "people", "place", "travel_minutes", "splittable", "items")


def add_detail_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options about what a day's plan has to know of a task."""
    options = (
        click.option("--as", "nature", type=click.Choice([kind.value for kind in TaskKind]), help="What it is like."),
        click.option("--at", metavar="HH:MM", help="It starts at that time."),
        click.option("--due", metavar="[DAY] [HH:MM]", help="It is due on that day (YYYY-MM-DD), at that time."),
        click.option("--from", "from", metavar="[DAY] [HH:MM]", help="It begins no earlier."),
        click.option("--best", type=click.Choice([best.value for best in BestTime]), help="When it is best done."),
        click.option("--with", "people", multiple=True, metavar="NAME", help="A person to be with."),
        click.option("--place", metavar="TEXT", help="Where it is."),
        click.option("--travel", "travel_minutes", type=int, metavar="MINUTES", help="The way there, and back again."),
        click.option("--in-pieces/--in-one-piece", "splittable", default=None, help="Whether it may be split."),
        click.option("--item", "items", multiple=True, metavar="TEXT", help="A small task to tick off in it."),
    )
    for option in reversed(options):
        function = option(function)
    return function


def _read_priority(_ctx: click.Context, _param: click.Parameter, value: str) -> int:
    """Return a priority that was given as its number or by its name."""
    named = {name: number for number, name in PRIORITIES.items()}
    said = value.strip().casefold()
    if said in named:
        return named[said]
    if said.isdecimal():
        return int(said)
    raise click.BadParameter(f"“{value[:20]}” is not a priority; give 0 urgent, 1 high, 2 normal, 3 low or 4 some day.")


def take_details(said: dict[str, Any], before: TaskDetails) -> TaskDetails:
    """Take the options about details out of ``said``, and change ``before`` by them. Raises ``BadInput``."""
    given = {name: value for name in _DETAILS if (value := said.pop(name)) not in {None, ()}}
    if "nature" in given:
        given["kind"] = given.pop("nature")
    for name in ("due", "from"):
        day, _, clock = given.pop(name, "").strip().rpartition(" ")
        if "-" in clock:
            day, clock = clock, ""
        elif clock and not clock[0].isdigit():
            raise BadInput(
                f"“{clock[:20]}” is neither a day, like 2026-03-05, nor a time of day, like 09:30.", where=name
            )
        given |= {f"{name}_{part}": text for part, text in (("day", day.strip()), ("time", clock)) if text}
    return change_details(given, before)


Answer = tuple[str, QueuedTask, Sequence[QueuedTask]]
"""Sentence for the person, the changed task, and all tasks of the queue."""


@click.command("list")
@click.option("--all", "everything", is_flag=True, help="Also what is done or stopped.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only what has this tag.")
@add_queue_options
def list_command(call: CommandCall, user_id: str | None, everything: bool, tags: tuple[str, ...]) -> None:
    """The queue, the next task first, each with its state and what it waits for."""

    async def ask(queue: Queue) -> tuple[Sequence[QueuedTask], date]:
        return await queue.tasks.of(queue.user_id, ended=True), queue.today

    tasks, today = run_with_queue(call, user_id, ask)
    wanted = {tag.casefold() for tag in tags}
    shown = [
        task
        for task in tasks
        if (everything or task.state not in ENDED)
        and (not wanted or not wanted.isdisjoint(map(str.casefold, task.spec.tags)))
    ]
    if call.as_json:
        write_json({"tasks": [build_task_document(task, tasks) for task in shown]})
        return
    if not shown:
        echo(f"No task has the tag {join_words(tags)}." if tags else "The queue is empty.")
    for task in shown:
        echo(format_task(task, tasks, today))


@click.command("show")
@add_task_argument
@add_queue_options
def show_command(call: CommandCall, task_id: str, user_id: str | None) -> None:
    """One task with all that is known of it, and the rules of its workflow."""

    async def ask(queue: Queue) -> tuple[QueuedTask, Sequence[QueuedTask], date, Workflow | None]:
        task = await queue.task(task_id)
        tasks = await queue.tasks.of(queue.user_id, ended=True)
        return task, tasks, queue.today, queue.workflows.get(task.spec.workflow)

    task, tasks, today, workflow = run_with_queue(call, user_id, ask)
    if call.as_json:
        write_json({"task": build_task_document(task, tasks), "rules": list_rule_texts(workflow)})
        return
    for text in describe_task(task, tasks, today, workflow):
        echo(text)


_KINDS = ("do", "plan_day", "block_time", "decompose", "review_constraints")


@click.command("add")
@click.argument("title")
@click.option("--kind", type=click.Choice(_KINDS), default="do", help="What is to be done; do: the person does it.")
@click.option("--date", metavar="DAY", help="With plan_day and block_time: which day (YYYY-MM-DD).")
@click.option("--minutes", type=int, help="How long it takes, or how much time to block.")
@click.option("--start", metavar="HH:MM", help="With block_time: when it begins.")
@click.option(
    "--priority", callback=_read_priority, default="normal", show_default=True, metavar="PRIORITY",
    help="0 urgent, 1 high, 2 normal, 3 low, 4 some day.",
)  # fmt: skip
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
def add_command(call: CommandCall, user_id: str | None, first: tuple[str, ...], paused: bool, **said: Any) -> None:
    """Put a task into the queue, behind the others of its priority."""
    spec = _build_spec(said)

    async def add(queue: Queue) -> tuple[QueuedTask, Sequence[QueuedTask], date, Workflow | None]:
        queue.workflows.check_spec(spec)
        state = TaskState.PAUSED if paused else TaskState.ACTIVE
        new = NewTask(spec, Origin(door="cli"), blocked_by=first, state=state)
        (task,) = await queue.tasks.add(queue.user_id, (new,), cause=f"door-{uuid4().hex}", now=queue.now)
        tasks = await queue.tasks.of(queue.user_id, ended=True)
        return task, tasks, queue.today, queue.workflows.of(spec)

    task, tasks, today, workflow = run_with_queue(call, user_id, add)
    print_answer(call, _describe_added(task, tasks, today, workflow), task, tasks)


def _build_spec(said: dict[str, Any]) -> TaskSpec:
    """Return the options as a task specification. Raises ``BadInput``."""
    from fateforger.ui.form_values import parse_task_line  # noqa: PLC0415  heavy

    work, usual = {"kind": said.pop("kind")}, PLAIN
    if work["kind"] == "do":
        line = parse_task_line(said["title"], said["minutes"])
        said["title"], said["minutes"] = line.title, line.minutes
        usual = change_details(line.times, usual_details(line.minutes))
    details = take_details(said, usual)
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
    return validate(TaskSpec, {**said, "work": work, "details": details})


def _describe_added(task: QueuedTask, tasks: Sequence[QueuedTask], today: date, workflow: Workflow | None) -> str:
    """Return the confirmation (S155), with what the title said of length and time."""
    facts = ", ".join(describe_facts(task, tasks, today, lambda first: first.id))
    lines = [f"Added {task.id} {quote_title(task.spec.title)}: {facts}."]
    lines.append(f"Priority: {PRIORITIES[task.spec.priority]}")
    if workflow is not None:
        lines += [f"Workflow: {workflow.name}", *(f"  {rule}" for rule in list_rule_texts(workflow))]
    in_slack = f"{command_name(PULL)} {task.id}"
    return "\n".join((*lines, f"Next: fateforger tasks pull {task.id}, or {in_slack} in Slack."))


_PLACES = ("first", "last", "up", "down")


@click.command("move")
@add_task_argument
@click.argument("place", type=click.Choice(_PLACES), required=False)
@click.option("--before", "other", metavar="TASK", callback=read_id, help="Right before that task.")
@add_queue_options
def move_command(
    call: CommandCall,
    task_id: str,
    place: Literal["first", "last", "up", "down"] | None,
    other: str | None,
    user_id: str | None,
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

    _run_change(call, user_id, do)


@click.command("priority")
@add_task_argument
@click.argument("priority", callback=_read_priority)
@add_queue_options
def priority_command(call: CommandCall, task_id: str, priority: int, user_id: str | None) -> None:
    """Give a task another priority: 0 urgent, 1 high, 2 normal, 3 low, 4 some day."""

    async def do(queue: Queue) -> Answer:
        task, tasks = await _change_task(queue, task_id, lambda task: set_priority(task, priority))
        return f"{quote_title(task.spec.title)} has priority {PRIORITIES[priority]} now.", task, tasks

    _run_change(call, user_id, do)


@click.command("rename")
@add_task_argument
@click.argument("title")
@add_queue_options
def rename_command(call: CommandCall, task_id: str, title: str, user_id: str | None) -> None:
    """Give a task another title."""

    async def do(queue: Queue) -> Answer:
        task, tasks = await _change_task(queue, task_id, lambda task: rename_task(task, title))
        return f"It is called {quote_title(task.spec.title)} now.", task, tasks

    _run_change(call, user_id, do)


def _build_action_command(name: TaskAction, text: str) -> click.Command:
    @click.command(name, help=text)
    @add_task_argument
    @add_queue_options
    def door(call: CommandCall, task_id: str, user_id: str | None) -> None:
        async def do(queue: Queue) -> Answer:
            task, tasks = await _change_task(queue, task_id, lambda task: apply_action(task, name))
            return describe_action(task, name, tasks), task, tasks

        _run_change(call, user_id, do)

    return door


pause_command = _build_action_command("pause", "Keep a task from being pulled, without losing its place.")
resume_command = _build_action_command("resume", "Let a paused task be pulled again.")
stop_command = _build_action_command("stop", "Stop a task, also while it is being done.")
retry_command = _build_action_command("retry", "Put a task that failed, was stopped or is not done into the queue.")


async def _change_task(
    queue: Queue, task_id: str, change: Callable[[QueuedTask], QueuedTask]
) -> tuple[QueuedTask, Sequence[QueuedTask]]:
    task = await queue.tasks.change(queue.user_id, task_id, change, now=queue.now)
    if task is None:
        raise build_unknown_task_error(task_id)
    return task, await queue.tasks.of(queue.user_id, ended=True)


def _run_change(call: CommandCall, user_id: str | None, do: Callable[[Queue], Awaitable[Answer]]) -> None:
    print_answer(call, *run_with_queue(call, user_id, do))


@click.command("durations")
@click.option("--forget", "kind", metavar="KIND", help="Forget what is known of tasks of this kind, such as report.")
@add_queue_options
def durations_command(call: CommandCall, user_id: str | None, kind: str | None) -> None:
    """The usual length of each kind of task, as observed on earlier days."""

    async def ask(queue: Queue) -> Sequence[Estimate]:
        gone = () if kind is None else find_named(await queue.durations.of(queue.user_id), kind)
        if kind is not None and not gone:
            raise BadInput(f"I know nothing about “{kind}”; tasks durations shows what I know.", where="forget")
        await queue.durations.keep(queue.user_id, (), gone=[each.id for each in gone])
        return estimate_kinds(await queue.durations.of(queue.user_id))

    estimates = run_with_queue(call, user_id, ask)
    lines = [
        f"{each.kind}: {format_ratio(each.ratio)} times as long as planned, {format_count(each.count, 'task')}"
        for each in estimates
    ] or ["No kind of task is known well enough; that takes three of them."]
    call.print_result({"durations": [each.model_dump(mode="json") for each in estimates]}, lines)


@click.group("tasks", cls=Group)
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
    note_command,
    done_command,
    durations_command,
):
    tasks_command.add_command(door)

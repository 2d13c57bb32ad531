"""``fateforger tasks`` pull, note and done, and the access of all ``tasks`` commands to one person's queue."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any, Literal, TypeVar
from uuid import uuid4

import click

from fateforger.app.agents import build_facts, build_workflows
from fateforger.cli.documents import echo, write_json
from fateforger.cli.options import CommandCall, Opened, add_person_option, add_store_options, find_owner
from fateforger.config import Settings
from fateforger.errors import BadInput
from fateforger.planning.task_details import PLAIN, list_facts
from fateforger.session.day import local_today
from fateforger.tasks.gate import Seen, begin_task, keep_progress, list_questions, list_steps, look_up
from fateforger.tasks.ports import Durations, Tasks
from fateforger.tasks.queue import blockers, describe_facts
from fateforger.tasks.task import ENDED, STATES, Do, QueuedTask, ReviewParts, TaskState, name_priority, read_task_id
from fateforger.tasks.workflows import Workflows
from fateforger.text import PULL, command_name, join_words, quote_title
from fateforger.values import replace
from fateforger.workflow.definition import Workflow

_R = TypeVar("_R")


@dataclass(frozen=True)
class Queue:
    """One person's queue, the instant of the command, and the settings that say which rules tasks can have."""

    tasks: Tasks
    durations: Durations
    user_id: str
    now: datetime
    today: date
    """The current day in the person's time zone, or in the one of the settings if theirs is unknown."""
    settings: Settings

    @cached_property
    def workflows(self) -> Workflows:
        """The workflows that tasks can have. Raises ``BadInput`` for a mistake in a file of the person's own."""
        return build_workflows(self.settings)

    async def look_up(self, task: QueuedTask, *, at_once: bool = False) -> Seen:
        """Return the states of the task's workflow that can be determined now. Raises ``BadInput``."""
        workflow = self.workflows.get(task.spec.workflow)
        if workflow is None:
            return {}
        everything = await self.tasks.of(self.user_id, ended=True)
        return await look_up(task, workflow, everything, build_facts(self.settings), at_once=at_once)

    async def task(self, task_id: str) -> QueuedTask:
        """Return the task with that id. Raises ``BadInput``."""
        task = await self.tasks.get(self.user_id, task_id)
        if task is None:
            raise build_unknown_task_error(task_id)
        return task


def build_unknown_task_error(task_id: str) -> BadInput:
    return BadInput(f"There is no task {task_id} in this queue; tasks list shows those that are there.", where="id")


def read_id(_: click.Context, __: click.Parameter, text: str | None) -> str | None:
    """Parse a typed id. Raises ``BadInput`` for an impossible one."""
    return None if text is None else _parse_id(text)


def read_ids(_: click.Context, __: click.Parameter, texts: Sequence[str]) -> tuple[str, ...]:
    """Parse several typed ids. See :func:`read_id`."""
    return tuple(map(_parse_id, texts))


def _parse_id(text: str) -> str:
    task_id = read_task_id(text)
    if task_id is None:
        raise BadInput(f"“{text}” is no id of a task; they look like ff-7k2m9x.", where="id")
    return task_id


def add_queue_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that every command on the queue shares."""
    return add_person_option(add_store_options(function))


def add_task_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument TASK, for commands about one task."""
    return click.argument("task_id", metavar="TASK", callback=read_id)(function)


def run_with_queue(call: CommandCall, user_id: str | None, work: Callable[[Queue], Awaitable[_R]]) -> _R:
    """Run ``work`` on the queue of a person, by default the owner's."""

    async def run(opened: Opened) -> _R:
        person = user_id or await find_owner(opened)
        zone = await opened.store.zones.of(person)
        today = opened.today if zone is None else local_today(opened.now, zone[0])
        return await work(Queue(opened.store.tasks, opened.store.durations, person, opened.now, today, opened.settings))

    return call.run(run)


def build_task_document(task: QueuedTask, tasks: Sequence[QueuedTask]) -> dict[str, Any]:
    """Return a task for output; ``waits_for`` are those of ``tasks`` (all of the person's) that come first."""
    return {**task.model_dump(mode="json"), "waits_for": [first.id for first in blockers(task, tasks)]}


def print_answer(call: CommandCall, sentence: str, task: QueuedTask, tasks: Sequence[QueuedTask]) -> None:
    """Print the answer of a command that changed a task."""
    call.print_result({"message": sentence, "task": build_task_document(task, tasks)}, [sentence])


def format_task(task: QueuedTask, tasks: Sequence[QueuedTask], today: date) -> str:
    facts = describe_facts(task, tasks, today, lambda first: first.id)
    where = ", ".join(filter(None, (name_priority(task.spec.priority), *facts)))
    tags = "".join(f"[{tag}] " for tag in task.spec.tags)
    return f"{task.id}  {tags}{' '.join(task.spec.title.split())}\n           {where}"


def describe_task(
    task: QueuedTask, tasks: Sequence[QueuedTask], today: date, workflow: Workflow | None
) -> Iterator[str]:
    """Yield the lines of a task in full, without its empty fields."""
    spec = task.spec
    yield format_task(task, tasks, today)
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
        ("Rules", "\n  ".join(list_rule_texts(workflow))),
        ("Done so far", "; ".join(", ".join(step.do) for step in task.steps if step.do)),
        ("Outcome", task.outcome),
        ("From", f"{task.origin.door} {task.origin.reference}".strip()),
    ):
        if text:
            yield f"{label}:\n  {text}" if "\n" in text else f"{label}: {text}"


def list_rule_texts(workflow: Workflow | None) -> list[str]:
    """Return the rules of a workflow as they are written, with the names that ``--did`` takes."""
    return [] if workflow is None else [rule.text for rule in workflow.rules]


LEASE_SECONDS = 60.0
"""More than enough to record that the task waits for the person."""


@click.command("pull")
@click.argument("task_id", metavar="[TASK]", required=False, callback=read_id)
@add_queue_options
def pull_command(call: CommandCall, task_id: str | None, user_id: str | None) -> None:
    """Take the next task in hand, or that one: it is yours alone then, and waits until you say that it is done.

    What opens a thread, or changes a day's plan, is carried out in Slack only.
    """

    async def pull(queue: Queue) -> tuple[QueuedTask, Sequence[QueuedTask], date, Workflow | None]:
        task = await _pull_task(queue, task_id)
        tasks = await queue.tasks.of(queue.user_id, ended=True)
        return task, tasks, queue.today, queue.workflows.of(task.spec)

    task, tasks, today, workflow = run_with_queue(call, user_id, pull)
    sentence = f"Say that it is done with: fateforger tasks done {task.id}"
    if call.as_json:
        write_json({"message": sentence, "task": build_task_document(task, tasks), "rules": list_rule_texts(workflow)})
        return
    for text in (*describe_task(task, tasks, today, workflow), sentence):
        echo(text)


async def _pull_task(queue: Queue, task_id: str | None) -> QueuedTask:
    """Claim a task and let it wait for the person. Raises ``BadInput`` when there is none available."""
    claimed = await queue.tasks.claim(
        queue.user_id,
        f"door-{uuid4().hex}",
        now=queue.now,
        lease_seconds=LEASE_SECONDS,
        task_id=task_id,
        today=queue.today,
    )
    if claimed is None:
        raise await _explain_nothing(queue, task_id)
    try:
        seen = await queue.look_up(claimed, at_once=True)
        taken = _hand_over(begin_task(claimed, queue.workflows.of(claimed.spec), seen, by_agent=False))
    except BadInput:
        await queue.tasks.settle(claimed, lambda task: replace(task, state=TaskState.ACTIVE), now=queue.now)
        raise
    settled = await queue.tasks.settle(
        claimed,
        lambda task: replace(keep_progress(task, taken), state=taken.state, outcome=taken.outcome),
        now=queue.now,
    )
    if settled is None:
        raise BadInput("Somebody stopped that task just now.", where="id")
    if settled.state is TaskState.ACTIVE:
        raise BadInput(
            f"“{settled.spec.title}” ({settled.id}) is carried out in Slack: write"
            f" {command_name(PULL)} {settled.id} there. Or name another task here.",
            where="id",
        )
    return settled


def _hand_over(task: QueuedTask) -> QueuedTask:
    """Return the task waiting for the person if it is theirs to do, or back in the queue otherwise."""
    if not isinstance(task.spec.work, Do | ReviewParts):
        return replace(task, state=TaskState.ACTIVE, steps=(), standing=None)
    return replace(task, state=TaskState.WAITING, outcome="It was pulled at the command line.")


async def _explain_nothing(queue: Queue, task_id: str | None) -> BadInput:
    """Return the reason nothing could be pulled (S160)."""
    tasks = await queue.tasks.of(queue.user_id, ended=True)
    if task_id is None:
        left = [task for task in tasks if task.state not in ENDED]
        if not left:
            return BadInput("The queue is empty, so there is nothing to pull.")
        return BadInput(
            "Nothing can be pulled now: what is in the queue is paused, in hand, for a later day, or waits for others."
        )
    task = next((task for task in tasks if task.id == task_id), None)
    if task is None:
        return build_unknown_task_error(task_id)
    first = blockers(task, tasks)
    if task.state is TaskState.ACTIVE and first:
        named = join_words(f"{quote_title(t.spec.title)} ({t.id})" for t in first[:2])
        return BadInput(f"{quote_title(task.spec.title)} has to wait for {named}.", where="id")
    return BadInput(f"{quote_title(task.spec.title)} is {STATES[task.state]}, so it cannot be pulled.", where="id")


def _add_report_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what was done, and what is so."""
    for option in (
        click.option("--not-so", multiple=True, metavar="STATE", help="This state does not hold."),
        click.option("--so", multiple=True, metavar="STATE", help="This state holds, by your word."),
        click.option(
            "--did",
            multiple=True,
            metavar="ACTION",
            help="What was done, in order, by the workflow's names; a+b at once.",
        ),
    ):
        function = option(function)
    return function


@click.command("note")
@add_task_argument
@_add_report_options
@click.option("--undo", is_flag=True, help="Take the last note back instead.")
@add_queue_options
def note_command(
    call: CommandCall,
    task_id: str,
    did: tuple[str, ...],
    so: tuple[str, ...],
    not_so: tuple[str, ...],
    undo: bool,
    user_id: str | None,
) -> None:
    """Note what was done so far for a task in hand, or what is so of it. Its rules are checked."""

    async def note(queue: Queue) -> tuple[QueuedTask, Sequence[QueuedTask]]:
        word: Literal["take_back", "note"] = "take_back" if undo else "note"
        return await _settle(queue, task_id, word, {"did": did, "so": so, "not_so": not_so})

    if undo and (did or so or not_so):
        raise click.UsageError("--undo takes the last note back; leave out what was done.")
    task, tasks = run_with_queue(call, user_id, note)
    said = "The last note is taken back from" if undo else "That is noted with"
    print_answer(call, f"{said} “{task.spec.title}”.", task, tasks)


@click.command("done")
@add_task_argument
@click.option("--met", type=int, multiple=True, metavar="N", help="This acceptance criterion is met (1 is the first).")
@click.option("--all-met", is_flag=True, help="Every acceptance criterion is met.")
@_add_report_options
@add_queue_options
def done_command(
    call: CommandCall,
    task_id: str,
    met: tuple[int, ...],
    all_met: bool,
    did: tuple[str, ...],
    so: tuple[str, ...],
    not_so: tuple[str, ...],
    user_id: str | None,
) -> None:
    """Say that a task that was pulled is done. Each acceptance criterion has to be met, and no rule of its workflow may
    object to what was done for it.
    """

    async def end(queue: Queue) -> tuple[QueuedTask, Sequence[QueuedTask]]:
        task = await queue.task(task_id)
        every = range(len(task.spec.acceptance_criteria))
        ticked = tuple(every) if all_met else tuple(number - 1 for number in met)
        word: Literal["done", "approve"] = "approve" if isinstance(task.spec.work, ReviewParts) else "done"
        return await _settle(queue, task_id, word, {"met": ticked, "did": did, "so": so, "not_so": not_so})

    task, tasks = run_with_queue(call, user_id, end)
    print_answer(call, f"“{task.spec.title}” is done.", task, tasks)


async def _settle(
    queue: Queue, task_id: str, word: Literal["done", "note", "take_back", "approve"], said: dict[str, object]
) -> tuple[QueuedTask, Sequence[QueuedTask]]:
    """Apply the same command as in Slack. Raises ``BadInput`` with what is missing, and how to say it here."""
    from fateforger.conversation.queue.decisions import apply_decision  # noqa: PLC0415  heavy
    from fateforger.session.queue_commands import SettleTask  # noqa: PLC0415  heavy

    task = await queue.task(task_id)
    seen = await queue.look_up(task)
    command = SettleTask.model_validate(
        {
            "command_id": f"door-{uuid4().hex}",
            "user_id": queue.user_id,
            "at": queue.now,
            "task_id": task_id,
            "word": word,
        }
        | said
    )
    try:
        changed = await queue.tasks.change(
            queue.user_id,
            task_id,
            lambda task: apply_decision(task, command, queue.workflows, seen),
            now=queue.now,
        )
    except BadInput as error:
        raise BadInput(
            f"{error.message}{_explain_options(queue, task, seen, error.where, did=bool(said['did']))}",
            where=error.where,
        ) from None
    if changed is None:
        raise build_unknown_task_error(task_id)
    return changed, await queue.tasks.of(queue.user_id, ended=True)


def _explain_options(queue: Queue, task: QueuedTask, seen: Seen, missing: str | None, *, did: bool) -> str:
    """Return how the command line can say what is missing."""
    workflow = queue.workflows.get(task.spec.workflow)
    if workflow is None:
        return ""
    if missing == "did" and not did:
        return f" Name what you did with --did, in order: {', '.join(list_steps(workflow))}."
    if missing == "stated":
        names = ", ".join(each.name for each in list_questions(task, workflow, seen))
        return f" Answer with --so or --not-so: {names}." if names else ""
    return ""

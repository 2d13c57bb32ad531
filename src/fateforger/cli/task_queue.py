"""Access to one person's queue for the commands of ``fateforger tasks``, their shared options, and their output."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any, TypeVar

import click

from fateforger.app.rules import build_facts, build_workflows
from fateforger.cli.options import CommandCall, Opened, add_person_option, add_store_options, find_owner
from fateforger.config import Settings
from fateforger.errors import BadInput
from fateforger.planning.task_details import PLAIN, list_facts
from fateforger.session.day import local_today
from fateforger.tasks.gate import Seen, look_up
from fateforger.tasks.ports import Durations, Tasks
from fateforger.tasks.queue import blockers, describe_facts
from fateforger.tasks.task import QueuedTask, name_priority, read_task_id
from fateforger.tasks.workflows import Workflows
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

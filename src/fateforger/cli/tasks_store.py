"""Open the queue for one ``tasks`` command, with its clock and its person."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fateforger.cli.constraints_store import check_person_option
from fateforger.cli.documents import write_json
from fateforger.cli.options import add_place_options, as_json, load_settings
from fateforger.errors import BadInput

if TYPE_CHECKING:
    from fateforger.adapters.store import Store
    from fateforger.config import Settings
    from fateforger.ports import Tasks
    from fateforger.tasks import QueuedTask

_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class Queue:
    """One person's queue, and the instant of the command."""

    tasks: Tasks
    user_id: str
    now: datetime

    async def task(self, task_id: str) -> QueuedTask:
        """Return the task with that id. Raises ``BadInput``."""
        task = await self.tasks.get(self.user_id, task_id)
        if task is None:
            raise build_unknown_task_error(task_id)
        return task


def build_unknown_task_error(task_id: str) -> BadInput:
    """Return the error for an unknown id."""
    return BadInput(f"There is no task {task_id} in this queue; tasks list shows those that are there.", where="id")


def read_id(_: click.Context, __: click.Parameter, text: str | None) -> str | None:
    """Parse a typed id. Raises ``BadInput`` for an impossible one."""
    return None if text is None else _parse_id(text)


def read_ids(_: click.Context, __: click.Parameter, texts: Sequence[str]) -> tuple[str, ...]:
    """Parse several typed ids. See :func:`read_id`."""
    return tuple(map(_parse_id, texts))


def _parse_id(text: str) -> str:
    from fateforger.tasks import read_task_id  # noqa: PLC0415  the help text needs none of it

    task_id = read_task_id(text)
    if task_id is None:
        raise BadInput(f"“{text}” is no id of a task; they look like ff-7k2m9x.", where="id")
    return task_id


def add_queue_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that every command on the queue shares."""
    whose = click.option("--user", "user_id", metavar="ID", callback=check_person_option, help="Whose queue.")
    return whose(add_place_options(as_json(click.pass_context(function))))


def add_task_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument TASK, for commands about one task."""
    return click.argument("task_id", metavar="TASK", callback=read_id)(function)


def run_with_queue(
    ctx: click.Context,
    user_id: str | None,
    where: Mapping[str, str | None],
    work: Callable[[Queue], Awaitable[_R]],
) -> _R:
    """Run ``work`` on the queue. ``where`` holds ``now`` and ``data_dir`` from the command line."""
    return asyncio.run(_run_opened(load_settings(ctx, **where), user_id, work))


async def _run_opened(settings: Settings, user_id: str | None, work: Callable[[Queue], Awaitable[_R]]) -> _R:
    from fateforger.bootstrap.ground import build_clock, open_state  # noqa: PLC0415  heavy

    store = await open_state(settings)
    try:
        person = user_id or await _find_owner(settings, store)
        return await work(Queue(store.tasks, person, settings.now or build_clock(settings).now()))
    finally:
        await store.aclose()


async def _find_owner(settings: Settings, store: Store) -> str:
    """Return the owner of the calendar. Raises ``BadInput`` while it has none."""
    from fateforger.bootstrap.ground import build_clock  # noqa: PLC0415  heavy
    from fateforger.bootstrap.owner import build_ownership  # noqa: PLC0415  heavy

    owner = await build_ownership(settings, store, build_clock(settings)).owner()
    if owner.person is None:
        raise BadInput(
            "The calendar has no owner, as fateforger doctor says, so say whose queue you mean with --user.",
            where="user",
        )
    return owner.person


def build_document(task: QueuedTask, tasks: Sequence[QueuedTask]) -> dict[str, Any]:
    """Return a task for output; ``waits_for`` are those of ``tasks`` (all of the person's) that come first."""
    from fateforger.tasks import blockers  # noqa: PLC0415  the help text needs none of it

    return {**task.model_dump(mode="json"), "waits_for": [first.id for first in blockers(task, tasks)]}


def print_answer(sentence: str, task: QueuedTask, tasks: Sequence[QueuedTask], *, as_json: bool) -> None:
    """Print the answer of a command that changed a task."""
    if as_json:
        write_json({"message": sentence, "task": build_document(task, tasks)})
    else:
        click.echo(sentence)

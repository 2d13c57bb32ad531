"""Open the queue for one ``tasks`` command, with its clock and its person."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fateforger.cli.constraints_store import checked_person
from fateforger.cli.documents import write_json
from fateforger.cli.options import as_json, placed, settings_from
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
            raise not_there(task_id)
        return task


def not_there(task_id: str) -> BadInput:
    """Return the error for an unknown id."""
    return BadInput(f"There is no task {task_id} in this queue; tasks list shows those that are there.", where="id")


def read_id(_: click.Context, __: click.Parameter, text: str | None) -> str | None:
    """Parse a typed id. Raises ``BadInput`` for an impossible one."""
    return None if text is None else _read(text)


def read_ids(_: click.Context, __: click.Parameter, texts: Sequence[str]) -> tuple[str, ...]:
    """Parse several typed ids. See :func:`read_id`."""
    return tuple(map(_read, texts))


def _read(text: str) -> str:
    from fateforger.tasks import read_task_id  # noqa: PLC0415  the help text needs none of it

    task_id = read_task_id(text)
    if task_id is None:
        raise BadInput(f"“{text}” is no id of a task; they look like ff-7k2m9x.", where="id")
    return task_id


def in_queue(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that every command on the queue shares."""
    whose = click.option("--user", "user_id", metavar="ID", callback=checked_person, help="Whose queue.")
    return whose(placed(as_json(click.pass_context(function))))


def of_task(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the argument TASK, for commands about one task."""
    return click.argument("task_id", metavar="TASK", callback=read_id)(function)


def with_queue(
    ctx: click.Context,
    user_id: str | None,
    where: Mapping[str, str | None],
    work: Callable[[Queue], Awaitable[_R]],
) -> _R:
    """Run ``work`` on the queue. ``where`` holds ``now`` and ``data_dir`` from the command line."""
    return asyncio.run(_opened(settings_from(ctx, **where), user_id, work))


async def _opened(settings: Settings, user_id: str | None, work: Callable[[Queue], Awaitable[_R]]) -> _R:
    from fateforger.bootstrap.ground import open_state, ticking_clock  # noqa: PLC0415  heavy

    store = await open_state(settings)
    try:
        person = user_id or await _owner(settings, store)
        return await work(Queue(store.tasks, person, settings.now or ticking_clock(settings).now()))
    finally:
        await store.aclose()


async def _owner(settings: Settings, store: Store) -> str:
    """Return the owner of the calendar. Raises ``BadInput`` while it has none."""
    from fateforger.bootstrap.ground import ticking_clock  # noqa: PLC0415  heavy
    from fateforger.bootstrap.owner import ownership_of  # noqa: PLC0415  heavy

    owner = await ownership_of(settings, store, ticking_clock(settings)).owner()
    if owner.person is None:
        raise BadInput(
            "The calendar has no owner, as fateforger doctor says, so say whose queue you mean with --user.",
            where="user",
        )
    return owner.person


def document(task: QueuedTask, tasks: Sequence[QueuedTask]) -> dict[str, Any]:
    """Return a task for output; ``waits_for`` are those of ``tasks`` (all of the person's) that come first."""
    from fateforger.tasks import blockers  # noqa: PLC0415  the help text needs none of it

    return {**task.model_dump(mode="json"), "waits_for": [first.id for first in blockers(task, tasks)]}


def tell(sentence: str, task: QueuedTask, tasks: Sequence[QueuedTask], *, as_json: bool) -> None:
    """Print the answer of a command that changed a task."""
    if as_json:
        write_json({"message": sentence, "task": document(task, tasks)})
    else:
        click.echo(sentence)

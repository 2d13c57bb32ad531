"""Options that several commands share, and the store opened for one command with its clock and its person."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fateforger.cli.documents import write_json
from fateforger.errors import BadInput

if TYPE_CHECKING:
    from fateforger.adapters.store.store import Store
    from fateforger.config import Settings
    from fateforger.memory.ports import Constraints
    from fateforger.memory.versions import Version
    from fateforger.tasks.ports import Tasks
    from fateforger.tasks.task import QueuedTask


as_json = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout, for programs.")
_now = click.option("--now", metavar="INSTANT", help="Set the clock (RFC 3339).")
_data_dir = click.option("--data-dir", metavar="DIR", help="Where everything durable lives.")


def add_place_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--now`` and ``--data-dir`` to a command, in addition to those before it."""
    return _now(_data_dir(function))


def load_settings(ctx: click.Context, **given: object) -> Settings:
    """Return the settings. Options of the command override those before it, and both override the environment."""
    from fateforger.config import read_settings  # noqa: PLC0415  slow to import, and not every command needs it

    before = ctx.find_root().obj or {}
    merged = {**before, **{name: value for name, value in given.items() if value is not None}}
    return read_settings(**merged)


_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class Opened:
    """The constraints, the instant of the command, and the day it is in FATEFORGER_TIME_ZONE, which is ``tz``."""

    constraints: Constraints
    now: datetime
    today: date
    tz: str


def add_store_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that every command on the store shares."""
    return add_place_options(as_json(click.pass_context(function)))


def check_person_option(_: click.Context, __: click.Parameter, user_id: str | None) -> str | None:
    """Validate the id of a person before anything else is done. Raises ``BadInput``."""
    from fateforger.memory.documents import check_person  # noqa: PLC0415  the help text needs none of it

    return None if user_id is None else check_person(user_id)


def add_person_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the required option ``--user``, for commands about one person."""
    whose = click.option(
        "--user", "user_id", metavar="ID", required=True, callback=check_person_option, help="Whose constraints."
    )
    return whose(function)


def run_with_constraints(
    ctx: click.Context, where: Mapping[str, str | None], work: Callable[[Opened], Awaitable[_R]]
) -> _R:
    """Run ``work`` on the store. ``where`` holds ``now`` and ``data_dir`` from the command line."""
    return asyncio.run(_run_with_opened_constraints(load_settings(ctx, **where), work))


async def _run_with_opened_constraints(settings: Settings, work: Callable[[Opened], Awaitable[_R]]) -> _R:
    from fateforger.app.resources import build_clock, open_state  # noqa: PLC0415  heavy
    from fateforger.session.day import local_today  # noqa: PLC0415  heavy

    store = await open_state(settings)
    try:
        now = settings.now or build_clock(settings).now()
        return await work(Opened(store.constraints, now, local_today(now, settings.time_zone), settings.time_zone))
    finally:
        await store.aclose()


def write_line_with_uid(version: Version) -> dict[str, Any]:
    """Return a version for output: the line of an export, preceded by its uid."""
    from fateforger.memory.documents import write_version  # noqa: PLC0415  the help text needs none of it

    return {"uid": version.uid, **write_version(version)}


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
    from fateforger.tasks.task import read_task_id  # noqa: PLC0415  the help text needs none of it

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
    return asyncio.run(_run_with_opened_queue(load_settings(ctx, **where), user_id, work))


async def _run_with_opened_queue(settings: Settings, user_id: str | None, work: Callable[[Queue], Awaitable[_R]]) -> _R:
    from fateforger.app.resources import build_clock, open_state  # noqa: PLC0415  heavy

    store = await open_state(settings)
    try:
        person = user_id or await _find_owner(settings, store)
        return await work(Queue(store.tasks, person, settings.now or build_clock(settings).now()))
    finally:
        await store.aclose()


async def _find_owner(settings: Settings, store: Store) -> str:
    """Return the owner of the calendar. Raises ``BadInput`` while it has none."""
    from fateforger.app.resources import build_clock, build_ownership  # noqa: PLC0415  heavy

    owner = await build_ownership(settings, store, build_clock(settings)).owner()
    if owner.person is None:
        raise BadInput(
            "The calendar has no owner, as fateforger doctor says, so say whose queue you mean with --user.",
            where="user",
        )
    return owner.person


def build_task_document(task: QueuedTask, tasks: Sequence[QueuedTask]) -> dict[str, Any]:
    """Return a task for output; ``waits_for`` are those of ``tasks`` (all of the person's) that come first."""
    from fateforger.tasks.queue import blockers  # noqa: PLC0415  the help text needs none of it

    return {**task.model_dump(mode="json"), "waits_for": [first.id for first in blockers(task, tasks)]}


def print_answer(sentence: str, task: QueuedTask, tasks: Sequence[QueuedTask], *, as_json: bool) -> None:
    """Print the answer of a command that changed a task."""
    if as_json:
        write_json({"message": sentence, "task": build_task_document(task, tasks)})
    else:
        click.echo(sentence)

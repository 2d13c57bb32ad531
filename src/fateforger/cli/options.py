"""Options that several commands share, and the store opened for one command with its clock and its person."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import date, datetime
from functools import wraps
from getpass import getuser
from typing import TYPE_CHECKING, Any, TypeVar
from zoneinfo import ZoneInfo

import click

from fateforger.cli.documents import echo, print_result
from fateforger.limits import MAX_LABEL_CHARS
from fateforger.text import truncate

if TYPE_CHECKING:
    from fateforger.adapters.store.store import Store
    from fateforger.config import Settings
    from fateforger.memory.versions import Version


class Group(click.Group):
    """Commands, each listed with the whole first sentence of its help."""

    group_class = type

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands; click itself cuts their sentences to one line."""
        found = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [(name, command.get_short_help_str(sys.maxsize)) for name, command in found if command is not None]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


as_json = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout, for programs.")
_now = click.option("--now", metavar="INSTANT", help="Set the clock (RFC 3339).")
_data_dir = click.option("--data-dir", metavar="DIR", help="Where everything durable lives.")


def add_place_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--now`` and ``--data-dir`` to a command, in addition to those before it."""
    return _now(_data_dir(function))


def load_settings(ctx: click.Context, **given: object) -> Settings:
    """Return the settings, and name commands as they say.

    Options of the command override those before it, and both override the environment.
    """
    from fateforger.config import read_settings  # noqa: PLC0415  slow to import, and not every command needs it
    from fateforger.text import use_command_names  # noqa: PLC0415  slow to import, and not every command needs it

    before = ctx.find_root().obj or {}
    merged = {**before, **{name: value for name, value in given.items() if value is not None}}
    settings = read_settings(**merged)
    use_command_names(settings.commands)
    return settings


_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class Opened:
    """The store, opened for one command, and the instant of the command."""

    store: Store
    settings: Settings
    now: datetime

    @property
    def today(self) -> date:
        """The day in FATEFORGER_TIME_ZONE."""
        return self.now.astimezone(ZoneInfo(self.settings.time_zone)).date()


@dataclass(frozen=True, slots=True)
class CommandCall:
    """One call of a command on the store: its context, and the options that all these commands share."""

    ctx: click.Context
    as_json: bool
    where: Mapping[str, str | None]
    """``now`` and ``data_dir`` of the command."""

    def load_settings(self) -> Settings:
        """Return the settings with the options of the command; see :func:`load_settings`."""
        return load_settings(self.ctx, **self.where)

    def run(self, work: Callable[[Opened], Awaitable[_R]]) -> _R:
        """Open the store, run ``work`` on it, and close it."""
        return asyncio.run(_run_with_store(self.ctx, self.load_settings(), work))

    def print_result(self, document: Any, lines: Iterable[str]) -> None:
        """Print the document for programs, or the lines for people."""
        print_result(document, lines, as_json=self.as_json)


def add_store_options(function: Callable[..., None]) -> Callable[..., Any]:
    """Add the options that every command on the store shares; the command takes them as a :class:`CommandCall`."""

    @wraps(function)
    def run(
        ctx: click.Context, /, *args: Any, as_json: bool, now: str | None, data_dir: str | None, **given: Any
    ) -> None:
        function(CommandCall(ctx, as_json, {"now": now, "data_dir": data_dir}), *args, **given)

    return add_place_options(as_json(click.pass_context(run)))


def check_person_option(_: click.Context, __: click.Parameter, user_id: str | None) -> str | None:
    """Validate the id of a person before anything else is done. Raises ``BadInput``."""
    if user_id is None:
        return None
    from fateforger.memory.documents import check_person  # noqa: PLC0415  the help text needs none of it

    return check_person(user_id)


def add_person_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option ``--user`` to a command about one person, who is otherwise the owner (:func:`find_owner`)."""
    whose = click.option("--user", "user_id", metavar="ID", callback=check_person_option, help="Whose.")
    return whose(function)


async def find_owner(opened: Opened) -> str:
    """Return the owner of the calendar, for a command that names no person, and note the command in their log.

    Raises ``BadInput`` if there is no owner.
    """
    from fateforger.app.resources import build_clock, build_ownership  # noqa: PLC0415  heavy
    from fateforger.errors import BadInput  # noqa: PLC0415  the help text needs none of it

    owner = await build_ownership(opened.settings, opened.store.owners, build_clock(opened.settings)).owner()
    if owner.person is None:
        raise BadInput(
            "The calendar has no owner, as fateforger doctor says. Please name a person with --user ID.", where="user"
        )
    await note_action(click.get_current_context(), opened, (owner.person,))
    return owner.person


async def _run_with_store(ctx: click.Context, settings: Settings, work: Callable[[Opened], Awaitable[_R]]) -> _R:
    from fateforger.app.resources import open_state, read_instant  # noqa: PLC0415  heavy

    async with aclosing(await open_state(settings)) as store:
        opened = Opened(store, settings, read_instant(settings))
        doubt = await _note_named(ctx, opened)
        done = await work(opened)
    echo_doubt(doubt)
    return done


async def _note_named(ctx: click.Context, opened: Opened) -> str | None:
    """Note the command for the person whom it names. Return a sentence if the id is new here: it may be mistyped.

    That is looked up before the command, which may store the first data of the person.
    """
    person = find_person(ctx)
    if person is None:
        return None
    known = await _is_known(opened, person)
    await note_action(ctx, opened, (person,))
    doubt = f"Nobody here had the id {person} before. If this is not for somebody new, please check the id."
    return None if known else doubt


def echo_doubt(doubt: str | None) -> None:
    """Show that an id is new, once a command has succeeded: a mistake gets one sentence only."""
    if doubt is not None:
        echo(doubt, err=True)


async def _is_known(opened: Opened, person: str) -> bool:
    from fateforger.adapters.store.upkeep import is_known  # noqa: PLC0415  heavy
    from fateforger.app.resources import build_clock, build_ownership  # noqa: PLC0415  heavy

    ownership = build_ownership(opened.settings, opened.store.owners, build_clock(opened.settings))
    known = person in ownership.page or await is_known(opened.store.database, person)
    return known or person == (await ownership.owner()).person


def find_person(ctx: click.Context) -> str | None:
    """Return the person whom a command is about, if it names one."""
    return ctx.params.get("user_id") or ctx.params.get("user")


async def note_action(ctx: click.Context, opened: Opened, people: Iterable[str]) -> None:
    """Note for each of the people that the operator runs this command, so that they can see it.

    This happens before the command does anything: a command that cannot be noted is not carried out. The ids have been
    checked, or come from the store.
    """
    from fateforger.ports.people import OperatorAction  # noqa: PLC0415  the help text needs none of it

    command = get_command_name(ctx)
    if command in UNNOTED:
        return
    for person in people:
        await opened.store.operator_log.note(OperatorAction(person, opened.now, command, find_operator()))


async def note_command(ctx: click.Context, settings: Settings) -> str | None:
    """Note a command that opens no store here, if it names a person; see :func:`_note_named`."""
    from fateforger.app.resources import open_state, read_instant  # noqa: PLC0415  heavy

    if find_person(ctx) is None:
        return None
    async with aclosing(await open_state(settings)) as store:
        return await _note_named(ctx, Opened(store, settings, read_instant(settings)))


UNNOTED = frozenset({"constraints reindex", "person erase"})
"""Commands about a person that are not noted: one rebuilds an index, and an erasure leaves nothing."""


def get_command_name(ctx: click.Context) -> str:
    """Return the name of a command without that of the program, such as ``person export``."""
    return ctx.command_path.partition(" ")[2]


def find_operator() -> str:
    """Return the user of the machine who runs the program, and with sudo also the user who called it."""
    try:
        from pwd import getpwuid  # noqa: PLC0415  Windows has none

        name = getpwuid(os.getuid()).pw_name
    except ModuleNotFoundError:  # pragma: no cover - Windows
        name = getuser()
    except KeyError:  # containers often run as a number
        name = f"uid {os.getuid()}"
    before = os.environ.get("SUDO_USER", "")
    return truncate(f"{name}, sudo by {before}" if before else name, MAX_LABEL_CHARS)


def write_line_with_uid(version: Version) -> dict[str, Any]:
    """Return a version for output: the line of an export, preceded by its uid."""
    from fateforger.memory.documents import write_version  # noqa: PLC0415  the help text needs none of it

    return {"uid": version.uid, **write_version(version)}

"""The command tree, and the one place where errors become messages and an exit status.

Exit status: 0 done, 2 invalid input, 3 an external failure (calendar, database, network). With ``--json`` one JSON
document goes to stdout and nothing else; errors are ``{"error": {"kind", "message", "where"}}``.
"""

from __future__ import annotations

import importlib
import os
import sys
import zoneinfo
from collections.abc import Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NoReturn

import click

from fateforger import __version__
from fateforger.cli.documents import echo, escape_unknown_characters, write_json
from fateforger.errors import FateforgerError, UserError, WorldError

_COMMANDS = {
    "up": ("fateforger.cli.program", "Run everything with what is configured, and print the page's address."),
    "doctor": ("fateforger.cli.program", "Say what is real, what is local and what is missing, each with its fix."),
    "manifest": ("fateforger.cli.program", "Print the manifest from which the Slack app is made."),
    "health": ("fateforger.cli.program", "Ask the program that runs here whether it is well."),
    "feedback": ("fateforger.cli.records", "List what people think of what a language model said, with its turn."),
    "plan": ("fateforger.cli.plan", "Resolve, patch, check, draft and draw plans."),
    "costs": ("fateforger.cli.records", "Show what language models were asked, and what that cost."),
    "eval": ("fateforger.cli.records", "Measure how well a language model understands messages, and compare two."),
    "replay": ("fateforger.cli.records", "Run recorded turns again, offline, and say what is different now."),
    "constraints": (
        "fateforger.cli.constraints",
        "Show and change the rules that people told the planner, and see which apply on a day.",
    ),
    "calendars": ("fateforger.cli.calendars", "Show, connect and disconnect the calendars of people."),
    "tasks": ("fateforger.cli.tasks", "Show and change the queue of work, and do what is next."),
    "person": ("fateforger.cli.records", "Export or erase all that is held about a person."),
    "admin": ("fateforger.cli.admin", "Run fateforger for others: people, failed work, upkeep, backups."),
    "workflow": ("fateforger.cli.workflow", "Check what was done against the rules of a workflow."),
    "mcp": ("fateforger.cli.mcp", "Let other agents work with tasks and propose changes."),
    "sync": ("fateforger.cli.sync", "Show, apply and take back the difference between a plan and a calendar."),
}

_RULES = "tzdata.zi"
"""The file of time zones whose first line says of which release they are."""


class _Commands(click.Group):
    """A group that imports a command's module only when the command is called, so that each starts fast."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; who reads its output may stop before the end, which is no failure."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what Python writes at its end
            raise click.exceptions.Exit(0) from None

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  click's signature
        if cmd_name not in _COMMANDS:
            return None
        command = getattr(importlib.import_module(_COMMANDS[cmd_name][0]), f"{cmd_name}_command")
        assert isinstance(command, click.Command)  # noqa: S101  narrows the type of a module attribute
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  click's signature
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="fateforger")
@click.option("--now", metavar="INSTANT", help="Set the clock (RFC 3339). Also: FATEFORGER_NOW.")
@click.option("--data-dir", metavar="DIR", help="Where everything durable lives. Also: FATEFORGER_DATA_DIR.")
@click.pass_context
def root_command(ctx: click.Context, now: str | None, data_dir: str | None) -> None:
    """Plan a day in a Slack thread, see it on a real calendar, take it back."""
    ctx.obj = {"now": now, "data_dir": data_dir}


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit with its status."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in arguments
    escape_unknown_characters()
    use_latest_zones()
    try:
        status = root_command.main(args=arguments, prog_name="fateforger", standalone_mode=False)
    except FateforgerError as error:
        _fail(error.kind, error.message, error.where, as_json=as_json, status=_to_exit_status(error))
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(2)
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "fateforger"
        _fail("usage", error.format_message(), where, as_json=as_json, status=2)
    except click.ClickException as error:
        _fail("bad_input", error.format_message(), None, as_json=as_json, status=2)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    sys.exit(status if isinstance(status, int) else 0)


def use_latest_zones() -> None:
    """Read time zones from the tzdata package if the system's are from an earlier release; Python prefers the system's.

    On a system that does not say of which release they are, its own are used.
    """
    installed = files("tzdata") / "zoneinfo" / _RULES
    for rules in (Path(folder) / _RULES for folder in zoneinfo.TZPATH):
        if rules.is_file():
            if _read_release(rules) < _read_release(installed):
                zoneinfo.reset_tzpath(to=())
            return


def _read_release(rules: Traversable) -> str:
    """Return the release of time zones from the first line of their rules, such as ``2026f``."""
    with rules.open(encoding="utf-8", errors="replace") as lines:
        return lines.readline().removeprefix("# version ").strip()


def _to_exit_status(error: FateforgerError) -> int:
    if isinstance(error, UserError):
        return 2
    return 3 if isinstance(error, WorldError) else 1


def _fail(kind: str, message: str, where: str | None, *, as_json: bool, status: int) -> NoReturn:
    if as_json and where != "stdout":
        write_json({"error": {"kind": kind, "message": message, "where": where}})
    elif kind == "usage":
        sentence = " ".join(message.split())
        echo(f"{sentence}{'' if sentence.endswith(('.', '?')) else '.'} See {where} --help.", err=True)
    else:
        echo(message if where is None else f"{message} ({where})", err=True)
    sys.exit(status)

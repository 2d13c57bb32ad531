"""``fateforger tasks``: view, reorder and work off a person's queue."""

from __future__ import annotations

import click

from fateforger.cli.tasks_adding import add_command
from fateforger.cli.tasks_changing import (
    move_command,
    pause_command,
    priority_command,
    rename_command,
    resume_command,
    retry_command,
    stop_command,
)
from fateforger.cli.tasks_looking import list_command, show_command
from fateforger.cli.tasks_pulling import done_command, pull_command


@click.group("tasks")
def command() -> None:
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
):
    command.add_command(door)

"""``fateforger tasks``: view, reorder and work off a person's queue."""

from __future__ import annotations

import click

from fateforger.cli.tasks_adding import add_door
from fateforger.cli.tasks_changing import (
    move_door,
    pause_door,
    priority_door,
    rename_door,
    resume_door,
    retry_door,
    stop_door,
)
from fateforger.cli.tasks_looking import list_door, show_door
from fateforger.cli.tasks_pulling import done_door, pull_door


@click.group("tasks")
def command() -> None:
    """The queue: what there is to do, which of it is next, and what becomes of it.

    A task is named by its id, with or without the “ff-”. Without --user it is the queue of the person whose calendar
    plans are written to.
    """


for door in (
    add_door,
    list_door,
    show_door,
    move_door,
    priority_door,
    rename_door,
    pause_door,
    resume_door,
    stop_door,
    retry_door,
    pull_door,
    done_door,
):
    command.add_command(door)

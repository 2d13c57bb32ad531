"""Options of ``tasks add`` about what a day's plan has to know of a task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from fateforger.planning.task_details import BestTime, TaskDetails, TaskKind, change_details

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


def take_details(said: dict[str, Any]) -> TaskDetails:
    """Take the options about details out of ``said``. Raises ``BadInput``."""
    given = {name: value for name in _DETAILS if (value := said.pop(name)) not in {None, ()}}
    if "nature" in given:
        given["kind"] = given.pop("nature")
    for name in ("due", "from"):
        day, _, clock = given.pop(name, "").strip().rpartition(" ")
        if "-" in clock:
            day, clock = clock, ""
        given |= {f"{name}_{part}": text for part, text in (("day", day.strip()), ("time", clock)) if text}
    return change_details(given)

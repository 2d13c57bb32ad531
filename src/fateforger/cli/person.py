"""``fateforger person``: export or erase the data about a person."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import click

from fateforger.cli.constraints_store import add_store_options, check_person_option
from fateforger.cli.documents import open_output, write_json
from fateforger.cli.options import load_settings

if TYPE_CHECKING:
    from fateforger.ports import Counts


@click.group("person")
def command() -> None:
    """Export what is held about a person as one document, or erase it."""


@command.command("export")
@click.argument("user_id", metavar="USER", callback=check_person_option)
@click.option("--to", "target", metavar="FILE", default="-", help="Where to; by default stdout.")
@add_store_options
def export_command(ctx: click.Context, user_id: str, target: str, as_json: bool, **where: str | None) -> None:
    """Everything that is held about USER (their Slack id) as one JSON document; docs/privacy.md says what is in it."""
    from fateforger.bootstrap.people import export_person  # noqa: PLC0415  heavy

    document = asyncio.run(export_person(load_settings(ctx, **where), user_id))
    with open_output(target) as write_line:
        write_line(json.dumps(document, ensure_ascii=False, indent=1))
    counts = {kind: len(rows) for kind, rows in document["held"].items()}
    if target == "-":
        return
    if as_json:
        write_json({"person": user_id, "counts": counts, "file": target})
        return
    click.echo(f"{_format_total(counts)} about {user_id} in {target}.")


@command.command("erase")
@click.argument("user_id", metavar="USER", callback=check_person_option)
@click.option("--apply", "apply", is_flag=True, help="Erase it; without this it is only listed.")
@add_store_options
def erase_command(ctx: click.Context, user_id: str, apply: bool, as_json: bool, **where: str | None) -> None:
    """Erase everything that is held about USER (their Slack id), or list by kind how much that is.

    It may be repeated: a run that was cut off is completed by the next. A program that runs here need not be stopped.
    What is on the calendar and in Slack stays there.
    """
    from fateforger.bootstrap.people import count_held, erase_person, list_leftovers  # noqa: PLC0415  heavy

    settings = load_settings(ctx, **where)
    follows = False
    if apply:
        done = asyncio.run(erase_person(settings, user_id))
        counts, follows = done.counts, done.index_follows
    else:
        counts = asyncio.run(count_held(settings, user_id))
    sentence, stays = _describe_result(user_id, counts, apply=apply), list_leftovers(settings)
    if as_json:
        outcome = {"person": user_id, "applied": apply, "counts": dict(counts), "index_follows": follows}
        write_json({**outcome, "message": sentence, "stays": list(stays)})
        return
    _print_counts(counts)
    click.echo(sentence)
    if follows:
        click.echo("The program that runs here takes their rules out of the search index as soon as it can.")
    for line in stays if counts else ():
        click.echo(line)


def _print_counts(counts: Counts) -> None:
    from fateforger.ports import KINDS  # noqa: PLC0415  heavy

    for kind, count in counts.items():
        click.echo(f"{count:>7}  {KINDS[kind]}")


def _describe_result(user_id: str, counts: Counts, *, apply: bool) -> str:
    if not counts:
        return f"Nothing is held about {user_id}."
    if apply:
        return f"Erased: {_format_total(counts)} about {user_id}. That it was done is noted, without who it was about."
    return f"{_format_total(counts)} about {user_id}. Nothing was erased; say so with --apply."


def _format_total(counts: Counts) -> str:
    total = sum(counts.values())
    return f"{total} row{'' if total == 1 else 's'}"

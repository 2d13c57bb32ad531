"""``fateforger constraints reindex``: rebuild the search index from the store."""

from __future__ import annotations

import asyncio
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from fateforger.cli.constraints_store import add_store_options, check_person_option
from fateforger.cli.documents import write_json
from fateforger.cli.options import load_settings

if TYPE_CHECKING:
    from fateforger.config import Settings


@click.command("reindex")
@click.option(
    "--user", "user_id", metavar="ID", callback=check_person_option, help="Only theirs; by default everybody's."
)
@add_store_options
def reindex_command(ctx: click.Context, user_id: str | None, as_json: bool, **where: str | None) -> None:
    """Make the search index anew from what is written down. A program that runs here does it in the background."""
    count, done = _reindex(load_settings(ctx, **where), user_id, quiet=as_json)
    sentence = _describe_result(count, done=done, everybody=user_id is None)
    if as_json:
        write_json({"constraints": count, "done": done, "message": sentence})
        return
    click.echo(sentence)


def _reindex(settings: Settings, user_id: str | None, *, quiet: bool) -> tuple[int, bool]:
    """Reindex with a progress bar; return the number of constraints and whether they are indexed already."""
    from fateforger.bootstrap.memory import rebuild_index  # noqa: PLC0415  heavy

    counted: list[int] = []
    with ExitStack() as stack:
        bars = []

        def on_begin(count: int) -> None:
            counted.append(count)
            if not quiet and sys.stderr.isatty():
                bars.append(stack.enter_context(click.progressbar(length=count, label="Indexing", file=sys.stderr)))

        def on_progress(more: int) -> None:
            for bar in bars:
                bar.update(more)

        done = asyncio.run(rebuild_index(settings, user_id, on_begin, on_progress))
    return counted[0], done


def _describe_result(count: int, *, done: bool, everybody: bool) -> str:
    constraints = f"{count} constraint{'' if count == 1 else 's'}"
    if not done:
        return f"{constraints} will be indexed again by the program that runs here."
    return f"The index was made anew: {constraints}." if everybody else f"Indexed again: {constraints}."

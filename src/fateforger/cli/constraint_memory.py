"""``fateforger constraints reindex|verify|restore``: compare Mem0 and the database, and fill one from the other."""

from __future__ import annotations

import asyncio
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from fateforger.cli.options import (
    CommandCall,
    Opened,
    add_store_options,
    check_person_option,
    write_line_with_uid,
)
from fateforger.text import format_count, quote_title

if TYPE_CHECKING:
    from fateforger.config import Settings
    from fateforger.memory.versions import Version
    from fateforger.workers.memory_check import Differences

_DIFFERENT = 2
"""Exit status when Mem0 and the database differ."""


@click.command("reindex")
@click.option(
    "--user", "user_id", metavar="ID", callback=check_person_option, help="Only theirs; by default everybody's."
)
@click.option("--discard", is_flag=True, help="Give up what only Mem0 holds, instead of stopping.")
@add_store_options
def reindex_command(call: CommandCall, user_id: str | None, discard: bool) -> None:
    """Fill Mem0, the search index, again from what is written down. A program that runs here does it in the background.

    Stops if Mem0 holds constraints that the database lacks; see restore.
    """
    count, done = _reindex(call.load_settings(), user_id, quiet=call.as_json, discard=discard)
    sentence = _describe_result(count, done=done, everybody=user_id is None)
    call.print_result({"constraints": count, "done": done, "message": sentence}, [sentence])


def _reindex(settings: Settings, user_id: str | None, *, quiet: bool, discard: bool) -> tuple[int, bool]:
    """Reindex with a progress bar; return the number of constraints and whether they are indexed already."""
    from fateforger.app.memory import rebuild_index  # noqa: PLC0415  heavy

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

        done = asyncio.run(rebuild_index(settings, user_id, on_begin, on_progress, discard=discard))
    return counted[0], done


def _describe_result(count: int, *, done: bool, everybody: bool) -> str:
    constraints = format_count(count, "constraint")
    if not done:
        return f"{constraints} will be indexed again by the program that runs here."
    return f"The index was rebuilt: {constraints}." if everybody else f"Indexed again: {constraints}."


@click.command("verify")
@add_store_options
def verify_command(call: CommandCall) -> None:
    """Compare Mem0 with the database, constraint by constraint. Nothing is changed.

    Exit status 2 when they differ.
    """
    from fateforger.app.memory import compare_stores, describe_differences, describe_remedy  # noqa: PLC0415  heavy

    found = call.run(lambda opened: compare_stores(opened.settings, opened.store.constraints))
    lines = [describe_differences(found), *_format_differences(found), describe_remedy(found)]
    call.print_result(_write_differences(found), filter(None, lines))
    if not found.is_whole:
        call.ctx.exit(_DIFFERENT)


def _format_differences(found: Differences) -> list[str]:
    kinds = (("only in Mem0", found.lost), ("missing", found.missing), ("different", found.outdated))
    return [f"{words:<14}{_name_version(version)}" for words, versions in kinds for version in versions]


def _write_differences(found: Differences) -> dict[str, Any]:
    kinds = {"missing": found.missing, "outdated": found.outdated, "lost": found.lost}
    return {
        "whole": found.is_whole,
        "agreed": found.agreed,
        "waiting": found.waiting,
        "unreadable": found.unreadable,
        **{kind: [write_line_with_uid(version) for version in versions] for kind, versions in kinds.items()},
    }


@click.command("restore")
@click.option(
    "--user", "user_id", metavar="ID", callback=check_person_option, help="Only theirs; by default everybody's."
)
@add_store_options
def restore_command(call: CommandCall, user_id: str | None) -> None:
    """Write constraints that only Mem0 holds back into the database, after the database was lost or is older.

    What the database has in the same version or a newer one stays as it is there. Earlier versions are not in Mem0.
    """

    async def restore(opened: Opened) -> tuple[Version, ...]:
        from fateforger.app.memory import restore_constraints  # noqa: PLC0415  heavy

        return await restore_constraints(opened.settings, opened.store.constraints, user_id)

    restored = call.run(restore)
    done = f"{format_count(len(restored), 'constraint')} restored from Mem0."
    lines = [*(f"restored  {_name_version(version)}" for version in restored), done]
    if not restored:
        lines = ["Nothing to restore: the database has all that Mem0 holds."]
    document = {"restored": [write_line_with_uid(version) for version in restored]}
    call.print_result(document, lines)


def _name_version(version: Version) -> str:
    return f"{quote_title(version.record.name)} of {version.user_id} [{version.uid}]"

"""``fateforger constraints reindex|verify|restore``, and the options of all commands about constraints."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import time
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fateforger.cli.options import (
    CommandCall,
    Opened,
    add_store_options,
    check_person_option,
    write_line_with_uid,
)
from fateforger.errors import BadInput
from fateforger.memory.record import ConstraintRecord, fold_label
from fateforger.memory.settings import DAY_ENDS, with_moment
from fateforger.memory.vocabulary import Dimension, Necessity, Scope, Slot, Source, Status
from fateforger.text import format_count, quote_title

if TYPE_CHECKING:
    from fateforger.config import Settings
    from fateforger.memory.versions import Version
    from fateforger.workers.contradictions import Differences


C = TypeVar("C", bound=Callable[..., Any])


def _several(name: str, into: str, words: type[Dimension | Necessity | Scope | Status], text: str) -> Callable[[C], C]:
    return click.option(name, into, multiple=True, type=click.Choice([each.value for each in words]), help=text)


def _labels(name: str, into: str, text: str) -> Callable[[C], C]:
    return click.option(name, into, multiple=True, metavar="LABEL", help=text)


def _add_all(options: tuple[Callable[[C], C], ...], command: C) -> C:
    return reduce(lambda decorated, option: option(decorated), reversed(options), command)


def add_filter_options(command: C) -> C:
    """Add the filters of a list; each may be given several times, and admits any of its values."""
    return _add_all(
        (
            _several("--status", "statuses", Status, "Only with this status; also what is out of force."),
            _several("--scope", "scopes", Scope, "Only what reaches so far."),
            _several("--necessity", "necessities", Necessity, "Only what is so binding."),
            _several("--dimension", "dimensions", Dimension, "Only this kind of statement."),
            _labels("--tag", "tags", "Only what has this tag."),
        ),
        command,
    )


def add_limit_options(command: C) -> C:
    """Add what limits a new constraint, and where it comes from."""
    return _add_all(
        (
            click.option(
                "--slot", type=click.Choice([s.value for s in DAY_ENDS]), help="With --at: an end of the day."
            ),
            click.option("--at", metavar="HH:MM", help="With --slot: when that is."),
            click.option(
                "--kept-days", type=click.IntRange(min=1), metavar="N", help="It is kept for N days; 1 is only today."
            ),
            _labels("--only-with", "only_with", "Only on days with that: a title, or a kind of block like M."),
            _labels("--only-without", "only_without", "Only on days without that."),
            click.option("--stage", "stages", multiple=True, metavar="STAGE", help="Only at that step, like REFINE."),
            click.option(
                "--dimension",
                type=click.Choice([each.value for each in Dimension]),
                help="How you do things, what you value, want to reach, or how things are.",
            ),
            _labels("--tag", "topics", "What it is about."),
            click.option("--source", type=click.Choice([s.value for s in Source]), help="Where it comes from."),
            click.option("--confidence", type=click.FloatRange(0, 1), help="How sure it is, from 0 to 1."),
            click.option("--unsure", is_flag=True, default=None, help="The person is asked about it."),
        ),
        command,
    )


def build_limits(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a record document that the options give, by group. Raises ``UsageError``."""
    if (given["slot"] is None) != (given["at"] is None):
        raise click.UsageError("--slot and --at belong together.")
    conditions = {"conditional_on_present": given["only_with"], "conditional_on_absent": given["only_without"]}
    aspect: dict[str, Any] = {name: [*map(fold_label, labels)] for name, labels in conditions.items() if labels}
    if given["dimension"] is not None:
        aspect["dimension"] = given["dimension"]
    return {
        "aspect_classification": aspect or None,
        "lifecycle": None if given["kept_days"] is None else {"ttl_days": given["kept_days"] - 1},
        "applies_stages": given["stages"] or None,
        "topics": given["topics"] or None,
        "source": given["source"],
        "confidence": given["confidence"],
        "needs_confirmation": given["unsure"],
    }


def with_moment_of(record: ConstraintRecord, given: Mapping[str, Any]) -> ConstraintRecord:
    """Return the record with the end of the day that the options name. Raises ``BadInput``."""
    if given["slot"] is None:
        return record
    try:
        at = time.fromisoformat(given["at"])
    except ValueError:
        raise BadInput(f"“{given['at'][:20]}” is not a time of day; write it like 09:30.", where="at") from None
    return with_moment(record, Slot(given["slot"]), at)


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

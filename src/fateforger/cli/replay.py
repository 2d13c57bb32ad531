"""``fateforger replay``: run recorded turns again, offline, and list the differences."""

from __future__ import annotations

import asyncio
import difflib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fateforger.cli.documents import read_document, write_json
from fateforger.cli.options import as_json
from fateforger.errors import BadInput

if TYPE_CHECKING:
    from fateforger.turn.recording.differences import Difference

_WIDEST = 60
"""The most characters of a value on one line."""


@click.command("replay")
@click.argument("sources", metavar="FILE...", nargs=-1, required=True)
@as_json
def command(sources: tuple[str, ...], as_json: bool) -> None:
    """Run recorded turns (files of FATEFORGER_RECORD, or directories of them) again with the recorded answers; no model
    and no calendar is asked. Exits with 0 when all go as they went, with 1 when one does not."""
    from fateforger.turn.recording.replay import replay  # noqa: PLC0415  heavy
    from fateforger.turn.recording.values import parse_recorded_turn  # noqa: PLC0415  heavy

    async def run() -> list[tuple[str, tuple[Difference, ...]]]:
        return [(file, await replay(parse_recorded_turn(read_document(file), file))) for file in _iter_files(sources)]

    replayed = asyncio.run(run())
    same = not any(found for _, found in replayed)
    if as_json:
        turns = [
            {"file": file, "same": not found, "differences": [asdict(d) for d in found]} for file, found in replayed
        ]
        write_json({"same": same, "turns": turns})
    else:
        for file, found in replayed:
            click.echo(f"{file}: {_count_differences(found)}")
            for difference in found:
                click.echo("\n".join(f"  {line}" for line in _format_difference(difference)))
    if not same:
        raise click.exceptions.Exit(1)


def _iter_files(sources: Iterable[str]) -> Iterator[str]:
    """Yield the files, and those of each directory in the order of their names."""
    for source in sources:
        if not Path(source).is_dir():
            yield source
            continue
        found = sorted(str(path) for path in Path(source).glob("*.json"))
        if not found:
            raise BadInput("There is no recorded turn in that directory.", where=source)
        yield from found


def _count_differences(found: tuple[Difference, ...]) -> str:
    if not found:
        return "the same."
    return f"{len(found)} difference{'' if len(found) == 1 else 's'}"


def _format_difference(difference: Difference) -> Iterator[str]:
    """Yield one line, or a diff for texts of several lines."""
    was, now = difference.was, difference.now
    if isinstance(was, str) and isinstance(now, str) and ("\n" in was or "\n" in now):
        yield f"{difference.part} {difference.where}"
        changed = difflib.unified_diff(was.splitlines(), now.splitlines(), lineterm="", n=0)
        yield from (f"  {line}" for line in list(changed)[2:])
    else:
        yield f"{difference.part} {difference.where}: {_format_value(was)} -> {_format_value(now)}"


def _format_value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}…"

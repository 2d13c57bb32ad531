"""``fateforger constraints query``: the constraints of a person that apply, and why the others do not.

They come from the store, or from a FILE of versions, one per line (JSON lines), as an export writes them. With
``--batch``, each line is a context.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from fateforger.cli.documents import parse_json, read_lines, write_json
from fateforger.cli.options import add_place_options, as_json, load_settings
from fateforger.errors import BadInput, FateforgerError

if TYPE_CHECKING:
    from fateforger.config import Settings
    from fateforger.constraints import Answer, Context, Version


Versions = Callable[[str], Awaitable[Sequence["Version"]]]
"""Return the versions of a person's constraints."""


@click.command("query")
@click.option("--from", "source", metavar="FILE", help="Versions of constraints, one a line, or -; not the store's.")
@click.option("--batch", metavar="FILE", help="One context a line (JSON lines); one result document a line.")
@click.option("--user", "user_id", metavar="ID", help="Whose constraints.")
@click.option("--stage", metavar="STAGE", help="Where planning stands: COLLECT, CAPTURE, SKELETON, REFINE, REVIEW.")
@click.option("--date", "as_of", metavar="DATE", help="The planned day; by default today in --timezone.")
@click.option("--timezone", metavar="ZONE", help="Where the person is; by default UTC.")
@click.option("--event-types", metavar="CODES", help="What the day holds, like DW,M.")
@click.option("--session", "session_id", metavar="ID", help="Constraints of that session as well.")
@click.option("--types", "type_ids", metavar="KINDS", help="Only those rule kinds, like buffer,capacity.")
@click.option("--situation", metavar="LABELS", help="What is part of the day, for conditional constraints.")
@click.option("--k", type=int, help="How many there is room for; a must is never cut.")
@click.option("--explain", is_flag=True, help="Also those that do not apply, each with its reason.")
@add_place_options
@as_json
@click.pass_context
def query_command(
    ctx: click.Context,
    /,
    source: str | None,
    batch: str | None,
    explain: bool,
    as_json: bool,
    now: str | None,
    data_dir: str | None,
    **asked: Any,
) -> None:
    """The constraints that apply, best first, each with its reasons."""
    from fateforger.constraints import decide_applicability, write_answer  # noqa: PLC0415  the help text needs none of it

    if batch is not None and any(value is not None for value in asked.values()):
        raise click.UsageError("With --batch each line says what is asked; leave out the options that ask.")
    if batch == source == "-":
        raise BadInput("Only one of --from and --batch can come from stdin.")
    settings = load_settings(ctx, now=now, data_dir=data_dir)
    context = None if batch is not None else _build_context(_build_document(asked), settings.now)

    async def answer(versions: Versions) -> None:
        if context is None:
            await _answer_lines(versions, str(batch), settings.now, explain=explain)
            return
        found = decide_applicability(await versions(context.user_id), context)
        if as_json:
            write_json(write_answer(found, explain=explain))
        else:
            _print_answer(found, explain=explain)

    asyncio.run(_answer_from_file(source, answer) if source is not None else _answer_from_store(settings, answer))


async def _answer_from_file(source: str, answer: Callable[[Versions], Awaitable[None]]) -> None:
    found = _read_versions(source)

    async def of(user_id: str) -> Sequence[Version]:
        return found.get(user_id, ())

    await answer(of)


async def _answer_from_store(settings: Settings, answer: Callable[[Versions], Awaitable[None]]) -> None:
    from fateforger.bootstrap.ground import open_state  # noqa: PLC0415  heavy

    store = await open_state(settings)
    try:
        await answer(store.constraints.of)
    finally:
        await store.aclose()


def _read_versions(source: str) -> dict[str, list[Version]]:
    """Read versions by person, in the order of their instants; of one instant, the later line is newer."""
    from fateforger.constraints import read_version  # noqa: PLC0415  the help text needs none of it

    found: dict[str, list[Version]] = {}
    for number, (line, where) in enumerate(read_lines(source)):
        try:
            version = read_version(parse_json(line, where), seq=number)
        except BadInput as error:
            raise BadInput(error.message, where=_join_place(where, error.where)) from None
        found.setdefault(version.user_id, []).append(version)
    return found


async def _answer_lines(versions: Versions, batch: str, clock: datetime | None, *, explain: bool) -> None:
    """Answer each line. A bad line gets its error document in its place, so that lines of output and input match."""
    from fateforger.constraints import decide_applicability, write_answer  # noqa: PLC0415  the help text needs none of it

    for line, where in read_lines(batch):
        try:
            context = _build_context(parse_json(line, where), clock)
            found = decide_applicability(await versions(context.user_id), context)
            write_json(write_answer(found, explain=explain))
        except FateforgerError as error:
            place = _join_place(where, error.where)
            write_json({"error": {"kind": error.kind, "message": error.message, "where": place}})


def _build_context(document: Any, clock: datetime | None) -> Context:
    from fateforger.constraints import read_context  # noqa: PLC0415  the help text needs none of it

    return read_context(_add_instant(document, clock))


AT_ONE_INSTANT = timedelta(microseconds=999)
"""A set clock does not advance, and writes under it count up by microseconds; this covers all of them."""


def _add_instant(document: Any, clock: datetime | None) -> Any:
    """Add an instant to a context that has none.

    It is that of the clock, if the clock was set. Otherwise the context sees all versions, and is about today if it
    names no day either.
    """
    if not isinstance(document, dict) or document.get("now") is not None:
        return document
    if clock is None and document.get("as_of") is not None:
        return document
    return {**document, "now": (datetime.now(UTC) if clock is None else clock + AT_ONE_INSTANT).isoformat()}


def _build_document(asked: Mapping[str, Any]) -> dict[str, Any]:
    lists = {"event_types", "type_ids", "situation"}
    if asked["user_id"] is None:
        raise click.UsageError("Say whose constraints: --user ID (or --batch FILE).")
    return {
        name: [part.strip() for part in value.split(",") if part.strip()] if name in lists else value
        for name, value in asked.items()
        if value is not None
    }


def _print_answer(answer: Answer, *, explain: bool) -> None:
    if not answer.applicable:
        click.echo("No constraint applies.")
    for item in answer.applicable:
        click.echo(f"{item.record.necessity.value:<6} {item.record.name}  [{item.uid}]")
        click.echo(f"       {' '.join(item.reasons)}")
    for out in answer.excluded if explain else ():
        click.echo(f"not    {out.version.record.name}  [{out.uid}]\n       {out.reason}")


def _join_place(where: str, part: str | None) -> str:
    return where if part is None or part == where else f"{where}, {part}"

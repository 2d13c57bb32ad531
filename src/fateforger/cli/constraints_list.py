"""``fateforger constraints list``: list the stored constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fateforger.cli.constraints_store import (
    Opened,
    add_person_option,
    add_store_options,
    run_with_constraints,
    write_line_with_uid,
)
from fateforger.cli.documents import write_json
from fateforger.cli.options import load_settings
from fateforger.errors import MemoryUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fateforger.config import Settings
    from fateforger.constraints import Version


@click.command("list")
@add_person_option
@click.option("--all", "everything", is_flag=True, help="Also what was put away or declined.")
@click.option("--uid", metavar="UID", help="Every version of that one, oldest first.")
@click.option("--about", metavar="TEXT", help="Those in force whose words are near to TEXT, the nearest first.")
@add_store_options
def list_command(
    ctx: click.Context,
    user_id: str,
    everything: bool,
    uid: str | None,
    about: str | None,
    as_json: bool,
    **where: str | None,
) -> None:
    """The constraints of a person, each as it is now. With --about the search index is asked; where a program runs that
    has it to itself, everything is listed."""
    if about is not None and (everything or uid is not None):
        raise click.UsageError("--about is for what is in force; leave out --all and --uid.")
    settings = load_settings(ctx, **where)

    async def ask(opened: Opened) -> tuple[Sequence[Version], str | None]:
        versions = await opened.constraints.of(user_id)
        if about is not None:
            return await _search_versions(about, versions, opened, settings, user_id)
        return _select_versions(versions, user_id, uid, everything=everything), None

    rows, message = run_with_constraints(ctx, where, ask)
    if as_json:
        said = {} if about is None else {"message": message}
        write_json({"constraints": [write_line_with_uid(version) for version in rows], **said})
        return
    if message is not None:
        click.echo(message, err=True)
    if not rows:
        click.echo(_describe_nothing(user_id, uid, about))
    for version in rows:
        click.echo(_format_line(version))


def _select_versions(versions: Sequence[Version], user_id: str, uid: str | None, *, everything: bool) -> list[Version]:
    from fateforger.constraints import build_eras, select_newest  # noqa: PLC0415  the help text needs none of it

    if uid is not None:
        return [era.version for era in build_eras(versions, user_id, uid)]
    mine = sorted(
        select_newest(versions, user_id).values(), key=lambda v: (v.retired, v.record.necessity.weakness, v.seq)
    )
    return [version for version in mine if everything or not version.retired]


async def _search_versions(
    text: str, versions: Sequence[Version], opened: Opened, settings: Settings, user_id: str
) -> tuple[Sequence[Version], str | None]:
    """Return the current constraints that the index finds; all of them, with a reason, when it is unavailable."""
    from fateforger.bootstrap.memory import search_constraints  # noqa: PLC0415  heavy
    from fateforger.constraints.asked import NO_INDEX, select_current  # noqa: PLC0415  the help text needs none of it

    try:
        uids = await search_constraints(settings, opened.constraints, user_id, text)
    except MemoryUnavailable as error:
        return _select_versions(versions, user_id, None, everything=False), f"{error.message} {NO_INDEX}"
    return select_current(uids, versions, user_id), None


def _describe_nothing(user_id: str, uid: str | None, about: str | None) -> str:
    if uid is not None:
        return f"{user_id} has no constraint {uid}."
    return "Nothing is written down." if about is None else "Nothing is written down about that."


def _format_line(version: Version) -> str:
    from fateforger.constraints.wording import format_day  # noqa: PLC0415  the help text needs none of it

    record = version.record
    standing: dict[Any, str] = {"locked": "confirmed", "proposed": "not confirmed yet", "declined": "out of force"}
    since = f"{standing[record.status.value]}, {format_day(version.updated_at.date())}"
    return f"{record.necessity.value:<6} {record.name}  [{version.uid}]\n       {since}"

"""``fateforger constraints list``: list the stored constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fateforger.cli.constraints_store import (
    Opened,
    in_store,
    line_with_uid,
    of_person,
    with_constraints,
)
from fateforger.cli.documents import write_json
from fateforger.cli.options import settings_from
from fateforger.errors import MemoryUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fateforger.config import Settings
    from fateforger.constraints import Version


@click.command("list")
@of_person
@click.option("--all", "everything", is_flag=True, help="Also what was put away or declined.")
@click.option("--uid", metavar="UID", help="Every version of that one, oldest first.")
@click.option("--about", metavar="TEXT", help="Those in force whose words are near to TEXT, the nearest first.")
@in_store
def list_door(
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
    settings = settings_from(ctx, **where)

    async def ask(opened: Opened) -> tuple[Sequence[Version], str | None]:
        versions = await opened.constraints.of(user_id)
        if about is not None:
            return await _about(about, versions, opened, settings, user_id)
        return _chosen(versions, user_id, uid, everything=everything), None

    rows, message = with_constraints(ctx, where, ask)
    if as_json:
        said = {} if about is None else {"message": message}
        write_json({"constraints": [line_with_uid(version) for version in rows], **said})
        return
    if message is not None:
        click.echo(message, err=True)
    if not rows:
        click.echo(_nothing(user_id, uid, about))
    for version in rows:
        click.echo(_line(version))


def _chosen(versions: Sequence[Version], user_id: str, uid: str | None, *, everything: bool) -> list[Version]:
    from fateforger.constraints import eras, newest  # noqa: PLC0415  the help text needs none of it

    if uid is not None:
        return [era.version for era in eras(versions, user_id, uid)]
    mine = sorted(newest(versions, user_id).values(), key=lambda v: (v.retired, v.record.necessity.weakness, v.seq))
    return [version for version in mine if everything or not version.retired]


async def _about(
    text: str, versions: Sequence[Version], opened: Opened, settings: Settings, user_id: str
) -> tuple[Sequence[Version], str | None]:
    """Return the current constraints that the index finds; all of them, with a reason, when it is unavailable."""
    from fateforger.bootstrap.memory import found_by_words  # noqa: PLC0415  heavy
    from fateforger.constraints.asked import NO_INDEX, as_they_stand  # noqa: PLC0415  the help text needs none of it

    try:
        uids = await found_by_words(settings, opened.constraints, user_id, text)
    except MemoryUnavailable as error:
        return _chosen(versions, user_id, None, everything=False), f"{error.message} {NO_INDEX}"
    return as_they_stand(uids, versions, user_id), None


def _nothing(user_id: str, uid: str | None, about: str | None) -> str:
    if uid is not None:
        return f"{user_id} has no constraint {uid}."
    return "Nothing is written down." if about is None else "Nothing is written down about that."


def _line(version: Version) -> str:
    from fateforger.constraints.wording import day_words  # noqa: PLC0415  the help text needs none of it

    record = version.record
    standing: dict[Any, str] = {"locked": "confirmed", "proposed": "not confirmed yet", "declined": "out of force"}
    since = f"{standing[record.status.value]}, {day_words(version.updated_at.date())}"
    return f"{record.necessity.value:<6} {record.name}  [{version.uid}]\n       {since}"

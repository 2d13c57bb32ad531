"""``fateforger constraints list``: what is written down."""

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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fateforger.constraints import Version


@click.command("list")
@of_person
@click.option("--all", "everything", is_flag=True, help="Also what was put away or declined.")
@click.option("--uid", metavar="UID", help="Every version of that one, oldest first.")
@in_store
def list_door(
    ctx: click.Context, user_id: str, everything: bool, uid: str | None, as_json: bool, **where: str | None
) -> None:
    """The constraints of a person, each as it is now."""

    async def ask(opened: Opened) -> tuple[Version, ...]:
        return await opened.constraints.of(user_id)

    rows = _chosen(with_constraints(ctx, where, ask), user_id, uid, everything=everything)
    if as_json:
        write_json({"constraints": [line_with_uid(version) for version in rows]})
        return
    if not rows:
        click.echo("Nothing is written down." if uid is None else f"{user_id} has no constraint {uid}.")
    for version in rows:
        click.echo(_line(version))


def _chosen(versions: Sequence[Version], user_id: str, uid: str | None, *, everything: bool) -> list[Version]:
    from fateforger.constraints import eras, newest  # noqa: PLC0415  the help text needs none of it

    if uid is not None:
        return [era.version for era in eras(versions, user_id, uid)]
    mine = sorted(newest(versions, user_id).values(), key=lambda v: (v.retired, v.record.necessity.weakness, v.seq))
    return [version for version in mine if everything or not version.retired]


def _line(version: Version) -> str:
    from fateforger.constraints.wording import day_words  # noqa: PLC0415  the help text needs none of it

    record = version.record
    standing: dict[Any, str] = {"locked": "confirmed", "proposed": "not confirmed yet", "declined": "out of force"}
    since = f"{standing[record.status.value]}, {day_words(version.updated_at.date())}"
    return f"{record.necessity.value:<6} {record.name}  [{version.uid}]\n       {since}"

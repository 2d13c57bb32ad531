"""``fateforger constraints add|archive|supersede``: one constraint written, put away or replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fateforger.cli.constraints_store import in_store, line_with_uid, of_person, with_constraints
from fateforger.cli.documents import read_document, write_json
from fateforger.errors import BadInput

if TYPE_CHECKING:
    from fateforger.constraints import ConstraintRecord, Version

_session = click.option("--session", "session_id", metavar="ID", help="The conversation it is said in.")


@click.command("add")
@click.argument("record", required=False)
@of_person
@_session
@click.option("--name", metavar="TEXT", help="In place of RECORD: what it is called.")
@click.option("--words", metavar="TEXT", help="With --name: it in the person's own words.")
@click.option("--necessity", type=click.Choice(["must", "should", "prefer"]), help="With --name: how binding it is.")
@in_store
def add_door(
    ctx: click.Context,
    record: str | None,
    user_id: str,
    session_id: str | None,
    name: str | None,
    words: str | None,
    necessity: str | None,
    as_json: bool,
    **where: str | None,
) -> None:
    """Write down the constraint in RECORD, a file with a constraint_record as JSON, or -. Where the same constraint is
    there already, this is its next version. Without a scope it lasts, or with --session counts in that session."""
    said = {"name": name, "description": words, "necessity": necessity}
    given = {field: value for field, value in said.items() if value is not None}
    if (record is None) == (name is None) or (given and record is not None):
        raise click.UsageError("Give a RECORD file (or - for stdin), or --name TEXT.")
    wanted = _record({**given, "status": "locked"} if record is None else read_document(record), session_id)
    from fateforger.cli.constraints_deeds import add  # noqa: PLC0415  heavy

    written, version = with_constraints(ctx, where, lambda opened: add(opened, user_id, wanted, session_id))
    if as_json:
        write_json({"written": written, "constraint": line_with_uid(version)})
        return
    click.echo(f"{'Noted' if written else 'That is written down already'}: {_told(version)}.")


@click.command("archive")
@click.argument("uid")
@of_person
@click.option("--reason", metavar="TEXT", help="Why; kept with it.")
@in_store
def archive_door(
    ctx: click.Context, uid: str, user_id: str, reason: str | None, as_json: bool, **where: str | None
) -> None:
    """Put the constraint UID away. It applies no more, and is kept with its history."""
    from fateforger.cli.constraints_deeds import archive  # noqa: PLC0415  heavy
    from fateforger.constraints.credentials import REFUSED, taken_out  # noqa: PLC0415  the help text needs none of it

    if reason is not None and taken_out(reason)[1]:
        raise BadInput(REFUSED, where="reason")
    written, version = with_constraints(ctx, where, lambda opened: archive(opened, user_id, uid, reason))
    if as_json:
        write_json({"written": written, "constraint": line_with_uid(version)})
        return
    click.echo(f"{'Put away' if written else 'That is out of force already'}: {_told(version)}.")


@click.command("supersede")
@click.argument("uid")
@click.argument("record")
@of_person
@_session
@in_store
def supersede_door(
    ctx: click.Context,
    uid: str,
    record: str,
    user_id: str,
    session_id: str | None,
    as_json: bool,
    **where: str | None,
) -> None:
    """Let the constraint in RECORD (a file, or -) take the place of UID on the days of its dates. UID is put away if no
    day is left to it; otherwise it stays in force on the others."""
    from fateforger.cli.constraints_deeds import supersede  # noqa: PLC0415  heavy

    wanted = _record(read_document(record), session_id)
    new, old = with_constraints(ctx, where, lambda opened: supersede(opened, user_id, uid, wanted, session_id))
    if as_json:
        write_json({"written": True, "constraint": line_with_uid(new), "superseded": line_with_uid(old)})
        return
    rest = "" if old.retired else " On other days the old one stays in force."
    click.echo(f"Noted: {_told(new)}. It takes the place of {_told(old)}.{rest}")


def _record(document: Any, session_id: str | None) -> ConstraintRecord:
    """The record, and how far it reaches where it does not say so. Raises ``BadInput``."""
    from fateforger.constraints import read_record  # noqa: PLC0415  the help text needs none of it
    from fateforger.constraints.credentials import REFUSED, holds_credentials  # noqa: PLC0415  the help text needs none
    from fateforger.constraints.kinds import Scope, Status  # noqa: PLC0415  the help text needs none of it

    record = read_record(document)
    if holds_credentials(record):
        raise BadInput(REFUSED)
    if "scope" not in record.model_fields_set:
        record = record.model_copy(update={"scope": Scope.PROFILE if session_id is None else Scope.SESSION})
    if record.scope is Scope.SESSION and session_id is None:
        raise BadInput("It is for one session only; say which one with --session.", where="scope")
    if record.status is Status.DECLINED:
        raise BadInput("It would be declined from the start; leave out its status.", where="status")
    return record


def _told(version: Version) -> str:
    from fateforger.constraints.wording import quoted  # noqa: PLC0415  the help text needs none of it

    return f"{quoted(version.record.name)} [{version.uid}]"

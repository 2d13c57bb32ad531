"""``fateforger constraints add|archive|supersede``: write, archive or replace one constraint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from fateforger.cli.constraints_store import (
    add_person_option,
    add_store_options,
    run_with_constraints,
    write_line_with_uid,
)
from fateforger.cli.documents import read_document, write_json
from fateforger.errors import BadInput
from fateforger.values import replace

if TYPE_CHECKING:
    from fateforger.cli.constraints_deeds import ChangeResult
    from fateforger.constraints import ConstraintRecord, Version

_session = click.option("--session", "session_id", metavar="ID", help="The conversation it is said in.")


@click.command("add")
@click.argument("record", required=False)
@add_person_option
@_session
@click.option("--name", metavar="TEXT", help="In place of RECORD: what it is called.")
@click.option("--words", metavar="TEXT", help="With --name: it in the person's own words.")
@click.option("--necessity", type=click.Choice(["must", "should", "prefer"]), help="With --name: how binding it is.")
@add_store_options
def add_command(
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
    there already, this is its next version. Without a scope it lasts, or with --session counts in that session. What
    it contradicts gives way where that is clear, and is named where only the person can decide."""
    said = {"name": name, "description": words, "necessity": necessity}
    given = {field: value for field, value in said.items() if value is not None}
    if (record is None) == (name is None) or (given and record is not None):
        raise click.UsageError("Give a RECORD file (or - for stdin), or --name TEXT.")
    wanted = _check_record({**given, "status": "locked"} if record is None else read_document(record), session_id)
    from fateforger.cli.constraints_deeds import add  # noqa: PLC0415  heavy

    deed = run_with_constraints(ctx, where, lambda opened: add(opened, user_id, wanted, session_id))
    if as_json:
        write_json(_build_document(deed))
        return
    click.echo(f"{'Noted' if deed.written else 'That is written down already'}: {_name_version(deed.version)}.")
    _print_effects(deed)


@click.command("archive")
@click.argument("uid")
@add_person_option
@click.option("--reason", metavar="TEXT", help="Why; kept with it.")
@add_store_options
def archive_command(
    ctx: click.Context, uid: str, user_id: str, reason: str | None, as_json: bool, **where: str | None
) -> None:
    """Put the constraint UID away. It applies no more, and is kept with its history."""
    from fateforger.cli.constraints_deeds import archive  # noqa: PLC0415  heavy
    from fateforger.constraints.credentials import REFUSED, redact_credentials  # noqa: PLC0415  the help text needs none of it

    if reason is not None and redact_credentials(reason)[1]:
        raise BadInput(REFUSED, where="reason")
    deed = run_with_constraints(ctx, where, lambda opened: archive(opened, user_id, uid, reason))
    if as_json:
        write_json(_build_document(deed))
        return
    click.echo(f"{'Put away' if deed.written else 'That is out of force already'}: {_name_version(deed.version)}.")
    _print_effects(deed)


@click.command("supersede")
@click.argument("uid")
@click.argument("record")
@add_person_option
@_session
@add_store_options
def supersede_command(
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

    wanted = _check_record(read_document(record), session_id)
    deed = run_with_constraints(ctx, where, lambda opened: supersede(opened, user_id, uid, wanted, session_id))
    assert deed.old is not None  # noqa: S101  for the type checker: superseding is about one
    if as_json:
        write_json({**_build_document(deed), "superseded": write_line_with_uid(deed.old)})
        return
    rest = "" if deed.old.retired else " On other days the old one stays in force."
    click.echo(f"Noted: {_name_version(deed.version)}. It takes the place of {_name_version(deed.old)}.{rest}")
    _print_effects(deed)


def _check_record(document: Any, session_id: str | None) -> ConstraintRecord:
    """Validate a record and fill in its scope. Raises ``BadInput``."""
    from fateforger.constraints import read_record  # noqa: PLC0415  the help text needs none of it
    from fateforger.constraints.credentials import REFUSED, holds_credentials  # noqa: PLC0415  the help text needs none
    from fateforger.constraints.kinds import Scope, Status  # noqa: PLC0415  the help text needs none of it

    record = read_record(document)
    if holds_credentials(record):
        raise BadInput(REFUSED)
    if "scope" not in record.model_fields_set:
        record = replace(record, scope=Scope.PROFILE if session_id is None else Scope.SESSION)
    if record.scope is Scope.SESSION and session_id is None:
        raise BadInput("It is for one session only; say which one with --session.", where="scope")
    if record.status is Status.DECLINED:
        raise BadInput("It would be declined from the start; leave out its status.", where="status")
    return record


def _build_document(deed: ChangeResult) -> dict[str, Any]:
    """Return the result for programs; ``lines`` and ``questions`` are present if other constraints were affected."""
    said = {"lines": list(deed.lines), "questions": list(deed.questions)}
    told = {name: sentences for name, sentences in said.items() if sentences}
    return {"written": deed.written, "constraint": write_line_with_uid(deed.version), **told}


def _print_effects(deed: ChangeResult) -> None:
    for line in (*deed.lines, *deed.questions):
        click.echo(line)


def _name_version(version: Version) -> str:
    from fateforger.constraints.wording import quote_name  # noqa: PLC0415  the help text needs none of it

    return f"{quote_name(version.record.name)} [{version.uid}]"

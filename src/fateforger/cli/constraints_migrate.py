"""``fateforger constraints migrate``: move constraints here that an earlier planner kept in Notion or SQLite."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fateforger.cli.constraints_migrated import ProgressBar, build_document, print_report, print_taken_back
from fateforger.cli.constraints_store import Opened, run_with_constraints
from fateforger.cli.documents import write_json
from fateforger.cli.options import add_place_options, as_json, load_settings
from fateforger.errors import BadInput

if TYPE_CHECKING:
    from fateforger.bootstrap.migration import Report
    from fateforger.config import Settings
    from fateforger.constraints import Version
    from fateforger.ports import ConstraintSource

_SLACK_ID = re.compile(r"[UW][A-Z0-9]{2,30}")
_AMISS = 2
_SOURCES = {"notion": "Notion", "sqlite": "SQLite"}


def _parse_pairs(_: click.Context, option: click.Parameter, given: Sequence[str]) -> list[tuple[str, str]]:
    pairs = [text.partition("=") for text in given]
    for name, sign, _what in pairs:
        if not name.strip() or not sign:
            raise click.BadParameter(f"write it as NAME=WHAT, not “{name}”.", param=option)
    return [(name.strip(), what) for name, _sign, what in pairs]


@click.command("migrate")
@click.option("--source", type=click.Choice(list(_SOURCES)), default="notion", show_default=True, help="From where.")
@click.option("--user", "user_id", metavar="ID", help="Whose: a Slack id. SQLite knows it, if it is one person's.")
@click.option("--apply", is_flag=True, help="Write. Without it nothing is changed anywhere.")
@click.option("--take-back", is_flag=True, help="Put away again what was moved and not changed since.")
@click.option("--file", "--sqlite-db-url", "file", metavar="FILE", help="The SQLite file; by default DATABASE_URL's.")
@click.option(
    "--database", "databases", metavar="NAME=ID", multiple=True, callback=_parse_pairs, help="Where in Notion it is."
)
@click.option(
    "--column", "columns", metavar="NAME=TITLE", multiple=True, callback=_parse_pairs, help="A renamed column."
)
@add_place_options
@as_json
@click.pass_context
def migrate_command(
    ctx: click.Context,
    /,
    source: str,
    user_id: str | None,
    apply: bool,
    take_back: bool,
    as_json: bool,
    now: str | None,
    data_dir: str | None,
    **asked: Any,
) -> None:
    """Move constraints here from an earlier planner's Notion databases or SQLite file.

    Says what it would write; with --apply it does. Run it as often as you like: what is here already is left alone.
    Exit status 2 when a row cannot be moved.
    """
    settings = load_settings(ctx, now=now, data_dir=data_dir)
    user_id = _check_slack_id(user_id)
    if take_back:
        if user_id is None:
            raise click.UsageError("Say whose: --take-back needs --user ID.")
        whole = partial(_take_back, source=_SOURCES[source], user_id=user_id, apply=apply)
        versions, stay = run_with_constraints(ctx, {"now": now, "data_dir": data_dir}, whole)
        if as_json:
            uids = [version.uid for version in versions]
            write_json({"user_id": user_id, "applied": apply, "stay": stay, "taken_back": uids})
        else:
            print_taken_back(versions, stay, applied=apply)
        return
    report = asyncio.run(_migrate(settings, source, user_id, apply=apply, asked=asked))
    if as_json:
        write_json(build_document(report))
    else:
        print_report(report)
    if any(row.outcome.is_amiss for row in report.rows):
        ctx.exit(_AMISS)


def _check_slack_id(user_id: str | None) -> str | None:
    if user_id is not None and not _SLACK_ID.fullmatch(user_id):
        raise BadInput(
            f"“{user_id[:40]}” is not a Slack id. It looks like U0123ABC: in Slack, your profile, •••, Copy member ID.",
            where="user",
        )
    return user_id


async def _migrate(
    settings: Settings, source: str, user_id: str | None, *, apply: bool, asked: dict[str, Any]
) -> Report:
    from fateforger.bootstrap.ground import open_state  # noqa: PLC0415  heavy
    from fateforger.bootstrap.migration import migrate  # noqa: PLC0415  heavy

    async with _open_source(settings, source, **asked) as rows:
        store = await open_state(settings)
        bar = ProgressBar()
        try:
            return await migrate(rows, store.constraints, user_id=user_id, apply=apply, progress=bar.show)
        finally:
            bar.close()
            await store.aclose()


def _open_source(
    settings: Settings,
    source: str,
    *,
    file: str | None,
    databases: Sequence[tuple[str, str]],
    columns: Sequence[tuple[str, str]],
) -> AbstractAsyncContextManager[ConstraintSource]:
    from fateforger.bootstrap.migration import open_notion_source, open_sqlite_source  # noqa: PLC0415  heavy

    if source == "notion":
        if file is not None:
            raise click.UsageError("--file is for --source sqlite.")
        return open_notion_source(settings, databases=databases, columns=columns)
    if databases or columns:
        raise click.UsageError("--database and --column are for --source notion.")
    return open_sqlite_source(_find_sqlite_file(file or os.environ.get("DATABASE_URL", ""), settings))


def _find_sqlite_file(given: str, settings: Settings) -> Path:
    """Return a path, from a path or a database URL of the earlier planner (``sqlite+aiosqlite:///data/planner.db``)."""
    scheme, sign, path = given.partition("://")
    if not given:
        return settings.data_dir / "fateforger.db"
    if not sign:
        return Path(given)
    if scheme.partition("+")[0] != "sqlite":
        raise BadInput("That address is not of a SQLite file; name the file with --file.", where="file")
    return Path(path.removeprefix("/").partition("?")[0])


async def _take_back(opened: Opened, *, source: str, user_id: str, apply: bool) -> tuple[tuple[Version, ...], int]:
    from fateforger.bootstrap.migration import take_back  # noqa: PLC0415  heavy

    bar = ProgressBar()
    asked = {"source": source, "user_id": user_id}
    try:
        return await take_back(opened.constraints, **asked, now=opened.now, apply=apply, progress=bar.show)
    finally:
        bar.close()

"""``fateforger constraints import|export|migrate``: constraints as JSON lines, and from an earlier planner."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fateforger.cli.documents import (
    decode_line,
    dump_json_line,
    echo,
    open_output,
    overwrite,
    parse_json,
    read_raw_lines,
    write_json,
)
from fateforger.cli.options import (
    CommandCall,
    Opened,
    add_store_options,
    check_person_option,
    note_action,
)
from fateforger.errors import BadInput, ConstraintUnreadable, MemoryUnavailable, StoreUnavailable
from fateforger.memory.credentials import (
    REFUSED,
    holds_credentials,
    redact_credentials,
    remove_credentials,
    without_private_data,
)
from fateforger.memory.documents import check_version, read_version, write_version
from fateforger.memory.migration import MigratedRow, Outcome
from fateforger.memory.ports import Constraints, ConstraintSource
from fateforger.memory.versions import Version, select_newest
from fateforger.text import format_count
from fateforger.values import replace

if TYPE_CHECKING:
    from fateforger.app.memory import FillResult
    from fateforger.app.migration import Report
    from fateforger.config import Settings


def build_migration_document(report: Report) -> dict[str, Any]:
    """Return the result for programs: counts, and each row with its outcome and the version written."""
    rows = [
        {
            "where": row.where,
            "name": row.name,
            "uid": row.version.uid if row.version else None,
            "outcome": row.outcome.value,
            "why": row.why,
            "notes": list(row.notes),
            "version": write_version(row.version) if row.version and row.outcome.is_written else None,
        }
        for row in report.rows
    ]
    return {
        "source": report.source,
        "user_id": report.user_id,
        "applied": report.applied,
        "counts": {**_count_outcomes(report), "others": report.others, "written": report.written},
        "left_out": list(report.left_out),
        "rows": rows,
    }


def _count_outcomes(report: Report) -> dict[str, int]:
    return {outcome.value: sum(row.outcome is outcome for row in report.rows) for outcome in Outcome}


def print_report(report: Report) -> None:
    """Print the result for people: a table of the written rows, the problems with place and reason, and the sum."""
    echo(f"From {report.source}, constraints of {report.user_id}:")
    shown = [row for row in report.rows if row.outcome.is_written and row.version is not None]
    if shown:
        echo(f"{'':<9}{'':<8}{'status':<10}{'reach':<10}{'edited':<12}name")
    for row in shown:
        echo(_format_line(row))
        for note in row.notes:
            echo(f"{'':<9}{note}")
    amiss = [row for row in report.rows if row.outcome.is_amiss]
    if amiss:
        echo("\nCannot be moved as they are:" if shown else "Cannot be moved as they are:")
    for row in amiss:
        echo(f"  “{row.name}” ({row.where})\n      {row.why}")
    echo(f"\n{_format_summary(report)}" if shown or amiss else _format_summary(report))
    for sentence in report.left_out:
        echo(sentence)
    if shown and not report.applied:
        echo("Nothing was changed. Add --apply to write them.")


def print_taken_back(versions: Sequence[Version], stay: int, *, applied: bool) -> None:
    """Print the constraints that were put away again, or would be."""
    for version in versions:
        echo(f"{'put away' if version.retired else 'as before':<10}{version.record.name}  [{version.uid}]")
    done = "taken back" if applied else "would be taken back"
    echo(f"{len(versions)} {done}; {stay} were changed here since and stay.")
    if versions and not applied:
        echo("Nothing was changed. Add --apply to do it.")


def _format_line(row: MigratedRow) -> str:
    version = row.version
    assert version is not None  # noqa: S101  only called for rows with a version
    record = version.record
    columns = f"{row.outcome.value:<9}{record.necessity.value:<8}{record.status.value:<10}{record.scope.value:<10}"
    return f"{columns}{version.updated_at:%Y-%m-%d}  {record.name}  [{version.uid}]"


def _format_summary(report: Report) -> str:
    counts = _count_outcomes(report)
    parts = [
        f"{counts['new']} new",
        f"{counts['changed']} changed",
        f"{counts['same']} here already",
        *([f"{counts['newer_here']} changed here since, left alone"] if counts["newer_here"] else []),
        *([f"{counts['bad']} bad"] if counts["bad"] else []),
        *([f"{counts['waiting']} waiting for a bad one"] if counts["waiting"] else []),
        *([f"{report.others} of other people, left alone"] if report.others else []),
    ]
    return f"{', '.join(parts)}.{f' {report.written} written.' if report.applied else ''}"


class ProgressBar:
    """A progress line, on a terminal only."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._width = 0

    def show(self, what: str, done: int, total: int | None) -> None:
        if not self._shown:
            return
        bar = "" if not total else f" [{'#' * (30 * done // total):<30}]"
        text = f"{what}{bar} {done}{'' if total is None else f' of {total}'}"
        overwrite(text, self._width)
        self._width = len(text)

    def close(self) -> None:
        if self._width:
            overwrite("", self._width)
            overwrite("", 0)


BATCH = 200
"""Lines written in one commit."""


@click.command("import")
@click.argument("source", metavar="FILE")
@add_store_options
def import_command(call: CommandCall, source: str) -> None:
    """Write what the lines of FILE (or -) hold: user_id, constraint_record, created_at, updated_at, event, session_id.

    A line that is there already is not written again, so an import that was interrupted is simply repeated. A line that
    cannot be used is skipped and named; the others count.
    """
    count = call.run(lambda opened: _import(call.ctx, opened, source))
    if count.bad and count.total == len(count.bad):
        first = count.bad[0]
        sentence = f"No line of {source} can be used: {first['message']} It reads what constraints export has written."
        raise BadInput(sentence, where=first["where"])
    for mistake in () if call.as_json else count.bad:
        echo(f"Line {mistake['line']} is skipped: {mistake['message']} ({mistake['where']})", err=True)
    skipped = f", {len(count.bad)} skipped" if count.bad else ""
    sentence = f"{count.total} read: {count.written} written, {count.already} there already{skipped}."
    counts = {"read": count.total, "written": count.written, "already": count.already, "skipped": len(count.bad)}
    call.print_result({**counts, "bad": count.bad}, [sentence])


@click.command("export")
@click.option(
    "--user", "user_id", metavar="ID", callback=check_person_option, help="Only theirs; by default everybody's."
)
@click.option("--to", "target", metavar="FILE", default="-", help="Where to; by default stdout.")
@add_store_options
def export_command(call: CommandCall, user_id: str | None, target: str) -> None:
    """Every version of every constraint, one JSON line each, person by person in the order in which they were written.
    An import of it into an empty place gives the same again.
    """
    people, lines, unreadable = call.run(lambda opened: _export(opened, user_id, target))
    if unreadable is not None:
        raise unreadable
    if target != "-":
        sentence = f"{format_count(lines, 'version')} of {format_count(people, 'person', 'people')}."
        call.print_result({"people": people, "versions": lines, "file": target}, [sentence])


async def _import(ctx: click.Context, opened: Opened, source: str) -> Import:
    """Write the lines of a file, many of a person in one commit.

    After a kill, at most one commit of lines per person has to be repeated; existing lines are recognized by their
    content.
    """
    importing = Import(opened.store.constraints, lambda person: note_action(ctx, opened, (person,)))
    try:
        for number, version, cause in _iter_versions(source, importing.bad):
            try:
                await importing.take(version, cause)
            except BadInput as error:
                importing.bad.append(_describe_mistake(number, error, f"{source}, line {number}"))
        await importing.finish()
    except StoreUnavailable as error:
        so_far = f"{importing.written} lines are written; run it again and it goes on there."
        raise StoreUnavailable(f"{error.message} {so_far}", where=error.where) from error
    finally:
        importing.bar.close()
    return importing


class Import:
    """The lines of a file: those to write, grouped by person in the order of the file, and the outcome of the others.

    These are written, already there, or bad, with the mistake of each.
    """

    def __init__(self, constraints: Constraints, note: Callable[[str], Awaitable[None]]) -> None:
        """Call ``note`` with each person before the first of their rules is written."""
        self._note = note
        self._noted: set[str] = set()
        self.written = self.already = 0
        self.bad: list[dict[str, Any]] = []
        self.bar = ProgressBar()
        self._constraints = constraints
        self._known: dict[str, set[str]] = {}
        self._waiting: dict[str, list[tuple[Version, str]]] = {}

    @property
    def total(self) -> int:
        return self.written + self.already + len(self.bad)

    async def take(self, version: Version, cause: str) -> None:
        """Add a line. Raises ``BadInput`` for one that no store can keep."""
        check_version(version)
        person = version.user_id
        if person not in self._known:
            self._known[person] = {_hash_version(one) for one in await self._constraints.readable(person)}
        if cause in self._known[person]:
            self.already += 1
            return
        self._known[person].add(cause)
        self._waiting.setdefault(person, []).append((version, cause))
        if len(self._waiting[person]) >= BATCH:
            await self._write(person)

    async def finish(self) -> None:
        """Write the remaining lines."""
        for person in tuple(self._waiting):
            await self._write(person)

    async def _write(self, person: str) -> None:
        lines = self._waiting.pop(person)
        causes = "".join(cause for _, cause in lines)
        if person not in self._noted:
            self._noted.add(person)
            await self._note(person)
        batch = f"import-{hashlib.sha256(causes.encode()).hexdigest()}"
        await self._constraints.write([version for version, _ in lines], cause=batch)
        self.written += len(lines)
        self.bar.show("importing", self.total, None)


def _iter_versions(source: str, bad: list[dict[str, Any]]) -> Iterator[tuple[int, Version, str]]:
    """Yield the usable lines with their numbers and causes; add the others to ``bad``."""
    for number, data in read_raw_lines(source):
        where = f"{source}, line {number}"
        try:
            text = decode_line(data, where)
            if not text.strip():
                continue
            version = read_version(parse_json(text, where))
            if holds_credentials(version.record) or redact_credentials(version.event.reason or "")[1]:
                raise BadInput(REFUSED)  # noqa: TRY301  said of this line like any other mistake
            version = replace(version, record=without_private_data(version.record))
        except BadInput as error:
            bad.append(_describe_mistake(number, error, where))
            continue
        yield number, version, _hash_version(version)


def _describe_mistake(number: int, error: BadInput, where: str) -> dict[str, Any]:
    part = error.where or ""
    place = where if not part or part.startswith(where) else f"{where}, {remove_credentials(part)}"
    return {"line": number, "message": remove_credentials(error.message), "where": place}


def _hash_version(version: Version) -> str:
    """Return a digest of a version, the same for its line in any file.

    The cause of a commit is built from its lines' digests.
    """
    text = json.dumps(write_version(version), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


async def _export(opened: Opened, user_id: str | None, target: str) -> tuple[int, int, ConstraintUnreadable | None]:
    """Write all readable versions; return the number of people and of lines, and an error for the unreadable ones."""
    people = await opened.store.constraints.people() if user_id is None else (user_id,)
    lines, unreadable = 0, None
    with open_output(target) as write_line:
        for person in people:
            try:
                versions = await opened.store.constraints.of(person)
            except ConstraintUnreadable as error:
                unreadable = unreadable or error
                versions = await opened.store.constraints.readable(person)
            for version in versions:
                write_line(dump_json_line(write_version(version)))
            lines += len(versions)
    return len(people), lines, unreadable


_SLACK_ID = re.compile(r"[UW][A-Z0-9]{2,30}")
_AMISS = 2
_CHECK = "fateforger constraints verify"
_FOLLOWS = "What was moved is in the database; Mem0 gets it when the program runs, or with the same command again."
_SOURCES = {"notion": "Notion", "sqlite": "SQLite"}


def _parse_pairs(_: click.Context, option: click.Parameter, given: Sequence[str]) -> list[tuple[str, str]]:
    pairs = [text.partition("=") for text in given]
    for name, sign, _what in pairs:
        if not name.strip() or not sign:
            raise click.BadParameter(f"write it as NAME=WHAT, not “{name}”.", param=option)
    return [(name.strip(), what) for name, _sign, what in pairs]


@click.command("migrate")
@click.option("--source", type=click.Choice(list(_SOURCES)), default="notion", show_default=True, help="From where.")
@click.option("--user", "user_id", metavar="ID", help="Whose: a Slack id. A file of one person names it.")
@click.option("--apply", is_flag=True, help="Write. Without it nothing is changed anywhere.")
@click.option("--take-back", is_flag=True, help="Put away again what was moved and not changed since.")
@click.option("--file", "--sqlite-db-url", "file", metavar="FILE", help="The SQLite file; by default DATABASE_URL's.")
@click.option(
    "--database", "databases", metavar="NAME=ID", multiple=True, callback=_parse_pairs, help="Where in Notion it is."
)
@click.option(
    "--column", "columns", metavar="NAME=TITLE", multiple=True, callback=_parse_pairs, help="A renamed column."
)
@add_store_options
def migrate_command(
    call: CommandCall,
    /,
    source: str,
    user_id: str | None,
    apply: bool,
    take_back: bool,
    **asked: Any,
) -> None:
    """Move constraints here from an earlier planner's Notion databases or SQLite file.

    Says what it would write; with --apply it does, and ends when Mem0 holds all of it. Run it as often as you like:
    what is here already is left alone. Exit status 2 when a row cannot be moved.
    """
    user_id = _check_slack_id(user_id)
    if user_id is None and (take_back or source == "notion"):
        what = "--take-back" if take_back else "Notion"
        raise click.UsageError(f"Say whose constraints these are: {what} needs --user ID, a Slack id like U0123ABC.")
    if take_back:
        assert user_id is not None  # noqa: S101  checked above; for the type checker
        whole = partial(_take_back, source=_SOURCES[source], user_id=user_id, apply=apply)
        versions, stay = call.run(whole)
        if call.as_json:
            uids = [version.uid for version in versions]
            write_json({"user_id": user_id, "applied": apply, "stay": stay, "taken_back": uids})
        else:
            print_taken_back(versions, stay, applied=apply)
        if apply:
            _fill_memory(call, user_id)
        return
    report = call.run(lambda opened: _migrate(opened, source, user_id, apply=apply, asked=asked))
    if call.as_json:
        write_json(build_migration_document(report))
    else:
        print_report(report)
    if apply:
        _fill_memory(call, report.user_id)
    if any(row.outcome.is_amiss for row in report.rows):
        call.ctx.exit(_AMISS)


def _fill_memory(call: CommandCall, user_id: str) -> None:
    """Put what was written into Mem0, compare, and say so in the last line.

    Raises ``MemoryUnavailable`` if Mem0 cannot be filled or differs from the database.
    """

    async def fill(opened: Opened) -> tuple[FillResult, int]:
        from fateforger.app.memory import fill_memory  # noqa: PLC0415  heavy

        try:
            filled = await fill_memory(opened.settings, opened.store.constraints)
        except MemoryUnavailable as error:
            raise MemoryUnavailable(f"{error.message} {_FOLLOWS}") from error
        return filled, len(select_newest(await opened.store.constraints.of(user_id), user_id))

    filled, count = call.run(fill)
    sentence = _describe_filled(filled, format_count(count, "constraint"), user_id)
    if not call.as_json:
        echo(sentence)


def _describe_filled(filled: FillResult, constraints: str, user_id: str) -> str:
    """Return the last line. Raises ``MemoryUnavailable`` if Mem0 differs from the database."""
    if not filled.done:
        return f"The program that runs here is still writing to Mem0; {_CHECK} says when it is done."
    if filled.differences is None:
        return f"The program that runs here has written {constraints} of {user_id} to Mem0."
    if filled.differences.repairable or filled.differences.unreadable:
        raise MemoryUnavailable(f"Mem0 does not hold all of it; {_CHECK} says what is missing.")
    return f"Mem0 holds {constraints} of {user_id}, one memory each, compared with the database."


def _check_slack_id(user_id: str | None) -> str | None:
    if user_id is not None and not _SLACK_ID.fullmatch(user_id):
        raise BadInput(
            f"“{user_id[:40]}” is not a Slack id. It looks like U0123ABC: in Slack, your profile, •••, Copy member ID.",
            where="user",
        )
    return user_id


async def _migrate(opened: Opened, source: str, user_id: str | None, *, apply: bool, asked: dict[str, Any]) -> Report:
    from fateforger.app.migration import migrate  # noqa: PLC0415  heavy

    bar = ProgressBar()
    async with _open_source(opened.settings, source, **asked) as rows:
        try:
            return await migrate(rows, opened.store.constraints, user_id=user_id, apply=apply, progress=bar.show)
        finally:
            bar.close()


def _open_source(
    settings: Settings,
    source: str,
    *,
    file: str | None,
    databases: Sequence[tuple[str, str]],
    columns: Sequence[tuple[str, str]],
) -> AbstractAsyncContextManager[ConstraintSource]:
    from fateforger.app.migration import open_notion_source, open_sqlite_source  # noqa: PLC0415  heavy

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
        raise BadInput("That address is not of an SQLite file; name the file with --file.", where="file")
    return Path(path.removeprefix("/").partition("?")[0])


async def _take_back(opened: Opened, *, source: str, user_id: str, apply: bool) -> tuple[tuple[Version, ...], int]:
    from fateforger.app.migration import take_back  # noqa: PLC0415  heavy

    bar = ProgressBar()
    asked = {"source": source, "user_id": user_id}
    try:
        return await take_back(opened.store.constraints, **asked, now=opened.now, apply=apply, progress=bar.show)
    finally:
        bar.close()

"""``fateforger constraints import|export``: every version of constraints as JSON lines, without loss."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from fateforger.cli.constraints_migrated import ProgressBar
from fateforger.cli.constraints_store import Opened, add_store_options, check_person_option, run_with_constraints
from fateforger.cli.documents import decode_line, dump_json_line, open_output, parse_json, read_raw_lines, write_json
from fateforger.errors import BadInput, ConstraintUnreadable, StoreUnavailable

if TYPE_CHECKING:
    from fateforger.constraints import Version
    from fateforger.ports import Constraints

BATCH = 200
"""Lines written in one commit."""


@dataclass(slots=True)
class Count:
    """The outcome of the lines of a file: written, already there, or bad, with the mistake of each."""

    written: int = 0
    already: int = 0
    bad: list[dict[str, Any]] = field(default_factory=list)

    @property
    def total(self) -> int:
        return self.written + self.already + len(self.bad)


@click.command("import")
@click.argument("source", metavar="FILE")
@add_store_options
def import_command(ctx: click.Context, source: str, as_json: bool, **where: str | None) -> None:
    """Write what the lines of FILE (or -) hold: user_id, constraint_record, created_at, updated_at, event, session_id.

    A line that is there already is not written again, so an import that was interrupted is simply repeated. A line that
    cannot be used is skipped and named; the others count.
    """
    count = run_with_constraints(ctx, where, lambda opened: _import(opened, source))
    if count.bad and count.total == len(count.bad):
        raise BadInput(f"No line of {source} can be used: {count.bad[0]['message']}", where=count.bad[0]["where"])
    if as_json:
        counts = {"read": count.total, "written": count.written, "already": count.already}
        write_json({**counts, "skipped": len(count.bad), "bad": count.bad})
        return
    for mistake in count.bad:
        click.echo(f"Line {mistake['line']} is skipped: {mistake['message']} ({mistake['where']})", err=True)
    skipped = f", {len(count.bad)} skipped" if count.bad else ""
    click.echo(f"{count.total} read: {count.written} written, {count.already} there already{skipped}.")


@click.command("export")
@click.option(
    "--user", "user_id", metavar="ID", callback=check_person_option, help="Only theirs; by default everybody's."
)
@click.option("--to", "target", metavar="FILE", default="-", help="Where to; by default stdout.")
@add_store_options
def export_command(ctx: click.Context, user_id: str | None, target: str, as_json: bool, **where: str | None) -> None:
    """Every version of every constraint, one JSON line each, person by person in the order in which they were written.
    An import of it into an empty place gives the same again."""

    people, lines, unreadable = run_with_constraints(ctx, where, lambda opened: _export(opened, user_id, target))
    if unreadable is not None:
        raise unreadable
    if target == "-":
        return
    if as_json:
        write_json({"people": people, "versions": lines, "file": target})
        return
    click.echo(f"{lines} version{'' if lines == 1 else 's'} of {people} {'person' if people == 1 else 'people'}.")


async def _import(opened: Opened, source: str) -> Count:
    """Write the lines of a file, many of a person in one commit.

    After a kill, at most one commit of lines per person has to be repeated; existing lines are recognized by their
    content.
    """
    importing = _Importing(opened.constraints, ProgressBar())
    try:
        for number, version, cause in _iter_versions(source, importing.count):
            try:
                await importing.take(version, cause)
            except BadInput as error:
                importing.count.bad.append(_describe_mistake(number, error, f"{source}, line {number}"))
        await importing.finish()
    except StoreUnavailable as error:
        so_far = f"{importing.count.written} lines are written; run it again and it goes on there."
        raise StoreUnavailable(f"{error.message} {so_far}", where=error.where) from error
    finally:
        importing.bar.close()
    return importing.count


class _Importing:
    """Lines to write, grouped by person in the order of the file."""

    def __init__(self, constraints: Constraints, bar: ProgressBar) -> None:
        self.count = Count()
        self.bar = bar
        self._constraints = constraints
        self._known: dict[str, set[str]] = {}
        self._waiting: dict[str, list[tuple[Version, str]]] = {}

    async def take(self, version: Version, cause: str) -> None:
        """Add a line. Raises ``BadInput`` for one that no store can keep."""
        from fateforger.constraints import check_version  # noqa: PLC0415  the help text needs none of it

        check_version(version)
        person = version.user_id
        if person not in self._known:
            self._known[person] = {_hash_version(one) for one in await self._constraints.readable(person)}
        if cause in self._known[person]:
            self.count.already += 1
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
        batch = f"import-{hashlib.sha256(causes.encode()).hexdigest()}"
        await self._constraints.write([version for version, _ in lines], cause=batch)
        self.count.written += len(lines)
        self.bar.show("importing", self.count.total, None)


def _iter_versions(source: str, count: Count) -> Iterator[tuple[int, Version, str]]:
    """Yield the usable lines with their numbers and causes; add the others to ``count``."""
    from fateforger.constraints import read_version  # noqa: PLC0415  the help text needs none of it
    from fateforger.constraints.credentials import (  # noqa: PLC0415  the help text needs none of it
        REFUSED,
        holds_credentials,
        redact_credentials,
    )

    for number, data in read_raw_lines(source):
        where = f"{source}, line {number}"
        try:
            text = decode_line(data, where)
            if not text.strip():
                continue
            version = read_version(parse_json(text, where))
            if holds_credentials(version.record) or redact_credentials(version.event.reason or "")[1]:
                raise BadInput(REFUSED)  # noqa: TRY301  said of this line like any other mistake
        except BadInput as error:
            count.bad.append(_describe_mistake(number, error, where))
            continue
        yield number, version, _hash_version(version)


def _describe_mistake(number: int, error: BadInput, where: str) -> dict[str, Any]:
    from fateforger.constraints.credentials import remove_credentials  # noqa: PLC0415  the help text needs none of it

    place = where if error.where in {None, where} else f"{where}, {remove_credentials(error.where or '')}"
    return {"line": number, "message": remove_credentials(error.message), "where": place}


def _hash_version(version: Version) -> str:
    """Return a digest of a version, the same for its line in any file.

    The cause of a commit is built from its lines' digests.
    """
    from fateforger.constraints import write_version  # noqa: PLC0415  the help text needs none of it

    text = json.dumps(write_version(version), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


async def _export(opened: Opened, user_id: str | None, target: str) -> tuple[int, int, ConstraintUnreadable | None]:
    """Write all readable versions; return the number of people and of lines, and an error for the unreadable ones."""
    from fateforger.constraints import write_version  # noqa: PLC0415  the help text needs none of it

    people = await opened.constraints.people() if user_id is None else (user_id,)
    lines, unreadable = 0, None
    with open_output(target) as write_line:
        for person in people:
            try:
                versions = await opened.constraints.of(person)
            except ConstraintUnreadable as error:
                unreadable = unreadable or error
                versions = await opened.constraints.readable(person)
            for version in versions:
                write_line(dump_json_line(write_version(version)))
            lines += len(versions)
    return len(people), lines, unreadable

"""Migrate a person's constraints from a read-only source to the store, and revert such a migration."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from fateforger.errors import BadInput, StoreUnavailable
from fateforger.memory.documents import write_version
from fateforger.memory.migration import MigratedRow, Migration, StoredRow, plan_migration, undo_migration
from fateforger.memory.versions import Version, select_newest

if TYPE_CHECKING:
    from pathlib import Path

    from fateforger.config import Settings
    from fateforger.memory.ports import Constraints, ConstraintSource
    from fateforger.memory.versions import Instant


BATCH = 200
"""Versions written in one commit, and so the most that has to be repeated after a kill."""
OnProgress = Callable[[str, int, int | None], None]
"""Called with the current step, the number of items done, and the total where it is known."""


@dataclass(frozen=True, slots=True)
class Report:
    """The result of each row. ``written`` is the number of versions that this run wrote, 0 for a dry run."""

    source: str
    user_id: str
    applied: bool
    rows: tuple[MigratedRow, ...]
    others: int
    left_out: tuple[str, ...]
    written: int


async def migrate(
    source: ConstraintSource, constraints: Constraints, *, user_id: str | None, apply: bool, progress: OnProgress
) -> Report:
    """Read the whole source, decide what happens to each row, and with ``apply`` write what is new.

    Without ``user_id`` the rows have to belong to one person, who is used. An interrupted run is continued by running
    it again. Raises :class:`BadInput`, ``SourceUnavailable`` and ``StoreError``.
    """
    rows = []
    async for row in source.rows():
        rows.append(row)
        progress(f"reading {source.name}", len(rows), None)
    user_id = user_id or _find_owner(rows)
    known = await constraints.of(user_id)
    told = plan_migration(rows, known, user_id, source.name)
    if all(row.owner is None for row in rows):
        await _check_no_other_owner(told, constraints, user_id, source.name)
    written = await _write(told.versions, known, constraints, progress) if apply else 0
    return Report(source.name, user_id, apply, told.rows, told.others, await source.list_omissions(), written)


async def take_back(
    constraints: Constraints, *, source: str, user_id: str, now: Instant, apply: bool, progress: OnProgress
) -> tuple[tuple[Version, ...], int]:
    """Archive what was migrated from ``source``, or restore the earlier version; later changes are kept.

    Returns the versions that are (to be) written, and how many constraints are kept. Raises ``StoreError``.
    """
    known = await constraints.of(user_id)
    versions, stay = undo_migration(known, user_id, source, now)
    if apply:
        await _write(versions, known, constraints, progress)
    return versions, stay


def _find_owner(rows: Sequence[StoredRow]) -> str:
    owners = sorted({row.owner for row in rows if row.owner})
    if len(owners) == 1:
        return owners[0]
    if not rows:
        raise BadInput("There is nothing to move: no constraint is there.", where="source")
    if not owners:
        raise BadInput("Say whose constraints these are: --user ID, a Slack id like U0123ABC.", where="user")
    raise BadInput(f"There are constraints of {len(owners)} people; say whose to move: --user ID.", where="user")


async def _check_no_other_owner(told: Migration, constraints: Constraints, user_id: str, source: str) -> None:
    """Check that a source without owners was not migrated for another person. It holds the rows of one person."""
    uids = {row.version.uid for row in told.rows if row.version is not None}
    for person in await constraints.people():
        if person != user_id and not uids.isdisjoint(select_newest(await constraints.of(person), person)):
            raise BadInput(
                f"Constraints of this {source} were moved for somebody else already, and they are one person's;"
                " look at --user, and at which databases the integration sees.",
                where="user",
            )


async def _write(
    versions: Sequence[Version], known: Sequence[Version], constraints: Constraints, progress: OnProgress
) -> int:
    seqs = {uid: head.seq for uid, head in select_newest(known, known[0].user_id).items()} if known else {}
    done = 0
    for batch in _split_batches(versions):
        expected = {version.uid: seqs.get(version.uid, 0) for version in batch}
        try:
            await constraints.write(batch, cause=_hash_cause(batch, expected), expected=expected)
        except StoreUnavailable as error:
            so_far = f"{done} of {len(versions)} are written; run it again and it goes on there."
            raise StoreUnavailable(f"{error.message} {so_far}", where=error.where) from error
        done += len(batch)
        progress("writing", done, len(versions))
    return done


def _split_batches(versions: Sequence[Version]) -> Iterator[list[Version]]:
    """Yield batches that keep the versions of one constraint together, so that its expected version is known."""
    batch: list[Version] = []
    for _, each in groupby(versions, key=lambda version: version.uid):
        batch += each
        if len(batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _hash_cause(batch: Sequence[Version], expected: Mapping[str, int]) -> str:
    """Return a cause derived from the change and the state it applies to: two concurrent runs write it once."""
    lines = json.dumps([[write_version(version) for version in batch], sorted(expected.items())], sort_keys=True)
    return f"migrate:{hashlib.sha256(lines.encode()).hexdigest()[:40]}"


@asynccontextmanager
async def open_notion_source(
    settings: Settings, *, databases: Sequence[tuple[str, str]], columns: Sequence[tuple[str, str]]
) -> AsyncIterator[ConstraintSource]:
    """Open Notion with the configured token. It does not connect yet. Raises :class:`BadInput`."""
    from fateforger.adapters.notion.client import (  # noqa: PLC0415  heavy
        NotionPages,
        parse_columns,
        parse_databases,
    )
    from fateforger.adapters.notion.source import NotionConstraints  # noqa: PLC0415  heavy
    from fateforger.app.resources import build_clock  # noqa: PLC0415  heavy

    if settings.notion_token is None:
        raise BadInput(
            "Set NOTION_TOKEN to the token of a Notion integration that may read your databases (docs/notion.md).",
            where="notion_token",
        )
    named = (parse_databases(databases), parse_columns(columns))
    pages = NotionPages(settings.notion_token.get_secret_value(), url=settings.notion_url, clock=build_clock(settings))
    source = NotionConstraints(pages, databases=named[0], columns=named[1])
    async with aclosing(source):
        yield source


@asynccontextmanager
async def open_sqlite_source(path: Path) -> AsyncIterator[ConstraintSource]:
    """Open an SQLite file of the earlier planner."""
    from fateforger.adapters.mirror import SqliteConstraintSource  # noqa: PLC0415  as above

    async with aclosing(SqliteConstraintSource(path)) as source:
        yield source

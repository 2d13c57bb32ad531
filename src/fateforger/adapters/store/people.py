"""The data about people in the database: export, and erasure in one commit."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, text, update

from fateforger.adapters.store.constraint_list import UNINDEXED, put_on_list
from fateforger.adapters.store.constraint_rows import VERSION
from fateforger.adapters.store.database import Database
from fateforger.adapters.store.journal_rows import TX
from fateforger.adapters.store.owners import OWNER, close_calendar
from fateforger.adapters.store.person_rows import Share, find_holding, to_values
from fateforger.adapters.store.tables import Erasure, table
from fateforger.constraints import check_person
from fateforger.errors import CalendarBusy, StillAtWork
from fateforger.ports import Closing, Counts

ERASURE = table(Erasure)
UNFINISHED = (
    "A change to their calendar is not finished, so nothing was erased: let fateforger run until it is, then try again."
)
AT_WORK = "I am carrying out something of theirs just now, so nothing was erased; try again in a moment."

_INSERT = insert(ERASURE)


class SqlPeople:
    """Implements :class:`fateforger.ports.People` over a :class:`Database`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._after: Callable[[], None] = lambda: None

    def on_erase(self, after: Callable[[], None]) -> None:
        """Call ``after`` whenever this object has erased a person, since the index has to follow."""
        self._after = after

    async def count_held(self, user_id: str, *, calendar: str | None = None) -> Counts:
        check_person(user_id)
        return await self._database.read(lambda connection: _count_held(connection, user_id, calendar))

    async def export(self, user_id: str, *, calendar: str | None = None) -> Mapping[str, tuple[Mapping[str, Any], ...]]:
        check_person(user_id)
        return await self._database.read(lambda connection: _export(connection, user_id, calendar))

    async def erase(
        self, user_id: str, *, now: datetime, calendar: str | None = None, closing: Closing | None = None
    ) -> Counts:
        check_person(user_id)
        erasure = secrets.token_hex(8)
        counts = await self._database.write(
            lambda connection: _erase(_lock_tables(connection), user_id, calendar, now, erasure, closing)
        )
        await self._database.scrub()
        self._after()
        return counts

    async def pending(self, user_id: str) -> int:
        check_person(user_id)
        return await self._database.read(lambda connection: _count_pending(connection, user_id))

    async def scrub(self) -> None:
        await self._database.scrub()


def _lock_tables(connection: Connection) -> Connection:
    """Return the connection once it is the only writer to the tables that hold people's data.

    PostgreSQL takes its snapshot only after it has the locks; SQLite has one writer at a time.
    """
    if connection.dialect.name != "sqlite":
        names = ", ".join(table.name for table in VERSION.metadata.sorted_tables)
        connection.execute(text(f"LOCK TABLE {names} IN SHARE ROW EXCLUSIVE MODE"))
    return connection


def _count_held(connection: Connection, user_id: str, calendar: str | None) -> Counts:
    whole = find_holding(connection, user_id, calendar=calendar)
    counts = {share.kind: _count(connection, share) for share in whole.shares}
    return _drop_zeros({**counts, "index": _count_pending(connection, user_id)})


def _export(connection: Connection, user_id: str, calendar: str | None) -> dict[str, tuple[Mapping[str, Any], ...]]:
    shares = find_holding(connection, user_id, calendar=calendar).shares
    return {share.kind: rows for share in shares if (rows := _read_rows(connection, share))}


def _erase(
    connection: Connection, user_id: str, calendar: str | None, now: datetime, erasure: str, closing: Closing | None
) -> Counts:
    whole = find_holding(connection, user_id, calendar=calendar, now=now)
    if whole.journal.unfinished:
        raise CalendarBusy(UNFINISHED)
    if whole.jobs.at_work:
        raise StillAtWork(AT_WORK)
    uids = select(VERSION.c.uid).where(VERSION.c.user_id == user_id).distinct().order_by(VERSION.c.uid)
    put_on_list(connection, user_id, connection.execute(uids).scalars().all())
    counts = _drop_zeros({share.kind: _delete(connection, share) for share in whole.shares})
    if closing is not None:
        close_calendar(connection, closing, now)
    if counts:
        connection.execute(_INSERT, {"id": erasure, "at": now, "counts": json.dumps(dict(counts))})
    return counts


def _delete(connection: Connection, share: Share) -> int:
    if share.table is TX:
        # An undo refers to its transaction; clear the reference, so that the rows can be deleted in any order.
        for one in share.conditions:
            connection.execute(update(TX).where(one).values(undoes=None))
    if share.table is OWNER:
        nobody = {"person": None, "origin": None, "since": None}
        return sum(connection.execute(update(OWNER).where(one).values(nobody)).rowcount for one in share.conditions)
    return sum(connection.execute(delete(share.table).where(one)).rowcount for one in share.conditions)


def _count(connection: Connection, share: Share) -> int:
    counts = (select(func.count()).select_from(share.table).where(one) for one in share.conditions)
    return sum(connection.execute(query).scalar_one() for query in counts)


def _read_rows(connection: Connection, share: Share) -> tuple[Mapping[str, Any], ...]:
    order = tuple(share.table.primary_key)
    found = (select(share.table).where(one).order_by(*order) for one in share.conditions)
    return tuple(to_values(share, row) for query in found for row in connection.execute(query))


def _count_pending(connection: Connection, user_id: str) -> int:
    return connection.execute(select(func.count()).where(UNINDEXED.c.user_id == user_id)).scalar_one()


def _drop_zeros(counts: dict[str, int]) -> Counts:
    return {kind: count for kind, count in counts.items() if count}

"""The owner of the calendar, in SQL."""

from __future__ import annotations

import hmac
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, insert, select, update

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.tables import CalendarOwnerRow, table
from fateforger.ports.owners import Claim, Closing, OwnerRecord

OWNER = table(CalendarOwnerRow)
THE_ROW = "calendar"
CLAIMED = "claimed"

_READ = select(OWNER).where(OWNER.c.id == THE_ROW)
_NO_CODE: dict[str, Any] = {"code_hash": None, "code_salt": None, "tries_left": 0}


class SqlOwners:
    """Implements :class:`fateforger.ports.Owners` over a :class:`Database`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self) -> OwnerRecord:
        return await self._database.read(_read_record)

    async def offer(self, code_hash: str, salt: str, *, tries: int) -> None:
        values = {"code_hash": code_hash, "code_salt": salt, "tries_left": tries}
        await self._database.write_alone(THE_ROW, lambda connection: _write(connection, values))

    async def claim(self, user_id: str, code_hash: str, *, now: datetime) -> Claim:
        return await self._database.write_alone(THE_ROW, lambda connection: _claim(connection, user_id, code_hash, now))


def close_calendar(connection: Connection, closing: Closing, now: datetime) -> None:
    """Remove the owner of the calendar, until a person claims it."""
    values: dict[str, Any] = {"person": None, "origin": None, "since": None, "closed_at": now, **_NO_CODE}
    if closing.closed_for is not None:
        values["closed_for"] = closing.closed_for
    _write(connection, values)


def _read_record(connection: Connection) -> OwnerRecord:
    row = connection.execute(_READ).first()
    if row is None:
        return OwnerRecord()
    return OwnerRecord(row.person, row.origin, row.since, row.closed_at, row.closed_for, row.code_salt)


def _claim(connection: Connection, user_id: str, code_hash: str, now: datetime) -> Claim:
    row = connection.execute(_READ).first()
    if row is None or row.code_hash is None:
        return Claim.NO_CODE
    if hmac.compare_digest(row.code_hash, code_hash):
        owner = {"person": user_id, "origin": CLAIMED, "since": now, "closed_at": None}
        _write(connection, {**owner, **_NO_CODE})
        return Claim.CLAIMED
    if row.tries_left > 1:
        _write(connection, {"tries_left": row.tries_left - 1})
        return Claim.WRONG
    _write(connection, _NO_CODE)
    return Claim.WRONG_FOR_THE_LAST_TIME


def _write(connection: Connection, values: dict[str, Any]) -> None:
    if not connection.execute(update(OWNER).where(OWNER.c.id == THE_ROW).values(values)).rowcount:
        connection.execute(insert(OWNER).values({"id": THE_ROW, "tries_left": 0, **values}))

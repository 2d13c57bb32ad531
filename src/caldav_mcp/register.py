"""Events that this server has made or deleted, so that a deleted id stays taken for ever.

An event is deleted when the register knows its id and the calendar no longer has it. So there is no second state
to keep in step with the calendar: writing the register late, or never, cannot bring an event back.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from caldav_mcp.errors import ServerTrouble

_SCHEMA = """
create table if not exists known_event (
    calendar text not null, event_id text not null, text text not null, deleted_at text,
    primary key (calendar, event_id)
) without rowid
"""
_REMEMBER = """
insert into known_event values (?, ?, ?, ?)
on conflict do update set text = excluded.text, deleted_at = excluded.deleted_at
"""


@dataclass(frozen=True)
class KnownEvent:
    """The last state known of an event, and when it was deleted if that was done here."""

    text: str
    deleted_at: datetime | None


class Register:
    """A small SQLite file; every call is one durable step."""

    def __init__(self, file: Path) -> None:
        self._lock = threading.Lock()
        self._database = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        for statement in ("pragma journal_mode = wal", "pragma synchronous = full", _SCHEMA):
            self._run(statement, ())

    def close(self) -> None:
        with self._lock:
            self._database.close()

    async def remember(self, calendar: str, event_id: str, text: str, *, deleted_at: datetime | None = None) -> None:
        values = (calendar, event_id, text, deleted_at.isoformat() if deleted_at else None)
        await asyncio.to_thread(self._run, _REMEMBER, values)

    async def recall(self, calendar: str, event_id: str) -> KnownEvent | None:
        query = "select text, deleted_at from known_event where calendar = ? and event_id = ?"
        rows = await asyncio.to_thread(self._run, query, (calendar, event_id))
        if not rows:
            return None
        text, deleted_at = rows[0]
        return KnownEvent(text, datetime.fromisoformat(deleted_at) if deleted_at else None)

    def _run(self, statement: str, values: tuple[str | None, ...]) -> list[tuple[str, str | None]]:
        try:
            with self._lock:
                return self._database.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise ServerTrouble(f"The calendar's register of ids cannot be used ({error})") from error

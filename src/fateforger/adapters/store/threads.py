"""The newest messages of the threads of plans, in SQL, for any program that sends the next card."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from sqlalchemy import BigInteger, ColumnElement, Connection, Text, delete, select
from sqlalchemy.dialects.postgresql import insert as insert_postgresql
from sqlalchemy.dialects.sqlite import insert as insert_sqlite
from sqlmodel import Field

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.tables import Base, table

KEPT_FOR = 35 * 24 * 3600 * 10**6
"""Microseconds after which a message is forgotten; a plan that is older than that is closed."""


class ThreadMessageRow(Base, table=True):
    """A message of a thread, by a person or the bot. ``ts`` is Slack's, in microseconds."""

    __tablename__ = "thread_message"

    channel: str = Field(primary_key=True, sa_type=Text)
    thread: int = Field(primary_key=True, sa_type=BigInteger)
    ts: int = Field(primary_key=True, sa_type=BigInteger)


MESSAGE = table(ThreadMessageRow)


class SqlThreadMessages:
    """Implements :class:`fateforger.session.store.ThreadMessages` over a :class:`Database`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def observe(self, channel: str, thread_ts: str, *messages: str) -> None:
        await self._database.write(lambda connection: _observe(connection, channel, thread_ts, messages))

    async def forget(self, channel: str, thread_ts: str, ts: str) -> None:
        statement = delete(MESSAGE).where(*_is_in(channel, thread_ts), MESSAGE.c.ts == parse_ts(ts))
        await self._database.write(lambda connection: connection.execute(statement))

    async def count_after(self, channel: str, thread_ts: str, ts: str) -> int | None:
        known = select(MESSAGE.c.ts).where(*_is_in(channel, thread_ts))
        found = set(await self._database.read(lambda connection: connection.execute(known).scalars().all()))
        return sum(each > parse_ts(ts) for each in found) if parse_ts(thread_ts) in found else None


def _is_in(channel: str, thread_ts: str) -> tuple[ColumnElement[bool], ...]:
    return (MESSAGE.c.channel == channel, MESSAGE.c.thread == parse_ts(thread_ts))


def _observe(connection: Connection, channel: str, thread_ts: str, messages: Iterable[str]) -> None:
    insert = insert_sqlite if connection.dialect.name == "sqlite" else insert_postgresql
    thread = parse_ts(thread_ts)
    rows = [{"channel": channel, "thread": thread, "ts": parse_ts(ts)} for ts in messages]
    connection.execute(insert(MESSAGE).on_conflict_do_nothing(), rows)
    if thread in {row["ts"] for row in rows}:
        # A thread begins: a good moment, once a plan, to forget those that are no longer used.
        connection.execute(delete(MESSAGE).where(MESSAGE.c.channel == channel, MESSAGE.c.thread < thread - KEPT_FOR))


def parse_ts(ts: str) -> int:
    """Return the instant of a message of Slack in microseconds, which also orders its messages."""
    return int(Decimal(ts) * 10**6)

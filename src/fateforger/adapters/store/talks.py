"""Data about conversations that several programs share, in SQL: thread messages, last exchanges, rule replies."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal

from sqlalchemy import BigInteger, ColumnElement, Connection, Index, Text, delete, select
from sqlalchemy.dialects.postgresql import insert as insert_postgresql
from sqlalchemy.dialects.sqlite import insert as insert_sqlite
from sqlmodel import Field

from fateforger.adapters.store.database import OnDatabase
from fateforger.adapters.store.tables import Base, Instant, find_row, put_row, table
from fateforger.session.messages import RecentTalk

KEPT_FOR = 35 * 24 * 3600 * 10**6
"""Microseconds after which a message is forgotten; a plan that is older than that is closed."""


class ThreadMessageRow(Base, table=True):
    """A message of a thread, by a person or the bot. ``ts`` is Slack's, in microseconds."""

    __tablename__ = "thread_message"

    channel: str = Field(primary_key=True, sa_type=Text)
    thread: int = Field(primary_key=True, sa_type=BigInteger)
    ts: int = Field(primary_key=True, sa_type=BigInteger)


MESSAGE = table(ThreadMessageRow)


class SqlThreadMessages(OnDatabase):
    """Implements :class:`fateforger.session.store.ThreadMessages` over a :class:`Database`."""

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


class RuleReplyRow(Base, table=True):
    """The reply to a command about a person's rules. ``lines`` is JSON."""

    __tablename__ = "rule_reply"
    __table_args__ = (Index("ix_rule_reply_user", "user_id"), Index("ix_rule_reply_at", "at"))

    command_id: str = Field(primary_key=True, sa_type=Text)
    user_id: str = Field(sa_type=Text)
    lines: str = Field(sa_type=Text)
    at: datetime = Field(sa_type=Instant)


RULE_REPLY = table(RuleReplyRow)


class SqlRuleReplies(OnDatabase):
    """Implements :class:`fateforger.conversation.ports.RuleReplies` over a :class:`Database`."""

    async def of(self, command_id: str) -> tuple[str, ...] | None:
        row = await self._database.read(lambda connection: find_row(connection, RuleReplyRow, command_id))
        return None if row is None else tuple(json.loads(row.lines))

    async def keep(self, user_id: str, command_id: str, lines: Sequence[str], *, at: datetime) -> None:
        row = RuleReplyRow(command_id=command_id, user_id=user_id, lines=json.dumps(list(lines)), at=at)
        await self._database.write(lambda connection: put_row(connection, row))


class TalkRow(Base, table=True):
    """The last exchanges with a person outside of plans, as JSON."""

    __tablename__ = "person_talk"

    user_id: str = Field(primary_key=True, sa_type=Text)
    talk: str = Field(sa_type=Text)


TALK = table(TalkRow)


class SqlTalks(OnDatabase):
    """Implements :class:`fateforger.session.store.Talks` over a :class:`Database`."""

    async def of(self, user_id: str) -> RecentTalk | None:
        row = await self._database.read(lambda connection: find_row(connection, TalkRow, user_id))
        return None if row is None else RecentTalk.model_validate_json(row.talk)

    async def keep(self, user_id: str, talk: RecentTalk) -> None:
        row = TalkRow(user_id=user_id, talk=talk.model_dump_json())
        await self._database.write(lambda connection: put_row(connection, row))

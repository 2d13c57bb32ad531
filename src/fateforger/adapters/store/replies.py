"""Replies to commands about rules outside of plans, in SQL, for the program that shows the form."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection, Index, Text
from sqlmodel import Field

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.tables import Base, Instant, open_rows, table


class RuleReplyRow(Base, table=True):
    """The reply to a command about a person's rules. ``lines`` is JSON."""

    __tablename__ = "rule_reply"
    __table_args__ = (Index("ix_rule_reply_user", "user_id"), Index("ix_rule_reply_at", "at"))

    command_id: str = Field(primary_key=True, sa_type=Text)
    user_id: str = Field(sa_type=Text)
    lines: str = Field(sa_type=Text)
    at: datetime = Field(sa_type=Instant)


RULE_REPLY = table(RuleReplyRow)


class SqlRuleReplies:
    """Implements :class:`fateforger.conversation.ports.RuleReplies` over a :class:`Database`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, command_id: str) -> tuple[str, ...] | None:
        def work(connection: Connection) -> RuleReplyRow | None:
            with open_rows(connection) as rows:
                return rows.get(RuleReplyRow, command_id)

        row = await self._database.read(work)
        return None if row is None else tuple(json.loads(row.lines))

    async def keep(self, user_id: str, command_id: str, lines: Sequence[str], *, at: datetime) -> None:
        row = RuleReplyRow(command_id=command_id, user_id=user_id, lines=json.dumps(list(lines)), at=at)

        def work(connection: Connection) -> None:
            with open_rows(connection) as rows:
                rows.merge(row)

        await self._database.write(work)

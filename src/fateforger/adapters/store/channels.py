"""The push channels of people's calendars, in SQL."""

from __future__ import annotations

import hashlib
import hmac
from datetime import datetime

from sqlalchemy import Connection, Index, Text, delete, select, update
from sqlmodel import Field

from fateforger.adapters.store.database import OnDatabase
from fateforger.adapters.store.tables import Base, Instant, open_rows, table
from fateforger.calendar.channels import Channel


class PushChannelRow(Base, table=True):
    """A channel, with a digest of the secret that its notices carry."""

    __tablename__ = "push_channel"
    __table_args__ = (
        Index("ix_push_channel_user", "user_id", "calendar_id"),
        Index("ix_push_channel_expires", "expires_at"),
    )

    id: str = Field(primary_key=True, sa_type=Text)
    user_id: str = Field(sa_type=Text)
    calendar_id: str = Field(sa_type=Text)
    remote_id: str = Field(sa_type=Text)
    secret_hash: str = Field(sa_type=Text)
    notices: int
    expires_at: datetime = Field(sa_type=Instant)


CHANNEL = table(PushChannelRow)


class SqlChannels(OnDatabase):
    """Implements :class:`fateforger.calendar.channels.Channels` over a :class:`Database`."""

    async def find(self, user_id: str, calendar_id: str) -> Channel | None:
        channels = await self.of(user_id)
        opened = [each for each in channels if each.calendar_id == calendar_id and each.remote_id]
        return max(opened, key=lambda each: (each.expires_at, each.id), default=None)

    async def of(self, user_id: str) -> tuple[Channel, ...]:
        statement = select(CHANNEL).where(CHANNEL.c.user_id == user_id).order_by(CHANNEL.c.id)
        rows = await self._database.read(lambda connection: connection.execute(statement).all())
        return tuple(
            Channel(row.id, row.user_id, row.calendar_id, row.expires_at, row.remote_id, row.notices) for row in rows
        )

    async def add(self, channel: Channel, secret: str, *, now: datetime) -> None:
        row = PushChannelRow(
            id=channel.id,
            user_id=channel.user_id,
            calendar_id=channel.calendar_id,
            remote_id=channel.remote_id,
            secret_hash=_hash(secret),
            notices=0,
            expires_at=channel.expires_at,
        )

        def work(connection: Connection) -> None:
            connection.execute(delete(CHANNEL).where(CHANNEL.c.expires_at <= now))
            with open_rows(connection) as rows:
                rows.add(row)

        await self._database.write(work)

    async def keep(self, channel: Channel) -> None:
        values = {"remote_id": channel.remote_id, "expires_at": channel.expires_at}
        statement = update(CHANNEL).where(CHANNEL.c.id == channel.id).values(values)
        await self._database.write(lambda connection: connection.execute(statement))

    async def remove(self, channel_id: str) -> None:
        statement = delete(CHANNEL).where(CHANNEL.c.id == channel_id)
        await self._database.write(lambda connection: connection.execute(statement))

    async def count_notice(self, channel_id: str, secret: str) -> str | None:
        def work(connection: Connection) -> str | None:
            row = connection.execute(select(CHANNEL).where(CHANNEL.c.id == channel_id)).first()
            expected = "" if row is None else row.secret_hash
            if not hmac.compare_digest(_hash(secret), expected) or row is None:
                return None
            more = {"notices": CHANNEL.c.notices + 1}
            connection.execute(update(CHANNEL).where(CHANNEL.c.id == channel_id).values(more))
            return str(row.user_id)

        return await self._database.write(work)


def _hash(secret: str) -> str:
    """Return a digest of a secret, which is random and long enough not to be guessed from it."""
    return hashlib.sha256(secret.encode()).hexdigest()

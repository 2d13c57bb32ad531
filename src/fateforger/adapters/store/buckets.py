"""The token buckets of requests to providers, in SQL."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Connection, Index, Text, delete, insert, select, update
from sqlmodel import Field

from fateforger.adapters.store.database import Database, read_clock
from fateforger.adapters.store.tables import Base, Instant, table
from fateforger.calendar.budgets import Purpose, TokenBucket


class RequestBucketRow(Base, table=True):
    """A bucket that is not full. ``name`` is a digest, so that it names no account."""

    __tablename__ = "request_bucket"
    __table_args__ = (Index("ix_request_bucket_full", "full_at"),)

    name: str = Field(primary_key=True, sa_type=Text)
    full_at: datetime = Field(sa_type=Instant)


BUCKET = table(RequestBucketRow)


class SqlBuckets:
    """Implements :class:`fateforger.calendar.budgets.Buckets` over a :class:`Database`.

    ``now`` replaces the clock that all processes share (see :func:`~fateforger.adapters.store.database.read_clock`).
    """

    def __init__(self, database: Database, now: Callable[[], datetime] | None = None) -> None:
        self._database = database
        self._now = now

    async def take(self, buckets: tuple[TokenBucket, ...], purpose: Purpose) -> float:
        def work(connection: Connection) -> float:
            return _take(connection, buckets, purpose, self._now() if self._now else read_clock(connection))

        # One after another in the widest bucket, or two at once would each find room for themselves.
        return await self._database.write_alone(f"requests of {buckets[-1].name}", work)


def _take(connection: Connection, buckets: tuple[TokenBucket, ...], purpose: Purpose, now: datetime) -> float:
    connection.execute(delete(BUCKET).where(BUCKET.c.full_at <= now))
    names = {bucket: hashlib.sha256(bucket.name.encode()).hexdigest()[:32] for bucket in buckets}
    rows = connection.execute(select(BUCKET.c.name, BUCKET.c.full_at).where(BUCKET.c.name.in_(names.values())))
    found = {row.name: row.full_at for row in rows}
    known = {bucket: bucket.clip(found.get(name, now), now) for bucket, name in names.items()}
    wait = max(bucket.compute_wait(full_at, now, purpose) for bucket, full_at in known.items())
    for bucket, full_at in known.items():
        _write(connection, names[bucket], bucket.take(full_at) if wait <= 0 else full_at)
    return wait


def _write(connection: Connection, name: str, full_at: datetime) -> None:
    if not connection.execute(update(BUCKET).where(BUCKET.c.name == name).values(full_at=full_at)).rowcount:
        connection.execute(insert(BUCKET).values(name=name, full_at=full_at))

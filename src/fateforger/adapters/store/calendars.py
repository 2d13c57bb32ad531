"""The owners of calendars, the request counts of logins, and the token buckets of providers, in SQL."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Index, Text, delete, insert, update
from sqlmodel import Field, select

from fateforger.adapters.store.database import Database, OnDatabase, read_clock
from fateforger.adapters.store.homes import mark_home
from fateforger.adapters.store.tables import Base, Instant, find_row, open_rows, table
from fateforger.calendar.calls import Purpose, TokenBucket
from fateforger.calendar.ports import Login, RequestLimit, Reservation, Settlement
from fateforger.ports.people import Claim, OwnerRecord


class QuotaUse(Base, table=True):
    """Requests that a login made or is about to make, deleted once they no longer count (``counts_until``).

    ``account`` is a digest of the login's name, empty when it has none.
    """

    __tablename__ = "quota_use"
    __table_args__ = (Index("ix_quota_use_server", "server"), Index("ix_quota_use_until", "counts_until"))

    id: str = Field(primary_key=True, sa_type=Text)
    server: str = Field(sa_type=Text)
    account: str = Field(sa_type=Text)
    requests: int
    background: bool
    counts_until: datetime = Field(sa_type=Instant)


class CalendarOwnerRow(Base, table=True):
    """The owner of the configured calendar, and the code with which a person can claim it; one row at most.

    ``closed_at`` is the time since which the calendar is closed because its owner was erased. ``closed_for`` is a
    salted hash of the person named in the settings at that time. Only a salted hash of the code is stored.
    """

    __tablename__ = "calendar_owner"

    id: str = Field(primary_key=True, sa_type=Text)
    person: str | None = Field(default=None, sa_type=Text)
    origin: str | None = Field(default=None, sa_type=Text)
    since: datetime | None = Field(default=None, sa_type=Instant)
    closed_at: datetime | None = Field(default=None, sa_type=Instant)
    closed_for: str | None = Field(default=None, sa_type=Text)
    code_hash: str | None = Field(default=None, sa_type=Text)
    code_salt: str | None = Field(default=None, sa_type=Text)
    tries_left: int = 0


OWNER = table(CalendarOwnerRow)
THE_ROW = "calendar"
CLAIMED = "claimed"

_NO_CODE: dict[str, Any] = {"code_hash": None, "code_salt": None, "tries_left": 0}


class SqlOwners(OnDatabase):
    """Implements :class:`fateforger.ports.people.Owners` over a :class:`Database`."""

    async def read(self) -> OwnerRecord:
        return await self._database.read(_read_record)

    async def offer(self, code_hash: str, salt: str, *, tries: int) -> None:
        values = {"code_hash": code_hash, "code_salt": salt, "tries_left": tries}
        await self._database.write_alone(THE_ROW, lambda connection: _write(connection, values))

    async def claim(self, user_id: str, code_hash: str, *, now: datetime) -> Claim:
        return await self._database.write_alone(THE_ROW, lambda connection: _claim(connection, user_id, code_hash, now))


def close_calendar(connection: Connection, closed_for: str, now: datetime) -> None:
    """Remove the owner of the calendar, until a person claims it."""
    values: dict[str, Any] = {"person": None, "origin": None, "since": None, "closed_at": now, **_NO_CODE}
    if closed_for:
        values["closed_for"] = closed_for
    _write(connection, values)


def _read_record(connection: Connection) -> OwnerRecord:
    row = find_row(connection, CalendarOwnerRow, THE_ROW) or CalendarOwnerRow(id=THE_ROW)
    return OwnerRecord(row.person, row.origin, row.since, row.closed_at, row.closed_for, row.code_salt)


def _claim(connection: Connection, user_id: str, code_hash: str, now: datetime) -> Claim:
    row = find_row(connection, CalendarOwnerRow, THE_ROW)
    if row is None or row.code_hash is None:
        return Claim.NO_CODE
    if hmac.compare_digest(row.code_hash, code_hash):
        owner = {"person": user_id, "origin": CLAIMED, "since": now, "closed_at": None}
        _write(connection, {**owner, **_NO_CODE})
        mark_home(connection, user_id)
        return Claim.CLAIMED
    if row.tries_left > 1:
        _write(connection, {"tries_left": row.tries_left - 1})
        return Claim.WRONG
    _write(connection, _NO_CODE)
    return Claim.WRONG_FOR_THE_LAST_TIME


def _write(connection: Connection, values: dict[str, Any]) -> None:
    if not connection.execute(update(OWNER).where(OWNER.c.id == THE_ROW).values(values)).rowcount:
        connection.execute(insert(OWNER).values({"id": THE_ROW, "tries_left": 0, **values}))


USE = table(QuotaUse)
Now = Callable[[], datetime]


class SqlQuota:
    """Implements :class:`fateforger.calendar.ports.Quota` over a :class:`Database`.

    ``now`` replaces the clock that all processes share (see :func:`read_clock`).
    """

    def __init__(self, database: Database, now: Now | None = None) -> None:
        self._database = database
        self._now = now

    async def reserve(
        self, login: Login, wanted: Reservation, limit: RequestLimit, *, settled: Sequence[Settlement] = ()
    ) -> float:
        def work(connection: Connection) -> float:
            now = self._time(connection)
            _settle(connection, limit, settled, now)
            return _reserve(connection, login, wanted, limit, now)

        # One reservation of a server after another, or two at once would each find room for themselves.
        return await self._database.write_alone(f"quota of {login.server}", work)

    async def settle(self, limit: RequestLimit, settled: Sequence[Settlement]) -> None:
        if settled:
            await self._database.write(lambda connection: _settle(connection, limit, settled, self._time(connection)))

    def _time(self, connection: Connection) -> datetime:
        """Return the time, read while the lock is held: a wait for the lock must not shorten how long others count."""
        return self._now() if self._now is not None else read_clock(connection)


def _settle(connection: Connection, limit: RequestLimit, settled: Sequence[Settlement], now: datetime) -> None:
    for each in settled:
        until = now + timedelta(seconds=limit.seconds - each.ago)
        connection.execute(update(USE).where(USE.c.id == each.id).values(requests=each.requests, counts_until=until))


def _reserve(connection: Connection, login: Login, wanted: Reservation, limit: RequestLimit, now: datetime) -> float:
    until = now + timedelta(seconds=limit.seconds + limit.call_seconds)
    of_server, account = USE.c.server == login.server, _hash_account(login.account)
    connection.execute(delete(USE).where(of_server, USE.c.counts_until <= now))
    # Nothing counts longer than this; a row that does was written before the clock was set back.
    connection.execute(update(USE).where(of_server, USE.c.counts_until > until).values(counts_until=until))
    statement = select(QuotaUse).where(of_server).order_by(USE.c.counts_until)
    with open_rows(connection) as rows:
        uses = rows.exec(statement.where(USE.c.account.in_((account, ""))) if account else statement).all()
        wait = _compute_wait(wanted, limit, uses, now)
        if wait <= 0:
            rows.add(
                QuotaUse(
                    id=wanted.id,
                    requests=wanted.requests,
                    background=wanted.background,
                    server=login.server,
                    account=account,
                    counts_until=until,
                )
            )
    return wait


def _hash_account(account: str) -> str:
    """Return a digest that identifies a login without naming it."""
    return hashlib.sha256(account.encode()).hexdigest()[:16] if account else ""


def _compute_wait(wanted: Reservation, limit: RequestLimit, uses: Sequence[QuotaUse], now: datetime) -> float:
    """Return the seconds until there is room; 0 means now."""
    waits = [_compute_until_room(wanted.requests, limit.requests, uses, now)]
    if wanted.background:
        waits.append(_compute_until_room(wanted.requests, limit.requests - limit.kept, uses, now))
        waits.append(
            _compute_until_room(wanted.requests, limit.background, [use for use in uses if use.background], now)
        )
    # A running call counts for longer than it will once it is settled, so wait a window at most and ask again.
    return min(max(waits), limit.seconds)


def _compute_until_room(requests: int, most: int, uses: Sequence[QuotaUse], now: datetime) -> float:
    over = sum(use.requests for use in uses) + requests - max(most, requests)
    wait = 0.0
    for use in uses:
        if over <= 0:
            break
        over -= use.requests
        wait = (use.counts_until - now).total_seconds()
    return wait


class RequestBucketRow(Base, table=True):
    """A bucket that is not full. ``name`` is a digest, so that it names no account."""

    __tablename__ = "request_bucket"
    __table_args__ = (Index("ix_request_bucket_full", "full_at"),)

    name: str = Field(primary_key=True, sa_type=Text)
    full_at: datetime = Field(sa_type=Instant)


BUCKET = table(RequestBucketRow)


class SqlBuckets:
    """Implements :class:`fateforger.calendar.calls.Buckets` over a :class:`Database`.

    ``now`` replaces the clock that all processes share (see :func:`read_clock`).
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
        _write_bucket(connection, names[bucket], bucket.take(full_at) if wait <= 0 else full_at)
    return wait


def _write_bucket(connection: Connection, name: str, full_at: datetime) -> None:
    if not connection.execute(update(BUCKET).where(BUCKET.c.name == name).values(full_at=full_at)).rowcount:
        connection.execute(insert(BUCKET).values(name=name, full_at=full_at))

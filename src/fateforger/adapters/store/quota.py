"""Request counts of logins, in SQL."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, delete, insert, or_, select, text, update

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.tables import QuotaUse, table
from fateforger.ports import Login, RequestLimit, Reservation, Settlement

USE = table(QuotaUse)
Now = Callable[[], datetime]

_SERVER_CLOCK = text("SELECT clock_timestamp()")
_EXPIRED = delete(USE).where(USE.c.server == bindparam("of_server"), USE.c.counts_until <= bindparam("now"))
_BRING_BACK = (
    update(USE)
    .where(USE.c.server == bindparam("of_server"), USE.c.counts_until > bindparam("latest"))
    .values(counts_until=bindparam("latest"))
)
_OF_SERVER = (
    select(USE.c.requests, USE.c.background, USE.c.counts_until)
    .where(USE.c.server == bindparam("of_server"))
    .order_by(USE.c.counts_until)
)
_OF_LOGIN = _OF_SERVER.where(or_(USE.c.account == bindparam("of_account"), USE.c.account == ""))
_RESERVE = insert(USE)
_SETTLE = (
    update(USE)
    .where(USE.c.id == bindparam("of_id"))
    .values(requests=bindparam("cost"), counts_until=bindparam("until"))
)


class _Use(NamedTuple):
    requests: int
    background: bool
    counts_until: datetime


class SqlQuota:
    """Implements :class:`fateforger.ports.Quota` over a :class:`Database`.

    With PostgreSQL the clock is the server's, which all replicas share; with SQLite it is the machine's, which all
    processes on one file share. ``now`` replaces either.
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
        if self._now is not None:
            return self._now()
        if connection.dialect.name == "sqlite":
            return datetime.now(UTC)
        instant: datetime = connection.execute(_SERVER_CLOCK).scalar_one()
        return instant.astimezone(UTC)


def _settle(connection: Connection, limit: RequestLimit, settled: Sequence[Settlement], now: datetime) -> None:
    for each in settled:
        until = now + timedelta(seconds=limit.seconds - each.ago)
        connection.execute(_SETTLE, {"of_id": each.id, "cost": each.requests, "until": until})


def _reserve(connection: Connection, login: Login, wanted: Reservation, limit: RequestLimit, now: datetime) -> float:
    until = now + timedelta(seconds=limit.seconds + limit.call_seconds)
    server, account = {"of_server": login.server}, _hash_account(login.account)
    connection.execute(_EXPIRED, {**server, "now": now})
    # Nothing counts longer than this; a row that does was written before the clock was set back.
    connection.execute(_BRING_BACK, {**server, "latest": until})
    statement, values = (_OF_LOGIN, {**server, "of_account": account}) if account else (_OF_SERVER, server)
    uses = [_Use(*row) for row in connection.execute(statement, values)]
    wait = _compute_wait(wanted, limit, uses, now)
    if wait <= 0:
        row = {"id": wanted.id, "requests": wanted.requests, "background": wanted.background, "counts_until": until}
        connection.execute(_RESERVE, {**row, "server": login.server, "account": account})
    return wait


def _hash_account(account: str) -> str:
    """Return a digest that identifies a login without naming it."""
    return hashlib.sha256(account.encode()).hexdigest()[:16] if account else ""


def _compute_wait(wanted: Reservation, limit: RequestLimit, uses: Sequence[_Use], now: datetime) -> float:
    """Return the seconds until there is room; 0 means now."""
    waits = [_compute_until_room(wanted.requests, limit.requests, uses, now)]
    if wanted.background:
        waits.append(_compute_until_room(wanted.requests, limit.requests - limit.kept, uses, now))
        waits.append(
            _compute_until_room(wanted.requests, limit.background, [use for use in uses if use.background], now)
        )
    # A running call counts for longer than it will once it is settled, so wait a window at most and ask again.
    return min(max(waits), limit.seconds)


def _compute_until_room(requests: int, most: int, uses: Sequence[_Use], now: datetime) -> float:
    over = sum(use.requests for use in uses) + requests - max(most, requests)
    wait = 0.0
    for use in uses:
        if over <= 0:
            break
        over -= use.requests
        wait = (use.counts_until - now).total_seconds()
    return wait

"""Leases of calendars."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Connection, bindparam, insert, select, update

from fateforger.adapters.store.tables import CalendarLease, table
from fateforger.ports import Lease

LEASE = table(CalendarLease)

_HELD = select(LEASE).where(LEASE.c.calendar == bindparam("of_calendar"))
_FIRST = insert(LEASE)
_TAKE = (
    update(LEASE)
    .where(LEASE.c.calendar == bindparam("of_calendar"))
    .values(owner=bindparam("owner"), fence=bindparam("fence"), expires_at=bindparam("expires_at"))
)
_RELEASE = (
    update(LEASE)
    .where(
        LEASE.c.calendar == bindparam("of_calendar"),
        LEASE.c.owner == bindparam("of_owner"),
        LEASE.c.fence == bindparam("of_fence"),
    )
    .values(expires_at=None)
)


def acquire(connection: Connection, calendar: str, owner: str, now: datetime, seconds: float) -> Lease | None:
    """Take the lease, or renew the owner's own under the same fence; return ``None`` while another owner holds it."""
    until = now + timedelta(seconds=seconds)
    row = connection.execute(_HELD, {"of_calendar": calendar}).first()
    if row is None:
        connection.execute(_FIRST, {"calendar": calendar, "owner": owner, "fence": 1, "expires_at": until})
        return Lease(calendar, owner, 1, until)
    held = row.expires_at is not None and row.expires_at > now
    if held and row.owner != owner:
        return None
    lease = Lease(calendar, owner, row.fence if held else row.fence + 1, until)
    connection.execute(
        _TAKE, {"of_calendar": calendar, "owner": owner, "fence": lease.fence, "expires_at": lease.expires_at}
    )
    return lease


def release(connection: Connection, lease: Lease) -> None:
    """Release the lease, unless another owner has it by now."""
    connection.execute(_RELEASE, {"of_calendar": lease.calendar, "of_owner": lease.owner, "of_fence": lease.fence})

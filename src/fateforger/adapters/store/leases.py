"""Leases of calendars."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Connection, insert, select, update

from fateforger.adapters.store.tables import CalendarLease, table
from fateforger.ports import Lease

LEASE = table(CalendarLease)


def acquire(connection: Connection, calendar: str, owner: str, now: datetime, seconds: float) -> Lease | None:
    """Take the lease, or renew the owner's own under the same fence; ``None`` while somebody else holds it."""
    lease = Lease(calendar, owner, 1, now + timedelta(seconds=seconds))
    row = connection.execute(select(LEASE).where(LEASE.c.calendar == calendar)).first()
    if row is None:
        values = {"calendar": calendar, "owner": owner, "fence": lease.fence, "expires_at": lease.expires_at}
        connection.execute(insert(LEASE), values)
        return lease
    held = row.expires_at is not None and row.expires_at > now
    if held and row.owner != owner:
        return None
    lease = Lease(calendar, owner, row.fence if held else row.fence + 1, lease.expires_at)
    connection.execute(
        update(LEASE)
        .where(LEASE.c.calendar == calendar)
        .values(owner=owner, fence=lease.fence, expires_at=lease.expires_at)
    )
    return lease


def release(connection: Connection, lease: Lease) -> None:
    """Give the lease back, unless somebody else has it by now."""
    connection.execute(
        update(LEASE)
        .where(LEASE.c.calendar == lease.calendar, LEASE.c.owner == lease.owner, LEASE.c.fence == lease.fence)
        .values(expires_at=None)
    )

"""The right to write to one calendar, held while a transaction is carried out."""

from __future__ import annotations

from fateforger.commit.outside import CommitContext
from fateforger.errors import CalendarBusy
from fateforger.ports import Lease

_BUSY = "Another change to this calendar is being written right now. Please try again in a moment."
_LOST = "Writing took too long and was stopped; what is missing will be finished or settled with the next try."


class Hold:
    """A lease that is renewed while it is used.

    It cannot stop a write in progress, so none starts unless the lease outlasts it. A write that outlasted the lease is
    not recorded, since other processes may have settled it.
    """

    def __init__(self, outside: CommitContext, owner: str) -> None:
        self._outside = outside
        self._owner = owner
        self._lease: Lease | None = None

    async def take(self) -> None:
        """Acquire the lease, waiting a little for another holder. Raises :class:`~fateforger.errors.CalendarBusy`."""
        limits = self._outside.limits
        waited = 0.0
        while (lease := await self._acquire()) is None:
            if waited >= limits.lease_wait:
                raise CalendarBusy(_BUSY)
            await self._outside.sleep(limits.lease_poll)
            waited += limits.lease_poll
        self._lease = lease

    async def ensure(self) -> None:
        """Ensure that a write may start or be recorded.

        Raises :class:`~fateforger.errors.CalendarBusy` if the lease was lost: another process may have settled the
        transaction.
        """
        lease = self._lease
        if lease is None:
            raise CalendarBusy(_LOST)
        left = (lease.expires_at - self._outside.clock.now()).total_seconds()
        if left > self._outside.limits.lease_margin:
            return
        renewed = await self._acquire()
        if renewed is None or renewed.fence != lease.fence:
            self._lease = None
            if renewed is not None:
                await self._outside.journal.release(renewed)
            raise CalendarBusy(_LOST)
        self._lease = renewed

    async def give_back(self) -> None:
        """Release the lease, if it is held."""
        if self._lease is not None:
            lease, self._lease = self._lease, None
            await self._outside.journal.release(lease)

    async def _acquire(self) -> Lease | None:
        outside = self._outside
        return await outside.journal.acquire(
            outside.calendar.key, self._owner, now=outside.clock.now(), seconds=outside.limits.lease_seconds
        )

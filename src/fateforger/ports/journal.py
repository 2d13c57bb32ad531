"""The durable record of what was done to calendars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from fateforger.journal.model import OpRecord, OpState, Transaction, TxState
from fateforger.sync.model import Head, Ledger


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write to one calendar until ``expires_at``. A later lease has a higher fence."""

    calendar: str
    owner: str
    fence: int
    expires_at: datetime


class Journal(Protocol):
    """Durable record of what was done to calendars. Every method is one commit that survives a crash, or raises
    :class:`~fateforger.errors.StoreError` and has done nothing."""

    async def begin(self, transaction: Transaction) -> None:
        """Record a transaction with all its ops pending, and reserve the generations of its creates. Raises
        ``VersionConflict`` when the id or one of the generations was used before, or when what it undoes is not
        (or no longer) there to be undone."""
        ...

    async def mark(self, transaction_id: str, op_ids: Sequence[str], state: OpState) -> None:
        """Set the state of several ops at once; ``INFLIGHT`` also counts an attempt. An op that has ended never
        changes again: asking for it is an ``InternalError``, here and in ``settle``."""
        ...

    async def settle(
        self, transaction_id: str, record: OpRecord, *, head: Head | None = None, forget: str | None = None
    ) -> None:
        """Record how an op ended, together with the block's new head, or with forgetting the head of a key (of the
        transaction's day). A record that is pending replaces what was decided about the op."""
        ...

    async def close(self, transaction_id: str, state: TxState, at: datetime) -> None:
        """Record how a transaction ended, which takes that all its ops have; or that it is paused, or goes on. A
        committed undo also marks what it undid as undone; a partial one leaves it to be undone again. What was
        undone can be closed as it was before: it stands again, because the undo was taken back."""
        ...

    async def get(self, transaction_id: str) -> Transaction | None: ...

    async def by_cause(self, calendar: str, cause: str) -> Transaction | None:
        """The transaction that a command already caused, if it did."""
        ...

    async def unsettled(self, calendar: str | None = None) -> tuple[Transaction, ...]:
        """Transactions that are applying or paused, oldest first."""
        ...

    async def history(
        self, calendar: str, *, day: date | None = None, group: str | None = None, limit: int = 50
    ) -> tuple[Transaction, ...]:
        """Newest first."""
        ...

    async def ledger(self, calendar: str, day: date) -> Ledger:
        """The heads of one day, and the generations ever used of the seeds that start with its date."""
        ...

    async def acquire(self, calendar: str, owner: str, *, now: datetime, seconds: float) -> Lease | None:
        """Take the lease of a calendar, or renew the owner's own, which keeps its fence; ``None`` while somebody
        else holds it."""
        ...

    async def release(self, lease: Lease) -> None:
        """Give the lease back; nothing happens when it was lost in between."""
        ...

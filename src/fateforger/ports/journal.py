"""The durable record of calendar writes."""

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
    """The durable record of calendar writes.

    Every method is one commit that survives a crash, or raises :class:`~fateforger.errors.StoreError` and has no
    effect.
    """

    async def begin(self, transaction: Transaction) -> None:
        """Record a transaction with all its ops pending, and reserve the generations of its creates.

        Raises ``VersionConflict`` if the id or one of the generations was used before, or if what it undoes cannot be
        undone (any more).
        """
        ...

    async def mark(self, transaction_id: str, op_ids: Sequence[str], state: OpState) -> None:
        """Set the state of several ops at once; ``INFLIGHT`` also counts an attempt.

        An op that has ended never changes again: here and in ``settle`` that is an ``InternalError``.
        """
        ...

    async def settle(
        self, transaction_id: str, record: OpRecord, *, head: Head | None = None, forget: str | None = None
    ) -> None:
        """Record the end of an op, together with the block's new head, or remove the head of a key of that day.

        A pending record replaces the decision about the op.
        """
        ...

    async def close(self, transaction_id: str, state: TxState, at: datetime) -> None:
        """Record that a transaction ended, paused or continues; to end, all its ops must have ended.

        A committed undo also marks its target as undone; a partial one leaves it undoable. An undone transaction can be
        closed in its old state again when its undo is undone.
        """
        ...

    async def get(self, transaction_id: str) -> Transaction | None: ...

    async def by_cause(self, calendar: str, cause: str) -> Transaction | None:
        """Return the transaction that a command already caused, if any."""
        ...

    async def list_unsettled(self, calendar: str | None = None) -> tuple[Transaction, ...]:
        """Return transactions that are applying or paused, oldest first."""
        ...

    async def history(
        self, calendar: str, *, day: date | None = None, group: str | None = None, limit: int = 50
    ) -> tuple[Transaction, ...]:
        """Return transactions, newest first."""
        ...

    async def ledger(self, calendar: str, day: date) -> Ledger:
        """Return the heads of one day, and the generations ever used of the seeds that start with its date."""
        ...

    async def acquire(self, calendar: str, owner: str, *, now: datetime, seconds: float) -> Lease | None:
        """Acquire the lease of a calendar, or renew the owner's own, which keeps its fence.

        Returns ``None`` while another owner holds it.
        """
        ...

    async def release(self, lease: Lease) -> None:
        """Release the lease; nothing happens if it was lost in between."""
        ...

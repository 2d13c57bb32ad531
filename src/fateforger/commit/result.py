"""The result of a submit, an undo or a recovery."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fateforger.journal import OpState, Transaction
from fateforger.sync.model import SyncPlan, Verb

SyncStatus = Literal["unchanged", "changed", "undone", "partial", "paused"]


@dataclass(frozen=True, slots=True)
class SyncResult:
    """The result of a command.

    ``plan`` is the decision; ``transactions`` are the recorded transactions, the latest last: none if there was nothing
    to do, several if event ids turned out to be used up.

      - ``unchanged``: the calendar was up to date, nothing was written;
      - ``changed``, ``undone``: all of the decision is done, apart from what the person changed meanwhile;
      - ``partial``: a part could not be done, as the sentences say; it can be undone;
      - ``paused``: the rest waits; the same command again, a new one or ``recover`` continues it.

    ``sentences`` tell the person what was done, what was kept and why.
    """

    status: SyncStatus
    plan: SyncPlan
    transactions: tuple[Transaction, ...] = ()
    sentences: tuple[str, ...] = ()

    @property
    def transaction(self) -> Transaction | None:
        """The latest transaction."""
        return self.transactions[-1] if self.transactions else None

    @property
    def created(self) -> int:
        """Blocks added to the calendar."""
        return self._count_applied(Verb.CREATE)

    @property
    def updated(self) -> int:
        """Blocks changed on the calendar."""
        return self._count_applied(Verb.UPDATE)

    @property
    def deleted(self) -> int:
        """Blocks removed from the calendar."""
        return self._count_applied(Verb.DELETE)

    def _count_applied(self, verb: Verb) -> int:
        records = [record for transaction in self.transactions for record in transaction.records]
        return sum(1 for record in records if record.op.verb is verb and record.state is OpState.APPLIED)

"""Determine which transactions of a day are in effect, and which others an undo of one of them includes.

An undo ends the effect of its targets; undoing the undo restores it. This module decides, from the day's whole history,
how to go back to before a transaction:

    the transaction | what is undone, the newest first
    ----------------+--------------------------------------------------------------------------------
    a submit        | it, and every later submit in effect; what was undone before stays undone
    an undo         | everything after it and the undo itself, so that the day is as it was before it; undos among
                    | that are included even if they had nothing to write, since their targets are not in effect

A command that was interrupted and repeated may have several transactions, which share its cause: going back to before
one of them goes back to before the first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fateforger.journal.model import UNDOES, OpState, Transaction, TxState
from fateforger.sync.model import WRITES


@dataclass(frozen=True, slots=True)
class UndoScope:
    """The way back to before a transaction.

    ``targets`` are the transactions to undo, the newest first. ``gone`` are the submits that are no longer in effect
    then, ``again`` those that are in effect again. ``asked`` are all transactions of the same command.
    """

    targets: tuple[Transaction, ...]
    gone: frozenset[str]
    again: frozenset[str]
    asked: frozenset[str]


def list_undone(undo: Transaction) -> tuple[str, ...]:
    """Return the ids of the transactions that an undo undoes, the newest first; none for a submit."""
    several = tuple(undo.context.get(UNDOES, ()))
    return several or (() if undo.undoes is None else (undo.undoes,))


def is_redo(transaction: Transaction, known: Mapping[str, Transaction]) -> bool:
    """Check whether a transaction undoes an undo; the last of its targets decides."""
    targets = list_undone(transaction)
    found = known.get(targets[-1]) if targets else None
    return found is not None and found.kind == "undo"


def has_writes(transaction: Transaction) -> bool:
    """Check whether anything was to be written to the calendar; other transactions only update records."""
    return any(record.op.verb in WRITES for record in transaction.records)


def is_listed(transaction: Transaction) -> bool:
    """Check whether the history shows it: every write, and every undo, even one of a transaction without effect."""
    return transaction.kind == "undo" or has_writes(transaction)


def had_effect(transaction: Transaction) -> bool:
    """Check whether anything was written to the calendar."""
    return any(r.state is OpState.APPLIED and r.op.verb in WRITES for r in transaction.records)


def is_in_effect(transaction: Transaction) -> bool:
    """Check whether it can be undone, as far as is known while it may still be running."""
    return transaction.undoable or transaction.state in {TxState.APPLYING, TxState.PAUSED}


def simulate_undo(targets: Sequence[str], known: Mapping[str, Transaction]) -> dict[str, bool]:
    """Return whether each affected transaction is in effect once ``targets``, the newest first, are undone as a whole.

    ``known`` holds the targets and everything that undos among them undid.
    """
    after: dict[str, bool] = {}

    def take_back(transaction_id: str) -> None:
        after[transaction_id] = False
        for other in reversed(_list_undone(transaction_id, known)):
            put_back(other)

    def put_back(transaction_id: str) -> None:
        after[transaction_id] = True
        for other in _list_undone(transaction_id, known):
            take_back(other)

    for target in targets:
        take_back(target)
    return after


def find_undo_scope(history: Sequence[Transaction], transaction: Transaction) -> UndoScope:
    """Return the way to before ``transaction``. ``history`` is that of its day, the newest first, and contains it."""
    asked = [t for t in history if t.id == transaction.id or _is_same_command(t, transaction)]
    since = history[: [t.id for t in history].index(asked[-1].id) + 1]
    if transaction.kind == "submit":
        targets = tuple(t for t in since if t.kind == "submit" and is_in_effect(t))
    else:
        targets = tuple(t for t in since if t.kind == "undo" or had_effect(t))
    after = simulate_undo([t.id for t in targets], {t.id: t for t in history})
    submits = [t for t in history if t.kind == "submit" and t.id in after]
    return UndoScope(
        targets,
        gone=frozenset(t.id for t in submits if is_in_effect(t) and not after[t.id]),
        again=frozenset(t.id for t in submits if not is_in_effect(t) and after[t.id]),
        asked=frozenset(t.id for t in asked),
    )


def _is_same_command(other: Transaction, transaction: Transaction) -> bool:
    """Check whether another transaction in effect belongs to the same command, which needed more than one."""
    return (other.cause, other.kind) == (transaction.cause, transaction.kind) and is_in_effect(other)


def _list_undone(transaction_id: str, known: Mapping[str, Transaction]) -> tuple[str, ...]:
    found = known.get(transaction_id)
    return () if found is None else list_undone(found)

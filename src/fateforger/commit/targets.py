"""Which transactions an undo takes back."""

from __future__ import annotations

from datetime import date

from fateforger.errors import NotUndoable
from fateforger.journal import Transaction, TxState
from fateforger.ports import Journal

_NOTHING = "There is nothing to undo."


async def named(journal: Journal, calendar: str, transaction_id: str) -> tuple[Transaction, ...]:
    """The transaction of that id. Raises :class:`~fateforger.errors.NotUndoable` when it cannot be undone."""
    found = await journal.get(transaction_id)
    if found is None or found.calendar != calendar:
        raise NotUndoable("I know of no such change to this calendar.", where=transaction_id)
    if found.state is TxState.UNDONE:
        raise NotUndoable("That was undone already.", where=transaction_id)
    if not found.undoable:
        raise NotUndoable("That did nothing to your calendar, so there is nothing to undo.", where=transaction_id)
    return (found,)


async def latest(journal: Journal, calendar: str, *, day: date | None, depth: int) -> tuple[Transaction, ...]:
    """The newest transaction that did something and still stands. Undos do not count, redos do. Raises
    :class:`~fateforger.errors.NotUndoable`."""
    for transaction in await journal.history(calendar, day=day, limit=depth):
        if transaction.undoable and await _goes_forward(journal, transaction):
            return (transaction,)
    raise NotUndoable(_NOTHING)


async def of_group(journal: Journal, calendar: str, group: str, *, depth: int) -> tuple[Transaction, ...]:
    """All of a group that did something and still stands, newest first. Raises
    :class:`~fateforger.errors.NotUndoable`."""
    history = await journal.history(calendar, group=group, limit=depth)
    standing = [t for t in history if t.undoable and await _goes_forward(journal, t)]
    if not standing:
        raise NotUndoable("That was undone already." if history else _NOTHING)
    return tuple(standing)


async def _goes_forward(journal: Journal, transaction: Transaction) -> bool:
    """Whether it is a submit or a redo: an even number of undos lies between it and a submit."""
    forward = True
    current: Transaction | None = transaction
    while current is not None and current.undoes is not None:
        forward = not forward
        current = await journal.get(current.undoes)
    return forward

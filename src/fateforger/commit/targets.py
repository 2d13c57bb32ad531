"""Which transactions an undo takes back."""

from __future__ import annotations

from datetime import date

from fateforger.errors import NotUndoable
from fateforger.journal import Transaction, TxState, way_back
from fateforger.journal.standing import is_told
from fateforger.ports import Journal

_NOTHING = "There is nothing to undo."
OUT_OF_DATE = "Something was written since that list was made, so I did nothing. This is how it stands now."


async def named(journal: Journal, calendar: str, transaction_id: str) -> tuple[Transaction, ...]:
    """The transaction of that id. Raises :class:`~fateforger.errors.NotUndoable` when it cannot be undone."""
    found = await journal.get(transaction_id)
    if found is None or found.calendar != calendar:
        raise NotUndoable("I know of no such change to this calendar.", where=transaction_id)
    if found.state is TxState.UNDONE:
        again = "done again" if found.kind == "undo" else "undone"
        raise NotUndoable(f"That was {again} already.", where=transaction_id)
    if not found.undoable:
        raise NotUndoable("That did nothing to your calendar, so there is nothing to undo.", where=transaction_id)
    return (found,)


async def since(
    journal: Journal, calendar: str, transaction_id: str, *, newest: str | None, depth: int
) -> tuple[Transaction, ...]:
    """The transaction of that id and what came after it on its day, as far as it stands: all that lies between now
    and the time before it. ``newest`` is the newest write that the person knows of. Raises
    :class:`~fateforger.errors.NotUndoable`."""
    (found,) = await named(journal, calendar, transaction_id)
    history = await journal.history(calendar, day=found.day, limit=depth)
    if newest is not None and next(t.id for t in history if is_told(t)) != newest:
        raise NotUndoable(OUT_OF_DATE, where=transaction_id)
    if found.id not in {t.id for t in history}:
        raise NotUndoable(f"That lies more than {depth} writes back, further than I can undo.", where=transaction_id)
    return way_back(history, found).targets


async def latest(journal: Journal, calendar: str, *, day: date | None, depth: int) -> tuple[Transaction, ...]:
    """The newest submit that did something and still stands, or stands again. Raises
    :class:`~fateforger.errors.NotUndoable`."""
    for transaction in await journal.history(calendar, day=day, limit=depth):
        if transaction.kind == "submit" and transaction.undoable:
            return (transaction,)
    raise NotUndoable(_NOTHING)


async def of_group(journal: Journal, calendar: str, group: str, *, depth: int) -> tuple[Transaction, ...]:
    """All of a group that did something and still stands, newest first. Raises
    :class:`~fateforger.errors.NotUndoable`."""
    history = await journal.history(calendar, group=group, limit=depth)
    standing = tuple(t for t in history if t.kind == "submit" and t.undoable)
    if not standing:
        raise NotUndoable("That was undone already." if history else _NOTHING)
    return standing

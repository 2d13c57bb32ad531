"""Decide which transactions an undo undoes: one rule for every way to ask for it.

An undo goes back to before a transaction: it undoes that one and every later transaction in effect on that day
(:func:`~fateforger.journal.find_undo_scope`). The ways to ask differ only in how they name that transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from fateforger.errors import NotUndoable
from fateforger.journal import OpState, Transaction, TxState, find_undo_scope
from fateforger.journal.standing import is_listed, is_redo, list_undone
from fateforger.ports import Journal

_NOTHING = "There is nothing to undo."
OUT_OF_DATE = "Something was written since that list was made, so I did nothing. This is how it stands now."


@dataclass(frozen=True, slots=True)
class Choice:
    """The transaction to go back before.

    It is ``transaction``, else the first write of ``group`` in effect, else the newest write in effect, of ``day`` or
    of all days. ``newest`` is the newest write of the day in the list that the person chose from, which also told them
    what else is undone.
    """

    transaction: str | None = None
    group: str | None = None
    day: date | None = None
    newest: str | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """The transactions that one undo undoes, all of one day, the newest first.

    ``gone`` are the writes among them that were not named, ``again`` the number of writes that are redone.
    """

    targets: tuple[Transaction, ...]
    gone: tuple[Transaction, ...] = ()
    again: int = 0


async def choose_targets(journal: Journal, calendar: str, choice: Choice, *, depth: int) -> tuple[Chosen, ...]:
    """Decide what an undo undoes, for each affected day.

    ``depth`` is the number of transactions read at first; more are read if needed. Raises
    :class:`~fateforger.errors.NotUndoable`.
    """
    past = _Past(journal, calendar, depth)
    if choice.transaction is not None:
        firsts: Sequence[Transaction] = (await _find_named(past, choice.transaction),)
    elif choice.group is not None:
        firsts = await _find_first_of_group(past, choice.group)
    else:
        firsts = (await _find_newest(past, choice.day),)
    return tuple([await _choose_since(past, first, choice) for first in firsts])


@dataclass(frozen=True, slots=True)
class _Past:
    journal: Journal
    calendar: str
    depth: int

    async def read(
        self, reaches: Callable[[Sequence[Transaction]], bool], *, day: date | None = None, group: str | None = None
    ) -> tuple[Transaction, ...]:
        """Read the history, newest first, until it ``reaches`` its goal, or ends."""
        limit = self.depth
        while True:
            history = await self.journal.history(self.calendar, day=day, group=group, limit=limit)
            if len(history) < limit or reaches(history):
                return history
            limit *= 4


async def _choose_since(past: _Past, first: Transaction, choice: Choice) -> Chosen:
    history = await past.read(lambda known: any(t.id == first.id for t in known), day=first.day)
    if choice.newest is not None and next(t.id for t in history if is_listed(t)) != choice.newest:
        raise NotUndoable(OUT_OF_DATE, where=choice.transaction)
    way = find_undo_scope(history, first)
    if choice.newest is not None:
        return Chosen(way.targets)
    named = way.asked | {t.id for t in way.targets if t.group == choice.group}
    gone = tuple(t for t in way.targets if t.id in way.gone - named)
    return Chosen(way.targets, gone, len(way.again - set(list_undone(first))))


async def _find_named(past: _Past, transaction_id: str) -> Transaction:
    found = await past.journal.get(transaction_id)
    if found is None or found.calendar != past.calendar:
        raise NotUndoable("I know of no such change to this calendar.", where=transaction_id)
    if found.state is TxState.UNDONE:
        again = "done again" if found.kind == "undo" else "undone"
        raise NotUndoable(f"That was {again} already.", where=transaction_id)
    if not found.undoable:
        raise NotUndoable("That did nothing to your calendar, so there is nothing to undo.", where=transaction_id)
    return found


async def _find_first_of_group(past: _Past, group: str) -> Sequence[Transaction]:
    """Return the first write of a group in effect on each of its days, the latest written day first."""
    history = await past.read(lambda _: False, group=group)
    standing = [t for t in history if t.kind == "submit" and t.undoable]
    if not standing:
        raise NotUndoable("That was undone already." if history else _NOTHING)
    return tuple({t.day: t for t in standing}.values())


async def _find_newest(past: _Past, day: date | None) -> Transaction:
    """Return the newest write in effect; the target of an interrupted undo takes precedence."""
    history = await past.read(lambda known: any(_is_write(t, known) for t in known), day=day)
    told = next((t for t in history if is_listed(t)), None)
    if told is not None and told.kind == "undo" and _was_interrupted(told):
        found = await past.journal.get(list_undone(told)[-1])
        if found is not None and found.undoable:
            return found
    newest = next((t for t in history if _is_write(t, history)), None)
    if newest is None:
        raise NotUndoable(_NOTHING)
    return newest


def _is_write(transaction: Transaction, history: Sequence[Transaction]) -> bool:
    """Check whether a transaction has an effect on the calendar.

    A partial redo has one, too: the writes that it was to redo are not in effect themselves.
    """
    if transaction.kind == "submit" or transaction.state is not TxState.PARTIAL:
        return transaction.kind == "submit" and transaction.undoable
    return transaction.undoable and is_redo(transaction, {t.id: t for t in history})


def _was_interrupted(undo: Transaction) -> bool:
    given_up = any(record.state is OpState.SUPERSEDED for record in undo.records)
    return undo.state is TxState.PARTIAL and given_up and bool(list_undone(undo))

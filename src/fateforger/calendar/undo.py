"""Undo of transactions, as a transaction.

An undo goes back to before a transaction: it undoes that one and every later transaction in effect on that day
(:func:`~fateforger.calendar.history.find_undo_scope`). The ways to ask differ only in how they name that transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from fateforger.calendar.access import CommitContext, Hold, WaitingReads, read_snapshot
from fateforger.calendar.engine import number_ops
from fateforger.calendar.execution import ExecutionResult, execute_sync
from fateforger.calendar.history import UndoScope, find_undo_scope, is_listed, is_redo, list_undone
from fateforger.calendar.late_creates import mark_arrived
from fateforger.calendar.model import WRITES
from fateforger.calendar.transactions import UNDOES, OpState, Transaction, TxState, begin_transaction
from fateforger.calendar.undo_plan import plan_undo
from fateforger.errors import NotUndoable, WrittenElsewhere
from fateforger.text import gettext as _
from fateforger.text import join_sentences, join_words, mark_message, ngettext
from fateforger.values import replace

UNDONE_ALREADY = mark_message("That was undone already.")
_NOTHING = mark_message("There is nothing to undo.")
OUT_OF_DATE = mark_message(
    "Something was written after that list was made, so I did nothing. This is how it looks now."
)


ELSEWHERE = mark_message(
    "I wrote that to a different calendar than the one I use now. Connect that calendar again to take it back, or"
    " delete the blocks there."
)
STAYS_ELSEWHERE = mark_message(
    "What I wrote to the calendar that you used before stays there. To take it back, connect that calendar again and"
    " open History."
)


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


async def choose_targets(outside: CommitContext, choice: Choice) -> tuple[UndoScope, ...]:
    """Decide what an undo undoes, for each affected day.

    ``gone`` and ``again`` of the result are without the writes that the person named, since they hold no surprise.
    Raises :class:`~fateforger.errors.NotUndoable`.
    """
    if choice.transaction is not None:
        firsts: Sequence[Transaction] = (await _find_named(outside, choice.transaction),)
    elif choice.group is not None:
        firsts = await _find_first_of_group(outside, choice.group)
    else:
        firsts = (await _find_newest(outside, choice.day),)
    return tuple([await _choose_since(outside, first, choice) for first in firsts])


async def _read_history(
    outside: CommitContext,
    reaches: Callable[[Sequence[Transaction]], bool],
    *,
    day: date | None = None,
    group: str | None = None,
) -> tuple[Transaction, ...]:
    """Read the history, newest first, until it ``reaches`` its goal, or ends."""
    limit = outside.limits.history
    while True:
        history = await outside.journal.history(outside.calendar.key, day=day, group=group, limit=limit)
        if len(history) < limit or reaches(history):
            return history
        limit *= 4


async def _choose_since(outside: CommitContext, first: Transaction, choice: Choice) -> UndoScope:
    history = await _read_history(outside, lambda known: any(t.id == first.id for t in known), day=first.day)
    if choice.newest is not None and next(t.id for t in history if is_listed(t)) != choice.newest:
        raise NotUndoable(_(OUT_OF_DATE), where=choice.transaction)
    way = find_undo_scope(history, first)
    if choice.newest is not None:
        return replace(way, gone=frozenset(), again=frozenset())
    named = way.asked | {t.id for t in way.targets if t.group == choice.group}
    return replace(way, gone=way.gone - named, again=way.again - set(list_undone(first)))


async def _find_named(outside: CommitContext, transaction_id: str) -> Transaction:
    found = await outside.journal.get(transaction_id)
    if found is None:
        raise NotUndoable(_("I know of no such change to this calendar."), where=transaction_id)
    if found.calendar != outside.calendar.key and found.undoable:
        raise WrittenElsewhere(_(ELSEWHERE), where=transaction_id)
    if found.state is TxState.UNDONE:
        again = _("That was done again already.") if found.kind == "undo" else _(UNDONE_ALREADY)
        raise NotUndoable(again, where=transaction_id)
    if not found.undoable:
        raise NotUndoable(_("That did nothing to your calendar, so there is nothing to undo."), where=transaction_id)
    return found


async def _find_first_of_group(outside: CommitContext, group: str) -> Sequence[Transaction]:
    """Return the first write of a group in effect on each of its days, the latest written day first."""
    history = await _read_history(outside, lambda _: False, group=group)
    standing = [t for t in history if t.kind == "submit" and t.undoable]
    if not standing and await is_written_elsewhere(outside, group):
        raise WrittenElsewhere(_(ELSEWHERE))
    if not standing:
        raise NotUndoable(_(UNDONE_ALREADY if history else _NOTHING))
    return tuple({t.day: t for t in standing}.values())


async def is_written_elsewhere(outside: CommitContext, group: str) -> bool:
    """Check whether writes of a group are in effect on another calendar, which the person has since replaced."""
    everywhere = await outside.journal.history(None, group=group, limit=outside.limits.history)
    return any(t.calendar != outside.calendar.key and t.kind == "submit" and t.undoable for t in everywhere)


async def _find_newest(outside: CommitContext, day: date | None) -> Transaction:
    """Return the newest write in effect; the target of an interrupted undo takes precedence."""
    history = await _read_history(outside, lambda known: any(_is_write(t, known) for t in known), day=day)
    told = next((t for t in history if is_listed(t)), None)
    if told is not None and told.kind == "undo" and _was_interrupted(told):
        found = await outside.journal.get(list_undone(told)[-1])
        if found is not None and found.undoable:
            return found
    newest = next((t for t in history if _is_write(t, history)), None)
    if newest is None:
        raise NotUndoable(_(_NOTHING))
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


ALONG = "along"
"""The name in an undo's context of its effects beyond the request, in words."""


async def undo_sync(
    chosen: UndoScope,
    hold: Hold,
    *,
    id: str,  # noqa: A002  the field's name
    cause: str,
    context: Mapping[str, Any] | None = None,
    force: bool = False,
) -> ExecutionResult:
    """Undo the chosen transactions, under a lease that is held.

    Every event that they touched is read again first. Once the undo is committed, all of them are undone; after a
    partial undo they can be undone again. Raises as ``execute_sync`` does, and ``CalendarError`` when the calendar
    cannot be read.
    """
    targets, context, outside = chosen.targets, context or {}, hold.outside
    day, tz = targets[0].day, targets[0].tz
    ledger = await outside.journal.ledger(outside.calendar.key, day)
    touched = [r.op.event_id for t in targets for r in t.records if r.op.verb in WRITES]
    reads = WaitingReads(hold)
    snapshot = await read_snapshot(reads, ledger, day, tz, limits=outside.limits, also=touched)
    live = dict(snapshot.live)
    # An event that an undo created in place of a deleted one also represents that one.
    live |= {old: live[head.event_id] for head in ledger.heads if head.event_id in live for old in head.restores}
    as_they_are = [mark_arrived(target, live) for target in targets]
    clears = outside.calendar.traits.can_clear_color
    plan = plan_undo(as_they_are, snapshot, ledger, op_ids=number_ops(id), force=force, can_clear_color=clears)
    more: dict[str, Any] = {UNDOES: [target.id for target in targets]}
    if along := _describe_along(chosen, context.get("session")):
        more[ALONG] = along
    if targets[-1].kind == "undo":
        more["deed"] = "redo"
    transaction = begin_transaction(
        plan,
        id=id,
        calendar=outside.calendar.key,
        kind="undo",
        created_at=reads.seen_at,
        cause=cause,
        group=id,
        undoes=targets[0].id,
        context={**context, **more},
    )
    return await execute_sync(transaction, hold)


def _describe_along(chosen: UndoScope, session: str | None) -> str:
    """Return the effects beyond the request, as sentences; an empty text if there are none."""
    sentences = []
    if gone := [t for t in chosen.targets if t.id in chosen.gone]:
        makers = Counter(_describe_origin(t.context.get("session"), session) for t in gone)
        made = [_ORIGINS[maker](number) for maker, number in makers.items()]
        sentences.append(_("This also took back later writes: {made}.", made=join_words(made)))
    if chosen.again:
        count = len(chosen.again)
        sentences.append(ngettext("This also did {count} write again.", "This also did {count} writes again.", count))
    return join_sentences(*sentences)


_ORIGINS: Mapping[str, Callable[[int], str]] = {
    "command line": lambda n: ngettext("{count} made from the command line", "{count} made from the command line", n),
    "thread": lambda n: ngettext("{count} made in a thread", "{count} made in a thread", n),
    "this thread": lambda n: ngettext("{count} made in this thread", "{count} made in this thread", n),
    "another thread": lambda n: ngettext("{count} made in another thread", "{count} made in another thread", n),
}


def _describe_origin(other: str | None, session: str | None) -> str:
    if other is None:
        return "command line"
    if session is None:
        return "thread"
    return "this thread" if other == session else "another thread"

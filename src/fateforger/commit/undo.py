"""Undo transactions, as a transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from fateforger.commit.execute import ExecutionResult, execute_sync
from fateforger.commit.hold import Hold
from fateforger.commit.late import mark_arrived
from fateforger.commit.outside import CommitContext
from fateforger.commit.read import read_snapshot
from fateforger.commit.targets import Chosen
from fateforger.commit.waiting import WaitingReads
from fateforger.journal import begin_transaction, plan_undo
from fateforger.journal.model import UNDOES
from fateforger.journal.rows import count_writes
from fateforger.sync import number_ops
from fateforger.sync.model import WRITES

ALONG = "along"
"""The name in an undo's context of its effects beyond the request, in words."""


async def undo_sync(
    chosen: Chosen,
    outside: CommitContext,
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
    targets, context = chosen.targets, context or {}
    day, tz = targets[0].day, targets[0].tz
    ledger = await outside.journal.ledger(outside.calendar.key, day)
    touched = [r.op.event_id for t in targets for r in t.records if r.op.verb in WRITES]
    reads = WaitingReads(outside, hold)
    snapshot = await read_snapshot(reads, ledger, day, tz, limits=outside.limits, also=touched)
    seen = (*snapshot.events, *filter(None, snapshot.fetched.values()))
    live = {event.id: event for event in seen if not event.gone}
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
    return await execute_sync(transaction, outside, hold)


def _describe_along(chosen: Chosen, session: str | None) -> str:
    """Return the effects beyond the request, to follow "This also"; an empty text if there are none."""
    parts = []
    if chosen.gone:
        makers = Counter(_describe_origin(t.context.get("session"), session) for t in chosen.gone)
        count = count_writes(len(chosen.gone), "later")
        made = [f"{number if len(makers) > 1 else ''} made {maker}".strip() for maker, number in makers.items()]
        parts.append(f"took back {count}, {' and '.join(made)}")
    if chosen.again:
        parts.append(f"did {count_writes(chosen.again)} again")
    return " and ".join(parts)


def _describe_origin(other: str | None, session: str | None) -> str:
    if other is None:
        return "from the command line"
    if session is None:
        return "in a thread"
    return "in this thread" if other == session else "in another thread"

"""Undo transactions, as a transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from fateforger.commit.execute import Carried, execute_sync
from fateforger.commit.hold import Hold
from fateforger.commit.late import with_arrived
from fateforger.commit.outside import Outside
from fateforger.commit.read import read_snapshot
from fateforger.commit.targets import Chosen
from fateforger.commit.waiting import WaitingReads
from fateforger.journal import begun, plan_undo
from fateforger.journal.model import UNDOES
from fateforger.journal.rows import writes_words
from fateforger.sync import numbered
from fateforger.sync.model import WRITES

ALONG = "along"
"""The name in an undo's context of its effects beyond the request, in words."""


async def undo_sync(
    chosen: Chosen,
    outside: Outside,
    hold: Hold,
    *,
    id: str,  # noqa: A002  the field's name
    cause: str,
    context: Mapping[str, Any] | None = None,
    force: bool = False,
) -> Carried:
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
    as_they_are = [with_arrived(target, live) for target in targets]
    clears = outside.calendar.traits.can_clear_color
    plan = plan_undo(as_they_are, snapshot, ledger, op_ids=numbered(id), force=force, can_clear_color=clears)
    more: dict[str, Any] = {UNDOES: [target.id for target in targets]}
    if along := _along(chosen, context.get("session")):
        more[ALONG] = along
    if targets[-1].kind == "undo":
        more["deed"] = "redo"
    transaction = begun(
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


def _along(chosen: Chosen, session: str | None) -> str:
    """Return the effects beyond the request, to follow "This also"; an empty text if there are none."""
    parts = []
    if chosen.gone:
        makers = Counter(_made(t.context.get("session"), session) for t in chosen.gone)
        count = writes_words(len(chosen.gone), "later")
        made = [f"{number if len(makers) > 1 else ''} made {maker}".strip() for maker, number in makers.items()]
        parts.append(f"took back {count}, {' and '.join(made)}")
    if chosen.again:
        parts.append(f"did {writes_words(chosen.again)} again")
    return " and ".join(parts)


def _made(other: str | None, session: str | None) -> str:
    if other is None:
        return "from the command line"
    if session is None:
        return "in a thread"
    return "in this thread" if other == session else "in another thread"

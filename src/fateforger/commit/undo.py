"""Taking transactions back, as a transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fateforger.commit.execute import Carried, execute_sync
from fateforger.commit.hold import Hold
from fateforger.commit.outside import Outside
from fateforger.commit.read import read_snapshot
from fateforger.errors import NotUndoable
from fateforger.journal import Transaction, begun, plan_undo
from fateforger.journal.model import UNDOES
from fateforger.sync import numbered
from fateforger.sync.model import WRITES


async def undo_sync(
    targets: Sequence[Transaction],
    outside: Outside,
    hold: Hold,
    *,
    id: str,  # noqa: A002  the field's name
    cause: str,
    context: Mapping[str, Any] | None = None,
    force: bool = False,
) -> Carried:
    """Take back ``targets``, newest first in the list and all of one day, under a lease that is held. Every event
    that they touched is read again first. Once it is committed, all of them are undone; after a partial undo they
    can be undone again. Raises as ``execute_sync`` does, and ``CalendarError`` when the calendar cannot be read."""
    if not targets:
        raise NotUndoable("There is nothing to undo.")
    day, tz = targets[0].day, targets[0].tz
    now = outside.clock.now()
    ledger = await outside.journal.ledger(outside.calendar.key, day)
    touched = [r.op.event_id for t in targets for r in t.records if r.op.verb in WRITES]
    snapshot = await read_snapshot(outside.calendar, ledger, day, tz, limits=outside.limits, also=touched)
    clears = outside.calendar.traits.can_clear_color
    plan = plan_undo(targets, snapshot, ledger, op_ids=numbered(id), force=force, can_clear_color=clears)
    transaction = begun(
        plan,
        id=id,
        calendar=outside.calendar.key,
        kind="undo",
        created_at=now,
        cause=cause,
        group=id,
        undoes=targets[0].id,
        context={**(context or {}), UNDOES: [target.id for target in targets]},
    )
    return await execute_sync(transaction, outside, hold)

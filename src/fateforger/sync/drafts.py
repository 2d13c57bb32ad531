"""Builders of ops and reports."""

from __future__ import annotations

from typing import Literal, cast
from zoneinfo import ZoneInfo

from fateforger.sync.canonical import Canon
from fateforger.sync.merge import FieldMerge
from fateforger.sync.model import MANAGED, Adopted, DesiredBlock, EventFields, Head, Merged, SyncOp, Verb
from fateforger.sync.ownership import Owned
from fateforger.sync.words import Change, format_value

UNNUMBERED = ""
"""The id of an op that is numbered later."""
ManagedName = Literal["summary", "description", "start", "end", "color_id"]


def build_op(
    op_id: str,
    verb: Verb,
    owned: Owned,
    reason: str,
    *,
    head_after: Head | None,
    block: DesiredBlock | None = None,
    after: EventFields | None = None,
    changes: dict[str, Change] | None = None,
) -> SyncOp:
    """Return an op on an existing event."""
    return SyncOp(
        op_id=op_id,
        verb=verb,
        key=owned.key if block is None else block.key,
        event_id=owned.event.id,
        generation=owned.generation,
        summary=owned.event.summary if after is None else after.summary,
        changes=changes or {},
        before=owned.event,
        after=after,
        head_before=owned.head,
        head_after=head_after,
        reason=reason,
    )


def build_record_op(op_id: str, verb: Verb, head: Head, head_after: Head, summary: str, reason: str) -> SyncOp:
    """Return an op on an event that is gone, of which only the record is left."""
    return SyncOp(
        op_id=op_id,
        verb=verb,
        key=head.key,
        event_id=head.event_id,
        generation=head.generation,
        summary=summary,
        head_before=head,
        head_after=head_after,
        reason=reason,
    )


def list_merged(
    op: SyncOp, merged: FieldMerge, tz: ZoneInfo, *, base: Canon, theirs: Canon, ours: Canon
) -> tuple[Merged, ...]:
    """Return the fields that both sides changed, for the report."""
    return tuple(
        Merged(
            key=op.key,
            summary=op.summary,
            field=name,
            base=format_value(base[place], tz),
            calendar=format_value(theirs[place], tz),
            plan=format_value(ours[place], tz),
            winner=merged.conflicts[name],
        )
        for place, name in enumerate(MANAGED)
        if name in merged.conflicts
    )


def list_adopted(op: SyncOp, merged: FieldMerge, tz: ZoneInfo, *, theirs: Canon, ours: Canon) -> tuple[Adopted, ...]:
    """Return the fields in which the calendar keeps a value of the person's that the plan does not have."""
    kept = merged.adopted | {name for name, winner in merged.conflicts.items() if winner == "calendar"}
    return tuple(
        Adopted(
            key=op.key,
            summary=op.summary,
            field=cast("ManagedName", name),
            plan=format_value(ours[place], tz),
            calendar=format_value(theirs[place], tz),
        )
        for place, name in enumerate(MANAGED)
        if name in kept
    )

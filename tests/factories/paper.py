"""Sync plans carried out on paper: a calendar that does every op, without calls, journal or time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tests.factories.days import DAY, NOON, TZ

from fateforger.calendar.conflicts import Choices, Keep
from fateforger.calendar.engine import number_ops, plan_sync
from fateforger.calendar.event import EventFields, EventImage, Marker
from fateforger.calendar.model import (
    RECORDS,
    WRITES,
    DesiredBlock,
    DesiredDay,
    Head,
    Ledger,
    Snapshot,
    SyncOp,
    SyncPlan,
    Verb,
)
from fateforger.calendar.transactions import OpRecord, OpState, Transaction, TxState, begin_transaction
from fateforger.calendar.undo_plan import plan_undo
from fateforger.planning.plan import COLOR_BY_TYPE, ET

MIDNIGHT = datetime(2026, 3, 1, 23, 0, tzinfo=UTC)
"""The start of the day in Berlin."""


def fields(
    summary: str = "Focus", start: int = 540, minutes: int = 60, notes: str = "", kind: ET = ET.DEEP_WORK
) -> EventFields:
    """Return the fields of an event; ``start`` is in minutes since local midnight."""
    begin = MIDNIGHT + timedelta(minutes=start)
    return EventFields(
        summary=summary,
        description=notes,
        start=begin,
        end=begin + timedelta(minutes=minutes),
        color_id=COLOR_BY_TYPE[kind],
    )


def make_block(key: str, of: EventFields | None = None, *, index: int = 0, kind: ET = ET.DEEP_WORK) -> DesiredBlock:
    return DesiredBlock(key=key, index=index, type=kind, fields=of or fields(key))


def day_of(*blocks: DesiredBlock) -> DesiredDay:
    return DesiredDay(day=DAY, tz=TZ, blocks=blocks)


def event(event_id: str, of: EventFields, marker: Marker | None = None, **more: Any) -> EventImage:
    properties = {} if marker is None else marker.properties()
    return EventImage(id=event_id, **of.model_dump(), properties=properties, **more)


@dataclass(frozen=True)
class Paper:
    """A calendar and a ledger. ``events`` holds cancelled ones, too."""

    events: Mapping[str, EventImage] = field(default_factory=dict)
    ledger: Ledger = field(default_factory=Ledger)
    day: date = DAY
    tz: str = TZ

    def snapshot(self, *, order: Iterable[str] | None = None) -> Snapshot:
        live = [self.events[i] for i in (sorted(self.events) if order is None else order) if not self.events[i].gone]
        ids = {e.id for e in live}
        fetched = {h.event_id: self.events.get(h.event_id) for h in self.ledger.heads if h.event_id not in ids}
        gone = {i: e for i, e in self.events.items() if e.gone}
        return Snapshot(day=self.day, tz=self.tz, events=tuple(live), fetched={**gone, **fetched})

    def plan(self, desired: DesiredDay, *, tx: str = "t", keep: Keep = "open") -> SyncPlan:
        return plan_sync(desired, self.snapshot(), self.ledger, op_ids=number_ops(tx), choices=Choices(otherwise=keep))

    def submit(self, desired: DesiredDay, *, tx: str = "t", keep: Keep = "open") -> tuple[Paper, Transaction]:
        return self.perform(self.plan(desired, tx=tx, keep=keep), tx)

    def undo(self, *transactions: Transaction, tx: str = "u", force: bool = False) -> tuple[Paper, Transaction]:
        plan = plan_undo(transactions, self.snapshot(), self.ledger, op_ids=number_ops(tx), force=force)
        return self.perform(plan, tx, undoes=transactions[0].id)

    def perform(self, plan: SyncPlan, tx: str, undoes: str | None = None) -> tuple[Paper, Transaction]:
        """Carry out every op at once."""
        after = self
        records: list[OpRecord] = []
        for op in plan.ops:
            after = after._apply_op(op, {o.head_after.key for o in plan.ops if o.head_after is not None})
            seen = after.events.get(op.event_id) if op.verb in WRITES else None
            state = OpState.APPLIED if op.verb in WRITES or op.verb in RECORDS else OpState.SKIPPED
            records.append(OpRecord(op=op, state=state, observed=seen if seen is None or not seen.gone else None))
        transaction = begin_transaction(
            plan,
            id=tx,
            calendar="paper",
            kind="submit" if undoes is None else "undo",
            created_at=NOON,
            cause=tx,
            group=tx,
            undoes=undoes,
        )
        return after, transaction.model_copy(update={"records": tuple(records), "state": TxState.COMMITTED})

    def _apply_op(self, op: SyncOp, keys: set[str]) -> Paper:
        events = dict(self.events)
        marker = Marker(key=op.key, generation=op.generation, day=self.day, op_id=op.op_id)
        if op.verb is Verb.CREATE:
            assert op.event_id not in events, "an id is never used twice"
            assert op.after is not None
            events[op.event_id] = event(op.event_id, op.after, marker)
        elif op.verb is Verb.UPDATE:
            assert op.after is not None
            changes = {name: getattr(op.after, name) for name in op.changes}
            old = events[op.event_id]
            events[op.event_id] = old.model_copy(update={**changes, "properties": marker.properties()})
        elif op.verb is Verb.DELETE:
            events[op.event_id] = events[op.event_id].model_copy(update={"status": "cancelled"})
        if op.verb in WRITES:
            assert events[op.event_id].end > events[op.event_id].start
        return replace(self, events=events, ledger=self._record_op(op, keys))

    def _record_op(self, op: SyncOp, keys: set[str]) -> Ledger:
        heads: dict[str, Head] = {h.key: h for h in self.ledger.heads}
        if (op.verb in WRITES or op.verb in RECORDS) and op.head_after is not None:
            if op.head_before is not None and op.head_before.key not in keys:
                heads.pop(op.head_before.key, None)
            heads[op.head_after.key] = op.head_after
        generations = dict(self.ledger.generations)
        if op.seed is not None:
            assert generations.get(op.seed, -1) < op.generation
            generations[op.seed] = op.generation
        return Ledger(heads=tuple(heads.values()), generations=generations)

    def edit(self, event_id: str, **changes: Any) -> Paper:
        """Change an event as the person."""
        return replace(self, events={**self.events, event_id: self.events[event_id].model_copy(update=changes)})

    def without(self, event_id: str) -> Paper:
        """Delete an event as the person."""
        return self.edit(event_id, status="cancelled")

    def with_event(self, image: EventImage) -> Paper:
        return replace(self, events={**self.events, image.id: image})

    def get_event(self, key: str) -> EventImage:
        """Return the live event of a block."""
        (head,) = (h for h in self.ledger.heads if h.key == key)
        assert not self.events[head.event_id].gone
        return self.events[head.event_id]

    def view(self) -> list[EventFields]:
        """Return our live events as the person sees them."""
        ours = [e.fields for e in self.events.values() if not e.gone and e.marker is not None]
        return sorted(ours, key=lambda f: (f.start, f.end, f.summary, f.description, f.color_id or ""))

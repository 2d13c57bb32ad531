"""Transactions to try a journal with."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from fateforger.calendar.event import EventFields, EventImage
from fateforger.calendar.model import Head, SyncOp, SyncPlan, Verb
from fateforger.calendar.transactions import OpRecord, OpState, Transaction, TxState

CALENDAR = "local:me"
DAY = date(2026, 3, 2)
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def later(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def event_id(n: int) -> str:
    return f"fftb{n:032d}"


def fields(summary: str = "Deep work", hour: int = 9) -> EventFields:
    start = datetime(2026, 3, 2, hour, tzinfo=UTC)
    return EventFields(
        summary=summary, description="“Notes” 🙂", start=start, end=start + timedelta(hours=1), color_id="9"
    )


def image(n: int, summary: str = "Deep work", version: str = '"1"') -> EventImage:
    wanted = fields(summary)
    return EventImage(
        id=event_id(n),
        summary=wanted.summary,
        description=wanted.description,
        start=wanted.start,
        end=wanted.end,
        color_id=wanted.color_id,
        properties={"ffu": f"key{n}"},
        version=version,
        raw={"id": event_id(n), "reminders": {"useDefault": False, "overrides": [{"minutes": 10}]}},
    )


def create(n: int, *, generation: int = 0, tx: str = "t1", day: date = DAY) -> SyncOp:
    return SyncOp(
        op_id=f"{tx}-{n}",
        verb=Verb.CREATE,
        key=f"key{n}",
        event_id=event_id(n + 1000 * generation),
        generation=generation,
        seed=f"{day.isoformat()}|Deep work|09:00:00|{n}",
        summary="Deep work",
        after=fields(),
    )


def update(n: int, *, tx: str = "t1") -> SyncOp:
    return SyncOp(
        op_id=f"{tx}-{n}",
        verb=Verb.UPDATE,
        key=f"key{n}",
        event_id=event_id(n),
        summary="Deeper work",
        before=image(n),
        after=fields("Deeper work"),
        reason="renamed",
    )


def delete(n: int, *, tx: str = "t1") -> SyncOp:
    return SyncOp(
        op_id=f"{tx}-{n}", verb=Verb.DELETE, key=f"key{n}", event_id=event_id(n), summary="Deep work", before=image(n)
    )


def transaction(tx: str = "t1", ops: Sequence[SyncOp] | None = None, **changes: Any) -> Transaction:
    """Return a submit that has just begun, by default with one create."""
    ops = (create(0, tx=tx),) if ops is None else tuple(ops)
    values: dict[str, Any] = {
        "id": tx,
        "calendar": CALENDAR,
        "day": DAY,
        "tz": "Europe/Berlin",
        "kind": "submit",
        "state": TxState.APPLYING,
        "created_at": NOON,
        "cause": f"command-{tx}",
        "group": "g1",
        "plan": SyncPlan(day=DAY, tz="Europe/Berlin", ops=ops, warnings=("Lunch is short",)),
        "records": tuple(OpRecord(op=op, state=OpState.PENDING) for op in ops),
        "context": {"plan_before": None, "plan_after": {"date": "2026-03-02", "events": [{"n": "Tiefe Arbeit"}]}},
    }
    return Transaction(**(values | changes))


def make_applied(op: SyncOp, observed: EventImage | None = None, attempts: int = 1) -> OpRecord:
    return OpRecord(op=op, state=OpState.APPLIED, attempts=attempts, observed=observed)


def head(n: int, *, generation: int = 0, day: date = DAY, version: str = '"1"') -> Head:
    return Head(
        key=f"key{n}",
        event_id=event_id(n + 1000 * generation),
        generation=generation,
        day=day,
        base=fields(),
        version=version,
    )

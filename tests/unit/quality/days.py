"""Days and plans for tests of the rubric."""

from __future__ import annotations

from datetime import date, time, timedelta
from typing import Any

from fateforger.drafting.instance import Instance, read_instance
from fateforger.planning.plan import ET, TBEvent, TBPlan
from fateforger.planning.timing import FixedStart

MONDAY = date(2026, 3, 2)
TZ = "Europe/Amsterdam"


def plan(*blocks: str) -> TBPlan:
    """Return a plan from lines such as ``DW 09:00 90 key``."""
    events = []
    for block in blocks:
        kind, start, minutes, key = block.split()
        timing = FixedStart(start=time.fromisoformat(start), duration=timedelta(minutes=int(minutes)))
        events.append(TBEvent(name=key, type=ET(kind), timing=timing, key=key))
    return TBPlan(date=MONDAY, tz=TZ, events=tuple(events))


def day(**change: Any) -> Instance:
    """Return a short morning without any tasks, with changes."""
    frame = {"start": "09:00", "end": "13:00"}
    return read_instance({"date": MONDAY.isoformat(), "tz": TZ, "frame": frame, **change})


def make_rule(necessity: str, start: str, end: str, **more: Any) -> dict[str, Any]:
    """Return a rule against anything from ``start`` to ``end``."""
    record = {
        "name": f"free from {start}",
        "description": f"nothing from {start}",
        "necessity": necessity,
        "payload": {"rule_kind": "avoid_window", "windows": [{"kind": "avoid", "start": start, "end": end}]},
    }
    return {"uid": f"{necessity}-{start}", "constraint_record": {**record, **more}}

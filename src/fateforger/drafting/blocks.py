"""Blocks of a draft, each with a fixed start and a key derived from its work."""

from __future__ import annotations

from datetime import datetime, timedelta

from fateforger.drafting.clock import clock_at
from fateforger.drafting.model import Day, Work
from fateforger.plan import ET, FixedStart, TBEvent
from fateforger.plan.model import MAX_NAME


def make_block(day: Day, start: datetime, minutes: int, *, key: str, name: str, kind: ET, notes: str = "") -> TBEvent:
    """Return a block that begins at the aware instant ``start``."""
    timing = FixedStart(start=clock_at(start, day.date, day.tz), duration=timedelta(minutes=minutes))
    return TBEvent(name=name, description=notes, type=kind, timing=timing, key=key)


def make_work_block(day: Day, start: datetime, minutes: int, work: Work, *, number: int = 1, of: int = 1) -> TBEvent:
    """Return a block for a piece of work.

    ``number`` and ``of`` count its pieces when it is split.
    """
    part = f" ({number}/{of})"
    return make_block(
        day,
        start,
        minutes,
        key=work.id if number == 1 else f"{work.id}-{number}",
        name=work.title if of == 1 else f"{work.title[: MAX_NAME - len(part)]}{part}",
        kind=ET.DEEP_WORK if work.deep else ET.SHALLOW_WORK,
        notes=work.notes,
    )

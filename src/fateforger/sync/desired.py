"""The desired calendar for a plan."""

from __future__ import annotations

from datetime import UTC

from fateforger.errors import PlanInvalid
from fateforger.plan import COLOR_BY_TYPE, Resolved, TBPlan, resolve, resolve_strict
from fateforger.sync.canonical import Canon, normalize_text, to_fields, truncate_to_second
from fateforger.sync.model import DesiredBlock, DesiredDay


def build_desired_day(plan: TBPlan, *, overlapping: bool = False) -> DesiredDay:
    """Return all blocks of a plan as events, in the plan's order, stripped and in whole seconds.

    Raises :class:`~fateforger.errors.PlanInvalid` like ``resolve_strict``, or only like ``resolve`` if blocks may be
    ``overlapping``: to compare with the calendar, not to write to it.
    """
    blocks = resolve(plan) if overlapping else resolve_strict(plan)
    return DesiredDay(day=plan.date, tz=plan.tz, blocks=tuple(_build_block(block) for block in blocks))


def _build_block(block: Resolved) -> DesiredBlock:
    start, end = truncate_to_second(block.start.astimezone(UTC)), truncate_to_second(block.end.astimezone(UTC))
    if not start < end:
        raise PlanInvalid(f"“{block.event.name}” lasts less than a second.", events=(block.index,))
    fields = Canon(
        normalize_text(block.event.name),
        normalize_text(block.event.description),
        start,
        end,
        COLOR_BY_TYPE[block.event.type],
    )
    return DesiredBlock(key=block.key, index=block.index, type=block.event.type, fields=to_fields(fields))

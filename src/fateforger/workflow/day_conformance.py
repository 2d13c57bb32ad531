"""Conformance of a day to a person's own rules.

The trace is the sequence of blocks of a day: blocks of the plan and calendar events alike, one step each. This module
reports which blocks violate which rule; it never changes the plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

from fateforger.planning.plan import ET, TBPlan, resolve
from fateforger.planning.timing import instant_of
from fateforger.workflow.conformance import CheckedRule, StatedRule, check
from fateforger.workflow.day_rules import NAMES, DayName, parse_day_name
from fateforger.workflow.trace import Step


@dataclass(frozen=True, slots=True)
class DayBlock:
    """Block of a day. ``start`` and ``end`` are aware. A block of the plan has a ``key``; a meeting has none."""

    kind: ET
    title: str
    start: datetime
    end: datetime
    key: str | None = None


def judge_day(
    rules: Sequence[StatedRule], plan: TBPlan, meetings: Iterable[DayBlock] = ()
) -> tuple[tuple[CheckedRule, tuple[DayBlock, ...]], ...]:
    """Judge a plan and the meetings of its day by the rules; return each with the blocks that violate it.

    Raises :class:`PlanInvalid` if a block of the plan has no time.
    """
    own = (DayBlock(r.event.type, r.event.name, r.start, r.end, r.key) for r in resolve(plan))
    blocks = tuple(sorted((*own, *meetings), key=lambda b: (_utc(b.start), _utc(b.end), b.title)))
    names = {name: known for rule in rules for name in rule.rule.names if (known := parse_day_name(name)) is not None}
    steps = [_build_step(block, blocks, names, plan.date, plan.zone) for block in blocks]
    return tuple((each, tuple(blocks[at] for at in each.violations)) for each in check(rules, steps, NAMES))


def _build_step(
    block: DayBlock, blocks: Sequence[DayBlock], names: dict[str, DayName], day: date, tz: ZoneInfo
) -> Step:
    so = [name for name, known in names.items() if _is_so(known, block, blocks, day, tz)]
    done = tuple(name for name in so if names[name].aspect == "block")
    return Step(do=done, true=tuple(name for name in so if name not in done))


def _is_so(name: DayName, block: DayBlock, blocks: Sequence[DayBlock], day: date, tz: ZoneInfo) -> bool:
    match name.aspect:
        case "weekday":
            return day.weekday() == name.number
        case "done":
            return any(other.kind is name.kind and _utc(other.end) <= _utc(block.start) for other in blocks)
        case "block":
            return block.kind is name.kind
        case "after":
            return block.kind is name.kind and _utc(block.end) > _instant_of(name, day, tz)
        case "before":
            return block.kind is name.kind and _utc(block.start) < _instant_of(name, day, tz)
        case "longer":
            return block.kind is name.kind and (_utc(block.end) - _utc(block.start)).total_seconds() > name.number * 60


def _instant_of(name: DayName, day: date, tz: ZoneInfo) -> datetime:
    """Return the instant of a time of day; 24:00 is the midnight at the end of the day."""
    return _utc(instant_of(datetime.combine(day, time()) + name.clock, tz))


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)

"""Find the rules over the order of a day that its blocks break. Meetings count as well, but a plan never moves them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fateforger.constraints.blocks import Breach
from fateforger.constraints.reasons import Applicable
from fateforger.constraints.wording import listed, quoted
from fateforger.plan import TBPlan
from fateforger.workflow.checking import StatedRule
from fateforger.workflow.day_words import told, way_out
from fateforger.workflow.days import DayBlock, judge_day, read_day_rule

MOST_NAMED = 3
"""Blocks that a sentence names."""


def day_breaches(items: Iterable[Applicable], plan: TBPlan, meetings: Sequence[DayBlock] = ()) -> tuple[Breach, ...]:
    """Return the order rules that the day breaks, in their order.

    Raises :class:`PlanInvalid` when the plan has blocks without a time.
    """
    by_uid = {item.uid: item for item in items if item.record.payload.day_rule is not None}
    if not by_uid:
        return ()
    rules = [StatedRule(uid, read_day_rule(item.record.payload.day_rule or ""), "") for uid, item in by_uid.items()]
    day = judge_day(rules, plan, meetings)
    return tuple(
        _breach(by_uid[checked.stated.id], checked.stated, day.broken_by(checked)) for checked in day.report.violated
    )


def _breach(item: Applicable, stated: StatedRule, blocks: Sequence[DayBlock]) -> Breach:
    keys = tuple(block.key for block in blocks if block.key is not None)
    return Breach(
        item,
        keys,
        meetings=tuple(f"{block.start.isoformat()} {block.title}" for block in blocks if block.key is None),
        rule=told(stated.rule),
        named=_named(blocks),
        remedy=way_out(stated.rule, ours=bool(keys)),
    )


def _named(blocks: Sequence[DayBlock]) -> str:
    names = [f"{quoted(block.title)} ({block.start:%H:%M}–{block.end:%H:%M})" for block in blocks[:MOST_NAMED]]
    more = len(blocks) - len(names)
    return listed([*names, f"{more} more"] if more else names)

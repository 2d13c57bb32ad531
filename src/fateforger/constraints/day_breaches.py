"""Find the rules over the order of a day that its blocks break. Meetings count as well, but a plan never moves them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fateforger.constraints.blocks import ConstraintViolation
from fateforger.constraints.reasons import Applicable
from fateforger.constraints.wording import join_words, quote_name
from fateforger.plan import TBPlan
from fateforger.workflow.checking import StatedRule
from fateforger.workflow.day_words import describe_day_rule, suggest_day_remedy
from fateforger.workflow.days import DayBlock, judge_day, read_day_rule

MOST_NAMED = 3
"""Blocks that a sentence names."""


def find_order_violations(
    items: Iterable[Applicable], plan: TBPlan, meetings: Sequence[DayBlock] = ()
) -> tuple[ConstraintViolation, ...]:
    """Return the order rules that the day breaks, in their order.

    Raises :class:`PlanInvalid` when the plan has blocks without a time.
    """
    by_uid = {item.uid: item for item in items if item.record.payload.day_rule is not None}
    if not by_uid:
        return ()
    rules = [StatedRule(uid, read_day_rule(item.record.payload.day_rule or ""), "") for uid, item in by_uid.items()]
    day = judge_day(rules, plan, meetings)
    return tuple(
        _build_violation(by_uid[checked.stated.id], checked.stated, day.find_violating_blocks(checked))
        for checked in day.report.violated_rules
    )


def _build_violation(item: Applicable, stated: StatedRule, blocks: Sequence[DayBlock]) -> ConstraintViolation:
    keys = tuple(block.key for block in blocks if block.key is not None)
    return ConstraintViolation(
        item,
        keys,
        meetings=tuple(f"{block.start.isoformat()} {block.title}" for block in blocks if block.key is None),
        rule=describe_day_rule(stated.rule),
        named=_name_blocks(blocks),
        remedy=suggest_day_remedy(stated.rule, ours=bool(keys)),
    )


def _name_blocks(blocks: Sequence[DayBlock]) -> str:
    names = [f"{quote_name(block.title)} ({block.start:%H:%M}–{block.end:%H:%M})" for block in blocks[:MOST_NAMED]]
    more = len(blocks) - len(names)
    return join_words([*names, f"{more} more"] if more else names)

"""Explain the place of a block by constraints, in the person's own words with the day they said them.

Pure functions; other facts about the placement are passed in.
"""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.constraints.blocks import BlockRelation, Reason, find_reasons
from fateforger.drafting.standing import explain_place
from fateforger.errors import BadInput, PatchInvalid, PlanInvalid
from fateforger.plan import TBPlan
from fateforger.session.day_rules import broken_day_rules
from fateforger.session.differences import span
from fateforger.session.model import Session
from fateforger.session.placing import GONE, by_time
from fateforger.session.recall import followed_constraints
from fateforger.session.skeleton import instance_in

MOST_REASONS = 4
AGAINST = "That goes against a rule of yours."
NO_RULE = "No rule of yours is about it; it is where there was room for it."


def explain_block(session: Session, key: str, placement: Sequence[Reason] = ()) -> tuple[Reason, ...]:
    """Return the reasons for the place of a block, the most telling first.

    These are the rules that it breaks, those of its ``placement``, then the other rules about it. Raises
    ``PatchInvalid`` when it is not in the plan.
    """
    blocks = by_time(session.plan) if session.plan is not None else ()
    block = next((each for each in blocks if each.key == key), None)
    if block is None:
        raise PatchInvalid(GONE)
    shown = {reason.uid for reason in placement if reason.uid is not None}
    rules = find_reasons(block, followed_constraints(session).applicable, blocks)
    broken = tuple(reason for reason in rules if reason.stand is BlockRelation.BROKEN)
    others = tuple(r for r in rules if r.stand is not BlockRelation.BROKEN and r.uid not in shown)
    return (*_order_reasons(session, key), *broken, *placement, *others)


def _order_reasons(session: Session, key: str) -> tuple[Reason, ...]:
    """Return the rules over the order of the day that a block breaks."""
    found = (breach for breach in broken_day_rules(session) if key in breach.keys)
    return tuple(Reason(f"{AGAINST} {breach.sentence}", breach.item.uid, BlockRelation.BROKEN) for breach in found)


def placement_of(session: Session, key: str) -> tuple[Reason, ...]:
    """Return the reasons that a draft knows: a rule, a neighboring meeting or block, or its kind.

    The result is empty while the frame is a mistake or the plan cannot be resolved.
    """
    if session.plan is None:
        return ()
    try:
        found = explain_place(session.plan, instance_in(session), key)
    except (BadInput, PlanInvalid):
        return ()
    return tuple(Reason(each.text, each.cause if each.kind == "rule" else None) for each in found)


def describe_reasons(session: Session, key: str, placement: Sequence[Reason] = ()) -> tuple[str, ...]:
    """Return the reasons as sentences.

    Raises as :func:`explain_block`.
    """
    reasons = explain_block(session, key, placement)
    block = next(each for each in by_time(session.plan or TBPlan(date=session.date, tz=session.tz)) if each.key == key)
    lines = [reason.sentence for reason in reasons[:MOST_REASONS]] or [NO_RULE]
    more = len(reasons) - MOST_REASONS
    if more > 0:
        lines.append("There is one more reason." if more == 1 else f"There are {more} more reasons.")
    return (f"“{block.event.name}”, {span(block.start, block.end)}:", *lines)

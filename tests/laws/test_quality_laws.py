"""Laws for every fix offered on any day: it can be applied, harms nothing, and helps (S50)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, timedelta
from itertools import combinations
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from tests.examples import examples
from tests.factories.instances import any_day
from tests.laws.drafting_checker import InstanceChecker, PlacedPiece

from fateforger.drafting.instance import Instance, read_instance
from fateforger.drafting.solver import draft_instance
from fateforger.planning.patch import apply, apply_op
from fateforger.planning.plan import ET, Resolved, TBPlan, resolve
from fateforger.planning.task_details import BlockPlace, place_of, to_timing
from fateforger.quality.fixes import find_fixes
from fateforger.quality.model import Fix
from fateforger.quality.rubric import grade_plan

SEEDS = st.integers(0, 100_000)
BENT = st.lists(st.tuples(st.integers(0, 30), st.integers(-30, 30), st.sampled_from((0, 0, 0, 3, -3, 12))), max_size=4)
"""Blocks moved from their drafted place by a number of five-minute steps, and longer or shorter."""


def bent(plan: TBPlan, changes: Sequence[tuple[int, int, int]]) -> TBPlan:
    """Return the plan with some blocks moved and resized without any checks."""
    events = list(plan.events)
    for number, later, longer in changes:
        if events:
            at = number % len(events)
            block = resolve(plan.replace(events))[at]
            place = place_of(block)
            length = max(timedelta(minutes=5), place.duration + timedelta(minutes=5 * longer))
            moved = BlockPlace(place.start + timedelta(minutes=5 * later), length)
            events[at] = events[at].model_copy(update={"timing": to_timing(moved, plan)})
    return plan.replace(events)


def pieces(plan: TBPlan) -> list[PlacedPiece]:
    found = [
        PlacedPiece(b.key, b.key, b.event.type.value, b.start.astimezone(UTC), b.end.astimezone(UTC))
        for b in resolve(plan)
    ]
    return sorted(found, key=lambda piece: piece.start)


def faults(document: dict[str, Any], plan: TBPlan) -> list[str]:
    """Return the faults that keep the plan from being followed, found without the engine."""
    judge, placed = InstanceChecker(document), pieces(plan)
    found = [f"{a.key} overlaps {b.key}" for a, b in combinations(placed, 2) if a.start < b.end and b.start < a.end]
    found += [f"{p.key} in an event" for p in placed for _, s, e in judge.events if s < p.end and p.start < e]
    for said in document["constraints"]:
        if said["constraint_record"]["necessity"] == "must":
            found += judge.find_breaches(said["constraint_record"], placed)
    return found


def spans(plan: TBPlan) -> dict[str, tuple[Any, Any]]:
    return {p.key: (p.start, p.end) for p in pieces(plan)}


def work(blocks: Sequence[Resolved]) -> timedelta:
    return sum((b.duration for b in blocks if b.event.type in {ET.DEEP_WORK, ET.SHALLOW_WORK}), timedelta())


def check(document: dict[str, Any], instance: Instance, plan: TBPlan, fix: Fix, left: Any) -> None:
    applied = apply(plan, fix.patch)
    assert faults(document, applied.plan) == []
    before, after = grade_plan(instance, plan, left), grade_plan(instance, applied.plan, left)
    assert after.level == fix.level
    assert after.level > before.level or (after.level == before.level and len(after.findings) < len(before.findings))
    was, now = spans(plan), spans(applied.plan)
    judge = InstanceChecker(document)
    changed = {key for key, place in now.items() if was.get(key) != place}
    assert changed
    assert all(judge.start <= now[key][0] and now[key][1] <= judge.end for key in changed)
    assert not changed & {pin["key"] for pin in document.get("pinned", ())}
    assert was.keys() <= now.keys()
    if not fix.label.startswith("Shorten"):
        assert work(resolve(applied.plan)) >= work(resolve(plan))
    back = applied.plan.events
    for op in applied.inverse.ops:
        back, _ = apply_op(back, op)
    assert back == plan.events


@examples(60)
@given(SEEDS, BENT)
@example(0, [(0, -23, 0)])
@example(90_426, [(26, -18, 0), (13, -30, -3), (26, -30, 0), (26, -30, -3)])  # blocks before the axis of the day
def test_a_fix_can_be_applied_harms_nothing_and_helps(seed: int, changes: list[tuple[int, int, int]]) -> None:
    document = any_day(seed)
    instance = read_instance(document)
    draft = draft_instance(instance, steps=30)
    plan = bent(draft.plan, changes)
    found = find_fixes(instance, plan, draft.unplaced, most=20)
    assert max(Counter(fix.id for fix in found).values(), default=1) == 1
    for fix in found:
        check(document, instance, plan, fix, draft.unplaced)
    assert find_fixes(instance, plan, draft.unplaced) == found[:3]

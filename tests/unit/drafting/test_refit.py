"""The rest of a day: blocks that began before now and pinned blocks stay, and no task is lost silently (S106, S121).

Tasks without a place are listed separately.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.factories.instances import day_of

from fateforger.drafting.instance import Pin, read_instance
from fateforger.drafting.instance import Task as Piece
from fateforger.drafting.solver import draft_instance, refit_plan
from fateforger.planning.plan import ET, overlaps, resolve
from fateforger.planning.task_details import start_at


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_late_the_rest_is_whole(seed: int) -> None:
    document: dict[str, Any] = day_of("typical", seed)
    instance = read_instance({**document, "constraints": [], "policy": {"lunch": None, "shutdown": 0}})
    plan = draft_instance(instance, steps=300).plan
    blocks = sorted(resolve(plan), key=lambda b: b.start)
    now = blocks[len(blocks) // 3].end - timedelta(minutes=5)
    coming = [b for b in blocks if b.start > now]
    pinned = coming[-1].key
    late = start_at(plan, coming[0].key, coming[0].start + timedelta(minutes=40))
    more = Piece(id="more", title="More", minutes=30, type=ET.SHALLOW_WORK)
    day = instance.from_now(late, now).model_copy(update={"pinned": (Pin(key=pinned),)})
    result = refit_plan(late, day, [more])
    after = {b.key: b for b in resolve(result.plan)}
    assert [
        k for k, b in {b.key: b for b in resolve(late)}.items() if b.start < now and after[k].start != b.start
    ] == []
    assert after[pinned].start == next(b.start for b in resolve(late) if b.key == pinned)
    assert overlaps([b for b in after.values() if b.start > now]) == ()
    gone = {left.id for left in result.unplaced}
    assert set(after) | gone == {b.key for b in blocks} | {"more"}
    assert set(after) & gone == set()
    assert {k: after[k].minutes for k in after if k != "more"} == {b.key: b.minutes for b in blocks if b.key in after}
    assert refit_plan(late, day, [more]) == result


def test_a_day_that_holds_stays_as_it_is() -> None:
    instance = read_instance(day_of("light", 1))
    plan = draft_instance(instance, steps=300).plan
    start = resolve(plan)[0].start
    again = refit_plan(plan, instance.from_now(plan, start + timedelta(minutes=1)))
    assert {b.key: (b.start, b.end) for b in resolve(again.plan)} == {b.key: (b.start, b.end) for b in resolve(plan)}

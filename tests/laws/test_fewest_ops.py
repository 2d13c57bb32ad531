"""4,000 days, the same in each run, against every pairing there is."""

from __future__ import annotations

from random import Random

import pytest
from tests.factories.fewest import fewest_ops
from tests.factories.paper import Paper, day_of, fields, make_block

from fateforger.calendar.event import EventFields
from fateforger.planning.plan import ET

pytestmark = pytest.mark.extra  # a campaign of many random cases

DAYS_A_SEED = 500
TITLES = ["Focus", "focus ", "Focus alpha", "Focus alpha beta", "Alpha", "Lunch", "Email", "Deep work", "Deep-work!"]
KINDS = [ET.DEEP_WORK, ET.SHALLOW_WORK, ET.HABIT]
SIZES = [6, 6, 6, 5, 5, 4, 3, 2, 1, 0]


def draw_block(random: Random) -> tuple[EventFields, ET]:
    kind = random.choice(KINDS)
    start, minutes = 480 + 60 * random.randrange(5), random.choice([30, 60])
    return fields(random.choice(TITLES), start, minutes, random.choice(["", "", "a"]), kind), kind


@pytest.mark.parametrize("seed", range(8))
def test_no_pairing_needs_fewer_ops_and_the_same_again_none(seed: int) -> None:
    """P5, P9: up to 6 blocks against up to 6 events, no key known."""
    random = Random(seed)
    for number in range(DAYS_A_SEED):
        there = [draw_block(random)[0] for _ in range(random.choice(SIZES))]
        shapes = [draw_block(random) for _ in range(random.choice(SIZES))]
        day = day_of(*(make_block(f"new{n}", shape, index=n, kind=kind) for n, (shape, kind) in enumerate(shapes)))
        before = day_of(*(make_block(f"old{n}", shape, index=n) for n, shape in enumerate(there)))
        paper = Paper().submit(before)[0]
        plan = paper.plan(day)
        assert len(plan.writes) == fewest_ops(day.blocks, there), (seed, number)
        assert paper.perform(plan, "t2")[0].plan(day).writes == (), (seed, number)

"""Reasons to stop and ask (P15)."""

from __future__ import annotations

import pytest
from tests.factories.paper import Paper, day_of, event, fields, make_block

from fateforger.calendar.event import Marker
from fateforger.calendar.model import DesiredDay, Verb


def day(count: int, first: int = 0) -> DesiredDay:
    blocks = [make_block(f"b{n}", fields(f"b{n}", 60 * n, 30), index=n) for n in range(first, count)]
    return day_of(*blocks)


def empty_calendar(paper: Paper, but: int = 0) -> Paper:
    for head in paper.ledger.heads[but:]:
        paper = paper.without(head.event_id)
    return paper


def brakes(paper: Paper, wish: DesiredDay) -> list[str]:
    return [brake.kind.value for brake in paper.plan(wish).brakes]


@pytest.mark.parametrize(("count", "stops"), [(1, []), (2, ["emptied_calendar"]), (6, ["emptied_calendar"])])
def test_an_emptied_calendar(count: int, stops: list[str]) -> None:
    """A single deleted block is a person's doing; all of several may be a wrong calendar."""
    paper = empty_calendar(Paper().submit(day(count))[0])
    assert brakes(paper, day(count)) == stops
    assert brakes(paper, day(count + 3, first=count)) == stops


def test_an_emptied_calendar_and_an_empty_plan_agree() -> None:
    assert brakes(empty_calendar(Paper().submit(day(4))[0]), day_of()) == []


@pytest.mark.parametrize(("left", "stops"), [(1, ["vanished_blocks"]), (2, []), (3, [])])
def test_most_blocks_gone(left: int, stops: list[str]) -> None:
    assert brakes(empty_calendar(Paper().submit(day(4))[0], but=left), day(4)) == stops


def test_a_yes_is_remembered() -> None:
    """After the deletions were adopted, they are not asked about again."""
    paper = empty_calendar(Paper().submit(day(4))[0])
    paper = paper.submit(day(4))[0]
    assert (brakes(paper, day(4)), paper.plan(day(4)).idle) == ([], True)


@pytest.mark.parametrize(("kept", "stops"), [(0, ["mass_deletion"]), (1, ["mass_deletion"]), (2, []), (4, [])])
def test_a_mass_deletion(kept: int, stops: list[str]) -> None:
    assert brakes(Paper().submit(day(4))[0], day(kept)) == stops


def test_few_blocks_may_all_go() -> None:
    assert brakes(Paper().submit(day(3))[0], day_of()) == []


def test_a_block_that_is_there_twice() -> None:
    """The one in our records is the block; the other goes only after a yes."""
    paper = Paper().submit(day(2))[0]
    twin = paper.get_event("b0")
    second = event("fftb" + "7" * 32, twin.fields, Marker(key="b0", generation=9, day=paper.day, op_id="x"))
    plan = paper.with_event(second).plan(day(2))
    assert [b.kind.value for b in plan.brakes] == ["duplicate_block"]
    assert plan.brakes[0].sentence == "Your calendar shows “b0” twice."
    assert [(op.verb, op.event_id) for op in plan.ops if op.event_id == second.id] == [(Verb.SKIP, second.id)]


def test_sentences_name_what_is_meant() -> None:
    paper = empty_calendar(Paper().submit(day(5))[0])
    assert paper.plan(day(5)).brakes[0].sentence == (
        "All 5 blocks that I wrote are gone from your calendar: “b0”, “b1”, “b2” and 2 more."
    )
    plan = Paper().submit(day(5))[0].plan(day(1))
    assert plan.brakes[0].sentence == (
        "This would delete 4 of my 5 blocks from your calendar: “b1”, “b2”, “b3” and 1 more."
    )

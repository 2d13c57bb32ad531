"""Which block is which event (S74, S77)."""

from __future__ import annotations

import pytest
from tests.factories.paper import Paper, day_of, fields, wanted

from fateforger.plan import ET
from fateforger.sync.assignment import assign
from fateforger.sync.canonical import normalized_title
from fateforger.sync.model import EventFields, Verb


def outcome(there: list[EventFields], plan: list[EventFields]) -> list[tuple[str, int | None, int | None]]:
    """Which wish met which event (by place), when no key helps: ``(verb, wish, event)`` in the order of the plan."""
    paper = Paper().submit(day_of(*(wanted(f"old{n}", f, index=n) for n, f in enumerate(there))))[0]
    ids = {h.event_id: int(h.key[3:]) for h in paper.ledger.heads}
    ops = paper.plan(day_of(*(wanted(f"new{n}", f, index=n) for n, f in enumerate(plan)))).ops
    return [(op.verb.value, int(op.key[3:]) if op.key.startswith("new") else None, ids.get(op.event_id)) for op in ops]


def test_the_key_decides_first() -> None:
    """S74: a block that is renamed and moved keeps its event, whatever else looks alike."""
    paper = Paper().submit(day_of(wanted("a", fields("Focus", 540)), wanted("b", fields("Lunch", 720), index=1)))[0]
    swapped = day_of(wanted("a", fields("Lunch", 720)), wanted("b", fields("Focus", 540), index=1))
    after = paper.submit(swapped)[0]
    assert after.events.keys() == paper.events.keys()
    assert after.shown("a").summary == "Lunch"


def test_equal_ones_need_nothing() -> None:
    """S77"""
    assert outcome([fields("Focus", 540)], [fields("Focus", 540)]) == [("adopt", 0, 0)]


def test_shifted_blocks_are_moved_not_replaced() -> None:
    """Two Focus blocks 45 minutes later are two updates, in order; a greedy choice needs three ops."""
    there = [fields("Focus", 540, 60), fields("Focus", 600, 60)]
    plan = [fields("Focus", 585, 60), fields("Focus", 645, 60)]
    assert outcome(there, plan) == [("update", 0, 0), ("update", 1, 1)]


def test_a_rename_in_place_is_an_update() -> None:
    assert outcome([fields("Focus", 540)], [fields("Write report", 540)]) == [("update", 0, 0)]


def test_another_thing_at_another_time_is_a_new_event() -> None:
    """Turning Lunch into Deep work would save an op and be wrong."""
    assert outcome([fields("Lunch", 720)], [fields("Deep work", 540)]) == [("create", 0, None), ("delete", None, 0)]


def test_a_rename_with_another_type_is_a_new_event() -> None:
    lunch = fields("Lunch", 720, kind=ET.HABIT)
    assert [o[0] for o in outcome([lunch], [fields("Focus", 720)])] == ["create", "delete"]


@pytest.mark.parametrize(
    ("before", "after", "verb"),
    [
        ("Write report", "write  REPORT", "update"),
        ("Write report", "Write the report", "update"),
        ("Focus", "Fokus", "create"),
    ],
)
def test_titles_are_alike_by_their_words(before: str, after: str, verb: str) -> None:
    assert outcome([fields(before, 540)], [fields(after, 900)])[0][0] == verb


def test_the_title_counts_more_than_the_time() -> None:
    """Two blocks that trade places are moved, not renamed."""
    there = [fields("Focus", 540), fields("Lunch", 600)]
    plan = [fields("Lunch", 540), fields("Focus", 600)]
    assert outcome(there, plan) == [("update", 0, 1), ("update", 1, 0)]


def test_the_nearest_of_several_is_taken() -> None:
    there = [fields("Focus", 540), fields("Focus", 900)]
    assert outcome(there, [fields("Focus", 870)]) == [("update", 0, 1), ("delete", None, 0)]


def test_as_many_pairs_as_possible() -> None:
    """The best pair for one block is not taken when it leaves another without any."""
    there = [fields("alpha beta", 540), fields("beta gamma delta", 700, kind=ET.HABIT)]
    plan = [fields("alpha beta gamma", 545), fields("alpha", 900)]
    assert [o[0] for o in outcome(there, plan)] == ["update", "update"]


def test_assignment_of_nothing() -> None:
    assert assign([], 0) == []
    assert assign([{}, {}], 3) == [None, None]
    assert assign([{0: 5}, {0: 1}], 1) == [None, 0]


def test_titles_are_compared_without_case_and_space() -> None:
    """S78"""
    assert normalized_title("  Deep\t WORK ") == normalized_title("deep work")


def test_nothing_matches_a_released_event() -> None:
    paper = Paper().submit(day_of(wanted("a", fields("Focus", 540))))[0]
    paper = paper.edit(paper.shown("a").id, description="mine").submit(day_of())[0]
    plan = paper.plan(day_of(wanted("b", fields("Focus", 900))))
    assert [op.verb for op in plan.ops] == [Verb.CREATE]

"""Events of the person that stand for a block (S78, S79)."""

from __future__ import annotations

import pytest
from tests.factories.paper import Paper, day_of, event, fields, make_block

from fateforger.calendar.event import EventFields, EventImage
from fateforger.calendar.history import describe_plan
from fateforger.calendar.model import SyncPlan, Verb
from fateforger.planning.plan import ET


def against(block: EventFields, *foreign: EventImage, kind: ET = ET.DEEP_WORK) -> SyncPlan:
    paper = Paper()
    for image in foreign:
        paper = paper.with_event(image)
    return paper.plan(day_of(make_block("b", block, kind=kind)))


LUNCH = fields("Lunch", 720, 60)


@pytest.mark.parametrize(
    ("title", "start", "minutes", "linked"),
    [
        ("Lunch", 720, 60, True),
        (" LUNCH", 720, 60, True),
        ("Lunch", 740, 30, True),
        ("Lunch", 765, 60, True),
        ("Lunch", 780, 60, False),
        ("Lunch", 700, 15, True),
        ("Lunch", 690, 20, False),
        ("Team sync", 720, 60, True),
        ("Team sync", 720, 48, True),
        ("Team sync", 720, 47, False),
        ("Team sync", 732, 60, True),
        ("Team sync", 733, 60, False),
        ("Team sync", 715, 70, True),
        ("Office hours", 540, 480, True),
        ("Office hours", 732, 480, True),
        ("Office hours", 733, 480, False),
        ("Office hours", 730, 15, False),
    ],
)
def test_what_stands_for_a_block(title: str, start: int, minutes: int, *, linked: bool) -> None:
    """S78: same title, and shared time or a start within 20 minutes. S79: 80% of the block."""
    foreign = event("user1", fields(title, start, minutes))
    (op,) = against(LUNCH, foreign).ops
    assert (op.verb, op.event_id == "user1") == ((Verb.NOOP, True) if linked else (Verb.CREATE, False))


WORKSHOP = event("user1", fields("Workshop", 540, 480))


def test_a_block_inside_a_long_event_is_not_written_on_top_of_it() -> None:
    """S79, S80: the overlap is measured as a share of the block, and the person gets a note."""
    plan = against(fields("Deep work", 600, 30), WORKSHOP)
    assert [(op.verb, op.event_id) for op in plan.ops] == [(Verb.NOOP, "user1")]
    assert plan.warnings == ("I did not add “Deep work”: “Workshop” takes up the same time on your calendar, 09:00–17:00.",)  # fmt: skip


def test_what_is_taken_up_is_said_once_and_by_its_name() -> None:
    """S80: the thread shows the reason of the op, the command line reason and warning."""
    plan = against(fields("Deep work", 600, 30), WORKSHOP)
    assert plan.warnings == (plan.ops[0].reason,)
    assert describe_plan(plan).notes == plan.warnings


def test_a_long_event_takes_up_the_time_of_any_number_of_blocks() -> None:
    """S79: the notes stay a handful; a block that only touches it is written, with a note."""
    blocks = [make_block(f"b{n}", fields(f"b{n}", 540 + 60 * n, 30), index=n) for n in range(7)]
    after = make_block("after", fields("After", 1000, 60), index=7)
    plan = Paper().with_event(WORKSHOP).plan(day_of(*blocks, after))
    assert [op.verb for op in plan.ops] == [Verb.NOOP] * 7 + [Verb.CREATE]
    assert len(plan.warnings) == 7
    assert plan.warnings[5:] == (
        "I did not add 2 more blocks: your calendar has events at their time.",
        "“After”, 16:40–17:40, overlaps “Workshop”, 09:00–17:00.",
    )


def test_of_several_events_the_one_that_takes_up_most_is_named() -> None:
    """S79"""
    more, less = event("user1", fields("Workshop", 720, 58)), event("user2", fields("Talk", 725, 55))
    assert against(LUNCH, less, more).ops[0].event_id == "user1"


def test_it_is_never_silent() -> None:
    """S80: a reason on the op, and a sentence unless it is just the same event."""
    same = against(LUNCH, event("user1", LUNCH))
    assert (same.ops[0].reason, same.warnings) == ("“Lunch” is on your calendar already, 12:00–13:00.", ())
    near = against(LUNCH, event("user1", fields("Lunch", 735, 60)))
    assert near.warnings == ("I did not add “Lunch”: “Lunch” is on your calendar already, 12:15–13:15.",)
    other = against(LUNCH, event("user1", fields("Team sync", 720, 60)))
    assert other.warnings == (
        "I did not add “Lunch”: “Team sync” takes up the same time on your calendar, 12:00–13:00.",
    )


def test_each_event_stands_for_one_block_of_its_title() -> None:
    """The better one; unless it takes up the other's time, too."""
    same = make_block("same", LUNCH, index=1)
    paper = Paper().with_event(event("user1", LUNCH))
    plan = paper.plan(day_of(make_block("near", fields("Lunch", 735, 60), index=0), same))
    assert [(op.key, op.verb) for op in plan.ops] == [("near", Verb.CREATE), ("same", Verb.NOOP)]
    plan = paper.plan(day_of(make_block("inside", fields("Lunch", 730, 50), index=0), same))
    assert [(op.key, op.verb) for op in plan.ops] == [("inside", Verb.NOOP), ("same", Verb.NOOP)]


def test_background_blocks_overlap_by_nature() -> None:
    foreign = event("user1", fields("Team sync", 720, 60))
    plan = against(LUNCH, foreign, kind=ET.BACKGROUND)
    assert ([op.verb for op in plan.ops], plan.warnings) == ([Verb.CREATE], ())
    assert [op.verb for op in against(LUNCH, event("user1", LUNCH), kind=ET.BACKGROUND).ops] == [Verb.NOOP]


@pytest.mark.parametrize("how", [{"busy": False}, {"status": "cancelled"}])
def test_free_and_cancelled_events_stand_for_nothing(how: dict[str, object]) -> None:
    """Pitfall 5"""
    plan = against(LUNCH, event("user1", LUNCH).model_copy(update=how))
    assert ([op.verb for op in plan.ops], plan.warnings) == ([Verb.CREATE], ())


def test_a_block_that_is_written_already_stays() -> None:
    """A duplicate that the person adds later changes nothing."""
    paper = Paper().submit(day := day_of(make_block("b", LUNCH)))[0]
    assert paper.with_event(event("user1", LUNCH)).plan(day).idle


def test_many_overlaps_are_summed_up() -> None:
    paper = Paper()
    for n in range(8):
        paper = paper.with_event(event(f"user{n}", fields("Call", 60 * n, 10)))
    blocks = [make_block(f"b{n}", fields(f"b{n}", 60 * n, 30), index=n) for n in range(8)]
    plan = paper.plan(day_of(*blocks))
    assert len(plan.warnings) == 6
    assert plan.warnings[-1] == "3 more blocks overlap events of yours."

"""The text alternative: whole sentences, in time order, honest about what it leaves out."""

from __future__ import annotations

from datetime import timedelta

from tests.factories.days import DAY, TZ, block, plan_of
from tests.factories.pictures import before_and_after

from fateforger.planning.plan import ET, TBEvent
from fateforger.planning.timing import AfterPrevious
from fateforger.session.cards import DayView, planned_blocks
from fateforger.ui.picture_words import describe


def test_the_day_in_words() -> None:
    assert describe(before_and_after()) == (
        "Monday 2 March, 09:00 to 18:00: 4 blocks and 2 meetings."
        " 09:00 to 10:30 Write the report, deep work."
        " 10:30 to 10:45 Standup, meeting."
        " 11:00 to 12:00 Demo, meeting in Team, shown as free."
        " 13:15 to 14:30 Design review, deep work, shorter, was 1 h 45 min."
        " 16:00 to 16:30 Answer mail, shallow work, moved, was 10:45."
        " 17:30 to 18:00 Plan tomorrow, plan review, new."
        " Removed: Old thing, was 17:00 to 17:30."
    )


def test_what_there_is_no_room_for_is_counted() -> None:
    """Slack takes 2,000 characters: whole sentences are left out, and their number is given."""
    view = before_and_after()
    whole = describe(view)
    assert describe(view, limit=len(whole)) == whole
    assert describe(view, limit=len(whole) - 1).endswith("plan review, new. And 1 more.")
    assert describe(view, limit=120) == (
        "Monday 2 March, 09:00 to 18:00: 4 blocks and 2 meetings. 09:00 to 10:30 Write the report, deep work. And 6 more."
    )
    assert len(describe(view, limit=20)) <= 20


def test_nights_and_empty_days() -> None:
    night = planned_blocks(plan_of(block("n", "22:30", 150, name="Night train"), block("e", "23:00", 60, name="Read")))
    assert describe(DayView(date=DAY, tz=TZ, blocks=night)) == (
        "Monday 2 March: 2 blocks. 22:30 to 01:00 on Tuesday Night train, deep work. 23:00 to 24:00 Read, deep work."
    )
    late = block("a", "23:00", 90, name="Late")
    watch = TBEvent(name="Watch", type=ET.SHALLOW_WORK, timing=AfterPrevious(duration=timedelta(hours=4)), key="w")
    assert describe(DayView(date=DAY, tz=TZ, blocks=planned_blocks(plan_of(late, watch)))).endswith(
        " 00:30 to 04:30 on Tuesday Watch, shallow work."
    )
    assert describe(DayView(date=DAY, tz=TZ, all_day=("Holiday",))) == "Monday 2 March: 0 blocks. All day: Holiday."

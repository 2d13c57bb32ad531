"""Changes of blocks as patches (S49, S67)."""

from __future__ import annotations

from datetime import date, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.unit.conversation.sessions import event, make_command, plan_session, session, task

from fateforger.errors import BadInput, PatchInvalid, PlanInvalid, UserError
from fateforger.planning.plan import ET, TBEvent, TBPlan, overlaps, resolve
from fateforger.planning.timing import AfterPrevious, FixedStart, FixedWindow
from fateforger.session.edits import apply_edit
from fateforger.session.model import FrameFacts, Session
from fateforger.session.placement import by_time
from fateforger.session.stages import TimeboxingStage

REFINE = TimeboxingStage.REFINE


def list_blocks(plan: TBPlan) -> list[str]:
    return [f"{b.start:%H:%M}-{b.end:%H:%M} {b.event.name}" for b in by_time(plan)]


def with_plan(*events: TBEvent, **more: object) -> Session:
    plan = TBPlan(date=session().date, tz=session().tz, events=events)
    return session(REFINE, plan=plan, **more)


def block(name: str, start: str, minutes: int, **more: object) -> TBEvent:
    timing = FixedStart(start=time.fromisoformat(start), duration=timedelta(minutes=minutes))
    return TBEvent.model_validate({"name": name, "type": ET.DEEP_WORK, "timing": timing, "key": name.lower(), **more})


def test_blocks_are_kept_in_the_order_of_the_day() -> None:
    now = with_plan(block("A", "09:00", 60), block("B", "11:00", 60))
    result = apply_edit(now, make_command("edit_block", key="a", start="14:00"))
    assert [e.name for e in result.after.events] == ["B", "A"]
    assert result.sentence == "“A” is now 14:00–15:00 (was 09:00–10:00)."


def test_a_block_that_leans_on_another_gets_a_time_of_its_own() -> None:
    leaning = TBEvent(name="B", type=ET.SHALLOW_WORK, timing=AfterPrevious(duration=timedelta(minutes=30)), key="b")
    now = with_plan(block("A", "09:00", 60), leaning)
    result = apply_edit(now, make_command("shift_block", key="b", minutes=15))
    assert list_blocks(result.after) == ["09:00-10:00 A", "10:15-10:45 B"]


def test_swapping_keeps_lengths_and_outer_times() -> None:
    now = with_plan(block("A", "09:00", 60), block("B", "10:30", 30))
    result = apply_edit(now, make_command("swap_block", key="b", direction=-1))
    assert list_blocks(result.after) == ["09:00-09:30 B", "10:00-11:00 A"]
    assert list_blocks(
        apply_edit(session(REFINE, plan=result.after), make_command("swap_block", key="b", direction=1)).after
    ) == list_blocks(now.planning.plan or TBPlan(date=now.date, tz=now.tz))


def test_later_blocks_make_way_as_far_as_they_have_to() -> None:
    """S49: a block that grows or moves into later ones pushes them, around meetings; the others stay."""
    now = with_plan(block("A", "09:00", 60), block("B", "10:00", 60), block("C", "11:15", 30), block("D", "15:00", 30))
    result = apply_edit(now, make_command("shift_block", key="a", minutes=30))
    assert list_blocks(result.after) == ["09:30-10:30 A", "10:30-11:30 B", "11:30-12:00 C", "15:00-15:30 D"]
    assert result.sentence.count("is now") == 3
    meeting = session(REFINE, event("Standup", "10:30", "11:00")).day.snapshot
    around = apply_edit(now.with_day(snapshot=meeting), make_command("edit_block", key="a", minutes=75))
    assert list_blocks(around.after) == ["09:00-10:15 A", "11:00-12:00 B", "12:00-12:30 C", "15:00-15:30 D"]


def test_a_block_in_the_night_after() -> None:
    """S230"""
    now = with_plan(frame=FrameFacts(day_start=time(20), day_end=time(4)))
    result = apply_edit(now, make_command("add_block", title="Stars", start="01:00", minutes=60, depth="deep"))
    added = resolve(result.after)[0]
    assert (added.start.date(), f"{added.start:%H:%M}", added.event.type) == (date(2026, 3, 3), "01:00", ET.DEEP_WORK)


@pytest.mark.parametrize(
    ("command", "error", "words"),
    [
        (make_command("shift_block", key="zz", minutes=15), PatchInvalid, "not in the plan any more"),
        (make_command("remove_block", key="zz"), PatchInvalid, "There is no block with the key “zz”"),
        (make_command("swap_block", key="a", direction=-1), BadInput, "“A” is the first block of the day"),
        (make_command("edit_block", key="a", minutes=0), BadInput, "longer than zero minutes"),
        (make_command("edit_block", key="a", minutes=2000), BadInput, "24 hours at most"),
        (make_command("edit_block", key="a", title="x" * 10_000), UserError, "too long"),
        (make_command("add_block", title="", start="15:00", minutes=30), UserError, "is empty"),
    ],
)
def test_what_cannot_be_done_says_why(command: object, error: type[UserError], words: str) -> None:
    now = with_plan(block("A", "09:00", 60), block("B", "11:00", 60))
    with pytest.raises(error) as caught:
        apply_edit(now, command)  # type: ignore[arg-type]
    assert words in caught.value.message


def test_an_overlap_that_was_there_before_is_no_obstacle() -> None:
    """The person dragged B over A on the calendar: C can be moved, but not onto A."""
    dragged = TBEvent(name="B", type=ET.DEEP_WORK, timing=FixedWindow(start=time(9, 30), end=time(10, 30)), key="b")
    now = with_plan(block("A", "09:00", 60), dragged, block("C", "13:00", 60))
    assert list_blocks(apply_edit(now, make_command("shift_block", key="c", minutes=15)).after)[-1] == "13:15-14:15 C"
    with pytest.raises(PlanInvalid):
        apply_edit(now, make_command("edit_block", key="c", start="09:15"))


@examples(25)
@given(st.lists(st.tuples(st.sampled_from(["report", "mail", "calls"]), st.integers(-90, 90)), max_size=12))
def test_no_way_of_shifting_makes_blocks_overlap_or_lose_time(shifts: list[tuple[str, int]]) -> None:
    now = plan_session(REFINE, task("Report"), task("Mail"), task("Calls"))
    for key, minutes in shifts:
        try:
            result = apply_edit(now, make_command("shift_block", key=key, minutes=minutes))
        except UserError:
            continue
        now = now.with_planning(plan=result.after)
    assert now.planning.plan is not None
    assert overlaps(resolve(now.planning.plan)) == ()
    assert [b.minutes for b in sorted(resolve(now.planning.plan), key=lambda b: b.key)] == [60, 45, 60, 60]


def test_a_block_moved_later_pushes_the_next_ones_just_as_far_as_needed() -> None:
    """S49, S51: the most natural click is not refused; the note names the other moved blocks."""
    now = with_plan(block("A", "09:00", 60), block("B", "10:10", 60), block("C", "11:15", 30), block("D", "14:00", 30))
    result = apply_edit(now, make_command("shift_block", key="a", minutes=15))
    assert list_blocks(result.after) == ["09:15-10:15 A", "10:15-11:15 B", "11:15-11:45 C", "14:00-14:30 D"]
    assert result.sentence == "“A” is now 09:15–10:15 (was 09:00–10:00). “B” is now 10:15–11:15 (was 10:10–11:10)."


def test_a_longer_block_pushes_the_next_ones_past_meetings() -> None:
    """S121: a meeting is never run into on the way."""
    plan = TBPlan(date=session().date, tz=session().tz, events=(block("A", "09:00", 60), block("B", "10:00", 60)))
    now = session(REFINE, event("Standup", "10:30", "11:00"), plan=plan)
    result = apply_edit(now, make_command("edit_block", key="a", minutes=75))
    assert list_blocks(result.after) == ["09:00-10:15 A", "11:00-12:00 B"]


def test_what_began_before_a_block_is_not_pushed_but_gets_out_of_its_way() -> None:
    """S67: one block moves, no further than it has to."""
    now = with_plan(block("A", "09:30", 60), block("B", "11:00", 60), block("C", "12:30", 30))
    earlier = make_command("shift_block", key="b", minutes=-60)
    with pytest.raises(PlanInvalid, match="“B” starts at 10:00, but “A” runs until 10:30"):
        apply_edit(now, earlier, mend=False)
    result = apply_edit(now, earlier)
    assert list_blocks(result.after) == ["09:00-10:00 A", "10:00-11:00 B", "12:30-13:00 C"]
    assert result.sentence == (
        "“B” is now 10:00–11:00 (was 11:00–12:00). To make it fit, “A” moves to 09:00–10:00 (was 09:30–10:30)."
    )


def test_what_made_room_is_said_in_one_sentence() -> None:
    """S51"""
    now = with_plan(block("A", "09:30", 60), block("B", "10:30", 60), block("C", "14:00", 60))
    result = apply_edit(now, make_command("edit_block", key="c", start="10:00", minutes=90))
    assert list_blocks(result.after) == ["09:00-10:00 A", "10:00-11:30 C", "11:30-12:30 B"]
    assert result.sentence.endswith(
        "To make it fit, these move: “A” to 09:00–10:00 (was 09:30–10:30) and “B” to 11:30–12:30 (was 10:30–11:30)."
    )


def test_a_new_block_gets_its_place_when_the_others_can_move() -> None:
    now = with_plan(block("A", "09:00", 60), block("B", "10:00", 60))
    result = apply_edit(now, make_command("add_block", title="Call", start="09:30", minutes=30, depth="shallow"))
    assert list_blocks(result.after) == ["09:30-10:00 Call", "10:00-11:00 B", "11:00-12:00 A"]


def test_a_block_that_is_full_of_meetings_all_around_is_refused() -> None:
    """The day has no room for what would have to move: nothing is changed, and the sentence says what is in the way."""
    full = (event("One", "10:00", "12:30"), event("Two", "13:00", "18:00"))
    plan = TBPlan(date=session().date, tz=session().tz, events=(block("A", "09:00", 60), block("B", "12:30", 30)))
    now = session(REFINE, *full, plan=plan)
    with pytest.raises(PlanInvalid, match=r"“B” starts at 09:30, but “A” runs until 10:00\. .* let them trade places"):
        apply_edit(now, make_command("edit_block", key="b", start="09:30"))


def test_blocks_that_follow_by_themselves_are_left_to_it() -> None:
    """S66: a block that leans on the one before moves along without losing its timing."""
    leaning = TBEvent(name="B", type=ET.SHALLOW_WORK, timing=AfterPrevious(duration=timedelta(minutes=30)), key="b")
    result = apply_edit(with_plan(block("A", "09:00", 60), leaning), make_command("shift_block", key="a", minutes=30))
    assert list_blocks(result.after) == ["09:30-10:30 A", "10:30-11:00 B"]
    assert result.after.events[1].timing == leaning.timing

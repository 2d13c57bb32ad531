"""Now is now: a plan for today starts at the current time, and nothing is put into the past (K11)."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.person import ANNA, MONDAY, MORNING, Harness, Person, local, meeting
from tests.unit.conversation.test_drafts import enter_tasks, listening, until_kept
from tests.unit.conversation.test_replanning import read_times

from fateforger.memory.versions import select_newest
from fateforger.planning.plan import resolve
from fateforger.session.day import frame_of
from fateforger.session.draft import basis_of
from fateforger.session.edits import is_okay
from fateforger.session.stages import TimeboxingStage

TUESDAY = MONDAY + timedelta(days=1)


def at(harness: Harness, clock: str, day: date = MONDAY) -> None:
    """Set the local time."""
    wanted = time.fromisoformat(clock)
    days = (day - MONDAY).days
    harness.clock.at = MORNING + timedelta(days=days, hours=wanted.hour - 8, minutes=wanted.minute)


def earliest(harness: Harness) -> datetime:
    starts = [e.start for e in harness.calendar.store.get_live_events().values() if isinstance(e.start, datetime)]
    return min(start.astimezone(UTC) for start in starts)


async def test_at_three_the_frame_is_what_is_left_of_the_day(anna: Person, harness: Harness) -> None:
    """K11: the frame begins now, rounded up; lunch is over; meetings that are over are shown and take no time."""
    meeting(harness, "Stand-up", "09:30", "10:00")
    meeting(harness, "Call", "16:00", "16:30")
    at(harness, "15:02")
    await anna.to_frame()
    assert "15:05–18:00 (2 h 55 min)" in anna.words
    assert "lunch around" not in anna.words
    assert "Stand-up (over)" in anna.words
    assert "Call (over)" not in anna.words
    assert "That leaves 2 h 25 min without meetings." in anna.words
    assert "I plan from 15:05 on" in anna.words


async def test_at_three_nothing_of_the_plan_is_in_the_past(anna: Person, harness: Harness) -> None:
    """K11: from the first card to the calendar, without a model."""
    at(harness, "15:02")
    await anna.to_committed("Write report", "Mail")
    assert harness.on_calendar(whole=True) == {
        "Write report": "15:05-16:05",
        "Mail": "16:15-17:15",
        "Shut down": "17:15-17:45",
    }
    session = await anna.session()
    assert session.stage is TimeboxingStage.REVIEW_COMMIT
    assert is_okay(session)


async def lies_ahead(anna: Person, harness: Harness) -> bool:
    """Check whether no block of the plan begins in the past."""
    plan = (await anna.session()).planning.plan
    return plan is not None and all(b.start.astimezone(UTC) >= harness.clock.now() for b in resolve(plan))


async def test_ways_out_lie_ahead(anna: Person, harness: Harness) -> None:
    """K11: a longer day is filled from now on."""
    at(harness, "15:02")
    await anna.to_tasks()
    await anna.fill("tasks", title_1="Write report", minutes_1=90, title_2="Mail", minutes_2=90, kind_2="shallow")
    assert (await anna.session()).planning.unplaced
    await anna.press(next(label for label in anna.labels() if label.startswith("End the day at")))
    assert await lies_ahead(anna, harness)


async def test_fixes_lie_ahead(anna: Person, harness: Harness) -> None:
    """K11: each change that the card offers at eleven is after eleven."""
    at(harness, "11:02")
    await anna.to_refine("Write report", "Mail")
    await anna.choose("Lunch", "Remove")
    await anna.choose("Shut down", "Remove")
    await anna.fill_row("Mail", "edit_block", start="12:05")
    fixes = (await anna.session()).planning.fixes
    assert fixes
    for fix in fixes:
        await anna.press(fix.label)
        assert await lies_ahead(anna, harness)
        await anna.press("Undo last update")


async def test_minutes_that_pass_make_no_draft_stale(anna: Person, harness: Harness) -> None:
    """S46: reading a card for a while is no change of what the draft was made from."""
    at(harness, "15:02")
    await anna.to_skeleton("Write report", "Mail")
    before = await anna.session()
    assert basis_of(before.at_time(harness.clock.now() + timedelta(minutes=40))) == before.planning.draft_basis
    assert before.planning.draft_basis is not None


async def test_a_draft_that_began_while_it_was_read_is_moved_when_it_is_accepted(
    anna: Person, harness: Harness
) -> None:
    """K11: at Continue, with one sentence."""
    at(harness, "15:02")
    await anna.to_skeleton("Write report", "Mail")
    assert read_times(await anna.session())["Write report"] == "15:05-16:05"
    at(harness, "15:31")
    await anna.press("Refine")
    assert (
        "“Write report” would have begun before now, so I replanned the rest of your day from 15:35 on." in anna.words
    )
    session = await anna.session()
    assert session.planning.plan is not None
    assert min(b.start.astimezone(UTC) for b in resolve(session.planning.plan)) >= harness.clock.now()


async def test_a_plan_that_began_before_it_was_committed_is_moved_at_commit(anna: Person, harness: Harness) -> None:
    """K11"""
    at(harness, "15:02")
    await anna.to_refine("Write report", "Mail")
    at(harness, "15:20")
    await anna.press("Commit to calendar")
    assert earliest(harness) >= harness.clock.now()
    assert "“Write report” would have begun before now" in anna.words
    assert harness.on_calendar(whole=True).keys() == {"Write report", "Mail", "Shut down"}


async def test_what_is_on_the_calendar_stays_when_its_time_has_come(anna: Person, harness: Harness) -> None:
    """K11: only what is not on the calendar yet is moved."""
    at(harness, "15:02")
    await anna.to_committed("Write report", "Mail")
    written = harness.on_calendar()
    at(harness, "15:40")
    await anna.press("Back to refine")
    await anna.press("Commit to calendar")
    assert harness.on_calendar() == written


async def test_a_block_that_the_person_puts_into_the_past_stays_there(anna: Person, harness: Harness) -> None:
    """K11: nothing is placed in the past unless the person says when it was."""
    meeting(harness, "Call", "15:20", "16:00")
    at(harness, "15:02")
    await anna.to_refine("Write report")
    at(harness, "15:31")
    assert await anna.fill("add_block", title="Mails", minutes=15, start=time(15, 5), kind="shallow") is None
    await anna.press("Commit to calendar")
    shown = harness.on_calendar()
    assert (shown["Mails"], shown["Write report"]) == ("15:05-15:20", "16:00-17:00")
    assert "before now" not in anna.words


async def test_a_start_before_now_that_the_person_says_is_the_frame(anna: Person, harness: Harness) -> None:
    """K11: the frame follows the person's words, and nothing new goes before now; tomorrow starts as usual."""
    at(harness, "15:02")
    await anna.to_frame()
    await anna.pick("set_day_start", time(8))
    assert "08:00–18:00 (10 h)" in anna.words
    assert "I plan from 15:05 on" in anna.words
    await anna.press("Continue")
    await anna.fill("tasks", size=3, title_1="Write report", minutes_1=60)
    assert read_times(await anna.session())["Write report"] == "15:05-16:05"
    later = Person(harness)
    await later.start(TUESDAY, thread="9.0")
    assert (await later.session()).day.frame.day_start == time(9)


async def test_the_frame_form_shows_now_and_keeps_the_usual_start(anna: Person, harness: Harness) -> None:
    """K11: changing only lunch says nothing about the start."""
    at(harness, "15:02")
    await anna.to_frame()
    assert await anna.fill("frame", lunch_minutes=0) is None
    frame = (await anna.session()).day.frame
    assert (frame.day_start, frame.usual_start, frame.lunch_minutes) == (time(9), None, 0)
    assert "15:05–18:00" in anna.words


async def test_a_day_that_has_ended_says_so_and_offers_the_next_or_a_later_end(anna: Person, harness: Harness) -> None:
    """K11: no frame error; both buttons lead on."""
    at(harness, "17:30")
    await anna.start()
    await anna.press("Plan this day")
    at(harness, "18:20")
    await anna.press("Redo step")
    assert "Continue" not in anna.labels()
    session = await anna.session()
    assert session.stage is TimeboxingStage.COLLECT_CONSTRAINTS
    assert "Your day ended at 18:00, so nothing is left of it to plan." in anna.words
    assert {"Plan Tuesday 3 March", "End at 20:00", "End at 22:00"} <= set(anna.labels())
    await anna.press("End at 20:00")
    assert "18:20–20:00 (1 h 40 min)" in anna.words
    assert frame_of(await anna.session())[0].hour == 18


async def test_the_next_day_is_one_press_away_when_this_one_has_ended(anna: Person, harness: Harness) -> None:
    """K11"""
    at(harness, "17:30")
    await anna.to_frame()
    at(harness, "18:20")
    await anna.press("Redo step")
    await anna.press("Plan Tuesday 3 March")
    session = await anna.session()
    assert (session.date, session.stage) == (TUESDAY, TimeboxingStage.COLLECT_CONSTRAINTS)
    assert "09:00–18:00 (9 h)" in anna.words
    assert session.day.snapshot is not None
    assert session.day.snapshot.day == TUESDAY


@pytest.mark.parametrize("late_at", ["08:50", "09:20"])
async def test_a_routine_whose_time_is_over_is_not_drafted(anna: Person, harness: Harness, late_at: str) -> None:
    """K11: though its hours lie outside of those that are planned, and whether these have begun or not."""
    at(harness, "07:00")
    await anna.to_frame()
    assert await anna.fill("routine", title="School run", times="8:10-8:45", minutes=35, kind="H") is None
    await anna.press("Continue")
    await anna.fill("tasks", size=3, title_1="Write report", minutes_1=60)
    assert read_times(await anna.session())["School run"] == "08:10-08:45"
    at(harness, late_at)
    late = Person(harness)
    await late.start(thread="9.0")
    await late.press("Plan this day")
    await late.press("Continue")
    await late.fill("tasks", size=3, title_1="Write report", minutes_1=60)
    assert "School run" not in read_times(await late.session())


@pytest.mark.parametrize("necessity", ["must", "should"])
async def test_a_routine_whose_time_has_begun_is_named(anna: Person, harness: Harness, necessity: str) -> None:
    """S514: at a fixed time, or with too little of its hours left, and also if it is a must."""
    at(harness, "10:20")
    await anna.to_frame()
    times = {"Gym": ("10:00-11:00", 60), "Walk": ("9:00-10:45", 45), "School run": ("8:10-8:45", 35)}
    for title, (hours, minutes) in times.items():
        assert await anna.fill("routine", title=title, times=hours, minutes=minutes, kind="H") is None
    for version in select_newest(await harness.store.constraints.of(ANNA), ANNA).values():
        assert await anna.fill("rule", target=f"{version.seq} {version.uid}", necessity=necessity) is None
    await anna.press("Continue")
    await anna.fill("tasks", size=3, title_1="Write report", minutes_1=60)
    session = await anna.session()
    assert read_times(session).keys() & times.keys() == set()
    assert {each.title: each.reason for each in session.planning.unplaced} == {
        "Gym": "it is wanted at 10:00, and that has passed",
        "Walk": "it needs 45 min, and there is not that much time free between 10:20 and 10:45",
    }
    assert session.planning.clash is None
    assert "it is wanted at 10:00, and that has passed" in anna.words


async def test_tomorrow_knows_no_clock(anna: Person, harness: Harness) -> None:
    """K11: a plan for another day begins when that day begins, however late it is."""
    at(harness, "15:02")
    await anna.start(TUESDAY)
    await anna.press("Plan this day")
    assert "09:00–18:00 (9 h), lunch around 12:30 for 45 min" in anna.words
    await anna.press("Continue")
    await anna.fill("tasks", size=3, title_1="Write report", minutes_1=60)
    assert read_times(await anna.session())["Write report"] == "09:00-10:00"
    at(harness, "23:50")
    await anna.press("Refine")
    await anna.press("Commit to calendar")
    assert harness.on_calendar()["Write report"] == "09:00-10:00"
    assert "before now" not in anna.words


async def test_a_night_shift_that_began_yesterday_is_planned_from_now_on(anna: Person, harness: Harness) -> None:
    """K11, S230: at half past one the day is the one that began yesterday evening."""
    await anna.to_frame()
    assert await anna.fill("frame", day_start=time(22), day_end=time(6), lunch_minutes=0) is None
    await anna.press("Continue")
    at(harness, "01:32", TUESDAY)
    night = Person(harness)
    await night.start(thread="9.0")
    assert (await night.session()).date == MONDAY
    await night.press("Plan this day")
    assert "01:35–06:00 (4 h 25 min, until the next day)" in night.words
    await night.press("Continue")
    await night.fill("tasks", size=3, title_1="Write report", minutes_1=60)
    session = await night.session()
    assert session.planning.plan is not None
    first = min(resolve(session.planning.plan), key=lambda block: block.start.astimezone(UTC))
    assert (local(first.start), first.start.astimezone(UTC).date()) == ("01:35", TUESDAY)


@pytest.mark.parametrize("clock", ["12:40", "13:20"])
async def test_lunch_is_now_or_over(anna: Person, harness: Harness, clock: str) -> None:
    """K11: a lunch that would have begun begins now; one that is over is left out."""
    at(harness, clock)
    await anna.to_skeleton("Write report")
    shown = read_times(await anna.session())
    assert shown.get("Lunch") == ("12:40-13:25" if clock == "12:40" else None)


def build_draft(*starts: str) -> dict[str, Any]:
    """Return a model's draft of two tasks."""
    return {
        "blocks": [
            {"task": number, "title": None, "type": "DW", "start": start, "minutes": 60}
            for number, start in enumerate(starts, 1)
        ]
    }


async def test_a_model_is_told_the_time_and_its_past_is_refused(anna: Person, harness: Harness) -> None:
    """K11: a draft of the morning goes back with what is left of the day."""
    model = ScriptedModel(build_draft("10:00", "11:10"), build_draft("15:30", "16:40"))
    at(harness, "15:02")
    anna = listening(harness, model)
    await anna.to_skeleton("Write report", "Mail")
    assert "2026-03-02 15:02" in model.prompts[0].system + model.prompts[0].user
    ((_, mistake),) = model.prompts[1].history
    assert "leaves the day, which is 15:05–18:00." in mistake
    assert read_times(await anna.session()) == {"Write report": "15:30-16:30", "Mail": "16:40-17:40"}
    await anna.press("Refine")
    await anna.press("Commit to calendar")
    assert earliest(harness) >= harness.clock.now()


async def test_a_model_draft_that_was_made_a_while_ago_begins_now(anna: Person, harness: Harness) -> None:
    """K11, S45: the draft made ahead is used, and what would have begun before now is moved."""
    model = ScriptedModel(build_draft("15:05", "16:30"))
    at(harness, "15:02")
    anna = listening(harness, model)
    await enter_tasks(anna)
    await until_kept(anna)
    at(harness, "15:18")
    await anna.press("Continue")
    assert len(model.prompts) == 1
    assert read_times(await anna.session()) == {"Report": "15:20-16:20", "Mail": "16:30-17:30"}

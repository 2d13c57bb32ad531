"""A day that does not go as planned: its rest is planned again, as one change that one Undo takes back everywhere."""

from __future__ import annotations

from datetime import time, timedelta

import pytest
from tests.unit.conversation.person import MORNING, SHUT_DOWN, Harness, Person, meeting

from fateforger.planning.plan import resolve
from fateforger.session.model import Session
from fateforger.session.stages import TimeboxingStage

WRITTEN = {
    "Write report": "09:00-10:00",
    "Review plans": "10:10-11:10",
    "Mail": "11:20-12:20",
    "Lunch": "12:30-13:15",
}
LATE = {**WRITTEN, "Write report": "09:00-10:30", "Review plans": "13:15-14:15"}


def at(harness: Harness, clock: str) -> None:
    """Set the clock to a local time on the planned day, which is an hour ahead of UTC."""
    wanted = time.fromisoformat(clock)
    harness.clock.at = MORNING + timedelta(hours=wanted.hour - 8, minutes=wanted.minute)


def read_times(session: Session) -> dict[str, str]:
    assert session.planning.plan is not None
    return {
        b.event.name: f"{b.start:%H:%M}-{b.end:%H:%M}"
        for b in resolve(session.planning.plan)
        if b.event.name != SHUT_DOWN
    }


def key(session: Session, title: str) -> str:
    assert session.planning.plan is not None
    return next(e.block_key for e in session.planning.plan.events if e.name == title)


async def commit_plan(anna: Person, harness: Harness, clock: str) -> None:
    await anna.to_committed()
    assert read_times(await anna.session()) == WRITTEN
    at(harness, clock)


async def writes(harness: Harness) -> int:
    return len(await harness.submitter.history(MORNING.date()))


@pytest.mark.parametrize("mode", ["refine", "commit"])
async def test_running_late_is_one_change_that_one_undo_takes_back(anna: Person, harness: Harness, mode: str) -> None:
    await anna.to_refine()
    await anna.pick("set_calendar_write", mode)
    await anna.press("Commit to calendar")
    at(harness, "09:50")
    before = await anna.session()
    count = await writes(harness)
    await anna.pick("replan.late", "30")
    session = await anna.session()
    assert (session.stage, read_times(session), harness.on_calendar()) == (TimeboxingStage.REFINE, LATE, LATE)
    assert await writes(harness) == count + 1
    assert "“Write report” is now 09:00–10:30 (was 09:00–10:00)." in anna.words
    assert "“Review plans” is now 13:15–14:15 (was 10:10–11:10)." in anna.words
    await anna.press("Undo last update")
    after = await anna.session()
    assert (read_times(after), harness.on_calendar()) == (WRITTEN, WRITTEN)
    assert (after.day.inputs, after.planning.unplaced, after.planning.draft_basis) == (
        before.day.inputs,
        before.planning.unplaced,
        before.planning.draft_basis,
    )
    assert after.sync.refine_undo == before.sync.refine_undo


async def test_what_no_longer_fits_has_its_ways_out(anna: Person, harness: Harness) -> None:
    """It is off the calendar in the same write; leaving it for another day keeps it, and so does an undo of that."""
    meeting(harness, "Workshop", "13:15", "18:00")
    await commit_plan(anna, harness, "09:50")
    await anna.pick("replan.late", "60")
    session = await anna.session()
    assert read_times(session) == {"Write report": "09:00-11:00", "Mail": "11:20-12:20", "Lunch": "12:30-13:15"}
    assert [u.title for u in session.planning.unplaced] == ["Review plans"]
    assert "**Did not fit**\n- Review plans: " in anna.words
    labels = anna.labels()
    assert labels.index("Another day") < labels.index("Drop it")
    (unplaced,) = session.planning.unplaced
    await anna.fill("defer", target=unplaced.task_id, day="some_day")
    left = await anna.session()
    assert ([t.title for t in left.open_work.deferred], left.planning.unplaced) == (["Review plans"], ())
    assert [t.title for t in left.day.inputs.tasks] == ["Write report", "Mail"]
    await anna.press("Undo last update")
    back = await anna.session()
    assert (back.open_work.deferred, [u.title for u in back.planning.unplaced], back.day.inputs) == (
        (),
        ["Review plans"],
        session.day.inputs,
    )


async def test_a_block_that_the_person_moved_is_named_as_the_reason(anna: Person, harness: Harness) -> None:
    """S253"""
    meeting(harness, "Workshop", "13:15", "18:00")
    await anna.to_refine()
    await anna.fill_row("Mail", "edit_block", start="11:30")
    await anna.press("Commit to calendar")
    at(harness, "09:50")
    await anna.pick("replan.late", "60")
    (left,) = (await anna.session()).planning.unplaced
    assert (left.title, left.reason) == ("Review plans", "you put “Mail” at 11:30, where there would be room for it")


async def test_done_early_leaves_the_others_where_they_are(anna: Person, harness: Harness) -> None:
    await commit_plan(anna, harness, "09:20")
    session = await anna.session()
    await anna.pick("replan.done", key(session, "Write report"))
    after = await anna.session()
    assert harness.on_calendar() == {**WRITTEN, "Write report": "09:00-09:20"}
    assert [t.title for t in after.day.inputs.tasks] == ["Review plans", "Mail"]
    assert "“Write report” is done." in anna.words
    assert "Say which task is the one thing" not in anna.words


async def test_a_part_that_is_done_leaves_the_other_parts(anna: Person, harness: Harness) -> None:
    """S290: the task is done when all its parts are, and takes what they do until then."""
    await anna.to_tasks()
    await anna.fill("tasks", size=3, title_1="Thesis", minutes_1=180, title_2="Mail", minutes_2=30)
    await anna.press("Refine")
    await anna.press("Commit to calendar")
    before = harness.on_calendar()
    at(harness, "09:20")
    await anna.pick("replan.done", key(await anna.session(), "Thesis (1/2)"))
    assert "“Thesis (1/2)” is done." in anna.words
    assert harness.on_calendar() == {**before, "Thesis (1/2)": "09:00-09:20"}
    session = await anna.session()
    assert [(task.title, task.minutes) for task in session.day.inputs.tasks] == [("Thesis", 90), ("Mail", 30)]
    assert session.open_work.settled == ()
    await anna.press("Undo last update")
    assert harness.on_calendar() == before
    await anna.press("Restore last update")
    at(harness, "11:00")
    await anna.pick("replan.done", key(await anna.session(), "Thesis (2/2)"))
    assert "“Thesis” is done." in anna.words
    session = await anna.session()
    assert [task.title for task in session.day.inputs.tasks] == ["Mail"]
    assert len(session.open_work.settled) == 1


async def test_parts_stay_in_order(anna: Person, harness: Harness) -> None:
    """S441: the first part, which a meeting hits, does not come after the second one."""
    await anna.to_tasks()
    await anna.fill("tasks", size=3, title_1="Thesis", minutes_1=150, title_2="Mail", minutes_2=30)
    await anna.press("Refine")
    await anna.press("Commit to calendar")
    assert harness.on_calendar()["Thesis (1/2)"] == "09:00-10:30"
    at(harness, "08:50")
    meeting(harness, "Stand-up", "09:00", "09:30")
    await anna.press("Redo step")
    await anna.press("Refit the rest")
    shown = harness.on_calendar()
    assert shown["Thesis (1/2)"] < shown["Thesis (2/2)"], shown


async def test_all_parts_that_are_done_are_the_whole_task(anna: Person, harness: Harness) -> None:
    """S290: this is one step in any order, with one note."""
    await anna.to_tasks()
    await anna.fill("tasks", size=3, title_1="Thesis", minutes_1=180, title_2="Mail", minutes_2=30)
    await anna.press("Refine")
    await anna.press("Commit to calendar")
    at(harness, "09:20")
    session = await anna.session()
    parts = tuple(key(session, f"Thesis ({part}/2)") for part in (2, 1))
    assert await anna.fill("replan", done=parts) is None
    assert anna.words.count("“Thesis” is done.") == 1
    assert "Thesis (2/2)" not in harness.on_calendar()
    assert [task.title for task in (await anna.session()).day.inputs.tasks] == ["Mail"]


async def test_not_today_is_offered_on_the_next_day(anna: Person, harness: Harness) -> None:
    await commit_plan(anna, harness, "10:30")
    await anna.pick("replan.not_today", key(await anna.session(), "Mail"))
    assert harness.on_calendar() == {title: when for title, when in WRITTEN.items() if title != "Mail"}
    harness.restart()
    harness.clock.at += timedelta(days=1)
    tomorrow = Person(harness)
    await tomorrow.to_tasks()
    assert "**From Monday**, 3 things are still open, as far as I know: Mail, Write report" in tomorrow.words


async def test_what_began_before_now_stays_but_for_what_is_named(anna: Person, harness: Harness) -> None:
    await commit_plan(anna, harness, "11:30")
    missed = key(await anna.session(), "Write report")
    await anna.fill("replan", missed=(missed,))
    assert harness.on_calendar() == {**WRITTEN, "Write report": "13:15-14:15"}
    assert await anna.fill("replan", missed=(missed,), done=(missed,)) is not None


async def test_what_is_on_now_begins_only_now(anna: Person, harness: Harness) -> None:
    await commit_plan(anna, harness, "09:20")
    await anna.pick("replan.late", "0")
    shown = harness.on_calendar()
    assert shown["Write report"] == "09:20-10:20"
    assert (shown["Mail"], shown["Lunch"]) == (WRITTEN["Mail"], WRITTEN["Lunch"])


async def test_a_meeting_that_was_moved_onto_a_block_offers_to_refit(anna: Person, harness: Harness) -> None:
    await commit_plan(anna, harness, "09:50")
    assert "Refit the rest" not in anna.labels()
    meeting(harness, "Stand-up", "11:30", "12:00")
    await anna.press("Redo step")
    assert "Refit the rest" in anna.labels()
    await anna.press("Refit the rest")
    assert {**harness.on_calendar()} == {**WRITTEN, "Stand-up": "11:30-12:00", "Mail": "13:15-14:15"}
    assert "Refit the rest" not in anna.labels()


async def test_a_meeting_ends_what_takes_longer(anna: Person, harness: Harness) -> None:
    meeting(harness, "Stand-up", "10:30", "11:00")
    await anna.to_committed("Write report")
    assert read_times(await anna.session()) == {"Write report": "09:00-10:00", "Lunch": "12:30-13:15"}
    at(harness, "09:50")
    await anna.pick("replan.late", "40")
    session = await anna.session()
    assert session.planning.plan is not None
    shown = [(b.event.name, f"{b.start:%H:%M}-{b.end:%H:%M}") for b in resolve(session.planning.plan)]
    assert shown == [
        ("Write report", "09:00-10:30"),
        ("Write report", "11:00-11:10"),
        ("Lunch", "12:30-13:15"),
        ("Shut down", "17:30-18:00"),
    ]


async def test_the_history_takes_the_facts_with_it(anna: Person, harness: Harness) -> None:
    await commit_plan(anna, harness, "09:50")
    await anna.pick("replan.not_today", key(await anna.session(), "Mail"))
    changed = await anna.session()
    await anna.press("History")
    await anna.press_beside("history", "Undo", row="Your change")
    undone = await anna.session()
    assert (read_times(undone), undone.open_work.deferred, len(undone.day.inputs.tasks)) == (WRITTEN, (), 3)
    await anna.press_beside("history", "Restore")
    redone = await anna.session()
    assert (read_times(redone), redone.open_work.deferred, redone.day.inputs) == (
        read_times(changed),
        changed.open_work.deferred,
        changed.day.inputs,
    )


async def test_nothing_to_move_changes_nothing(anna: Person, harness: Harness) -> None:
    await commit_plan(anna, harness, "09:50")
    count = await writes(harness)
    await anna.click("replan.refit")
    assert "Nothing has to move; the rest of your day stays as it is." in anna.words
    assert (await writes(harness), harness.on_calendar()) == (count, WRITTEN)
    harness.clock.at += timedelta(days=3)
    await anna.click("replan.refit")
    assert "That day is over, so there is nothing left of it to replan." in anna.words


@pytest.mark.parametrize(("times", "after"), [("19-21", "19:45-20:45"), ("19-20", None)])
async def test_a_routine_outside_the_frame_keeps_its_hours(
    anna: Person, harness: Harness, times: str, after: str | None
) -> None:
    """S246"""
    await anna.to_frame()
    assert await anna.fill("routine", title="Gym", times=times, minutes=60, kind="H") is None
    await anna.press("Continue")
    await anna.fill("tasks", title_1="Write report", minutes_1=60)
    assert read_times(await anna.session())["Gym"] == "19:00-20:00"
    await anna.press("Refine")
    await anna.press("Commit to calendar")
    at(harness, "09:10")
    meeting(harness, "Drinks", "19:15", "19:45")
    await anna.press("Redo step")
    await anna.press("Refit the rest")
    session = await anna.session()
    assert read_times(session).get("Gym") == after
    assert [each.title for each in session.planning.unplaced] == ([] if after else ["Gym"])

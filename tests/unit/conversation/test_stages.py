"""Good and bad input of a person at each stage."""

from __future__ import annotations

from datetime import date, time, timedelta
from typing import Any

import pytest
from tests.unit.conversation.person import MONDAY, Harness, Person, meeting

from fateforger.planning.task_details import TaskKind
from fateforger.session.cards import Select
from fateforger.session.commands.day import ChooseDate
from fateforger.session.forms import FormErrors
from fateforger.session.stages import TimeboxingStage


async def test_stage_0_offers_a_day_and_a_zone(anna: Person) -> None:
    """S39"""
    await anna.start()
    assert anna.card.text == "Shall we plan Monday 2 March?"
    assert anna.words == (
        "Which day shall we plan?\n**Monday 2 March** 2026, in Europe/Amsterdam time\n"
        "I am already reading your calendar for that day.\n"
    )
    assert anna.labels() == ["Plan this day", "Change time zone", "Cancel"]
    assert anna.root == "Planning Monday 2 March: is it the right day?"


async def test_another_day_can_be_chosen(harness: Harness, anna: Person) -> None:
    meeting(harness, "Retro", "10:00", "11:00", date(2026, 3, 5))
    await anna.start()
    await anna.pick("choose_date", date(2026, 3, 5))
    assert anna.root == "Planning Thursday 5 March: is it the right day?"
    await anna.press("Plan this day")
    assert "**10:00–11:00** Retro" in anna.words


@pytest.mark.parametrize(
    ("day", "sentence"),
    [
        (date(2026, 3, 1), "⚠️ Sunday 1 March is over; choose today or a later day."),
        (date(2027, 6, 1), "⚠️ Tuesday 1 June 2027 is more than a year away; choose a nearer day."),
    ],
)
async def test_a_day_that_cannot_be_planned(anna: Person, day: date, sentence: str) -> None:
    await anna.start()
    await anna.pick("choose_date", day)
    assert sentence in anna.words
    assert anna.root == "Planning Monday 2 March: is it the right day?"


async def test_another_zone(anna: Person) -> None:
    """S445"""
    await anna.start()
    errors = await anna.fill("zone", tz="Amsterdam/Europe")
    assert errors is not None
    assert errors.errors == {
        "tz": "“Amsterdam/Europe” is not a time zone I know; use an IANA name such as Europe/Amsterdam."
    }
    assert await anna.fill("zone", tz="new  york") is None
    assert "in America/New\\_York time" in anna.words
    assert (await anna.session()).tz == "America/New_York"


async def test_a_profile_with_an_unknown_zone(anna: Person) -> None:
    await anna.start(tz="Mars/Olympus")
    assert "I do not know the time zone “Mars/Olympus” of your profile; please choose yours." in anna.words
    assert (await anna.session()).tz == "UTC"


async def test_a_start_for_a_day_that_is_over(anna: Person) -> None:
    await anna.start(date(2025, 1, 1))
    assert "Wednesday 1 January is over, so I took the next day to plan." in anna.words
    assert (await anna.session()).date == date(2026, 3, 2)


async def test_a_start_in_a_thread_whose_session_goes_on_shows_it(anna: Person) -> None:
    await anna.to_frame()
    first = anna.session_id
    await anna.start(thread="1.0")
    assert [s.id for s in await anna.harness.store.sessions.of_user(anna.user)] == [first]
    assert anna.arrived[-1].slot == "stage:1"


async def test_stage_1_shows_what_is_there(harness: Harness, anna: Person) -> None:
    """S41: timed events with their times, all-day ones apart, overnight ones clipped, free ones marked."""
    meeting(harness, "Standup", "09:30", "10:00")
    meeting(harness, "Night train", "22:00", "06:00")
    meeting(harness, "Red-eye", "23:00", "07:30", date(2026, 3, 1))
    meeting(harness, "Focus music", "13:00", "14:00", busy=False)
    meeting(harness, "Tomorrow", "09:00", "10:00", date(2026, 3, 3))
    harness.calendar.store.user_create("Holiday *in* Spain", start=date(2026, 3, 2), end=date(2026, 3, 3))
    harness.calendar.store.user_create("Gone by", start=date(2026, 3, 1), end=date(2026, 3, 2))
    await anna.to_frame()
    assert (
        "**On your calendar: 4 meetings**\n"
        "- **00:00–07:30** Red-eye (since Sunday 23:00) (over)\n"
        "- **09:30–10:00** Standup\n"
        "- **13:00–14:00** Focus music · shown as free\n"
        "- **22:00–24:00** Night train (until Tuesday 06:00)\n"
        "All day: Holiday \\*in\\* Spain\n" in anna.words
    )
    assert "That leaves 8 h 30 min without meetings." in anna.words


async def test_three_hundred_meetings_are_counted(harness: Harness, anna: Person) -> None:
    """Issue: a plan for a day with 300 meetings, from the first look to the commit."""
    for n in range(300):
        meeting(
            harness,
            f"Call {n}",
            f"{n * 4 // 60:02d}:{n * 4 % 60:02d}",
            f"{(n * 4 + 3) // 60:02d}:{(n * 4 + 3) % 60:02d}",
        )
    await anna.to_frame()
    assert "**On your calendar: 300 meetings**" in anna.words
    assert "- … and 275 more." in anna.words
    await anna.press("Continue")
    await anna.fill("tasks", title_1="Breathe", minutes_1=30)
    assert "- Breathe: the day is full" in anna.words
    await anna.press("Refine")
    ways = ["Another day", "Drop it", "End the day at 21:00"]
    assert anna.labels() == [
        "Add block",
        "History",
        "Show my queue",
        "Add a rule",
        *ways,
        "Back",
        "Redo step",
        "Cancel",
    ]


async def test_the_frame_by_pickers_and_by_form(anna: Person) -> None:
    await anna.to_frame()
    await anna.pick("set_day_start", time(8, 30))
    await anna.pick("set_day_end", time(17, 0))
    assert "08:30–17:00 (8 h 30 min), lunch around 12:30 for 45 min" in anna.words
    assert await anna.fill("frame", lunch_minutes=0) is None
    assert "08:30–17:00 (8 h 30 min), no lunch break" in anna.words


async def test_a_frame_that_makes_no_sense_loses_nothing(anna: Person) -> None:
    """An end before a start gets a clear sentence, nothing is lost, and Continue waits until it is fixed (S54, S56)."""
    await anna.to_frame()
    await anna.pick("set_day_start", time(19, 0))
    sentence = (
        "Your day would end at 18:00, before it starts at 19:00."
        " Choose an end after the start, or an end in the night that follows."
    )
    assert sentence in anna.words
    assert "Continue" not in anna.labels()
    await anna.click("proceed")
    assert f"⚠️ {sentence}\nWhen does your day start, and when does it end?" in anna.words
    await anna.pick("set_day_end", time(2, 0))
    assert "19:00–02:00 (7 h, until the next day)" in anna.words
    assert "Continue" in anna.labels()
    errors = await anna.fill("frame", day_start=time(14, 0), day_end=time(13, 0))
    assert errors is not None
    assert list(errors.errors) == ["day_end"]


async def test_the_frame_of_last_time_is_proposed(harness: Harness, anna: Person) -> None:
    """S42: known defaults are not asked again."""
    await anna.to_frame()
    await anna.fill("frame", day_start=time(7, 0), day_end=time(15, 0), lunch_start=time(11, 30), lunch_minutes=30)
    await anna.press("Continue")
    again = Person(harness)
    await again.to_frame()
    assert "08:00–15:00 (7 h), lunch around 11:30 for 30 min" in again.words
    other = Person(harness, user="U_OTHER")
    await other.to_frame()
    assert "09:00–18:00 (9 h), lunch around 12:30 for 45 min" in other.words


async def test_the_hours_of_the_day_name_the_lunch_that_is_there(harness: Harness, anna: Person) -> None:
    """S434: on the calendar, or a task at a given time; none is promised outside the hours."""
    meeting(harness, "Lunch with Karin", "13:00", "14:00")
    await anna.to_frame()
    assert "09:00–18:00 (9 h), lunch at 13:00 (“Lunch with Karin”)" in anna.words
    assert "lunch around" not in anna.words
    await anna.pick("set_day_start", time(15))
    assert "15:00–18:00 (3 h)" in anna.words
    assert "lunch around" not in anna.words
    later = Person(harness)
    await later.start(MONDAY + timedelta(days=1))
    await later.press("Plan this day")
    await later.press("Continue")
    await later.fill("tasks", other="Lunch in the park at 12:00, 1 h", deep="Report", first=True)
    await later.press("Back")
    await later.press("Back")
    assert "lunch at 12:00 (“Lunch in the park”)" in later.words


async def test_a_day_that_was_made_longer_leaves_other_days_as_they_are(harness: Harness, anna: Person) -> None:
    """S409: by a way out of “Did not fit”, on the draft and on the plan; the day's first form still counts for other days."""
    await anna.to_frame()
    await anna.fill("frame", day_start=time(9), day_end=time(16), lunch_start=time(12), lunch_minutes=30)
    await anna.press("Continue")
    await anna.fill("tasks", deep="Report, 3 h", other="Mail, 3 h\nTaxes, 2 h")
    await anna.click("frame.until", "18:30")
    assert "Your day ends at 18:30 now." in anna.words
    await anna.press("Refine")
    await anna.click("frame.until", "19:00")
    assert (await anna.session()).day.frame.day_end == time(19)
    later = Person(harness)
    await later.start(MONDAY + timedelta(days=1))
    await later.press("Plan this day")
    assert "09:00–16:00 (7 h), lunch around 12:00 for 30 min" in later.words


async def test_stage_2_needs_something_to_do(anna: Person) -> None:
    """S54, S56: no Continue button, and a refusal on the server that names what is missing and asks one question."""
    await anna.to_tasks()
    assert anna.labels() == ["Add tasks", "Goals", "Show my queue", "Back", "Redo step", "Cancel"]
    await anna.click("proceed")
    assert (await anna.session()).stage is TimeboxingStage.CAPTURE_INPUTS
    assert (
        "⚠️ There is nothing on your list yet, so there is nothing to plan.\n"
        "What do you want to get done on Monday 2 March?" in anna.words
    )


async def test_the_list_of_tasks(anna: Person) -> None:
    """S43: add, edit, choose the one thing, remove."""
    await anna.to_tasks()
    await anna.fill("tasks", title_1="Report", minutes_1=90, title_2="Mail", kind_2="shallow", proceed=False)
    assert anna.rows() == ["**Report** · 1 h 30 min · deep", "**Mail** · open, about 30 min · shallow"]
    assert "2 tasks, 2 h together; your day has 9 h without meetings." in anna.words
    await anna.choose("Mail", "Make it the one thing")
    assert anna.rows()[1] == "⭐ **Mail** · open, about 30 min · shallow"
    await anna.fill("tasks", title_1="Taxes", one_thing="1", proceed=False)
    assert [t.one_thing for t in (await anna.session()).day.inputs.tasks] == [False, False, True]
    await anna.fill_row("Report", "task", title="Annual report", minutes=None, kind="shallow", one_thing=True)
    tasks = (await anna.session()).day.inputs.tasks
    assert [(t.title, t.minutes, t.details.kind, t.one_thing) for t in tasks] == [
        ("Annual report", None, TaskKind.SHALLOW, True),
        ("Mail", None, TaskKind.SHALLOW, False),
        ("Taxes", None, TaskKind.DEEP, False),
    ]
    await anna.choose("Mail", "Remove")
    await anna.fill_row("Taxes", "task", remove=True)
    assert [t.title for t in (await anna.session()).day.inputs.tasks] == ["Annual report"]
    assert anna.root == "Planning Monday 2 March: what to do, 1 task so far"


async def test_too_many_tasks(anna: Person) -> None:
    await anna.to_tasks()
    values = {f"title_{n}": f"Task {n}" for n in range(1, 21)}
    for _ in range(3):
        assert await anna.fill("tasks", size=20, proceed=False, **values) is None
    assert len(anna.rows()) == 30
    refused = await anna.fill("tasks", title_1="One more", proceed=False)
    assert refused is not None
    assert refused.errors == {"title_1": "That would be more than 60 tasks for one day; leave some for another day."}
    assert len((await anna.session()).day.inputs.tasks) == 60
    picker = next(c for c in anna.controls() if getattr(c, "action", "") == "form.task")
    assert len(getattr(picker, "choices", ())) == 30


async def test_stage_3_shows_the_day(harness: Harness, anna: Person) -> None:
    """S48, S121"""
    meeting(harness, "Standup", "09:30", "10:00")
    await anna.to_tasks()
    await anna.fill("tasks", title_1="Report", minutes_1=90, title_2="Book", minutes_2=1000, one_thing="1")
    assert (await anna.session()).planning.overview == (
        "- **09:30–10:00** Standup\n"
        "- **10:00–11:30** Report ⭐ · 1 h 30 min · deep work\n"
        "- **12:30–13:15** Lunch · 45 min · break\n"
        "- **17:30–18:00** Shut down · 30 min · plan review"
    )
    assert "**Did not fit**\n- Book: it needs 16 h 40 min, and the whole day has 9 h" in anna.words
    assert anna.labels() == ["Another day", "Drop it", "Refine", "Back", "Redo step", "Cancel"]


async def test_back_keeps_a_refined_plan_and_drafts_anew_when_something_changed(harness: Harness, anna: Person) -> None:
    """S46, S57: nothing that was done by hand is lost; a fresh draft can be taken back too."""
    await anna.to_refine("Report")
    await anna.choose("Report", "15 min later")
    await anna.press("Back")
    assert "so I kept your plan as you refined it. Redo step drafts it again." in anna.words
    assert "**09:15–10:15** Report" in anna.words
    await anna.press("Back")
    await anna.fill("tasks", title_1="Mail", proceed=True)
    assert "I redrafted your day. To get your previous plan back" in anna.words
    assert "**09:00–10:00** Report" in anna.words
    await anna.press("Refine")
    await anna.press("Undo last update")
    assert "**09:15–10:15** Report" in anna.words
    assert "Mail" not in "".join(anna.rows())


async def test_the_menus_of_stage_4(anna: Person) -> None:
    await anna.to_refine("Report", "Mail")
    assert [c.label for c in anna.menu("Report").choices] == [
        "Edit…",
        "15 min earlier",
        "15 min later",
        "Swap with the next",
        "Remove",
    ]
    assert [c.label for c in anna.menu("Lunch").choices][3] == "Swap with the one before"


async def test_changes_of_blocks(anna: Person) -> None:
    """S49, S51: each says what is different now."""
    await anna.to_refine("Report", "Mail")
    await anna.choose("Report", "Swap with the next")
    assert [r.split(" · ")[0] for r in anna.rows()][:2] == ["**09:00–10:00** Mail", "**10:10–11:10** Report ⭐"]
    await anna.choose("Report", "Swap with the one before")
    assert [r.split(" · ")[0] for r in anna.rows()][:2] == ["**09:00–10:00** Report ⭐", "**10:10–11:10** Mail"]
    await anna.fill_row("Mail", "edit_block", title="Letters", start=time(14, 0), minutes=45, notes="By hand\nin ink")
    assert "“Letters” (new title) is now 14:00–14:45 (was 10:10–11:10)." in anna.words
    assert "**14:00–14:45** Letters · 45 min\nBy hand in ink" in anna.rows()
    await anna.fill_row("Letters", "edit_block")
    assert "That changes nothing; the plan stays as it is." in anna.words
    await anna.fill("add_block", title="Gym", start=time(17, 0), minutes=60, kind="habit")
    assert "“Gym” is in, 17:00–18:00." in anna.words
    await anna.choose("Letters", "Remove")
    assert "“Letters” is out of the plan." in anna.words
    await anna.fill_row("Gym", "edit_block", remove=True)
    assert [r.split("** ")[1].split(" ")[0] for r in anna.rows()] == ["Report", "Lunch", "Shut"]


async def test_a_block_that_would_overlap_is_refused_with_a_remedy(harness: Harness, anna: Person) -> None:
    """S67: where nothing can get out of its way."""
    meeting(harness, "Workshop", "13:15", "23:45")
    meeting(harness, "Travel", "00:00", "09:00")
    meeting(harness, "Standup", "11:15", "12:30")
    await anna.to_refine("Report", "Mail")
    before = anna.rows()
    remedy = (
        "“Mail” starts at 09:30, but “Report” runs until 10:00."
        " Move one of them first, make one shorter, or let them trade places."
    )
    refused = await anna.fill_row("Mail", "edit_block", start=time(9, 30))
    assert refused == FormErrors(errors={"start": remedy}), "said while the form is still open"
    assert (anna.rows(), harness.calendar.writes) == (before, [])
    await anna.fill_row("Mail", "edit_block", start=time(10, 0))
    await anna.choose("Mail", "15 min earlier")
    assert "⚠️ “Mail” starts at 09:45, but “Report” runs until 10:00." in anna.words


async def test_what_is_in_the_way_of_a_block_is_moved_and_said(harness: Harness, anna: Person) -> None:
    """S49, S51, S55: one update, written and taken back as one."""
    await anna.to_refine("Report", "Mail")
    before = anna.rows()
    assert await anna.fill_row("Mail", "edit_block", start=time(9, 30)) is None
    assert harness.on_calendar() == {"Mail": "09:30-10:30", "Report": "10:30-11:30", "Lunch": "12:30-13:15"}
    said = (
        "“Mail” is now 09:30–10:30 (was 10:10–11:10). To make it fit, “Report” moves to 10:30–11:30 (was 09:00–10:00)."
    )
    assert said in anna.words
    await anna.press("Undo last update")
    assert anna.rows() == before


async def test_a_block_cannot_leave_the_day(anna: Person) -> None:
    await anna.to_refine("Report")
    await anna.fill_row("Report", "edit_block", start=time(0, 5))
    await anna.choose("Report", "15 min earlier")
    assert "⚠️ That would leave the day you are planning; choose a time on it or in the night after it." in anna.words


async def test_the_last_block_cannot_be_swapped_further(anna: Person) -> None:
    await anna.to_refine("Report")
    last = anna.menu("Shut down").target
    await anna.click("block.swap_down", last)
    assert "⚠️ “Shut down” is the last block of the day, so there is none to swap with." in anna.words


async def test_a_block_that_is_gone(anna: Person) -> None:
    await anna.to_refine("Report")
    gone = anna.menu("Report").target
    await anna.choose("Report", "Remove")
    await anna.click("block.later", gone)
    assert "⚠️ That block is not in the plan any more." in anna.words


async def test_adding_what_did_not_fit_makes_it_fit(anna: Person) -> None:
    await anna.to_tasks()
    await anna.fill("tasks", title_1="Book", minutes_1=1000)
    await anna.press("Refine")
    assert "Did not fit" in anna.words
    await anna.fill("add_block", title="book", start=time(9, 0), minutes=120)
    assert "Did not fit" not in anna.words


async def test_forty_blocks_fit_on_the_card(anna: Person) -> None:
    await anna.to_tasks()
    for batch in (0, 20):
        rows = range(1, 21)
        values: dict[str, Any] = {f"title_{n}": f"Step {batch + n}" for n in rows}
        values |= {f"minutes_{n}": 10 for n in rows} | {f"kind_{n}": "shallow" for n in rows}
        await anna.fill("tasks", size=20, proceed=batch == 20, **values)
    await anna.press("Refine")
    assert len(anna.rows()) == 30
    assert len(anna.card.parts) <= 48
    picker = next(c for c in anna.controls() if isinstance(c, Select))
    assert picker.action == "form.edit_block"
    choices = picker.choices
    assert [c.label for c in choices][-2] == "16:05–16:15 Step 38"
    assert await anna.fill("edit_block", target=choices[-2].value, minutes=30) is None
    assert "“Step 38” is now 16:05–16:35 (was 16:05–16:15)." in anna.words


async def test_words_without_a_model_move_nothing(anna: Person) -> None:
    """K4, S104, S124: no text changes anything but the card, which comes again below it."""
    await anna.to_refine("Report")
    before = await anna.session()
    for text in ("undo", "cancel please", "yes, proceed", "move the report to 11:00", ""):
        await anna.says(text)
        assert "There is no language model connected, so I cannot read messages here" in anna.words
    after = await anna.session()
    assert (after.stage, after.status, after.planning.plan) == (before.stage, before.status, before.planning.plan)


async def test_the_day_cannot_change_under_written_blocks(harness: Harness, anna: Person) -> None:
    await anna.to_refine("Report")
    await anna.choose("Report", "15 min later")
    for _ in range(4):
        await anna.press("Back")
    await anna.pick("choose_date", date(2026, 3, 3))
    assert "⚠️ Blocks for Monday 2 March are on your calendar. Take them off in Refine first" in anna.words
    session_id, now = anna.session_id, harness.clock.now()
    await anna.send(ChooseDate(command_id="zone", user_id=anna.user, at=now, session_id=session_id, tz="Asia/Tokyo"))
    assert "Take them off in Refine first, then choose the time zone again." in anna.words
    assert harness.on_calendar() == {"Report": "09:15-10:15", "Lunch": "12:30-13:15"}


async def test_another_day_keeps_tasks_and_drops_the_plan(harness: Harness, anna: Person) -> None:
    await anna.to_skeleton("Report")
    for _ in range(3):
        await anna.press("Back")
    await anna.pick("choose_date", date(2026, 3, 3))
    await anna.press("Plan this day")
    await anna.press("Continue")
    await anna.press("Continue")
    assert anna.root == "Planning Tuesday 3 March: a first draft, 3 blocks"
    session = await anna.session()
    assert session.planning.plan is not None
    assert session.planning.plan.date == date(2026, 3, 3)

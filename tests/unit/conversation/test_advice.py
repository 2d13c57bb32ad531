"""Suggestions for a better plan, on the card with a button each; a click is a change like any other (S50, S55)."""

from __future__ import annotations

from datetime import timedelta

from tests.unit.conversation.person import Harness, Person, meeting

from fateforger.session.cards import Button, Select
from fateforger.session.draft import STALE_FIX

BREAK = "Add a break after “Report”"


def fixes(anna: Person) -> list[Button]:
    return [c for c in anna.controls() if isinstance(c, Button) and c.action == "plan.fix"]


async def crowd_day(anna: Person) -> None:
    """Put Mail right behind the report, without lunch and without an end of the day."""
    await anna.to_refine("Report", "Mail")
    await anna.choose("Lunch", "Remove")
    await anna.choose("Shut down", "Remove")
    await anna.fill_row("Mail", "edit_block", start="10:00")


async def test_the_card_names_what_is_missing_and_offers_what_helps(anna: Person) -> None:
    await crowd_day(anna)
    assert "Quality 2 of 4, Okay. Leave ten minutes between “Report” and “Mail”." in anna.words
    assert "What would make it even better:\n- Put a meal or a real pause into the day." in anna.words
    assert [button.label for button in fixes(anna)] == [
        BREAK,
        "Add lunch at 12:30",
        "Add 30 min to shut down at 17:30",
    ]


async def test_one_tap_makes_the_change_and_undo_takes_it_back(harness: Harness, anna: Person) -> None:
    """S49, S51, S55: the change is described, and is on the calendar with one update."""
    await crowd_day(anna)
    before = harness.on_calendar()
    await anna.press(BREAK)
    assert harness.on_calendar() == {"Report": "09:00-10:00", "Break": "10:00-10:10", "Mail": "10:10-11:10"}
    assert "“Break” is in, 10:00–10:10. “Mail” is now 10:10–11:10 (was 10:00–11:00)." in anna.words
    assert BREAK not in [button.label for button in fixes(anna)]
    await anna.press("Undo last update")
    assert harness.on_calendar() == before
    assert BREAK in [button.label for button in fixes(anna)]


async def test_an_offer_is_good_after_a_restart(harness: Harness, anna: Person) -> None:
    await crowd_day(anna)
    harness.restart()
    await anna.press(BREAK)
    assert harness.on_calendar()["Break"] == "10:00-10:10"


async def test_an_offer_for_a_plan_that_is_gone_changes_nothing(harness: Harness, anna: Person) -> None:
    """A second tap, or one on an older card: kindly refused, with what helps now."""
    await crowd_day(anna)
    old = next(button for button in fixes(anna) if button.label == BREAK)
    await anna.fill_row("Mail", "edit_block", start="15:00")
    before = harness.on_calendar()
    await anna.click(old.action, old.target)
    assert STALE_FIX in anna.words
    assert harness.on_calendar() == before
    assert [button.label for button in fixes(anna)] == ["Add lunch at 12:30", "Add 30 min to shut down at 17:30"]


async def test_what_the_calendar_shows_by_now_decides(harness: Harness, anna: Person) -> None:
    """S200: a meeting came meanwhile where lunch was to be."""
    await crowd_day(anna)
    meeting(harness, "Standup", "12:15", "14:00")
    await anna.press("Add lunch at 12:30")
    assert STALE_FIX in anna.words
    assert "Lunch" not in harness.on_calendar()


async def test_what_is_past_is_left_alone(harness: Harness, anna: Person) -> None:
    """On the day itself, at ten past ten, no break can be put behind the report any more."""
    await crowd_day(anna)
    harness.clock.at += timedelta(hours=3, minutes=10)
    await anna.press("Redo step")
    assert [button.label for button in fixes(anna)] == ["Add lunch at 12:30", "Add 30 min to shut down at 17:30"]


async def test_only_the_step_that_changes_blocks_offers_changes(anna: Person) -> None:
    await anna.to_skeleton("Report", "Mail")
    assert fixes(anna) == []
    await anna.press("Refine")
    assert fixes(anna) == []  # a fresh draft has what its policy asks for
    await anna.choose("Lunch", "Remove")
    assert fixes(anna) != []
    await anna.press("Commit to calendar")
    await anna.press("Commit anyway")
    assert (fixes(anna), (await anna.session()).planning.fixes) == ([], ())


ONE_THING = "Quality 3 of 4, Detailed. Say which task is the one thing that matters."
BEST = "Quality 4 of 4, Ultra. There is nothing to improve."


async def test_the_grade_is_that_of_the_plan_as_it_is_on_the_calendar_now(anna: Person) -> None:
    """S50: the one thing is asked for until the plan is on the calendar, and again once it is off."""
    await anna.to_tasks()
    await anna.fill("tasks", size=3, title_1="Report", minutes_1=60, title_2="Mail", minutes_2=60)
    assert ONE_THING in anna.words
    await anna.press("Refine")
    assert ONE_THING in anna.words
    await anna.choose("Mail", "15 min later")
    assert BEST in anna.words
    await anna.press("Undo last update")
    assert ONE_THING in anna.words
    await anna.press("Commit to calendar")
    assert BEST in anna.words
    await anna.press("Undo")
    assert ONE_THING in anna.words


async def test_the_one_thing_is_named_where_it_is_asked_for(harness: Harness, anna: Person) -> None:
    """S404: on the draft, which puts it first, and on the plan, which makes room for it; Undo last update takes it back."""
    await anna.to_tasks()
    await anna.fill("tasks", size=3, title_1="Report", minutes_1=60, title_2="Mail", minutes_2=60)
    assert ONE_THING in anna.words
    mail = next(choice for choice in one_thing(anna).choices if choice.label == "Mail")
    await anna.click("task.one_thing", value=mail.value)
    assert "“Mail” is now the one thing that matters." in anna.words
    assert "**09:00–10:00** Mail ⭐" in anna.words
    assert BEST in anna.words
    assert "task.one_thing" not in [getattr(each, "action", "") for each in anna.controls()]


async def test_the_one_thing_can_still_be_named_on_the_plan(harness: Harness, anna: Person) -> None:
    """S404: as one change, which Undo last update takes back."""
    await anna.to_tasks()
    await anna.fill("tasks", size=3, title_1="Report", minutes_1=60, title_2="Mail", minutes_2=60)
    await anna.press("Refine")
    report = next(choice for choice in one_thing(anna).choices if choice.label == "Report")
    await anna.click("task.one_thing", value=report.value)
    assert "“Report” is now the one thing that matters." in anna.words
    assert BEST in anna.words
    await anna.press("Undo last update")
    assert ONE_THING in anna.words
    assert one_thing(anna).choices


def one_thing(anna: Person) -> Select:
    """Return the list from which the one thing is chosen."""
    return next(c for c in anna.controls() if isinstance(c, Select) and c.action == "task.one_thing")


async def test_what_is_after_hours_does_not_end_the_day(anna: Person) -> None:
    """S423: the draft shuts down when the work of the day is over, so no advice asks for it again."""
    await anna.to_tasks()
    await anna.fill("tasks", deep="Report, 2 h\nTaxes, 2 h", other="Gym at 19:00, 1 h", first=True)
    assert "Shut down" in anna.words
    assert "to look back and shut down" not in anna.words


async def test_work_at_a_given_time_may_end_the_day(anna: Person) -> None:
    """S440: as a meeting may."""
    await anna.to_tasks()
    await anna.fill("tasks", deep="Report, 2 h\nTaxes, 2 h", other="Gym at 17:00, 1 h", first=True)
    assert "to look back and shut down" not in anna.words
    await anna.press("Refine")
    rows = anna.rows()
    assert "Shut down" in rows[-2], rows
    assert "Gym" in rows[-1], rows
    await anna.choose("Shut down", "Remove")
    assert "to look back and shut down" not in anna.words

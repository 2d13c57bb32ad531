"""The writes to come, in words, before anything is written (S212); and the time of writing (K1)."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.google_calendar import Answer, Fail
from tests.unit.conversation.person import House, Person, meeting, open_house_at
from tests.unit.conversation.test_person_edits import drag, event

from fateforger.calendar.ports import Rejected
from fateforger.errors import CalendarUnreachable


async def test_the_preview_is_what_is_then_written(tmp_path: Path) -> None:
    """K1, S212: in commit mode it is on the card, writes nothing, not even to the journal, and the commit does just
    that."""
    house = await open_house_at(tmp_path, calendar_write="commit")
    anna = Person(house)
    await anna.to_committed("Report", "Mail", "Calls")
    await anna.press("Back to refine")
    await anna.choose("Mail", "15 min later")
    await anna.choose("Calls", "Remove")
    await anna.fill("add_block", title="Walk", start=house.clock.at.time().replace(hour=15), minutes=30)
    assert "Nothing goes to your calendar before you commit; Preview shows what would." in anna.words
    shown, history = house.on_calendar(), await house.submitter.history(house.clock.at.date())
    await anna.press("Preview")
    assert "**1 to add, 1 to move, 1 to remove**" in anna.beside("preview")
    assert "- Add “Walk” 15:00–15:30" in anna.beside("preview")
    assert "- Move “Mail” from 10:10 to 10:25" in anna.beside("preview")
    assert "- Remove “Calls” 11:20–12:20" in anna.beside("preview")
    assert (house.on_calendar(), await house.submitter.history(house.clock.at.date())) == (shown, history)
    await anna.press("Commit to calendar")
    assert "**1 created, 1 updated, 1 deleted, 3 unchanged**" in anna.words
    assert anna.beside("preview") == "Preview of 08:00: out of date, because something changed since."
    await house.close()


async def test_a_preview_looks_at_the_calendar_and_keeps_nothing_of_it(house: House, anna: Person) -> None:
    """S202: what the person changed there is taken into account, and is still news for the next change."""
    await anna.to_refine("Report", "Mail")
    await anna.choose("Mail", "15 min later")
    house.calendar.inject(Answer(Rejected("No.")), verb="update")
    await anna.choose("Report", "15 min later")
    house.calendar.calm()
    drag(house, "Lunch", 60)
    before = await anna.session()
    await anna.press("Preview")
    after = await anna.session()
    assert "- Move “Report” from 09:00 to 09:15" in anna.beside("preview")
    assert "You changed “Lunch” on your calendar" in anna.beside("preview")
    assert (after.planning.plan, after.day.snapshot, after.sync.problem) == (
        before.planning.plan,
        before.day.snapshot,
        before.sync.problem,
    )
    await anna.press("Try again")
    assert house.on_calendar() == {"Report": "09:15-10:15", "Mail": "10:25-11:25", "Lunch": "13:30-14:15"}


async def test_brakes_and_linked_events_are_in_the_preview(tmp_path: Path) -> None:
    house = await open_house_at(tmp_path, calendar_write="commit")
    anna = Person(house)
    await anna.to_committed("Report", "Mail")
    for title in ("Report", "Mail", "Lunch", "Shut down"):
        house.calendar.store.user_delete(event(house, title).id)
    meeting(house, "Walk", "15:00", "15:30")
    await anna.press("Back to refine")
    await anna.fill("add_block", title="Walk", start=house.clock.at.time().replace(hour=15), minutes=30)
    await anna.press("Preview")
    assert "⚠️ All 4 blocks that I wrote are gone from your calendar" in anna.beside("preview")
    assert "I ask before I write that." in anna.beside("preview")
    assert "“Walk” is on your calendar already" in anna.beside("preview")
    await house.close()


async def test_a_calendar_that_cannot_be_read_is_said(house: House, anna: Person) -> None:
    await anna.to_refine("Report")
    for nth in range(12):
        house.calendar.inject(Fail(CalendarUnreachable("Away.")), verb="window", nth=nth)
    await anna.press("Preview")
    assert "⚠️ Away." in anna.beside("preview")


async def test_no_preview_where_the_calendar_shows_the_plan(house: House, anna: Person) -> None:
    await anna.to_refine("Report")
    assert "Preview" in anna.labels()
    await anna.choose("Report", "15 min later")
    assert "Preview" not in anna.labels()


async def test_when_to_write_is_the_persons_choice(house: House, anna: Person) -> None:
    """K1: the choice holds for this session and their next one, above the setting."""
    await anna.to_refine("Report", "Mail")
    await anna.pick("set_calendar_write", "commit")
    assert "From now on nothing goes to your calendar before you commit" in anna.words
    await anna.choose("Report", "15 min later")
    assert house.on_calendar() == {}
    await anna.pick("set_calendar_write", "refine")
    assert "Your first change puts the plan on your calendar" in anna.words
    await anna.choose("Report", "15 min later")
    assert house.on_calendar()["Report"] == "09:30-10:30"
    await anna.pick("set_calendar_write", "commit")
    later = Person(house)
    await later.start(thread="9.0")
    assert (await later.session()).options.calendar_write == "commit"

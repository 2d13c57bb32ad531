"""The writes to come, in words, before anything is written (S212); and the time of writing (K1)."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.google_calendar import Answer, CallFailure
from tests.unit.conversation.person import Harness, Person, meeting, open_harness_at
from tests.unit.conversation.test_person_edits import drag, event

from fateforger.calendar.ports import Rejected
from fateforger.errors import CalendarUnreachable


async def test_the_preview_is_what_is_then_written(tmp_path: Path) -> None:
    """K1, S212: in commit mode it is on the card, writes nothing, not even to the journal, and the commit does just
    that."""
    harness = await open_harness_at(tmp_path, calendar_write="commit")
    anna = Person(harness)
    await anna.to_committed("Report", "Mail", "Calls")
    await anna.press("Back to refine")
    await anna.choose("Mail", "15 min later")
    await anna.choose("Calls", "Remove")
    await anna.fill("add_block", title="Walk", start=harness.clock.at.time().replace(hour=15), minutes=30)
    assert "Nothing goes to your calendar before you commit; Preview shows what would." in anna.words
    shown, history = harness.on_calendar(), await harness.submitter.history(harness.clock.at.date())
    await anna.press("Preview")
    assert "**1 to add, 1 to move, 1 to remove**" in anna.beside("preview")
    assert "- Add “Walk” 15:00–15:30" in anna.beside("preview")
    assert "- Move “Mail” from 10:10 to 10:25" in anna.beside("preview")
    assert "- Remove “Calls” 11:20–12:20" in anna.beside("preview")
    assert (harness.on_calendar(), await harness.submitter.history(harness.clock.at.date())) == (shown, history)
    await anna.press("Commit to calendar")
    assert "**1 created, 1 updated, 1 deleted, 3 unchanged**" in anna.words
    assert anna.beside("preview") == "Preview of 08:00: out of date, because something changed since."
    await harness.close()


async def test_a_preview_looks_at_the_calendar_and_keeps_nothing_of_it(harness: Harness, anna: Person) -> None:
    """S202: what the person changed there is taken into account, and is still news for the next change."""
    await anna.to_refine("Report", "Mail")
    await anna.choose("Mail", "15 min later")
    harness.calendar.inject(Answer(Rejected("No.")), verb="update")
    await anna.choose("Report", "15 min later")
    harness.calendar.calm()
    drag(harness, "Lunch", 60)
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
    assert harness.on_calendar() == {"Report": "09:15-10:15", "Mail": "10:25-11:25", "Lunch": "13:30-14:15"}


async def test_brakes_and_linked_events_are_in_the_preview(tmp_path: Path) -> None:
    harness = await open_harness_at(tmp_path, calendar_write="commit")
    anna = Person(harness)
    await anna.to_committed("Report", "Mail")
    for title in ("Report", "Mail", "Lunch", "Shut down"):
        harness.calendar.store.user_delete(event(harness, title).id)
    meeting(harness, "Walk", "15:00", "15:30")
    await anna.press("Back to refine")
    await anna.fill("add_block", title="Walk", start=harness.clock.at.time().replace(hour=15), minutes=30)
    await anna.press("Preview")
    assert "⚠️ All 4 blocks that I wrote are gone from your calendar" in anna.beside("preview")
    assert "I ask before I write that." in anna.beside("preview")
    assert "“Walk” is on your calendar already" in anna.beside("preview")
    await harness.close()


async def test_a_calendar_that_cannot_be_read_is_said(harness: Harness, anna: Person) -> None:
    await anna.to_refine("Report")
    for nth in range(12):
        harness.calendar.inject(CallFailure(CalendarUnreachable("Away.")), verb="window", nth=nth)
    await anna.press("Preview")
    assert "⚠️ Away." in anna.beside("preview")


async def test_no_preview_where_the_calendar_shows_the_plan(harness: Harness, anna: Person) -> None:
    await anna.to_refine("Report")
    assert "Preview" in anna.labels()
    await anna.choose("Report", "15 min later")
    assert "Preview" not in anna.labels()


async def test_when_to_write_is_the_persons_choice(harness: Harness, anna: Person) -> None:
    """K1: the choice holds for this session and their next one, above the setting."""
    await anna.to_refine("Report", "Mail")
    await anna.pick("set_calendar_write", "commit")
    assert "From now on nothing goes to your calendar before you commit" in anna.words
    await anna.choose("Report", "15 min later")
    assert harness.on_calendar() == {}
    await anna.pick("set_calendar_write", "refine")
    assert "Your first change puts the plan on your calendar" in anna.words
    await anna.choose("Report", "15 min later")
    assert harness.on_calendar()["Report"] == "09:30-10:30"
    await anna.pick("set_calendar_write", "commit")
    later = Person(harness)
    await later.start(thread="9.0")
    assert (await later.session()).options.calendar_write == "commit"

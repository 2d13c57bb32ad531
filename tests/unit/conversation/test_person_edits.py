"""The person's changes on the calendar itself are theirs: they flow into the plan, with a note (S200, S202, S242)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.unit.conversation.person import Harness, Person, meeting, open_harness_at

from fateforger.calendar.event import EventImage
from fateforger.errors import StoreUnavailable
from fateforger.session.messages import Outgoing
from fateforger.session.model import Session
from fateforger.session.store import Sessions


def event(harness: Harness, title: str) -> EventImage:
    return next(e for e in harness.calendar.store.get_live_events().values() if e.summary == title)


def drag(harness: Harness, title: str, minutes: int) -> None:
    image = event(harness, title)
    assert isinstance(image.start, datetime)
    assert isinstance(image.end, datetime)
    by = timedelta(minutes=minutes)
    harness.calendar.store.user_edit(image.id, start=image.start + by, end=image.end + by)


async def test_a_dragged_block_moves_in_the_plan(harness: Harness, anna: Person) -> None:
    """S242: adopted before the next change, and not reverted by it."""
    await anna.to_committed("Report", "Mail")
    drag(harness, "Mail", 240)
    await anna.press("Back to refine")
    assert "**14:10–15:10** Mail" in anna.words
    assert "You changed “Mail” on your calendar" in anna.words
    await anna.choose("Report", "15 min later")
    assert harness.on_calendar() == {"Report": "09:15-10:15", "Mail": "14:10-15:10", "Lunch": "12:30-13:15"}
    assert "Calendar: 1 updated." in anna.words


async def test_a_deleted_block_stays_deleted(harness: Harness, anna: Person) -> None:
    await anna.to_committed("Report", "Mail", "Calls")
    harness.calendar.store.user_delete(event(harness, "Mail").id)
    await anna.press("Redo step")
    assert "“Mail” is no longer on your calendar, so it stays off." in anna.words
    assert sorted(harness.on_calendar()) == ["Calls", "Lunch", "Report"]
    await anna.press("Back to refine")
    assert [row.split("** ")[1].split(" ·")[0] for row in anna.rows()] == ["Report ⭐", "Calls", "Lunch", "Shut down"]


async def test_a_renamed_block_is_renamed_in_the_plan(harness: Harness, anna: Person) -> None:
    await anna.to_committed("Report")
    harness.calendar.store.user_edit(event(harness, "Report").id, summary="Annual report")
    await anna.press("Back to refine")
    assert "**09:00–10:00** Annual report" in anna.words


async def test_undo_keeps_what_the_person_changed(harness: Harness, anna: Person) -> None:
    """S239: an edited block stays on the calendar, and a note says so."""
    await anna.to_committed("Report", "Mail")
    drag(harness, "Mail", 60)
    await anna.press("Undo")
    assert harness.on_calendar() == {"Mail": "11:10-12:10"}
    assert "I left “Mail” on your calendar: you changed it since." in anna.words


async def test_undo_calls_a_renamed_block_as_it_is_called_now(harness: Harness, anna: Person) -> None:
    """S239"""
    await anna.to_committed("Report", "Mail")
    harness.calendar.store.user_edit(event(harness, "Mail").id, summary="Post")
    await anna.press("Undo")
    assert "I left “Mail” (now “Post”) on your calendar: you changed it since." in anna.words


async def test_a_new_meeting_is_seen_before_the_next_change(harness: Harness, anna: Person) -> None:
    """S202, K9: the day is read again. The change applies to the plan as shown; then the plan avoids the meeting."""
    await anna.to_refine("Report")
    meeting(harness, "Fire drill", "09:30", "10:30")
    await anna.choose("Report", "15 min later")
    assert "“Report” is now 09:15–10:15 (was 09:00–10:00)." in anna.words
    assert "This is on your calendar now: “Fire drill, 09:30–10:30”. So I changed your plan." in anna.words
    assert "Meetings: 09:30–10:30 Fire drill" in anna.words
    assert harness.on_calendar()["Report"] == "10:30-11:30"
    await anna.press("Undo last update")
    assert "**09:00–10:00** Report" in anna.words


async def test_a_new_meeting_makes_the_draft_stale(harness: Harness, anna: Person) -> None:
    """S46: going on from the tasks again drafts around it."""
    await anna.to_skeleton("Report")
    meeting(harness, "Fire drill", "09:00", "10:00")
    await anna.press("Back")
    await anna.press("Continue")
    assert "- **09:00–10:00** Fire drill\n- **10:00–11:00** Report ⭐" in anna.words


async def test_a_block_dragged_onto_another_does_not_lock_the_plan(harness: Harness, anna: Person) -> None:
    """Two blocks overlap because the person wants it so; the others can still be changed once they are apart again, and
    the plan says what is in the way."""
    await anna.to_committed("Report", "Mail")
    drag(harness, "Mail", -40)
    await anna.press("Back to refine")
    assert "**09:30–10:30** Mail" in anna.words
    await anna.choose("Lunch", "15 min later")
    assert "**12:45–13:30** Lunch" in anna.words
    assert "“Mail” starts at 09:30, but “Report” runs until 10:00." in anna.words
    for _ in range(2):
        await anna.choose("Mail", "15 min later")
    assert harness.on_calendar() == {"Report": "09:00-10:00", "Mail": "10:00-11:00", "Lunch": "12:45-13:30"}
    assert "⚠️" not in anna.words


async def test_a_meeting_put_over_a_block_by_its_title_is_linked_and_said(harness: Harness, anna: Person) -> None:
    await anna.to_refine("Report")
    meeting(harness, "Report", "09:00", "10:00")
    await anna.press("Commit to calendar")
    assert "“Report” is on your calendar already, 09:00–10:00." in anna.words
    assert "**2 created, 1 unchanged**" in anna.words


async def test_moving_a_dragged_block_back_is_a_wish(harness: Harness, anna: Person) -> None:
    """S201: the person drags a block, sees it in the plan, and puts it back where it was with a button."""
    await anna.to_committed("Report", "Mail")
    drag(harness, "Mail", 15)
    await anna.press("Back to refine")
    await anna.choose("Mail", "15 min earlier")
    assert harness.on_calendar()["Mail"] == "10:10-11:10"
    assert "**10:10–11:10** Mail" in anna.words


async def test_dragging_and_changing_another_block_in_one_go(harness: Harness, anna: Person) -> None:
    """S202: the drag is seen just before the change, and both stand."""
    await anna.to_refine("Report", "Mail")
    await anna.choose("Mail", "15 min later")
    drag(harness, "Mail", 180)
    await anna.choose("Report", "15 min later")
    assert harness.on_calendar() == {"Report": "09:15-10:15", "Mail": "13:25-14:25", "Lunch": "12:30-13:15"}
    assert "You changed “Mail” on your calendar" in anna.words
    assert "“Report” is now 09:15–10:15 (was 09:00–10:00)." in anna.words
    await anna.press("Commit to calendar")
    assert harness.on_calendar()["Mail"] == "13:25-14:25"


async def test_a_draft_that_waits_is_not_reset_to_what_was_shown(tmp_path: Path) -> None:
    """K1 commit: a change made after the drag was shown survives later reads, and wins at the commit, with a note."""
    harness = await open_harness_at(tmp_path, calendar_write="commit")
    anna = Person(harness)
    await anna.to_committed("Report", "Mail")
    drag(harness, "Mail", 180)
    await anna.press("Back to refine")
    assert "**13:10–14:10** Mail" in anna.words
    await anna.choose("Report", "15 min later")
    await anna.choose("Mail", "15 min later")
    await anna.choose("Report", "15 min later")
    assert "**13:25–14:25** Mail" in anna.words
    await anna.press("Commit to calendar")
    assert harness.on_calendar() == {"Report": "09:30-10:30", "Mail": "13:25-14:25", "Lunch": "12:30-13:15"}
    await harness.close()


async def test_dragging_a_block_back_where_an_earlier_look_saw_it_is_news(harness: Harness, anna: Person) -> None:
    """S242: what we wrote in between counts as seen."""
    await anna.to_committed("Report", "Mail")
    await anna.press("Back to refine")
    await anna.choose("Mail", "15 min later")
    drag(harness, "Mail", -15)
    await anna.press("Redo step")
    assert "**10:10–11:10** Mail" in anna.words
    assert "You changed “Mail” on your calendar" in anna.words


class FullDisk:
    """The sessions of a store that cannot be written to when a card goes along."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sessions, name)

    async def save(self, session: Session, *, expected: int, outgoing: Sequence[Outgoing] = ()) -> Session:
        if outgoing:
            raise StoreUnavailable("The disk is full.")
        return await self._sessions.save(session, expected=expected)


async def test_a_change_that_was_seen_survives_a_crash_before_the_card(harness: Harness, anna: Person) -> None:
    """S200, S242: the engine has noted the person's own change, the session was not saved; it is theirs all the same."""
    await anna.to_committed("Report", "Mail")
    drag(harness, "Mail", 240)
    harness.sessions = FullDisk(harness.store.sessions)
    harness.restart()
    with pytest.raises(StoreUnavailable):
        await anna.press("Back to refine")
    harness.sessions = None
    harness.restart()
    await anna.press("Back to refine")
    await anna.choose("Report", "15 min later")
    assert harness.on_calendar() == {"Report": "09:15-10:15", "Mail": "14:10-15:10", "Lunch": "12:30-13:15"}


async def test_what_was_brought_back_stays_when_all_is_taken_back(harness: Harness, anna: Person) -> None:
    """S414: the block was left to the person, so Undo leaves it there, and says so."""
    await anna.to_committed("Report", "Mail")
    mail = event(harness, "Mail").id
    harness.calendar.store.user_delete(mail)
    await anna.press("Back to refine")
    harness.calendar.store.user_restore(mail)
    await anna.choose("Report", "15 min later")
    assert "“Mail”: You brought it back, so I left it to you." in anna.words
    assert "Meetings: 10:10–11:10 Mail" in anna.words, "it is an appointment like any other now"
    await anna.press("Commit to calendar")
    await anna.press("Undo")
    assert "Taken back: I removed 3 blocks from your calendar." in anna.words
    assert "I left “Mail” on your calendar: it is yours now." in anna.words
    assert harness.on_calendar(whole=True) == {"Mail": "10:10-11:10"}


async def test_what_was_brought_back_unseen_stays_when_all_is_taken_back(harness: Harness, anna: Person) -> None:
    """S414: also if nothing was read since, and if the program had deleted it."""
    await anna.to_committed("Report", "Mail", "Calls")
    mail, calls = event(harness, "Mail").id, event(harness, "Calls").id
    harness.calendar.store.user_delete(mail)
    await anna.press("Back to refine")
    await anna.choose("Calls", "Remove")
    for event_id in (mail, calls):
        harness.calendar.store.user_restore(event_id)
    await anna.press("Take all of it off the calendar")
    assert "I left “Mail” on your calendar: you brought it back." in anna.words
    assert "I left “Calls” on your calendar: you brought it back." in anna.words
    assert sorted(harness.on_calendar(whole=True)) == ["Calls", "Mail"]


async def test_what_was_brought_back_and_planned_again_is_theirs_after_an_undo(harness: Harness, anna: Person) -> None:
    """S414: the second Undo leaves the block, and so does the plan that then drops it."""
    await anna.to_committed("Report", "Mail")
    mail = event(harness, "Mail").id
    await anna.press("Undo")
    harness.calendar.store.user_restore(mail)
    await anna.press("Commit to calendar")
    await anna.press("Undo")
    assert harness.on_calendar(whole=True) == {"Mail": "10:10-11:10"}
    await anna.choose("Mail", "Remove")
    assert mail in harness.calendar.store.get_live_events()


async def test_what_was_brought_back_stays_theirs_though_the_plan_moves_it_and_back(
    harness: Harness, anna: Person
) -> None:
    """S414: Undo of the move goes back to before the plan had it again."""
    await anna.to_committed("Report", "Mail")
    mail = event(harness, "Mail").id
    await anna.press("Back to refine")
    await anna.choose("Mail", "Remove")
    harness.calendar.store.user_restore(mail)
    await anna.press("Undo last update")
    await anna.choose("Mail", "15 min later")
    assert harness.on_calendar()["Mail"] == "10:25-11:25"
    await anna.press("Undo last update")
    await anna.press("Take all of it off the calendar")
    assert "I left “Mail” on your calendar: it is yours now." in anna.words
    assert harness.on_calendar(whole=True) == {"Mail": "10:10-11:10"}


async def test_what_was_brought_back_stays_theirs_though_the_plan_has_it_again(harness: Harness, anna: Person) -> None:
    """S414: the plan has it as before, so nothing is written; that it is a block again is only recorded."""
    await anna.to_committed("Report", "Mail")
    mail = event(harness, "Mail").id
    await anna.press("Back to refine")
    await anna.choose("Mail", "Remove")
    harness.calendar.store.user_restore(mail)
    await anna.press("Undo last update")
    await anna.press("Commit to calendar")
    await anna.press("Undo")
    assert "I left “Mail” on your calendar: it is yours now." in anna.words
    assert harness.on_calendar(whole=True) == {"Mail": "10:10-11:10"}


async def test_an_earlier_event_of_a_block_that_was_brought_back_stays(harness: Harness, anna: Person) -> None:
    """S504: the bin has two events that look the same, and it was not the latest."""
    await anna.to_committed("Report", "Mail")
    first = event(harness, "Mail").id
    await anna.press("Undo")
    await anna.press("Commit to calendar")
    await anna.press("Back to refine")
    await anna.choose("Mail", "Remove")
    harness.calendar.store.user_restore(first)
    await anna.choose("Report", "15 min later")
    assert "Meetings: 10:10–11:10 Mail" in anna.words
    await anna.press("Take all of it off the calendar")
    assert harness.on_calendar(whole=True) == {"Mail": "10:10-11:10"}


async def test_a_block_moved_to_another_day_leaves_the_plan(harness: Harness, anna: Person) -> None:
    """S460: it is not taken for a block at the same time of this day, and stays theirs when it comes back."""
    await anna.to_committed("Report", "Mail")
    drag(harness, "Mail", 24 * 60)
    await anna.press("Back to refine")
    assert "“Mail” is yours now, and not part of the plan: it is on Tuesday 3 March now." in anna.words
    assert "After the end of your day" not in anna.words
    assert [row.split("** ")[1].split(" ·")[0] for row in anna.rows()] == ["Report ⭐", "Lunch", "Shut down"]
    await anna.choose("Report", "15 min later")
    drag(harness, "Mail", -24 * 60)
    await anna.choose("Report", "15 min later")
    assert "Meetings: 10:10–11:10 Mail" in anna.words
    await anna.press("Commit to calendar")
    await anna.press("Undo")
    assert harness.on_calendar() == {"Mail": "10:10-11:10"}


async def test_a_block_moved_past_midnight_stays_in_the_plan(harness: Harness, anna: Person) -> None:
    """S460: a late evening is still this day."""
    await anna.to_committed("Report")
    shut_down = event(harness, "Shut down")
    late = datetime(2026, 3, 2, 23, 15, tzinfo=UTC)
    harness.calendar.store.user_edit(shut_down.id, start=late, end=late + timedelta(minutes=30))
    await anna.press("Back to refine")
    assert "You changed “Shut down” on your calendar, so I kept the start at 00:15 and the end at 00:45." in anna.words


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (lambda store, mail: store.user_edit(mail, extras={"recurrence": ["RRULE:FREQ=WEEKLY"]}), "it repeats now"),
        (
            lambda store, mail: store.user_edit(mail, start=date(2026, 3, 2), end=date(2026, 3, 3)),
            "it is an all-day event now",
        ),
    ],
)
async def test_a_block_that_became_another_kind_of_event_leaves_the_plan(
    harness: Harness, anna: Person, edit: Callable[[Any, str], object], reason: str
) -> None:
    """S460: no write could change it, so a plan that kept it would not be what the calendar shows."""
    await anna.to_committed("Report", "Mail")
    edit(harness.calendar.store, event(harness, "Mail").id)
    await anna.press("Back to refine")
    assert f"“Mail” is yours now, and not part of the plan: {reason}." in anna.words
    assert [row.split("** ")[1].split(" ·")[0] for row in anna.rows()] == ["Report ⭐", "Lunch", "Shut down"]
    shown = harness.calendar.store.get_live_events()
    await anna.choose("Report", "15 min later")
    assert reason not in anna.words, "it is said once"
    assert harness.calendar.store.get_live_events().keys() == shown.keys()


async def test_what_was_left_to_the_person_is_planned_around(harness: Harness, anna: Person) -> None:
    """S461: a block that they added to and took out of the plan is an appointment of theirs, and no free time."""
    await anna.to_committed("Report", "Mail")
    mail = event(harness, "Mail")
    harness.calendar.store.user_edit(mail.id, extras={"location": "Cafe"})
    await anna.press("Back to refine")
    await anna.choose("Mail", "Remove")
    assert "you added a place on your calendar, so I left it to you." in anna.words
    assert "Calendar: nothing to write." in anna.words
    assert "Your calendar matches this plan." in anna.words
    assert "Meetings: 10:10–11:10 Mail" in anna.words
    await anna.choose("Report", "15 min later")
    assert "This is on your calendar now: “Mail, 10:10–11:10”. So I changed your plan." in anna.words
    assert harness.on_calendar() == {"Report": "09:10-10:10", "Mail": "10:10-11:10", "Lunch": "12:30-13:15"}
    await anna.press("Undo last update")
    assert harness.on_calendar() == {"Report": "09:00-10:00", "Mail": "10:10-11:10", "Lunch": "12:30-13:15"}
    assert all("Mail" not in row for row in anna.rows()), "its removal is a change of its own"


async def test_what_an_undo_left_is_an_appointment_of_the_next_plan(harness: Harness, anna: Person) -> None:
    """S461: the plan that ends says that it is there, and the next one neither replaces it nor drafts over it."""
    await anna.to_committed("Report", "Mail")
    drag(harness, "Mail", -70)
    await anna.press("Undo")
    assert "I left “Mail” on your calendar: you changed it since." in anna.words
    await anna.press("Cancel")
    assert "Only what I left to you stays on your calendar." in anna.words
    later = Person(harness)
    await later.to_frame()
    assert "- **09:00–10:00** Mail" in later.words
    assert "earlier plan of mine" not in later.words
    later = Person(harness)
    await later.to_committed("Calls")
    assert harness.on_calendar() == {"Mail": "09:00-10:00", "Calls": "10:00-11:00", "Lunch": "12:30-13:15"}


@pytest.mark.parametrize("minutes", [-180, 210])
async def test_the_lunch_that_an_undo_left_is_that_of_the_next_plan(
    harness: Harness, anna: Person, minutes: int
) -> None:
    """S461: however far it was moved, there is no second one, and nothing is drafted over it."""
    await anna.to_committed("Report", "Mail")
    drag(harness, "Lunch", minutes)
    there = harness.on_calendar()["Lunch"]
    await anna.press("Undo")
    await anna.press("Cancel")
    later = Person(harness)
    await later.to_committed("Calls")
    assert harness.on_calendar() == {"Lunch": there, "Calls": "10:15-11:15" if minutes < 0 else "09:00-10:00"}
    assert "You changed" not in later.words


@pytest.mark.parametrize("way", ["button", "history"])
async def test_undoing_a_change_keeps_what_the_person_changed_after_it(
    harness: Harness, anna: Person, way: str
) -> None:
    """S463: neither at once nor with the next change is an edit of the calendar taken back with a change of the plan."""
    await anna.to_committed("Report", "Mail", "Calls")
    await anna.press("Back to refine")
    await anna.choose("Lunch", "15 min later")
    drag(harness, "Mail", 240)
    harness.calendar.store.user_delete(event(harness, "Calls").id)
    await anna.press("Back")
    await anna.press("Refine")
    if way == "button":
        await anna.press("Undo last update")
        assert "“Lunch” is now 12:30–13:15 (was 12:45–13:30)." in anna.words
        assert "“Mail”" not in anna.words
    else:
        await anna.press("History")
        await anna.press_beside("history", "Undo", row="Your change")
    assert "Your calendar matches this plan." in anna.words
    await anna.choose("Report", "15 min later")
    assert harness.on_calendar() == {"Report": "09:15-10:15", "Mail": "14:10-15:10", "Lunch": "12:30-13:15"}


async def test_restoring_a_change_keeps_what_the_person_changed_before_that(harness: Harness, anna: Person) -> None:
    """S463: the plan that comes back has the edits of the calendar that were made since it was left."""
    await anna.to_committed("Report", "Mail", "Calls")
    await anna.press("Back to refine")
    await anna.choose("Lunch", "15 min later")
    await anna.press("Undo last update")
    drag(harness, "Mail", 240)
    harness.calendar.store.user_delete(event(harness, "Calls").id)
    await anna.press("Back")
    await anna.press("Refine")
    await anna.press("History")
    await anna.press_beside("history", "Restore")
    assert "Your calendar matches this plan." in anna.words
    await anna.choose("Report", "15 min later")
    assert harness.on_calendar() == {"Report": "09:15-10:15", "Mail": "14:10-15:10", "Lunch": "12:45-13:30"}

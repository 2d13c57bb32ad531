"""A person commits, connects another calendar, and presses Undo: the texts are true, and nothing is lost (S411)."""

from __future__ import annotations

from datetime import time

from tests.fakes.google_calendar import GoogleCalendarFake
from tests.unit.conversation.person import Harness, Person

ELSEWHERE = "I wrote that to a different calendar than the one I use now. Connect that calendar again to take it back"
STAYS = (
    "What I wrote to the calendar that you used before stays there. To take it back, connect that calendar again and"
)


def connect(harness: Harness, calendar: GoogleCalendarFake) -> None:
    harness.calendar = calendar
    harness.restart()


async def test_undo_waits_for_the_calendar_that_was_written_to(anna: Person, harness: Harness) -> None:
    """S411"""
    await anna.to_committed()
    first, committed = harness.calendar, harness.on_calendar()
    connect(harness, GoogleCalendarFake(key="another"))
    await anna.press("Undo")
    assert ELSEWHERE in anna.words
    assert "Nothing has changed." in anna.words
    connect(harness, first)
    assert harness.on_calendar() == committed
    assert "Since you began" not in anna.words
    await anna.press("Undo")
    assert "Taken back: I removed 5 blocks from your calendar." in anna.words
    assert harness.on_calendar(whole=True) == {}


async def test_a_single_change_waits_too(anna: Person, harness: Harness) -> None:
    """S411: the plan keeps the change, because the calendar that it was written to keeps it."""
    await anna.to_refine()
    await anna.fill("add_block", title="Ring mum", start=time(16, 0), minutes=30)
    first, written = harness.calendar, harness.on_calendar()
    connect(harness, GoogleCalendarFake(key="another"))
    await anna.press("Undo last update")
    assert ELSEWHERE in anna.words
    assert "Ring mum" in anna.words
    connect(harness, first)
    assert harness.on_calendar() == written
    await anna.press("Undo last update")
    assert "“Ring mum” is out of the plan." in anna.words
    assert harness.on_calendar() == {}


async def test_what_stays_on_the_other_calendar_is_said(anna: Person, harness: Harness) -> None:
    """S411: the plan was written to both; Undo takes it off the one that is connected, and the card counts that."""
    await anna.to_committed()
    first, committed = harness.calendar, harness.on_calendar()
    connect(harness, GoogleCalendarFake(key="another"))
    await anna.press("Back to refine")
    await anna.press("Commit to calendar")
    assert harness.on_calendar() == committed
    await anna.press("Undo")
    assert "Taken back: I removed 5 blocks from your calendar." in anna.words
    assert STAYS in anna.words
    assert harness.on_calendar(whole=True) == {}
    connect(harness, first)
    assert harness.on_calendar() == committed

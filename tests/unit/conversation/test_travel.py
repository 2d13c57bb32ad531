"""The way to a task and the way back are blocks that stay with it, on the card, on the calendar, and in every change."""

from __future__ import annotations

from datetime import datetime

from tests.unit.conversation.person import Harness, Person
from tests.unit.conversation.test_person_edits import drag, event

from fateforger.planning.plan import resolve
from fateforger.session.model import Session

THERE, HOME = "Way to Dentist", "Way from Dentist"


async def with_dentist(anna: Person) -> None:
    await anna.to_tasks()
    await anna.fill(
        "tasks", title_1="Dentist", minutes_1=40, kind_1="errand", title_2="Report", minutes_2=60, proceed=False
    )
    await anna.fill_row("Dentist", "task", size=1, place="Main Street 5", travel_minutes=20)


def spans(now: Session) -> dict[str, tuple[datetime, datetime]]:
    assert now.planning.plan is not None
    return {b.event.name: (b.start, b.end) for b in resolve(now.planning.plan)}


def assert_leads(found: dict[str, tuple[datetime, datetime]]) -> None:
    """Check that the ways lie right before and after the task."""
    assert found[THERE][1] == found["Dentist"][0]
    assert found[HOME][0] == found["Dentist"][1]


async def test_the_way_is_drafted_moved_written_and_taken_back_with_its_task(anna: Person, harness: Harness) -> None:
    """S259"""
    await with_dentist(anna)
    await anna.press("Continue")
    drafted = spans(await anna.session())
    assert_leads(drafted)
    assert (drafted[THERE][1] - drafted[THERE][0]).total_seconds() == 20 * 60
    assert THERE in anna.words
    await anna.press("Refine")
    await anna.choose("** Dentist", "15 min later")
    moved = spans(await anna.session())
    assert moved["Dentist"] != drafted["Dentist"]
    assert_leads(moved)
    await anna.choose("** Dentist", "Remove")
    assert not {THERE, HOME, "Dentist"} & set(spans(await anna.session()))
    await anna.press("Undo last update")
    assert spans(await anna.session()) == moved
    await anna.press("Commit to calendar")
    written = {event.summary: (event.start, event.end) for event in harness.calendar.store.get_live_events().values()}
    assert {name: written[name] for name in moved} == moved
    await anna.press("Undo")
    assert harness.calendar.store.get_live_events() == {}


async def test_the_way_follows_a_task_that_is_dragged_on_the_calendar(anna: Person, harness: Harness) -> None:
    """S259: the plan takes the ways along, and the next write puts them there."""
    await with_dentist(anna)
    await anna.press("Continue")
    await anna.press("Refine")
    await anna.press("Commit to calendar")
    drag(harness, "Dentist", 180)
    await anna.press("Back to refine")
    assert "Your next change puts all of this on your calendar" in anna.words
    moved = spans(await anna.session())
    assert_leads(moved)
    await anna.press("Commit to calendar")
    written = {event.summary: (event.start, event.end) for event in harness.calendar.store.get_live_events().values()}
    assert {name: written[name] for name in moved} == moved
    drag(harness, "Dentist", 15)
    await anna.press("Redo step")
    moved = spans(await anna.session())
    assert_leads(moved)
    written = {event.summary: (event.start, event.end) for event in harness.calendar.store.get_live_events().values()}
    assert {name: written[name] for name in moved} == moved
    harness.calendar.store.user_delete(event(harness, "Dentist").id)
    await anna.press("Redo step")
    assert not {THERE, HOME, "Dentist"} & {event.summary for event in harness.calendar.store.get_live_events().values()}


async def test_a_way_that_a_person_moved_stays_where_it_was_put(anna: Person) -> None:
    """S259"""
    await with_dentist(anna)
    await anna.press("Continue")
    await anna.press("Refine")
    before = spans(await anna.session())
    await anna.choose(HOME, "15 min later")
    after = spans(await anna.session())
    assert after["Dentist"] == before["Dentist"]
    assert after[HOME] != before[HOME]

"""People who plan on the same calendar (S509)."""

from __future__ import annotations

import pytest
from tests.factories.days import Time, block, engine_over, plan_of
from tests.fakes.google_calendar import GoogleCalendarFake
from tests.fakes.google_store import GoogleStore
from tests.fakes.memory_journal import MemoryJournal

from fateforger.calendar.connections import PersonalCalendar
from fateforger.calendar.submitter import CalendarSubmitter

DAY = plan_of(block("Gym", "07:00"), block("Lunch", "12:00"))
OTHER = plan_of(block("Piano", "18:00"), block("Lunch", "12:00"))


class SharedCalendar:
    """One calendar with an engine for each person, and for the owner of the configured calendar (``None``)."""

    def __init__(self, owner: str | None = None) -> None:
        self.store, self.owner = GoogleStore(), owner

    async def find_owner(self) -> str | None:
        return self.owner

    def open(self, user_id: str | None) -> CalendarSubmitter:
        calendar = GoogleCalendarFake(self.store, key=f"google:{user_id}")
        return engine_over(PersonalCalendar(calendar, user_id, self.find_owner), MemoryJournal(), Time())

    @property
    def titles(self) -> list[str]:
        return sorted(event.summary for event in self.store.get_live_events().values())


async def test_neither_changes_what_the_other_planned() -> None:
    """S510: also where both chose the same block at the same time, whose event would have the same id."""
    calendar = SharedCalendar()
    anna, ben = calendar.open("anna"), calendar.open("ben")
    await anna.submit_plan(DAY, cause="1")
    result = await ben.submit_plan(OTHER, cause="1")
    assert (result.created, result.deleted) == (2, 0)
    assert calendar.titles == ["Gym", "Lunch", "Lunch", "Piano"]
    snapshot, _ = await anna.read(DAY.date, DAY.tz)
    assert sorted(event.summary for event in snapshot.events) == ["Gym", "Lunch"]
    assert (await anna.submit_plan(plan_of(block("Gym", "07:00")), cause="2")).deleted == 1
    assert calendar.titles == ["Gym", "Lunch", "Piano"]
    await anna.undo_last(cause="3")
    assert calendar.titles == ["Gym", "Lunch", "Lunch", "Piano"]
    await ben.undo_last(cause="2")
    assert calendar.titles == ["Gym", "Lunch"]


@pytest.mark.parametrize(("first", "then"), [("anna", None), (None, "anna")])
async def test_the_owner_of_the_configured_calendar_may_connect_it(first: str | None, then: str | None) -> None:
    calendar = SharedCalendar(owner="anna")
    await calendar.open(first).submit_plan(DAY, cause="1")
    result = await calendar.open(then).submit_plan(DAY, cause="1")
    assert (result.created, calendar.titles) == (0, ["Gym", "Lunch"])
    await calendar.open("ben").submit_plan(OTHER, cause="1")
    assert calendar.titles == ["Gym", "Lunch", "Lunch", "Piano"]


async def test_a_block_of_an_earlier_version_is_taken_for_ones_own() -> None:
    calendar = SharedCalendar()
    plain = GoogleCalendarFake(calendar.store, key="google:anna")
    await engine_over(plain, MemoryJournal(), Time()).submit_plan(DAY, cause="1")
    result = await calendar.open("anna").submit_plan(DAY, cause="1")
    assert (result.created, calendar.titles) == (0, ["Gym", "Lunch"])

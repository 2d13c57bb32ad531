"""Calendars that are read along with the one that is written to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.fakes.google_calendar import CallFailure, GoogleCalendarFake
from tests.fakes.google_store import GoogleStore

from fateforger.calendar.directory import CalendarEntry
from fateforger.calendar.event import EventFields, Marker, OwnedId
from fateforger.calendar.group import CalendarGroup
from fateforger.calendar.ports import Create, Done
from fateforger.errors import CalendarError

NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)
FAMILY = CalendarEntry("family", "Family", None, "reader")
DAY = (NINE - timedelta(hours=9), NINE + timedelta(hours=15))


class Account(GoogleCalendarFake):
    """A calendar of an account whose provider tells of changes."""

    told = True

    async def end_signals(self) -> None:
        self.told = False


def group() -> tuple[CalendarGroup, Account, Account]:
    main, other = (Account(GoogleStore(), key=key) for key in ("main", "other"))
    return CalendarGroup(main, {FAMILY: other}, time_zone="Europe/Berlin"), main, other


async def test_events_of_all_are_read_and_only_one_is_written_to() -> None:
    """S204"""
    both, main, other = group()
    other.store.user_create("School", start=NINE, end=NINE + timedelta(hours=1))
    fields = EventFields(summary="Report", start=NINE + timedelta(hours=2), end=NINE + timedelta(hours=3))
    own = OwnedId("fftb" + "a" * 32)
    done = await both.write(Create(own, fields, Marker(key="report", generation=1, day=NINE.date(), op_id="o1")))
    assert isinstance(done, Done)
    shown = await both.window(*DAY)
    assert [(event.summary, event.calendar, event.has_owned_id) for event in shown] == [
        ("School", "Family", False),
        ("Report", None, True),
    ]
    assert {event.summary for event in main.store.get_live_events().values()} == {"Report"}


async def test_one_that_cannot_be_read_is_named_and_no_day_is_shown() -> None:
    both, _, other = group()
    other.inject(CallFailure())
    with pytest.raises(CalendarError, match="I cannot read your calendar “Family”"):
        await both.window(*DAY)


async def test_the_background_reads_them_too_and_notices_end_once() -> None:
    both, main, other = group()
    other.store.user_create("School", start=NINE, end=NINE + timedelta(hours=1))
    shown = await both.in_background().window(*DAY)
    assert [event.summary for event in shown] == ["School"]
    await both.end_signals()
    assert (main.told, other.told) == (False, True), "the notices are those of the account"
